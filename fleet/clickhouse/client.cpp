// SPDX-License-Identifier: MIT
#include "fleet/clickhouse/client.hpp"

#include "host/text/digits.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/text/list.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

namespace host::fleet::clickhouse {

namespace {

constexpr std::string_view kCode = "Code: ";
constexpr std::string_view kException = "DB::Exception: ";

// The format has this text for NULL.
constexpr std::string_view kNull = "\\N";

std::string unescaped(std::string_view text) {
    constexpr std::string_view kLetters = "bfnrt0";
    constexpr std::string_view kMeanings("\b\f\n\r\t\0", 6);
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool escape = text[i] == '\\' && i + 1 < text.size();
        i += escape ? 1 : 0;
        const std::size_t letter = escape ? kLetters.find(text[i]) : std::string_view::npos;
        plain += letter != std::string_view::npos ? kMeanings[letter] : text[i];
    }
    return plain;
}

enum class Kind : std::uint8_t { integer, fraction, text };

// Returns the kind of a type as the server writes it. The type may be wrapped: Nullable(UInt64),
// LowCardinality(Nullable(String)).
Kind kind_of(std::string_view type) {
    for (const std::string_view wrap : {std::string_view("LowCardinality("), std::string_view("Nullable(")}) {
        if (type.starts_with(wrap)) {
            type.remove_prefix(wrap.size());
        }
    }
    return type.starts_with("Int") || type.starts_with("UInt")        ? Kind::integer
           : type.starts_with("Float") || type.starts_with("Decimal") ? Kind::fraction
                                                                      : Kind::text;
}

// Returns nothing if the text is no value of this kind.
std::optional<Value> value_of(std::string_view text, Kind kind) {
    constexpr double kExact = 9'007'199'254'740'992.0; // 2^53: a double represents no greater number exactly
    if (text == kNull) {
        return Value{};
    }
    if (kind == Kind::text) {
        return Value{unescaped(text)};
    }
    if (kind == Kind::fraction) {
        const double number = text::number_of<double>(text).value_or(2 * kExact);
        const bool whole = std::abs(number) <= kExact && std::trunc(number) == number;
        return whole ? Value{static_cast<std::int64_t>(number)} : Value{std::string(text)};
    }
    if (const auto number = text::number_of<std::int64_t>(text)) {
        return Value{*number};
    }
    return text::number_of<std::uint64_t>(text) ? std::optional(Value{std::numeric_limits<std::int64_t>::max()})
                                                : std::nullopt;
}

lib::Error cause_of(std::uint32_t code) {
    switch (code) {
    case kTooSlow:
    case kTooManyQueries:
    case kSocketTimeout:
    case kNetworkError:
    case kTooManyParts:
    case kNoDistributedConnection:
        return lib::Error::unreachable;
    case kNoMemory:
    case kNoSpace:
        return lib::Error::no_space;
    default:
        return lib::Error::refused;
    }
}

bool is_authentication(std::uint32_t code) {
    return code == kUnknownUser || code == kWrongPassword || code == kNoPassword || code == kNotAuthenticated;
}

} // namespace

std::optional<ServerError> server_error_of(std::string_view body_untrusted) {
    if (!body_untrusted.starts_with(kCode)) {
        return std::nullopt;
    }
    ServerError error;
    std::string_view rest = body_untrusted.substr(kCode.size());
    const bool failed = std::from_chars(rest.data(), rest.data() + rest.size(), error.code).ec != std::errc{};
    const std::size_t text = rest.find(kException);
    if (failed || text == std::string_view::npos) {
        return std::nullopt;
    }
    rest.remove_prefix(text + kException.size());
    rest = rest.substr(0, rest.find('\n'));
    rest = rest.substr(0, rest.find(", e.what() = "));
    error.text = text::made_printable(rest);
    return error;
}

ServerFailure failure_of(const HttpAnswer& answer, const Endpoint& endpoint, std::string_view user) {
    const std::string place = text_of(endpoint);
    const std::optional<ServerError> error = server_error_of(answer.body);
    if (!error) {
        const bool gateway = answer.status >= 502 && answer.status <= 504;
        return {{gateway ? lib::Error::unreachable : lib::Error::corrupt,
                 fmt::format("{} answers with HTTP status {}, but not as ClickHouse does: \"{}\"", place, answer.status,
                             text::escaped(std::string_view(answer.body).substr(0, answer.body.find('\n'))))}};
    }
    if (is_authentication(error->code)) {
        return {
            {lib::Error::refused, fmt::format("ClickHouse at {} does not accept user '{}' with this password (code {})",
                                              place, user.empty() ? "default" : text::escaped(user), error->code)},
            error->code};
    }
    return {{cause_of(error->code), fmt::format("ClickHouse at {}: code {}: {}", place, error->code, error->text)},
            error->code};
}

namespace {

void check_exception(std::string_view body) {
    if (const auto error = server_error_of(body)) {
        throw StoreFailure{cause_of(error->code), fmt::format("ClickHouse: code {}: {}", error->code, error->text)};
    }
}

// Throws unless it holds.
void check(bool holds, std::string_view what) {
    if (!holds) {
        throw StoreFailure{lib::Error::corrupt, fmt::format("the answer of ClickHouse cannot be read: {}", what)};
    }
}

Answer rows_in(std::string_view rest) {
    Answer answer;
    if (rest.empty()) {
        return answer; // the statement has no rows
    }
    check_exception(rest); // whatever the status was
    check(rest.ends_with('\n'), "it ends within a row");
    for (const std::string_view name : text::split(text::take_until(rest, "\n"), "\t")) {
        answer.columns.push_back(unescaped(name));
    }
    check(!rest.empty(), "it has names of columns alone");
    std::vector<Kind> kinds;
    std::ranges::transform(text::split(text::take_until(rest, "\n"), "\t"), std::back_inserter(kinds), kind_of);
    check(kinds.size() == answer.columns.size(),
          fmt::format("{} names and {} types of columns", answer.columns.size(), kinds.size()));
    while (!rest.empty()) {
        check_exception(rest); // it may follow rows
        const std::vector<std::string_view> cells = text::split(text::take_until(rest, "\n"), "\t");
        if (cells.size() != kinds.size()) {
            check(false, fmt::format("a row of {} instead of {} columns", cells.size(), kinds.size()));
        }
        std::vector<Value>& row = answer.rows.emplace_back();
        for (std::size_t i = 0; i < cells.size(); ++i) {
            std::optional<Value> value = value_of(cells[i], kinds[i]);
            if (!value) {
                check(false, fmt::format("\"{}\" is no integer", text::escaped(cells[i])));
            }
            row.push_back(std::move(*value));
        }
    }
    return answer;
}

} // namespace

lib::Result<Answer, StoreFailure> read_rows(std::string_view body_untrusted) {
    return caught([&] { return rows_in(body_untrusted); });
}

std::string quoted_text(std::string_view text) {
    std::string literal = "'";
    for (const char character : text) {
        literal += character == '\'' || character == '\\' || character == '\0' ? "\\" : "";
        literal += character == '\0' ? '0' : character;
    }
    return literal + '\'';
}

namespace {

constexpr unsigned kOk = 200;

// The limit is larger than the rows of any part, so that the server does not divide them: rows that are inserted twice
// must form the same blocks twice.
constexpr std::uint64_t kBlockBytes = std::uint64_t{1} << 30;

// Above this size the server sorts and groups on its disk.
constexpr std::uint64_t kMemoryBytes = std::uint64_t{2} << 30;

} // namespace

Client::Client(std::unique_ptr<Http> http, std::string user)
    : m_http(std::move(http))
    , m_user(std::move(user)) {}

HttpAnswer Client::post(const Endpoint& endpoint, Http::Parameters parameters, std::string_view body) {
    parameters.insert(parameters.end(),
                      {// With this setting the status states how the statement ended, not how it began.
                       {"wait_end_of_query", "1"},
                       // With this setting a working server sends headers, so that a server that has failed is
                       // recognized by its silence.
                       {"send_progress_in_http_headers", "1"},
                       {"http_headers_progress_interval_ms", "5000"}});
    HttpAnswer answer = taken(m_http->post(endpoint, parameters, body));
    if (answer.status != kOk) {
        throw failure_of(answer, endpoint, m_user);
    }
    return answer;
}

Answer Client::ask(const Endpoint& endpoint, std::string_view database, const std::string& statement) {
    Http::Parameters parameters = {
        {"default_format", "TabSeparatedWithNamesAndTypes"},
        {"join_use_nulls", "1"}, // NULL where a join finds nothing, as in SQLite
        // On a cluster, a subquery of IN is evaluated once, over all shards.
        {"distributed_product_mode", "global"},
        {"max_bytes_before_external_group_by", std::to_string(kMemoryBytes)},
        {"max_bytes_before_external_sort", std::to_string(kMemoryBytes)},
    };
    if (!database.empty()) {
        parameters.emplace_back("database", database);
    }
    return rows_in(post(endpoint, std::move(parameters), statement).body);
}

void Client::insert(const Endpoint& endpoint, const std::string& statement, std::string_view rows) {
    const HttpAnswer answer = post(endpoint,
                                   {{"query", statement},
                                    {"max_insert_block_size", std::to_string(kBlockRows)},
                                    {"min_insert_block_size_rows", std::to_string(kBlockRows)},
                                    {"min_insert_block_size_bytes", std::to_string(kBlockBytes)}},
                                   rows);
    // An insertion has an empty answer; any body is an exception, whatever the status is.
    if (!answer.body.empty()) {
        throw failure_of(answer, endpoint, m_user);
    }
}

} // namespace host::fleet::clickhouse
