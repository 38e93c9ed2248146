// SPDX-License-Identifier: MIT
// remora record --publish starts a publisher beside the collector. The collector announces sessions to it and never
// waits for it; what is recorded is on the disk in any case. A publisher that ends is started again.
#include "fleet/command/commands.hpp"
#include "fleet/command/publish_follower.hpp"
#include "fleet/command/publisher_process.hpp"
#include "fleet/command/server_options.hpp"
#include "fleet/message.hpp"
#include "fleet/server.hpp"
#include "host/cli/command/record/record_report.hpp"
#include "host/cli/command/time_text.hpp"
#include "host/collector/session_directory.hpp"
#include "host/formats/dat/manifest.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

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

class RecordPublishing final : public PublishedRecording {
  public:
    // report: of the collector; report and options must outlive this. served: the directory of `record --serve`, or
    // empty.
    RecordPublishing(RecordReport& report, const PublishingOptions& options, std::string served, Context context);

    // Starts the publisher. Sessions that an earlier collector left are published first.
    [[nodiscard]] lib::Result<void, trace::Refusal> start();

    void opened(const collector::SessionView& session) override;
    void sealed(const collector::SessionView& session, const formats::dat::ManifestChunk& chunk) override;
    void closed(const collector::SessionView& session, formats::dat::Manifest& manifest,
                std::optional<lib::Error> error) override;
    void refused(std::string_view why) override;
    void progress(const collector::Progress& progress) override;
    [[nodiscard]] collector::Freed take_freed() override;

    [[nodiscard]] bool finish() override;

  private:
    using Clock = std::chrono::steady_clock;

    struct Announced {
        fleet::NodeName from;
        bool closed = false;
    };

    [[nodiscard]] fleet::NodeName node_of(const collector::SessionView& session) const;
    [[nodiscard]] lib::Result<void, trace::Refusal> start_process();
    void announce(const std::string& directory, const Announced& session);
    void take(const std::vector<std::string>& lines);
    void note_end(int status);
    void tend();
    void complain(std::string_view text);

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

constexpr std::chrono::seconds kDelayMax{60};

// A publisher may need this time beyond its wait, to write to a slow server.
constexpr std::chrono::seconds kGrace{600};

RecordPublishing::RecordPublishing(RecordReport& report, const PublishingOptions& options, std::string served,
                                   Context context)
    : m_report(report)
    , m_options(options)
    , m_served(std::move(served))
    , m_context(context) {}

void RecordPublishing::complain(std::string_view text) {
    m_report.end();
    m_context.err.print("remora record: {}\n", text);
    m_context.err.flush();
}

lib::Result<void, trace::Refusal> RecordPublishing::start() {
    std::error_code code;
    for (const auto& entry : std::filesystem::directory_iterator(m_served, code)) {
        const std::string session = m_served + '/' + entry.path().filename().string();
        if (std::filesystem::exists(session + '/' + std::string(formats::dat::kManifestName), code)) {
            m_sessions[session] = {.from = node_for(session, m_options.site, m_options.node), .closed = true};
        }
    }
    return start_process();
}

lib::Result<void, trace::Refusal> RecordPublishing::start_process() {
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

void RecordPublishing::announce(const std::string& directory, const Announced& session) {
    m_process.send(notice_line({.kind = session.closed ? NoticeKind::closed : NoticeKind::opened,
                                .from = session.from,
                                .session = directory}));
}

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

void RecordPublishing::opened(const collector::SessionView& session) {
    m_report.opened(session);
    const Announced announced{.from = node_of(session), .closed = false};
    m_sessions[session.directory] = announced;
    announce(session.directory, announced);
}

void RecordPublishing::sealed(const collector::SessionView& session, const formats::dat::ManifestChunk& chunk) {
    m_report.sealed(session, chunk); // the publisher checks the manifests of open sessions itself
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

void RecordPublishing::refused(std::string_view why) {
    m_report.refused(why);
}

void RecordPublishing::progress(const collector::Progress& progress) {
    m_report.progress(progress);
    tend();
}

collector::Freed RecordPublishing::take_freed() {
    std::optional<int> ended;
    take(m_process.exchange(ended));
    if (ended) {
        note_end(*ended);
    }
    return std::exchange(m_freed, {});
}

// Starts the publisher again when the delay is over.
void RecordPublishing::tend() {
    if (m_process.running() || m_given_up || Clock::now() < m_next_start) {
        return;
    }
    if (const auto started = start_process(); !started) {
        complain(started.error().text);
        m_delay = std::min(std::max(m_delay * 2, std::chrono::seconds{1}), kDelayMax);
        m_next_start = Clock::now() + m_delay;
    }
}

void RecordPublishing::note_end(int status) {
    m_left = status != 0;
    if (status == static_cast<int>(trace::ExitStatus::usage)) {
        m_given_up = true;
        complain("nothing more is published; recording continues");
        return;
    }
    m_delay = std::min(std::max(m_delay * 2, std::chrono::seconds{1}), kDelayMax);
    m_next_start = Clock::now() + m_delay;
    complain(fmt::format("the publisher ended with status {}; it is started again in {} s", status, m_delay.count()));
}

void RecordPublishing::take(const std::vector<std::string>& lines) {
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

bool RecordPublishing::finish() {
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
