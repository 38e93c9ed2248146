// SPDX-License-Identifier: MIT
// The client of ClickHouse sends statements with the settings that this project's queries need, and reads answers and
// exceptions. Its HTTP transport is in fleet/network/open_store.cpp; tests have a fake.
#pragma once

#include "fleet/database.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace host::fleet::clickhouse {

struct Endpoint {
    std::string host; // an IPv6 address without its brackets
    std::uint16_t port = 0;

    friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// Returns host:port, as in a URL.
[[nodiscard]] std::string text_of(const Endpoint& endpoint);

inline constexpr std::uint16_t kPort = 8123;
inline constexpr std::uint16_t kTlsPort = 8443;

// clickhouse://[user@]host[:port][,host[:port]...]/database[?cluster=NAME]; clickhouses:// uses TLS. The hosts of a
// cluster are its shards, each with its own part of the runs. Their order decides which shard has a run, so it must not
// change. A password is not part of the URL, because every user of the machine sees a command line.
struct Url {
    bool tls = false;
    std::string user; // empty: none
    std::vector<Endpoint> hosts;
    std::string database; // a name as in SQL: letters, digits, _
    std::string cluster;  // may contain -, too; empty: one host
};

// Refuses a text that is no such URL, and names the part that is wrong.
[[nodiscard]] lib::Result<Url, trace::Refusal> parse_url(std::string_view text_untrusted);

// An HTTP transport has one answer for each request.
struct HttpAnswer {
    unsigned status = 0;
    std::string body;
};

class Http {
  public:
    using Parameters = std::vector<std::pair<std::string_view, std::string>>;

    Http() = default;
    Http(const Http&) = delete;
    Http& operator=(const Http&) = delete;
    virtual ~Http() = default;

    // Sends POST / with these parameters of the URL, which it encodes. Any status is an answer. unreachable: there is
    // no connection, or nothing was transferred for too long; refused: the certificate is not accepted; io.
    [[nodiscard]] virtual lib::Result<HttpAnswer, StoreFailure>
    post(const Endpoint& endpoint, const Parameters& parameters, std::string_view body) = 0;
};

// This program acts on these codes of ClickHouse (src/Common/ErrorCodes.cpp).
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

// A server sends an exception in one of two forms:
//
//   Code: 60, e.displayText() = DB::Exception: Table x doesn't exist., e.what() = DB::Exception     (to release 20)
//   Code: 60. DB::Exception: Table x doesn't exist. (UNKNOWN_TABLE) (version 23.8.2.7)
struct ServerError {
    std::uint32_t code = 0;
    std::string text; // its first line, printable
};

// Returns nothing if the body does not begin with an exception.
[[nodiscard]] std::optional<ServerError> server_error_of(std::string_view body_untrusted);

struct ServerFailure : StoreFailure {
    std::uint32_t code = 0; // the server's; 0: another failure
};

// Returns the failure that an answer without the status of success means. user: that of the request. unreachable:
// trying later may succeed.
[[nodiscard]] ServerFailure failure_of(const HttpAnswer& answer, const Endpoint& endpoint, std::string_view user);

// Reads the format TabSeparatedWithNamesAndTypes. 64-bit integers above 2^63-1 become 2^63-1; numbers with a fraction
// become texts, unless they are whole and at most 2^53. corrupt: the body is not in the format, or not whole.
[[nodiscard]] lib::Result<Answer, StoreFailure> read_rows(std::string_view body_untrusted);

// Returns the text as an SQL literal. It is not called quoted(), because a call with a std::string would find
// std::quoted().
[[nodiscard]] std::string quoted_text(std::string_view text);

// What fails is thrown: an exception of the server as a ServerFailure.
class Client {
  public:
    // user: is only shown in texts; http has the user's name and password.
    Client(std::unique_ptr<Http> http, std::string user);

    // Returns the rows of a SELECT, and none of other statements. database: for names without one; empty: the user's
    // default.
    [[nodiscard]] Answer ask(const Endpoint& endpoint, std::string_view database, const std::string& statement);

    // Inserts all rows as one block of the server, if there are at most kBlockRows.
    void insert(const Endpoint& endpoint, const std::string& statement, std::string_view rows);

  private:
    // Returns an answer with the status of success.
    [[nodiscard]] HttpAnswer post(const Endpoint& endpoint, Http::Parameters parameters, std::string_view body);

    std::unique_ptr<Http> m_http;
    std::string m_user;
};

inline constexpr std::uint64_t kBlockRows = 1'048'576;

} // namespace host::fleet::clickhouse
