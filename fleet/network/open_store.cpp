// SPDX-License-Identifier: MIT
// Opens the store at a place, which is a URL or a directory, with the transport of ClickHouse by libcurl. One
// connection to each host is kept between requests. User and password are in headers, so in no URL and in no text of an
// error.
#include "fleet/network/network.hpp"

#include "fleet/clickhouse/clickhouse_store.hpp"
#include "fleet/clickhouse/client.hpp"
#include "fleet/local/directory_store.hpp"
#include "fleet/server.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <array>
#include <cstdint>
#include <curl/curl.h>
#include <memory>
#include <utility>

namespace host::fleet {

namespace {

using clickhouse::Endpoint;
using clickhouse::Http;
using clickhouse::HttpAnswer;

constexpr long kConnectSeconds = 5;
constexpr long kSilenceSeconds = 60;

// Answers are rows for a person or a report; a larger one means a mistake in the statement.
constexpr std::size_t kAnswerBytesMax = std::size_t{1} << 30;

struct EasyEnd {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};

struct ListEnd {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

using Easy = std::unique_ptr<CURL, EasyEnd>;
using List = std::unique_ptr<curl_slist, ListEnd>;

void append(List& list, const std::string& line) {
    if (curl_slist* const longer = curl_slist_append(list.get(), line.c_str()); longer != nullptr) {
        static_cast<void>(list.release());
        list.reset(longer);
    }
}

// libcurl calls this.
std::size_t write_answer(char* from, std::size_t size, std::size_t count, void* answer) {
    std::string& text = *static_cast<std::string*>(answer);
    if (text.size() + size * count > kAnswerBytesMax) {
        return 0;
    }
    text.append(from, size * count);
    return size * count;
}

StoreFailure failure(CURLcode code, const Endpoint& endpoint, const char* details) {
    const std::string what = text::made_printable(details[0] != '\0' ? details : curl_easy_strerror(code));
    const std::string place = text_of(endpoint);
    if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CERTPROBLEM || code == CURLE_SSL_CACERT_BADFILE) {
        return {lib::Error::refused, fmt::format("no secure connection to ClickHouse at {}: {}", place, what)};
    }
    if (code == CURLE_WRITE_ERROR) {
        return {lib::Error::no_space,
                fmt::format("the answer of ClickHouse at {} is larger than {} bytes: ask for less", place,
                            kAnswerBytesMax)};
    }
    if (code == CURLE_OUT_OF_MEMORY) {
        return {lib::Error::no_space, fmt::format("no memory for a request to ClickHouse at {}", place)};
    }
    return {lib::Error::unreachable, fmt::format("ClickHouse at {}: {}", place, what)};
}

class CurlHttp final : public Http {
  public:
    CurlHttp(Easy easy, bool tls, const Credentials& credentials)
        : m_easy(std::move(easy))
        , m_tls(tls) {
        append(m_headers, "Expect:"); // do not ask first whether the body may be sent
        append(m_headers, "Content-Type: application/octet-stream");
        // With a password, the server does not treat an empty user as the default one.
        const std::string user =
            credentials.user.empty() && !credentials.password.empty() ? "default" : credentials.user;
        if (!user.empty()) {
            append(m_headers, "X-ClickHouse-User: " + user);
        }
        if (!credentials.password.empty()) {
            append(m_headers, "X-ClickHouse-Key: " + credentials.password);
        }
        set(CURLOPT_HTTPHEADER, m_headers.get());
        set(CURLOPT_ERRORBUFFER, m_details.data());
        set(CURLOPT_NOSIGNAL, 1L);
        set(CURLOPT_PROTOCOLS_STR, tls ? "https" : "http");
        set(CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
        set(CURLOPT_LOW_SPEED_LIMIT, 1L);
        set(CURLOPT_LOW_SPEED_TIME, kSilenceSeconds);
        set(CURLOPT_TCP_KEEPALIVE, 1L);
        set(CURLOPT_POST, 1L);
        set(CURLOPT_WRITEFUNCTION, &write_answer);
        set(CURLOPT_SSL_VERIFYPEER, 1L);
        set(CURLOPT_SSL_VERIFYHOST, 2L);
        set_file(CURLOPT_CAINFO, credentials.tls_ca);
        set_file(CURLOPT_SSLCERT, credentials.tls_cert);
        set_file(CURLOPT_SSLKEY, credentials.tls_key);
    }

    [[nodiscard]] lib::Result<HttpAnswer, StoreFailure> post(const Endpoint& endpoint, const Parameters& parameters,
                                                             std::string_view body) override {
        HttpAnswer answer;
        const std::string url = url_of(endpoint, parameters);
        m_details.front() = '\0';
        set(CURLOPT_URL, url.c_str());
        set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
        set(CURLOPT_POSTFIELDS, body.data()); // not copied
        set(CURLOPT_WRITEDATA, &answer.body);
        if (const CURLcode code = curl_easy_perform(m_easy.get()); code != CURLE_OK) {
            return failure(code, endpoint, m_details.data());
        }
        long status = 0;
        curl_easy_getinfo(m_easy.get(), CURLINFO_RESPONSE_CODE, &status);
        answer.status = static_cast<unsigned>(status);
        return answer;
    }

  private:
    template <typename T>
    void set(CURLoption option, T value) {
        curl_easy_setopt(m_easy.get(), option, value);
    }

    void set_file(CURLoption option, const std::string& path) {
        if (!path.empty()) {
            set(option, path.c_str()); // copied
        }
    }

    [[nodiscard]] std::string url_of(const Endpoint& endpoint, const Parameters& parameters) {
        std::string url = fmt::format("{}://{}/", m_tls ? "https" : "http", text_of(endpoint));
        char before = '?';
        for (const auto& [name, value] : parameters) {
            char* const encoded = curl_easy_escape(m_easy.get(), value.data(), static_cast<int>(value.size()));
            url += fmt::format("{}{}={}", before, name, encoded != nullptr ? encoded : "");
            curl_free(encoded);
            before = '&';
        }
        return url;
    }

    Easy m_easy;
    List m_headers;
    std::array<char, CURL_ERROR_SIZE> m_details{};
    bool m_tls;
};

// tls: use https and verify the server. Returns null if there is no memory.
std::unique_ptr<Http> curl_http(bool tls, const Credentials& credentials) {
    static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
    Easy easy(ready == CURLE_OK ? curl_easy_init() : nullptr);
    return easy ? std::make_unique<CurlHttp>(std::move(easy), tls, credentials) : nullptr;
}

std::shared_ptr<Store> open_clickhouse(const std::string& place, Credentials user) {
    auto url = clickhouse::parse_url(place);
    if (!url) {
        throw StoreFailure{lib::Error::invalid_argument, url.error().text};
    }
    if (!url->user.empty()) {
        user.user = url->user;
    }
    auto http = curl_http(url->tls, user);
    if (http == nullptr) {
        throw StoreFailure{lib::Error::no_space, "no memory for a connection"};
    }
    return std::make_shared<clickhouse::ClickHouseStore>(std::move(url.value()), user.user, std::move(http));
}

std::shared_ptr<Store> open(const std::string& place, const Credentials& credentials, OpenMode mode) {
    if (place.starts_with("clickhouse://") || place.starts_with("clickhouses://")) {
        return open_clickhouse(place, credentials);
    }
    if (place.find("://") != std::string::npos) { // no directory has such a name
        throw StoreFailure{lib::Error::refused,
                           fmt::format("{}: {}; a store is a directory, or clickhouse://HOST[:PORT]/DATABASE",
                                       shown_address(place),
                                       is_server(place) ? "traces come from there" : "no store is of this kind")};
    }
    if (place.empty()) {
        throw StoreFailure{lib::Error::refused, "the place of the store is empty: name a directory"};
    }
    return taken(
        local::DirectoryStore::open(place, mode == OpenMode::read ? local::Access::read : local::Access::write));
}

} // namespace

lib::Result<std::shared_ptr<Store>, StoreFailure> open_store(const std::string& place, const Credentials& credentials,
                                                             OpenMode mode) {
    return caught([&] {
        auto store = open(place, credentials, mode);
        if (mode == OpenMode::write) {
            taken(store->prepare());
        }
        return store;
    });
}

lib::Result<std::shared_ptr<Store>, StoreFailure>
open_patiently(const std::function<lib::Result<std::shared_ptr<Store>, StoreFailure>()>& open,
               const std::function<bool()>& nap, const std::function<void(std::string_view)>& report) {
    std::string away;
    while (true) {
        auto store = open();
        if (store || !may_succeed_later(store.error().cause)) {
            return store;
        }
        if (std::exchange(away, store.error().text) != store.error().text) {
            report(fmt::format("waits: {}", store.error().text));
        }
        if (!nap()) {
            return store;
        }
    }
}

} // namespace host::fleet
