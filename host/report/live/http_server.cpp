// SPDX-License-Identifier: MIT
// One thread drives libmicrohttpd and ends connections that take too long.
#include "host/report/live/http_server.hpp"

#include "host/text/digits.hpp"
#include "host/text/format.hpp"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <pthread.h>
#include <span>
#include <strings.h>
#include <thread>
#include <utility>

namespace host::report::live {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTurn{200}; // between two searches for connections that take too long
constexpr std::size_t kTokenBytes = 32;

constexpr auto kHeaders = std::to_array<std::pair<const char*, const char*>>({
    {MHD_HTTP_HEADER_CACHE_CONTROL, "no-store"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {MHD_HTTP_HEADER_CONNECTION, "close"},
});

std::string new_token() {
    std::array<std::uint8_t, kTokenBytes> bytes{};
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
        return {};
    }
    std::string token;
    for (const std::uint8_t byte : bytes) {
        token += fmt::format("{:02x}", byte);
    }
    return token;
}

struct Closer {
    int descriptor;

    ~Closer() {
        if (descriptor >= 0) {
            ::close(descriptor);
        }
    }
};

// A header of a request and the values that it may have; other values are foreign.
struct Own {
    const char* name;
    const std::array<std::string, 2>& values;
    bool found = false;
    bool foreign = false;
};

MHD_Result look_at_header(void* context, MHD_ValueKind /*kind*/, const char* name, const char* value) {
    Own& own = *static_cast<Own*>(context);
    if (::strcasecmp(name, own.name) == 0) {
        const std::string_view text = value != nullptr ? value : "";
        own.found = true;
        own.foreign = own.foreign || (text != own.values[0] && text != own.values[1]);
    }
    return MHD_YES;
}

class Daemon final : public HttpServer {
  public:
    Daemon(std::string policy, Handler handler, std::string token, std::uint16_t port)
        : m_policy(std::move(policy))
        , m_handler(std::move(handler))
        , m_token(std::move(token))
        , m_hosts({fmt::format("127.0.0.1:{}", port), fmt::format("localhost:{}", port)})
        , m_origins({"http://" + m_hosts[0], "http://" + m_hosts[1]}) {
        m_address = fmt::format("{}/{}/", m_origins[0], m_token);
    }

    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;

    ~Daemon() override {
        m_stop = true;
        if (m_thread.joinable()) {
            m_thread.join();
        }
        if (m_daemon != nullptr) {
            MHD_stop_daemon(m_daemon);
        }
    }

    // Takes the socket.
    [[nodiscard]] bool serve(int listening) {
        m_daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, nullptr, nullptr, &Daemon::answer, this, MHD_OPTION_LISTEN_SOCKET,
                                    listening, MHD_OPTION_CONNECTION_LIMIT, kConnectionsMax,
                                    MHD_OPTION_CONNECTION_MEMORY_LIMIT, kHeadBytesMax, MHD_OPTION_CONNECTION_TIMEOUT,
                                    static_cast<unsigned>(kHeadTime.count()), MHD_OPTION_STRICT_FOR_CLIENT, 1,
                                    MHD_OPTION_NOTIFY_CONNECTION, &Daemon::connection_changed, this, MHD_OPTION_END);
        if (m_daemon == nullptr) {
            return false;
        }
        m_thread = std::thread([this] { run(); });
        return true;
    }

  private:
    struct Open {
        int descriptor = -1;
        Clock::time_point end{};
        bool has_head = false;
    };

    void run() {
        sigset_t all{};
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, nullptr); // so that the program's other thread handles the signals
        while (!m_stop) {
            MHD_run_wait(m_daemon, static_cast<std::int32_t>(kTurn.count()));
            const auto now = Clock::now();
            for (const auto& [connection, open] : m_open) {
                if (now >= open.end) {
                    ::shutdown(open.descriptor, SHUT_RDWR); // the library then closes the descriptor
                }
            }
        }
    }

    static void connection_changed(void* self, MHD_Connection* connection, void** /*context*/,
                                   MHD_ConnectionNotificationCode code) {
        auto& open = static_cast<Daemon*>(self)->m_open;
        if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
            open.erase(connection);
        } else if (const auto* const info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)) {
            open[connection] = {.descriptor = info->connect_fd, .end = Clock::now() + kHeadTime};
            static_cast<Daemon*>(self)->make_space();
        }
    }

    // If no more connections may be open, ends the one that has been silent for the longest time, so that connections
    // without a request do not keep others waiting.
    void make_space() {
        if (m_open.size() < kConnectionsMax) {
            return;
        }
        const auto rank = [](const auto& open) { return std::pair(open.second.has_head, open.second.end); };
        const auto oldest = std::ranges::min_element(m_open, {}, rank);
        if (!oldest->second.has_head) {
            ::shutdown(oldest->second.descriptor, SHUT_RDWR);
            oldest->second.has_head = true; // its place is free soon
        }
    }

    static MHD_Result answer(void* self, MHD_Connection* connection, const char* url, const char* method,
                             const char* /*version*/, const char* /*data*/, std::size_t* /*bytes*/,
                             void** /*context*/) {
        auto& daemon = *static_cast<Daemon*>(self);
        Answer answer = daemon.answer_to(connection, url, method);
        if (const auto open = daemon.m_open.find(connection); open != daemon.m_open.end()) {
            open->second.end = Clock::now() + kAnswerTime;
            open->second.has_head = true;
        }
        return daemon.send(connection, std::move(answer));
    }

    [[nodiscard]] Answer answer_to(MHD_Connection* connection, std::string_view url, std::string_view method) const {
        Own host{.name = MHD_HTTP_HEADER_HOST, .values = m_hosts};
        Own origin{.name = MHD_HTTP_HEADER_ORIGIN, .values = m_origins};
        for (Own* const own : {&host, &origin}) {
            MHD_get_connection_values(connection, MHD_HEADER_KIND, &look_at_header, own);
        }
        if (!host.found || host.foreign || origin.foreign) {
            return {.status = MHD_HTTP_FORBIDDEN};
        }
        const std::size_t end = m_token.size() + 2; // length of a slash, the token and a slash
        const bool is_long = url.size() >= end;
        const bool is_ours = is_same_secret(is_long ? url.substr(1, m_token.size()) : std::string_view(), m_token);
        if (!is_ours || url[0] != '/' || url[end - 1] != '/') {
            return {.status = MHD_HTTP_NOT_FOUND};
        }
        if (method != MHD_HTTP_METHOD_GET) {
            return {.status = MHD_HTTP_METHOD_NOT_ALLOWED};
        }
        const char* const after = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "after");
        const std::string_view digits = after != nullptr ? after : "";
        return m_handler({.path = url.substr(end), .n = text::number_of<std::uint64_t>(digits)});
    }

    // The answer lives until it is sent.
    [[nodiscard]] MHD_Result send(MHD_Connection* connection, Answer answer) const {
        auto kept = std::make_unique<std::vector<std::byte>>(std::move(answer.body));
        MHD_Response* const response = MHD_create_response_from_buffer_with_free_callback_cls(
            kept->size(), kept->data(), [](void* body) { delete static_cast<std::vector<std::byte>*>(body); },
            kept.get());
        if (response == nullptr) {
            return MHD_NO;
        }
        static_cast<void>(kept.release());
        bool complete = true;
        const auto add = [&](const char* name, const char* value) {
            complete = MHD_add_response_header(response, name, value) == MHD_YES && complete;
        };
        for (const auto& [name, value] : kHeaders) {
            add(name, value);
        }
        add("Content-Security-Policy", m_policy.c_str());
        if (answer.type != nullptr) {
            add(MHD_HTTP_HEADER_CONTENT_TYPE, answer.type);
        }
        if (answer.status == MHD_HTTP_METHOD_NOT_ALLOWED) {
            add(MHD_HTTP_HEADER_ALLOW, MHD_HTTP_METHOD_GET);
        }
        const MHD_Result queued = complete ? MHD_queue_response(connection, answer.status, response) : MHD_NO;
        MHD_destroy_response(response);
        return queued;
    }

    std::string m_policy;
    Handler m_handler;
    std::string m_token;
    std::array<std::string, 2> m_hosts;
    std::array<std::string, 2> m_origins;
    MHD_Daemon* m_daemon = nullptr;
    std::map<MHD_Connection*, Open> m_open; // used only by the server's thread
    std::atomic<bool> m_stop = false;
    std::thread m_thread;
};

} // namespace

bool is_same_secret(std::string_view one, std::string_view other) {
    unsigned difference = one.size() == other.size() ? 0 : 1;
    for (std::size_t i = 0; i < other.size(); ++i) {
        const char first = one.empty() ? '\0' : one[i % one.size()];
        difference |= static_cast<unsigned>(static_cast<unsigned char>(first) ^ static_cast<unsigned char>(other[i]));
    }
    return difference == 0;
}

lib::Result<std::unique_ptr<HttpServer>, trace::Refusal> HttpServer::start(const Options& options, Handler handler) {
    const auto refused = [](const std::string& what) {
        return trace::Refusal{fmt::format("{}: {}", what, std::strerror(errno))};
    };
    Closer listening{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(options.port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const place = reinterpret_cast<sockaddr*>(&address);
    socklen_t bytes = sizeof(address);
    const int yes = 1;
    ::setsockopt(listening.descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (::bind(listening.descriptor, place, bytes) != 0 || ::listen(listening.descriptor, SOMAXCONN) != 0 ||
        ::getsockname(listening.descriptor, place, &bytes) != 0) {
        return refused(options.port != 0 ? fmt::format("port {} of 127.0.0.1", options.port) : "a port of 127.0.0.1");
    }
    std::string token = new_token();
    if (token.empty()) {
        return refused("random numbers");
    }
    auto daemon =
        std::make_unique<Daemon>(options.policy, std::move(handler), std::move(token), ntohs(address.sin_port));
    if (!daemon->serve(std::exchange(listening.descriptor, -1))) {
        return trace::Refusal{"the server cannot be started"};
    }
    return std::unique_ptr<HttpServer>(std::move(daemon));
}

} // namespace host::report::live
