// SPDX-License-Identifier: MIT
#include "fleet/clickhouse/client.hpp"

#include "host/text/format.hpp"

#include <array>
#include <utility>

namespace host::fleet::clickhouse {

namespace {

constexpr unsigned kOk = 200;

// Larger than any part's rows, so that the server does not divide them: what is inserted twice must make the same
// blocks twice.
constexpr std::uint64_t kBlockBytes = std::uint64_t{1} << 30;

// From here on the server sorts and groups on its disk.
constexpr std::uint64_t kMemoryBytes = std::uint64_t{2} << 30;

Http::Parameters common_parameters() {
    return {
        // The status says how the statement ended, not how it began.
        {"wait_end_of_query", "1"},
        // Something moves while the server is at work, so that one that is away can be known by its silence.
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
    // Of shards: a subquery of IN is about all of them, and asked once.
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
    // An insertion has no answer: a body is an exception, whatever the status is.
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
