// SPDX-License-Identifier: MIT
// remora publish sends sessions to a server, from which a loader takes them.
#include "fleet/command/commands.hpp"
#include "fleet/command/publish_follower.hpp"
#include "fleet/command/server_options.hpp"
#include "host/cli/command/time_text.hpp"
#include "host/cli/terminal/stop_signal.hpp"

#include "fleet/network/network.hpp"
#include "fleet/session_publisher.hpp"
#include "fleet/session_tree.hpp"
#include "host/collector/session_directory.hpp"
#include "host/formats/dat/manifest.hpp"
#include "host/text/escape.hpp"

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <sys/resource.h>
#include <thread>
#include <utility>
#include <vector>

namespace host::cli {

namespace {

using fleet::SpoolPublisher;
using trace::ExitStatus;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kRetry{250};

struct PublishOptions {
    std::vector<std::string> sessions;
    std::string to;
    std::string site;
    std::string node;
    double wait_s = 10;
    bool follow = false;
    ServerOptions server;
};

ExitStatus complain(Context context, std::string_view text, ExitStatus status = ExitStatus::usage) {
    context.err.print("remora publish: {}\n", text);
    context.err.flush();
    return status;
}

// Locks a session, so that no collector begins to write to it, or finds that one does.
class Guard {
  public:
    explicit Guard(const std::string& session)
        : m_directory(::open(session.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
        const auto locked = m_lock.take(m_directory.number());
        m_busy = !locked && locked.error().cause == lib::Error::busy; // a directory that is read-only has no collector
    }

    [[nodiscard]] bool busy() const { return m_busy; }

  private:
    trace::Descriptor m_directory;
    collector::DirectoryLock m_lock;
    bool m_busy = false;
};

void warn_of_unlisted(const std::string& session, Context context) {
    const auto manifest = formats::dat::load_manifest(session);
    const std::size_t files = manifest ? formats::dat::unlisted_files(session, manifest.value()).size() : 0;
    if (files != 0) {
        complain(context, fmt::format("{}: {} chunk file{} that manifest.json does not list {} left out: `remora adopt "
                                      "--force` lists them",
                                      text::escaped(session), files, files == 1 ? "" : "s", files == 1 ? "is" : "are"));
    }
}

// Raises the limit of open files, because every session that is published is open.
void allow_many_files() {
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        static_cast<void>(::setrlimit(RLIMIT_NOFILE, &files)); // if it fails, some sessions look busy
    }
}

// Runs until everything is published, the server is unreachable for too long, or the user wants to stop.
SpoolPublisher::Step publish_all(SpoolPublisher& spool, std::chrono::milliseconds patience) {
    Clock::time_point answered = Clock::now();
    while (true) {
        const SpoolPublisher::Step step = spool.step();
        const Clock::time_point now = Clock::now();
        if (step != SpoolPublisher::Step::away) {
            answered = now;
        }
        if (step == SpoolPublisher::Step::idle || step == SpoolPublisher::Step::refused || now - answered >= patience ||
            stop_requested() != 0) {
            return step;
        }
        if (step == SpoolPublisher::Step::away) {
            std::this_thread::sleep_for(kRetry);
        }
    }
}

std::string counted(std::uint64_t number, std::string_view one) {
    return fmt::format("{} {}{}", number, one, number == 1 ? "" : "s");
}

void report_left(const PublishOptions& options, const SpoolPublisher& spool, Context context) {
    const std::vector<std::string> left = spool.left();
    if (left.empty()) {
        return;
    }
    std::string names;
    std::string name_options; // without these, sessions of which nothing is published yet would get other names
    for (const std::string& session : left) {
        names += ' ' + text::escaped(session);
    }
    for (const auto& [option, value] : {std::pair("--site", &options.site), std::pair("--node", &options.node)}) {
        name_options += value->empty() ? "" : fmt::format(" {} {}", option, *value);
    }
    complain(context, fmt::format("{} not published as a whole; `remora publish{} --to {}{}` continues",
                                  counted(left.size(), "session") + (left.size() == 1 ? " is" : " are"), names,
                                  fleet::shown_address(options.to), name_options));
}

ExitStatus publish_sessions(const PublishOptions& options, const fleet::Credentials& credentials, Context context) {
    std::vector<fleet::FoundSession> sessions;
    for (const std::string& place : options.sessions) {
        const auto found = fleet::sessions_below(place);
        if (found.empty()) {
            return complain(context, fmt::format("{} is neither a session nor a directory of sessions: it holds no "
                                                 "manifest.json; of Ntrace.dat files, `remora adopt` makes a session",
                                                 text::escaped(place)));
        }
        sessions.insert(sessions.end(), found.begin(), found.end());
    }
    SpoolPublisher spool([&] { return fleet::nats_outlet(options.to, credentials); },
                         [context](std::string_view line) { complain(context, line); });
    allow_many_files();
    std::vector<std::unique_ptr<Guard>> guards;
    std::size_t recorded = 0;
    for (const auto& [session, names] : sessions) {
        guards.push_back(std::make_unique<Guard>(session));
        const bool busy = guards.back()->busy();
        recorded += busy ? 1U : 0U;
        if (!busy) {
            warn_of_unlisted(session, context);
        }
        spool.add(session,
                  node_for(session, options.site.empty() ? names.site : options.site,
                           options.node.empty() ? names.node : options.node),
                  !busy);
    }
    catch_stop_signals();
    const auto step = publish_all(spool, duration(options.wait_s).value_or(std::chrono::milliseconds{0}));
    if (step == SpoolPublisher::Step::away || step == SpoolPublisher::Step::refused) {
        complain(context, spool.why());
    }
    const SpoolPublisher::Counts& counts = spool.counts();
    context.out.print("{}, {}, {} published; {} there already\n", counted(counts.chunks, "chunk"),
                      counted(counts.bytes, "byte"), counted(counts.sessions, "session"), counts.before);
    if (recorded != 0) {
        complain(context, fmt::format("{} still recorded: what is sealed is published, the rest when it has ended",
                                      counted(recorded, "session") + (recorded == 1 ? " is" : " are")));
    }
    report_left(options, spool, context);
    const bool whole = step == SpoolPublisher::Step::idle && spool.left().empty() && counts.differing == 0 &&
                       counts.undescribed == 0 && recorded == 0;
    return whole ? ExitStatus::clean : ExitStatus::damaged;
}

ExitStatus publish(const PublishOptions& options, Context context) {
    if (options.sessions.empty() && !options.follow) {
        return complain(context, "a SESSION is required: a session directory, or a directory of sessions");
    }
    const auto credentials = credentials_of(options.server);
    if (!credentials) {
        return complain(context, credentials.error().text);
    }
    const auto wait = duration(options.wait_s).value_or(std::chrono::milliseconds{0});
    if (options.follow) {
        return follow_recorder({.to = options.to, .wait = wait}, credentials.value(), context);
    }
    return publish_sessions(options, credentials.value(), context);
}

} // namespace

void add_publish(CommandLine& line, Context context) {
    Command command = line.command("publish", "publish sessions to a server of NATS, for a fleet");
    const auto options = std::make_shared<PublishOptions>();
    command.option("SESSION", options->sessions,
                   "session directories, or directories of sessions, also as NODE/SESSION or SITE/NODE/SESSION");
    command.option("--to", options->to, "server: nats://HOST[:PORT] or tls://HOST[:PORT], several with commas")
        .required()
        .check(check_nats);
    command
        .option("--site", options->site,
                "name of the site in the fleet; as its directory or an earlier publisher named it, else default")
        .check(check_name);
    command.option("--node", options->node, "name of the machine; likewise, else the name of this host")
        .check(check_name);
    command.option("--wait", options->wait_s, "how many seconds a server that does not answer is waited for; 10")
        .check(check_seconds);
    command.flag("--follow", options->follow,
                 "publish what standard input announces: for remora record --publish, which starts it");
    add_server_options(command, options->server);
    command.footer(examples({"remora publish out/udp --to nats://127.0.0.1 --site lab --node board-7",
                             "remora publish out/sessions --to tls://nats.example.org --creds fleet.creds"}) +
                   "Exit status 2: something is not published; it stays where it is, and the same command continues\n");
    command.run([options, context] { return publish(*options, context); });
}

} // namespace host::cli
