// SPDX-License-Identifier: MIT
#include "fleet/command/publish_follower.hpp"

#include "fleet/network/network.hpp"
#include "fleet/session_publisher.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/text/list.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <unistd.h>
#include <utility>

namespace host::cli {

namespace {

using fleet::SpoolPublisher;
using trace::ExitStatus;
using Clock = std::chrono::steady_clock;

constexpr auto kWords = std::to_array<std::string_view>({"opened", "closed", "end"});

constexpr std::chrono::milliseconds kRetryFirst{250};
constexpr std::chrono::milliseconds kRetryLast{5000};
// A session that is recorded is checked for more at this interval.
constexpr std::chrono::milliseconds kIdle{250};

class Follower {
  public:
    Follower(const FollowOptions& options, const fleet::Credentials& credentials, Context context)
        : m_options(options)
        , m_context(context)
        , m_spool([this, &credentials] { return fleet::nats_outlet(m_options.to, credentials); },
                  [this](std::string_view line) { report(line); }) {}

    [[nodiscard]] ExitStatus run() {
        while (true) {
            const SpoolPublisher::Step step = Clock::now() >= m_next_attempt ? m_spool.step() : m_last;
            note(step);
            announce_published();
            if (step == SpoolPublisher::Step::refused) {
                report(m_spool.why());
                return ExitStatus::usage;
            }
            if (m_recorder_gone) {
                if (step == SpoolPublisher::Step::idle) {
                    break;
                }
                if (step == SpoolPublisher::Step::away && Clock::now() >= m_deadline) {
                    report(m_spool.why());
                    break;
                }
            }
            if (step == SpoolPublisher::Step::idle) {
                m_spool.look_again();
            }
            read(step == SpoolPublisher::Step::more ? std::chrono::milliseconds{0} : pause());
        }
        const SpoolPublisher::Counts& counts = m_spool.counts();
        const bool whole =
            m_ended && m_spool.left().empty() && counts.differing == 0 && counts.undescribed == 0 && counts.failed == 0;
        return whole ? ExitStatus::clean : ExitStatus::damaged;
    }

  private:
    void report(std::string_view line) {
        m_context.err.print("remora record: {}\n", line);
        m_context.err.flush();
    }

    void note(SpoolPublisher::Step step) {
        const bool away = step == SpoolPublisher::Step::away;
        if (away && Clock::now() >= m_next_attempt) {
            m_delay = std::clamp(m_delay * 2, kRetryFirst, kRetryLast);
            m_next_attempt = Clock::now() + (m_recorder_gone ? kRetryFirst : m_delay);
        }
        if (away && m_last != SpoolPublisher::Step::away) {
            report(fmt::format("{}; until then the sessions wait on the disk", m_spool.why()));
        }
        if (step == SpoolPublisher::Step::more || step == SpoolPublisher::Step::idle) {
            if (m_last == SpoolPublisher::Step::away) {
                report("the server answers again");
            }
            m_delay = {};
        }
        m_last = step;
    }

    [[nodiscard]] std::chrono::milliseconds pause() const {
        if (m_last != SpoolPublisher::Step::away) {
            return kIdle;
        }
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(m_next_attempt - Clock::now());
        return std::clamp(left, std::chrono::milliseconds{0}, kRetryLast);
    }

    void announce_published() {
        for (const std::string& session : m_spool.take_finished()) {
            const std::string line = std::string(kPublishedWord) + session + '\n';
            static_cast<void>(::write(STDOUT_FILENO, line.data(), line.size())); // a failure means that the recorder
                                                                                 // has ended
        }
    }

    // Reads what the recorder sends within this time.
    void read(std::chrono::milliseconds wait) {
        if (m_recorder_gone) {
            ::poll(nullptr, 0, static_cast<int>(wait.count()));
            return;
        }
        pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
        if (::poll(&input, 1, static_cast<int>(wait.count())) <= 0) {
            return;
        }
        std::array<char, 65536> bytes{};
        const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
        if (count <= 0) {
            if (count == 0 || errno != EINTR) {
                end();
            }
            return;
        }
        m_input.append(bytes.data(), static_cast<std::size_t>(count));
        for (const std::string& line : text::take_lines(m_input)) {
            if (const auto notice = notice_of(line)) {
                take(*notice);
            }
        }
    }

    void take(const Notice& notice) {
        if (notice.kind == NoticeKind::end) {
            m_ended = true;
            return;
        }
        if (notice.kind == NoticeKind::opened) {
            if (const auto kept = fleet::announce_session(notice.session, notice.from); !kept) {
                report(kept.error().text);
            }
        }
        m_spool.add(notice.session, notice.from, notice.kind == NoticeKind::closed);
    }

    void end() {
        m_recorder_gone = true;
        m_deadline = Clock::now() + m_options.wait;
        m_next_attempt = {};
        if (m_ended) {
            m_spool.close_all();
        }
    }

    const FollowOptions& m_options;
    Context m_context;
    SpoolPublisher m_spool;
    std::string m_input;
    SpoolPublisher::Step m_last = SpoolPublisher::Step::idle;
    Clock::time_point m_next_attempt;
    std::chrono::milliseconds m_delay{};
    Clock::time_point m_deadline;
    bool m_ended = false;
    bool m_recorder_gone = false;
};

} // namespace

std::string notice_line(const Notice& notice) {
    const std::string_view word = kWords[static_cast<std::size_t>(notice.kind)];
    if (notice.kind == NoticeKind::end) {
        return std::string(word) + '\n';
    }
    if (notice.session.find('\n') != std::string::npos) {
        return {};
    }
    return fmt::format("{} {}/{} {}\n", word, notice.from.site, notice.from.node, notice.session);
}

std::optional<Notice> notice_of(std::string_view line) {
    std::string_view rest = line;
    const auto* const found = std::ranges::find(kWords, text::take_until(rest, " "));
    if (found == kWords.end()) {
        return std::nullopt;
    }
    Notice notice{.kind = static_cast<NoticeKind>(found - kWords.begin()), .from = {}, .session = {}};
    if (notice.kind == NoticeKind::end) {
        return line == *found ? std::optional(notice) : std::nullopt;
    }
    std::string_view node = text::take_until(rest, " ");
    notice.from.site = text::take_until(node, "/");
    notice.from.node = node;
    notice.session = rest;
    return fleet::is_name(notice.from.site) && fleet::is_name(notice.from.node) && !rest.empty() ? std::optional(notice)
                                                                                                 : std::nullopt;
}

ExitStatus follow_recorder(const FollowOptions& options, const fleet::Credentials& credentials, Context context) {
    // Signals to the whole group are ignored, because the recorder decides when to end.
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
        static_cast<void>(std::signal(signal, SIG_IGN));
    }
    return Follower(options, credentials, context).run();
}

} // namespace host::cli
