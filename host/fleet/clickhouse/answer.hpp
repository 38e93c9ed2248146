// SPDX-License-Identifier: MIT
// What the server answers: rows in its format TabSeparatedWithNamesAndTypes, and the texts of its exceptions, which it
// has sent in two forms:
//
//   Code: 60, e.displayText() = DB::Exception: Table x doesn't exist., e.what() = DB::Exception     (to release 20)
//   Code: 60. DB::Exception: Table x doesn't exist. (UNKNOWN_TABLE) (version 23.8.2.7)
#pragma once

#include "host/fleet/clickhouse/http.hpp"
#include "host/fleet/database.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace host::fleet::clickhouse {

// Codes of ClickHouse (src/Common/ErrorCodes.cpp) that this program acts on.
enum : std::uint32_t {
    kUnknownColumn = 16,
    kAddedAlready = 44,
    kTableExists = 57,
    kUnknownTable = 60,
    kUnknownDatabase = 81,
    kDatabaseExists = 82,
    kNoFile = 107,
    kTooSlow = 159,
    kUnknownUser = 192,
    kWrongPassword = 193,
    kNoPassword = 194,
    kTooManyQueries = 202,
    kSocketTimeout = 209,
    kNetworkError = 210,
    kNoMemory = 241,
    kNoSpace = 243,
    kTooManyParts = 252,
    kNoDistributedConnection = 279,
    kNotAllowed = 497,
    kNotAuthenticated = 516,
};

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

// As a literal.
[[nodiscard]] std::string quoted(std::string_view text);

} // namespace host::fleet::clickhouse
