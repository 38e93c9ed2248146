// SPDX-License-Identifier: MIT
// remora record --publish starts a publisher beside the collector. The collector announces sessions to it and never
// waits for it; what is recorded is on the disk in any case. A publisher that ends is started again.
#include "fleet/command/commands.hpp"
#include "fleet/command/publish_follower.hpp"
#include "fleet/command/server_options.hpp"
#include "fleet/message.hpp"
#include "fleet/server.hpp"
#include "host/cli/command/record/record_report.hpp"
#include "host/cli/command/time_text.hpp"
#include "host/collector/session_directory.hpp"
#include "host/formats/dat/manifest.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/text/list.hpp"
#include "host/trace/byte_source.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <poll.h>
#include <spawn.h>
#include <string>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

extern char** environ; // NOLINT(readability-redundant-declaration): of the system

namespace host::cli {

namespace {

struct PublishingOptions {
    std::string to; // empty: nothing is published
    std::string site;
    std::string node;
    double wait_s = 30;
    bool remove = false;
    ServerOptions server;
};

using Clock = std::chrono::steady_clock;

constexpr int kSignalBase = 128; // as in shells

// Runs a second process of this program, which publishes beside this one. The socket to it never blocks: what cannot be
// sent now is kept and sent later. A process that ends is not started again here.
class PublisherProcess {
  public:
    PublisherProcess() = default;
    PublisherProcess(const PublisherProcess&) = delete;
    PublisherProcess& operator=(const PublisherProcess&) = delete;

    ~PublisherProcess() {
        std::optional<int> ended;
        if (running()) {
            ::kill(m_process, SIGKILL);
            reap(true, ended);
        }
    }

    // arguments: without the program's name.
    [[nodiscard]] lib::Result<void, trace::Refusal> start(const std::vector<std::string>& arguments) {
        std::array<int, 2> ends{};
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
            return trace::Refusal{"the publisher cannot be started: no socket is left"};
        }
        m_socket = trace::Descriptor(ends[0]);
        const trace::Descriptor other(ends[1]);
        std::vector<std::string> words = {"/proc/self/exe"};
        words.insert(words.end(), arguments.begin(), arguments.end());
        std::vector<char*> pointers;
        pointers.reserve(words.size() + 1);
        for (std::string& word : words) {
            pointers.push_back(word.data());
        }
        pointers.push_back(nullptr);
        posix_spawn_file_actions_t actions;
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawn_file_actions_adddup2(&actions, other.number(), STDIN_FILENO);
        ::posix_spawn_file_actions_adddup2(&actions, other.number(), STDOUT_FILENO);
        const int error = ::posix_spawn(&m_process, words.front().c_str(), &actions, nullptr, pointers.data(), environ);
        ::posix_spawn_file_actions_destroy(&actions);
        if (error != 0) {
            m_process = -1;
            return trace::Refusal{"the publisher cannot be started: " + std::string(std::strerror(error))};
        }
        m_unsent.clear();
        m_received.clear();
        return {};
    }

    [[nodiscard]] bool running() const { return m_process > 0; }

    // Sends the text when there is room.
    void send(std::string_view text) {
        m_unsent += text;
        flush();
    }

    // Sends what waits, and returns the lines that came. ended: the exit status of the process once it has ended; 128 +
    // the signal that killed it.
    [[nodiscard]] std::vector<std::string> exchange(std::optional<int>& ended) {
        if (!running()) {
            return {};
        }
        flush();
        const bool open = receive();
        if (!open) {
            reap(false, ended);
        }
        return text::take_lines(m_received);
    }

    // Closes the sending side and waits until the process ends; kills it after `limit`. Returns the remaining lines.
    [[nodiscard]] std::vector<std::string> finish(std::chrono::milliseconds limit, std::optional<int>& ended) {
        const Clock::time_point until = Clock::now() + limit;
        std::vector<std::string> lines;
        bool shut = false;
        while (running()) {
            flush();
            if (m_unsent.empty() && !std::exchange(shut, true)) {
                ::shutdown(m_socket.number(), SHUT_WR);
            }
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
            if (left.count() <= 0) {
                ::kill(m_process, SIGKILL);
                reap(true, ended);
                break;
            }
            pollfd socket{.fd = m_socket.number(),
                          .events = static_cast<short>(POLLIN | (m_unsent.empty() ? 0 : POLLOUT)),
                          .revents = 0};
            ::poll(&socket, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 100)));
            if (!receive()) {
                reap(true, ended);
            }
            const auto more = text::take_lines(m_received);
            lines.insert(lines.end(), more.begin(), more.end());
        }
        return lines;
    }

  private:
    void flush() {
        while (running() && !m_unsent.empty()) {
            const ssize_t count =
                ::send(m_socket.number(), m_unsent.data(), m_unsent.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
            if (count <= 0) {
                return; // no room now, or the process has ended, which waiting for it shows
            }
            m_unsent.erase(0, static_cast<std::size_t>(count));
        }
    }

    // Returns false if nothing can come any more.
    bool receive() {
        std::array<char, 4096> bytes{};
        while (true) {
            const ssize_t count = ::recv(m_socket.number(), bytes.data(), bytes.size(), MSG_DONTWAIT);
            if (count > 0) {
                m_received.append(bytes.data(), static_cast<std::size_t>(count));
            } else {
                return count < 0 && (errno == EAGAIN || errno == EINTR);
            }
        }
    }

    void reap(bool wait, std::optional<int>& ended) {
        int status = 0;
        if (::waitpid(m_process, &status, wait ? 0 : WNOHANG) == m_process) {
            m_process = -1;
            ended = WIFEXITED(status) ? WEXITSTATUS(status) : kSignalBase + WTERMSIG(status);
        }
    }

    pid_t m_process = -1;
    trace::Descriptor m_socket;
    std::string m_unsent;
    std::string m_received;
};

constexpr std::chrono::seconds kDelayMax{60};

// A publisher may need this time beyond its wait, to write to a slow server.
constexpr std::chrono::seconds kGrace{600};

class RecordPublishing final : public PublishedRecording {
  public:
    // report: of the collector; report and options must outlive this. served: the directory of `record --serve`, or
    // empty.
    RecordPublishing(RecordReport& report, const PublishingOptions& options, std::string served, Context context)
        : m_report(report)
        , m_options(options)
        , m_served(std::move(served))
        , m_context(context) {}

    // Starts the publisher. Sessions that an earlier collector left are published first.
    [[nodiscard]] lib::Result<void, trace::Refusal> start() {
        std::error_code code;
        for (const auto& entry : std::filesystem::directory_iterator(m_served, code)) {
            const std::string session = m_served + '/' + entry.path().filename().string();
            if (std::filesystem::exists(session + '/' + std::string(formats::dat::kManifestName), code)) {
                m_sessions[session] = {.from = node_for(session, m_options.site, m_options.node), .closed = true};
            }
        }
        return start_process();
    }

    void opened(const collector::SessionView& session) override {
        m_report.opened(session);
        const Announced announced{.from = node_of(session), .closed = false};
        m_sessions[session.directory] = announced;
        announce(session.directory, announced);
    }

    // The publisher checks the manifests of open sessions itself.
    void sealed(const collector::SessionView& session, const formats::dat::ManifestChunk& chunk) override {
        m_report.sealed(session, chunk);
    }

    void closed(const collector::SessionView& session, formats::dat::Manifest& manifest,
                std::optional<lib::Error> error) override;

    void refused(std::string_view why) override { m_report.refused(why); }

    void progress(const collector::Progress& progress) override {
        m_report.progress(progress);
        tend();
    }

    [[nodiscard]] collector::Freed take_freed() override {
        std::optional<int> ended;
        take(m_process.exchange(ended));
        if (ended) {
            note_end(*ended);
        }
        return std::exchange(m_freed, {});
    }

    [[nodiscard]] bool finish() override {
        if (!m_process.running() && !m_given_up && !m_sessions.empty()) {
            m_next_start = {};
            tend();
        }
        std::optional<int> ended;
        if (m_process.running()) {
            m_process.send(notice_line({}));
            take(m_process.finish(duration(m_options.wait_s).value_or(std::chrono::milliseconds{0}) + kGrace, ended));
            m_left = ended.value_or(1) != 0;
        }
        const bool whole = m_sessions.empty() || (!m_left && !m_given_up);
        if (!whole) {
            const std::string place = !m_served.empty() ? m_served : m_sessions.begin()->first;
            complain(fmt::format("{} session{} not published as a whole; `remora publish {} --to {}` continues",
                                 m_sessions.size(), m_sessions.size() == 1 ? " is" : "s are", text::escaped(place),
                                 fleet::shown_address(m_options.to)));
        }
        return whole;
    }

  private:
    struct Announced {
        fleet::NodeName from;
        bool closed = false;
    };

    [[nodiscard]] fleet::NodeName node_of(const collector::SessionView& session) const;

    [[nodiscard]] lib::Result<void, trace::Refusal> start_process() {
        std::vector<std::string> words = {"publish",    "--follow", "--to",
                                          m_options.to, "--wait",   fmt::format("{}", m_options.wait_s)};
        const std::vector<std::string> server = words_of(m_options.server);
        words.insert(words.end(), server.begin(), server.end());
        if (auto started = m_process.start(words); !started) {
            return started;
        }
        for (const auto& [directory, session] : m_sessions) {
            announce(directory, session);
        }
        return {};
    }

    void announce(const std::string& directory, const Announced& session) {
        m_process.send(notice_line({.kind = session.closed ? NoticeKind::closed : NoticeKind::opened,
                                    .from = session.from,
                                    .session = directory}));
    }

    void take(const std::vector<std::string>& lines) {
        for (const std::string& line : lines) {
            const std::string session =
                line.starts_with(kPublishedWord) ? line.substr(kPublishedWord.size()) : std::string();
            if (m_sessions.erase(session) == 0) {
                continue;
            }
            bool removed = false;
            if (m_options.remove) {
                const auto bytes = collector::remove_session(session);
                removed = bytes.ok();
                if (removed) {
                    m_freed.bytes += bytes.value();
                    ++m_freed.sessions;
                } else {
                    complain(fmt::format("{} is published and cannot be removed: {}", text::escaped(session),
                                         text::escaped(bytes.error().text)));
                }
            }
            m_report.published(session, removed);
        }
    }

    void note_end(int status) {
        m_left = status != 0;
        if (status == static_cast<int>(trace::ExitStatus::usage)) {
            m_given_up = true;
            complain("nothing more is published; recording continues");
            return;
        }
        delay_start();
        complain(
            fmt::format("the publisher ended with status {}; it is started again in {} s", status, m_delay.count()));
    }

    // Starts the publisher again when the delay is over.
    void tend() {
        if (m_process.running() || m_given_up || Clock::now() < m_next_start) {
            return;
        }
        if (const auto started = start_process(); !started) {
            complain(started.error().text);
            delay_start();
        }
    }

    void delay_start() {
        m_delay = std::min(std::max(m_delay * 2, std::chrono::seconds{1}), kDelayMax);
        m_next_start = Clock::now() + m_delay;
    }

    void complain(std::string_view text) {
        m_report.end();
        m_context.err.print("remora record: {}\n", text);
        m_context.err.flush();
    }

    RecordReport& m_report;
    const PublishingOptions& m_options;
    std::string m_served;
    Context m_context;
    PublisherProcess m_process;
    std::map<std::string, Announced> m_sessions; // by directory; those that are not published as a whole
    collector::Freed m_freed;
    std::chrono::seconds m_delay{};
    Clock::time_point m_next_start;
    bool m_given_up = false; // the server refuses this user
    bool m_left = false;     // the last process did not publish everything
};

// The node of a served session is its sender, unless the user has named it.
fleet::NodeName RecordPublishing::node_of(const collector::SessionView& session) const {
    fleet::NodeName name{.site = m_options.site.empty() ? kDefaultSite : m_options.site, .node = m_options.node};
    if (name.node.empty() && !m_served.empty() && session.sender) {
        const std::string address = to_text(*session.sender);
        name.node = fleet::name_of(std::string_view(address).substr(0, address.find(':')));
    }
    name.node = name.node.empty() ? host_node() : name.node;
    return name;
}

void RecordPublishing::closed(const collector::SessionView& session, formats::dat::Manifest& manifest,
                              std::optional<lib::Error> error) {
    m_report.closed(session, manifest, error);
    const auto found = m_sessions.find(session.directory);
    if (found != m_sessions.end()) { // else no packet came
        found->second.closed = true;
        announce(session.directory, found->second);
    }
}

class PublishingOfFleet final : public Publishing {
  public:
    void add_options(Command& command) override {
        command
            .option("--publish", m_options.to,
                    "publish what is recorded to this server, nats://HOST[:PORT] or tls://HOST[:PORT], as it comes")
            .check(check_nats);
        command.option("--site", m_options.site, "name of the site in the fleet; default").check(check_name);
        command
            .option("--node", m_options.node,
                    "name of the machine in the fleet; with --serve its address, else the name of this host")
            .check(check_name);
        command
            .option("--publish-wait", m_options.wait_s,
                    "at the end, how many seconds a server that does not answer is waited for; 30")
            .check(check_seconds);
        command.flag("--remove-published", m_options.remove,
                     "delete a session once the server has stored all of it (--serve)");
        add_server_options(command, m_options.server);
    }

    std::string fault(bool serve) const override {
        if (m_options.to.empty()) {
            const bool others = !m_options.site.empty() || !m_options.node.empty() || m_options.remove;
            return others ? "--site, --node and --remove-published need --publish" : "";
        }
        if (m_options.remove && !serve) {
            return "--remove-published needs --serve: what one run recorded stays";
        }
        const auto credentials = credentials_of(m_options.server);
        return credentials ? std::string() : credentials.error().text;
    }

    lib::Result<std::unique_ptr<PublishedRecording>, trace::Refusal>
    start(RecordReport& report, const std::string& served, Context context) override {
        if (m_options.to.empty()) {
            return std::unique_ptr<PublishedRecording>();
        }
        auto publishing = std::make_unique<RecordPublishing>(report, m_options, served, context);
        if (const auto started = publishing->start(); !started) {
            return started.error();
        }
        return std::unique_ptr<PublishedRecording>(std::move(publishing));
    }

  private:
    PublishingOptions m_options;
};

} // namespace

std::shared_ptr<Publishing> publishing_of_fleet() {
    return std::make_shared<PublishingOfFleet>();
}

} // namespace host::cli
