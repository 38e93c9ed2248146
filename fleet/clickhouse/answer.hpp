// SPDX-License-Identifier: MIT
// What the server answers: rows in its format TabSeparatedWithNamesAndTypes, and the texts of its exceptions, which it
// has sent in two forms:
//
//   Code: 60, e.displayText() = DB::Exception: Table x doesn't exist., e.what() = DB::Exception     (to release 20)
//   Code: 60. DB::Exception: Table x doesn't exist. (UNKNOWN_TABLE) (version 23.8.2.7)
#pragma once

#include "fleet/clickhouse/http.hpp"
#include "fleet/database.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace host::fleet::clickhouse {

// Codes of ClickHouse (src/Common/ErrorCodes.cpp) that this program acts on.
inline constexpr std::uint32_t kUnknownColumn = 16;
inline constexpr std::uint32_t kAddedAlready = 44;
inline constexpr std::uint32_t kTableExists = 57;
inline constexpr std::uint32_t kUnknownTable = 60;
inline constexpr std::uint32_t kDatabaseExists = 82;
inline constexpr std::uint32_t kNoFile = 107;
inline constexpr std::uint32_t kTooSlow = 159;
inline constexpr std::uint32_t kUnknownUser = 192;
inline constexpr std::uint32_t kWrongPassword = 193;
inline constexpr std::uint32_t kNoPassword = 194;
inline constexpr std::uint32_t kTooManyQueries = 202;
inline constexpr std::uint32_t kSocketTimeout = 209;
inline constexpr std::uint32_t kNetworkError = 210;
inline constexpr std::uint32_t kNoMemory = 241;
inline constexpr std::uint32_t kNoSpace = 243;
inline constexpr std::uint32_t kTooManyParts = 252;
inline constexpr std::uint32_t kNoDistributedConnection = 279;
inline constexpr std::uint32_t kNotAuthenticated = 516;

struct ServerError {
    std::uint32_t code = 0;
    std::string text; // its first line, printable
};

// Nothing: the body does not begin with one.
[[nodiscard]] std::optional<ServerError> server_error_of(std::string_view body_untrusted);

// Of an answer that is none; user: as which it was asked. unreachable: trying later may succeed.
[[nodiscard]] StoreFailure failure_of(const HttpAnswer& answer, const Endpoint& endpoint, std::string_view user);

// corrupt: it is not in the format, or not whole. Integers above 2^63-1 become that; other numbers with a fraction are
// texts.
[[nodiscard]] lib::Result<Answer, StoreFailure> read_rows(std::string_view body_untrusted);

// As a literal. Another name than that of std::quoted(), which a call with a std::string would find.
[[nodiscard]] std::string quoted_text(std::string_view text);

} // namespace host::fleet::clickhouse
