// SPDX-License-Identifier: MIT
#include "fleet/clickhouse/client.hpp"

#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace host::fleet::clickhouse {

namespace {

constexpr std::string_view kCode = "Code: ";
constexpr std::string_view kException = "DB::Exception: ";

// The format has this text for NULL.
constexpr std::string_view kNull = "\\N";

char unescaped(char character) {
    switch (character) {
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case '0':
        return '\0';
    default:
        return character;
    }
}

std::string unescaped(std::string_view text) {
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool escape = text[i] == '\\' && i + 1 < text.size();
        plain += escape ? unescaped(text[++i]) : text[i];
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

std::optional<std::int64_t> integer_of(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end != text.data() + text.size() || error == std::errc::invalid_argument) {
        return std::nullopt;
    }
    return error == std::errc{}    ? number
           : text.starts_with('-') ? std::numeric_limits<std::int64_t>::min()
                                   : std::numeric_limits<std::int64_t>::max();
}

// Returns an integer if the number is whole and at most 2^53, so that a double represents it exactly; else the text.
Value fraction_of(std::string_view text) {
    constexpr double kExact = 9'007'199'254'740'992.0; // 2^53
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc{} && end == text.data() + text.size() && std::abs(number) <= kExact &&
        std::trunc(number) == number) {
        return static_cast<std::int64_t>(number);
    }
    return std::string(text);
}

// Returns nothing if the text is no value of this kind.
std::optional<Value> value_of(std::string_view text, Kind kind) {
    if (text == kNull) {
        return Value{};
    }
    switch (kind) {
    case Kind::integer:
        if (const auto number = integer_of(text)) {
            return Value{*number};
        }
        return std::nullopt;
    case Kind::fraction:
        return fraction_of(text);
    case Kind::text:
        break;
    }
    return Value{unescaped(text)};
}

std::vector<std::string_view> take_line(std::string_view& rest) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    std::vector<std::string_view> cells;
    for (std::size_t end = 0; end != std::string_view::npos; line.remove_prefix(end + 1)) {
        end = line.find('\t');
        cells.push_back(line.substr(0, end));
        if (end == std::string_view::npos) {
            break;
        }
    }
    return cells;
}

StoreFailure corrupt(std::string_view what) {
    return {lib::Error::corrupt, fmt::format("the answer of ClickHouse cannot be read: {}", what)};
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
    const auto [end, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), error.code);
    const std::size_t text = rest.find(kException);
    if (failed != std::errc{} || text == std::string_view::npos) {
        return std::nullopt;
    }
    rest.remove_prefix(text + kException.size());
    rest = rest.substr(0, rest.find('\n'));
    rest = rest.substr(0, rest.find(", e.what() = "));
    error.text = text::made_printable(rest);
    return error;
}

StoreFailure failure_of(const HttpAnswer& answer, const Endpoint& endpoint, std::string_view user) {
    const std::string place = text_of(endpoint);
    const std::optional<ServerError> error = server_error_of(answer.body);
    if (!error) {
        const bool gateway = answer.status >= 502 && answer.status <= 504;
        return {gateway ? lib::Error::unreachable : lib::Error::corrupt,
                fmt::format("{} answers with HTTP status {}, but not as ClickHouse does: \"{}\"", place, answer.status,
                            text::escaped(std::string_view(answer.body).substr(0, answer.body.find('\n'))))};
    }
    if (is_authentication(error->code)) {
        return {lib::Error::refused,
                fmt::format("ClickHouse at {} does not accept user '{}' with this password (code {})", place,
                            user.empty() ? "default" : text::escaped(user), error->code)};
    }
    return {cause_of(error->code), fmt::format("ClickHouse at {}: code {}: {}", place, error->code, error->text)};
}

lib::Result<Answer, StoreFailure> read_rows(std::string_view body_untrusted) {
    Answer answer;
    std::string_view rest = body_untrusted;
    if (rest.empty()) {
        return answer; // the statement has no rows
    }
    if (const auto error = server_error_of(rest)) { // whatever the status was
        return StoreFailure{cause_of(error->code), fmt::format("ClickHouse: code {}: {}", error->code, error->text)};
    }
    if (!rest.ends_with('\n')) {
        return corrupt("it ends within a row");
    }
    for (const std::string_view name : take_line(rest)) {
        answer.columns.push_back(unescaped(name));
    }
    if (rest.empty()) {
        return corrupt("it has names of columns alone");
    }
    std::vector<Kind> kinds;
    for (const std::string_view type : take_line(rest)) {
        kinds.push_back(kind_of(type));
    }
    if (kinds.size() != answer.columns.size()) {
        return corrupt(fmt::format("{} names and {} types of columns", answer.columns.size(), kinds.size()));
    }
    while (!rest.empty()) {
        if (const auto error = server_error_of(rest)) { // an exception may follow rows
            return StoreFailure{cause_of(error->code),
                                fmt::format("ClickHouse: code {}: {}", error->code, error->text)};
        }
        const std::vector<std::string_view> cells = take_line(rest);
        if (cells.size() != kinds.size()) {
            return corrupt(fmt::format("a row of {} instead of {} columns", cells.size(), kinds.size()));
        }
        std::vector<Value>& row = answer.rows.emplace_back();
        for (std::size_t i = 0; i < cells.size(); ++i) {
            std::optional<Value> value = value_of(cells[i], kinds[i]);
            if (!value) {
                return corrupt(fmt::format("\"{}\" is no integer", text::escaped(cells[i])));
            }
            row.push_back(std::move(*value));
        }
    }
    return answer;
}

std::string quoted_text(std::string_view text) {
    std::string literal = "'";
    for (const char character : text) {
        switch (character) {
        case '\'':
        case '\\':
            literal += '\\';
            literal += character;
            break;
        case '\0':
            literal += "\\0";
            break;
        default:
            literal += character;
        }
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

Http::Parameters common_parameters() {
    return {
        // With this setting the status states how the statement ended, not how it began.
        {"wait_end_of_query", "1"},
        // With this setting a working server sends headers, so that a server that has failed is recognized by its
        // silence.
        {"send_progress_in_http_headers", "1"},
        {"http_headers_progress_interval_ms", "5000"},
    };
}

} // namespace

Client::Client(std::unique_ptr<Http> http, std::string user)
    : m_http(std::move(http))
    , m_user(std::move(user)) {}

lib::Result<Answer, StoreFailure> Client::ask(const Endpoint& endpoint, std::string_view database,
                                              const std::string& statement) {
    Http::Parameters parameters = common_parameters();
    parameters.emplace_back("default_format", "TabSeparatedWithNamesAndTypes");
    parameters.emplace_back("join_use_nulls", "1"); // NULL where a join finds nothing, as in SQLite
    // On a cluster, a subquery of IN is evaluated once, over all shards.
    parameters.emplace_back("distributed_product_mode", "global");
    parameters.emplace_back("max_bytes_before_external_group_by", std::to_string(kMemoryBytes));
    parameters.emplace_back("max_bytes_before_external_sort", std::to_string(kMemoryBytes));
    if (!database.empty()) {
        parameters.emplace_back("database", database);
    }
    const std::array<std::string_view, 1> body{statement};
    m_code = 0;
    const auto answer = m_http->post(endpoint, parameters, body);
    if (!answer) {
        return answer.error();
    }
    return answer->status == kOk ? read_rows(answer->body) : failure(answer.value(), endpoint);
}

lib::Result<void, StoreFailure> Client::insert(const Endpoint& endpoint, const std::string& statement,
                                               std::string_view rows) {
    Http::Parameters parameters = common_parameters();
    parameters.emplace_back("query", statement);
    parameters.emplace_back("max_insert_block_size", std::to_string(kBlockRows));
    parameters.emplace_back("min_insert_block_size_rows", std::to_string(kBlockRows));
    parameters.emplace_back("min_insert_block_size_bytes", std::to_string(kBlockBytes));
    const std::array<std::string_view, 1> body{rows};
    m_code = 0;
    const auto answer = m_http->post(endpoint, parameters, body);
    if (!answer) {
        return answer.error();
    }
    // An insertion has an empty answer; any body is an exception, whatever the status is.
    if (answer->status != kOk || !answer->body.empty()) {
        return failure(answer.value(), endpoint);
    }
    return {};
}

StoreFailure Client::failure(const HttpAnswer& answer, const Endpoint& endpoint) {
    const auto error = server_error_of(answer.body);
    m_code = error ? error->code : 0;
    return failure_of(answer, endpoint, m_user);
}

} // namespace host::fleet::clickhouse
