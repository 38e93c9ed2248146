// SPDX-License-Identifier: MIT
// Serves a page to browsers of this machine, and to those alone who know its address: a path begins with a token of
// 256 random bits. A request is answered only if
//   - its token is right (404 otherwise; compared in constant time),
//   - Host names this server as 127.0.0.1 or localhost, and Origin, if there is one, too (403): a page of another site
//     cannot read answers, nor by a name that it lets point to 127.0.0.1,
//   - its method is GET (405), and its head is at most 8 KiB.
// A connection has kHeadTime to send its head and kAnswerTime to take the answer, carries one request, and there are at
// most kConnectionsMax. Nothing of a request reaches the file system. HTTP itself is libmicrohttpd's.
#pragma once

#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace host::report::live {

inline constexpr unsigned kConnectionsMax = 16;
inline constexpr std::size_t kHeadBytesMax = 8 * 1024;
inline constexpr std::chrono::seconds kHeadTime{10};
inline constexpr std::chrono::seconds kAnswerTime{60};

struct Request {
    std::string_view path;          // after the token and its slash
    std::optional<std::uint64_t> n; // the number `after` of the query, if it is one
};

struct Answer {
    unsigned status = 404;
    const char* type = nullptr;
    std::vector<std::byte> body{};
};

class HttpServer {
  public:
    // Is called in the server's thread.
    using Handler = std::function<Answer(const Request&)>;

    struct Options {
        std::uint16_t port = 0; // 0: one that is free
        std::string policy;     // the Content-Security-Policy of all answers
    };

    // Serves from here on, until the object is destroyed.
    [[nodiscard]] static lib::Result<std::unique_ptr<HttpServer>, trace::Refusal> start(const Options& options,
                                                                                        Handler handler);

    virtual ~HttpServer() = default;
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    // Returns the address for a browser.
    [[nodiscard]] const std::string& address() const { return m_address; }

  protected:
    HttpServer() = default;

    std::string m_address;
};

// Returns whether both texts are equal, in a time that depends only on their lengths.
[[nodiscard]] bool is_same_secret(std::string_view one, std::string_view other);

} // namespace host::report::live
