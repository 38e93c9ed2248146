// SPDX-License-Identifier: MIT
// Describes causes in words.
#include "host/cli/command/time_text.hpp"
#include "host/cli/command/why/why_view.hpp"
#include "host/text/format.hpp"
#include "lib/wire_numbers.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace host::cli {

namespace {

using analyse::why::Cause;
using analyse::why::Finding;
using analyse::why::Item;
using analyse::why::JobCase;
using analyse::why::Link;
using schedule::By;
using schedule::Part;
using tracer::Unit;

constexpr std::size_t kNamesMax = 3;
constexpr std::uint64_t kMeanwhileLeast = 10; // part of a wait
constexpr std::uint32_t kKindShift = 16;      // of the parameter of task_block

class Words {
  public:
    Words(const WhyView& view, const ExplainedJob& explained, const Finding& finding)
        : m_names(*explained.job.names)
        , m_job(explained.job)
        , m_finding(finding)
        , m_khz(view.trace.facts().clock.khz)
        , m_took(time(finding.took)) {}

    [[nodiscard]] FindingText text() const {
        const Finding& finding = m_finding;
        const std::string who = task_of(m_names, finding.who);
        switch (finding.cause) {
        case Cause::missing_inheritance:
            return missing_inheritance();
        case Cause::lock_across_wait: {
            const std::string held = fmt::format("{} held {} and {}", who, mutex_of(m_names, finding.object),
                                                 wait_of(m_names, finding.wait));
            return {fmt::format("a lock held across a wait: for {} {}{}", m_took, held, beyond_the_first()),
                    fmt::format("the {} for which {}", m_took, held)};
        }
        case Cause::own_overrun:
            return {fmt::format("an overrun: the job executed {} and declares {}{}",
                                time(m_job.account.part(Part::execution)), declared(finding.who), handlers()),
                    fmt::format("the {} that it executed beyond that", m_took)};
        case Cause::others_overrun:
            return others_overrun();
        case Cause::server_budget:
            return server_budget();
        case Cause::priority_order:
            return {fmt::format("the order of priorities: tasks with later deadlines preceded it for {}: {}", m_took,
                                names(finding.tasks)),
                    fmt::format("the {} of jobs with later deadlines (earliest deadline first)", m_took)};
        case Cause::interrupts_off:
            return {fmt::format("interrupts off: {} kept them off for {}, {} in one piece{}", who, m_took,
                                time(finding.longest), has_section() ? "" : " (CLI_STI=ON records the sections)"),
                    fmt::format("the {} for which {} kept interrupts off", m_took, who)};
        case Cause::critical_section:
            return {fmt::format("a critical section: it waited {} for {}, while {} ran{}", m_took, way_to_mutex(), who,
                                protocol()),
                    fmt::format("the {} for which {} ran with {}", m_took, who, mutex_of(m_names, finding.object))};
        case Cause::interrupt_load:
        case Cause::late_event:
        case Cause::tracing:
        case Cause::load:
        case Cause::execution:
        case Cause::kernel:
        case Cause::unknown:
            break;
        }
        return expected();
    }

  private:
    [[nodiscard]] std::string time(lib::Ticks ticks) const {
        return Times(m_khz).text(ticks) + (m_khz == 0 ? " ticks" : "");
    }

    [[nodiscard]] static std::string time_ns(std::uint64_t ns) { return Times(1'000'000).text({ns}); }

    [[nodiscard]] std::string declared(std::uint32_t context) const {
        const auto found = m_job.declared_ns.find(context);
        return found != m_job.declared_ns.end() ? time_ns(found->second) : "nothing";
    }

    // Returns the link of the finding's mutex in the chain; null if there is none.
    [[nodiscard]] const Link* link() const {
        const Link* found = nullptr;
        for (std::size_t i = 0; m_finding.chain && found == nullptr && i < m_finding.chain->size(); ++i) {
            const Link& one = (*m_finding.chain)[i];
            found = one.mutex == m_finding.object ? &one : nullptr;
        }
        return found;
    }

    // Returns the protocol of the mutex; none if it is not recorded.
    [[nodiscard]] std::optional<lib::MutexProtocol> known_protocol() const {
        const Link* const own = link();
        return own != nullptr ? own->protocol : std::nullopt;
    }

    // Returns the protocol of the mutex in words; empty if it is not recorded.
    [[nodiscard]] std::string protocol() const {
        const auto known = known_protocol();
        return known ? fmt::format(" (protocol {})", word(*known)) : "";
    }

    // Returns the finding's mutex, after those through which the job waits for it: "the mutex a of t1, which waited for
    // the mutex b".
    [[nodiscard]] std::string way_to_mutex() const {
        const Link* const own = link();
        std::string text;
        for (std::size_t i = 0; own != nullptr && &(*m_finding.chain)[i] != own; ++i) {
            const Link& before = (*m_finding.chain)[i];
            text += fmt::format("{} of {}, which waited for ", mutex_of(m_names, before.mutex),
                                task_of(m_names, before.holder));
        }
        return text + mutex_of(m_names, m_finding.object);
    }

    // Returns how the job came to wait for the finding's mutex, if it did not ask for that one itself.
    [[nodiscard]] std::string beyond_the_first() const {
        const Link* const own = link();
        return own == nullptr || own == m_finding.chain->data()
                   ? ""
                   : fmt::format("; the job waited for {}", way_to_mutex());
    }

    [[nodiscard]] std::string names(const std::vector<std::uint32_t>& tasks) const {
        std::string text;
        std::vector<std::uint32_t> shown;
        for (const std::uint32_t task : tasks) {
            if (std::ranges::find(shown, task) == shown.end() && shown.size() < kNamesMax) {
                text += (shown.empty() ? "" : ", ") + task_of(m_names, task);
                shown.push_back(task);
            }
        }
        return text + (tasks.size() > kNamesMax && shown.size() == kNamesMax ? ", ..." : "");
    }

    [[nodiscard]] bool has_section() const {
        return std::ranges::any_of(m_job.account.shares, [this](const schedule::Share& share) {
            return share.culprit.by == By::section && share.culprit.who == m_finding.who;
        });
    }

    [[nodiscard]] FindingText missing_inheritance() const {
        const bool none = known_protocol() == lib::MutexProtocol::none;
        const std::string ran = fmt::format("{} ran while {} held {}", names(m_finding.tasks),
                                            task_of(m_names, m_finding.who), mutex_of(m_names, m_finding.object));
        return {fmt::format("priority inversion without bound: for {} {}{}{}", m_took, ran,
                            none ? ", which has no inheritance (protocol none)" : protocol(), beyond_the_first()),
                fmt::format("the {} for which {}", m_took, ran)};
    }

    [[nodiscard]] FindingText others_overrun() const {
        const bool own = m_finding.who == m_job.account.job.context;
        const std::string since =
            m_finding.since ? " since " + moment(*m_finding.since) : std::string(" within the job");
        return {fmt::format("an overrun: {}{} declares {} and executed {}", own ? "an earlier job of " : "",
                            task_of(m_names, m_finding.who), declared(m_finding.who), time(m_finding.greatest)),
                fmt::format("the {} executed beyond that{}", m_took, since)};
    }

    // Returns a time of the trace as the distance from the end of the job.
    [[nodiscard]] std::string moment(lib::Ticks ticks) const {
        const schedule::Moment& end = *m_job.account.job.end;
        if (!end.ns || m_khz == 0) {
            return fmt::format("{} ticks", grouped(ticks.value));
        }
        const auto before = static_cast<double>(lib::TickRate{m_khz}.to_nanoseconds(end.ticks - ticks).value);
        return fmt::format("{:.2f} ms", (static_cast<double>(*end.ns) - before) / 1e6);
    }

    [[nodiscard]] FindingText server_budget() const {
        const std::string server = server_of(m_names, m_finding.who);
        const auto& facts = m_job.server;
        const lib::Ticks executed = m_job.account.part(Part::execution);
        const std::string has =
            facts && facts->period_ns != 0
                ? fmt::format("{} has {} every {}", server, time_ns(facts->capacity_ns), time_ns(facts->period_ns))
                : server + " is short of budget";
        std::string what = fmt::format("the budget: {}, {}the job executed {}", has, at_release(), time(executed));
        if (facts && facts->exhausted != 0 && !throttled()) {
            what += fmt::format("; used up {} times, its deadline postponed each time", facts->exhausted);
            return {what, m_finding.decisive
                              ? fmt::format("the {} by which its budget is below what it executed", shortage())
                              : fmt::format("the {} for which others ran after that", m_took)};
        }
        return {what, fmt::format("the {} for which {} had no budget", m_took, server)};
    }

    // Returns what the server had left at the release, if requests before this one had used a part of its budget, or if
    // it had polled in vain; else only how the sentence continues.
    [[nodiscard]] std::string at_release() const {
        const auto& facts = m_job.server;
        if (!facts || !facts->left || m_khz == 0 || facts->capacity_ns == 0) {
            return "and ";
        }
        if (*facts->left == lib::Ticks{} && facts->found_none && facts->kind == lib::ServerKind::polling) {
            return fmt::format("had polled at {}, before the release, and found no request; ",
                               moment(*facts->found_none));
        }
        if (*facts->left < lib::TickRate{m_khz}.to_ticks({facts->capacity_ns})) {
            return fmt::format("of which requests before this one had left {}; ", time(*facts->left));
        }
        return throttled() && m_job.account.part(Part::execution) <= *facts->left
                   ? "which it also gave to other requests; "
                   : "and ";
    }

    // Returns the handlers of signals and exceptions whose time is in that of the job.
    [[nodiscard]] std::string handlers() const {
        std::string text;
        for (const auto& [number, count] : m_job.handlers) {
            const bool exception = (number & analyse::why::kExceptionHandlers) != 0;
            const auto which = lib::number_from<lib::TaskException>(number & 0xFFFF);
            text += fmt::format("{} {}{}", text.empty() ? "; with what handled" : ",",
                                exception ? fmt::format("the exception {}", which ? lib::word(*which) : "")
                                          : fmt::format("signal {}", number),
                                count == 1 ? "" : fmt::format(" ({} times)", grouped(count)));
        }
        return text;
    }

    [[nodiscard]] bool throttled() const { return m_job.share_of(Part::interference, By::throttling) > lib::Ticks{}; }

    // Returns how much it executed beyond its budget before its first deadline.
    [[nodiscard]] std::string shortage() const {
        const lib::Ticks executed = m_job.account.part(Part::execution);
        const lib::Ticks capacity =
            m_khz != 0 ? lib::TickRate{m_khz}.to_ticks({m_job.server->capacity_ns}) : lib::Ticks{};
        const lib::Ticks budget = std::min(capacity, m_job.server->left.value_or(capacity));
        return time(executed > budget ? executed - budget : executed);
    }

    [[nodiscard]] std::string end_of_wait() const {
        if (m_job.unended_wait && m_job.unended_wait->culprit.object == m_finding.object) {
            return fmt::format(", which nothing ended before {} {}", executor_of(m_names, m_job.unended_wait->ended_by),
                               m_job.account.job.outcome == schedule::Outcome::ended ? "ended the task"
                                                                                     : "aborted the job");
        }
        const bool delay = m_finding.object >> kKindShift == static_cast<std::uint32_t>(lib::WaitKind::delay);
        return fmt::format(", until {} ended that{}", executor_of(m_names, m_finding.ended_by),
                           delay ? " (how long a delay it asked for is not recorded)" : "");
    }

    [[nodiscard]] std::string by_whom() const {
        return m_finding.begun_by.by != By::unknown ? " by " + executor_of(m_names, m_finding.begun_by) : "";
    }

    // Returns the tasks that ran the longest during the wait: one of them may keep the task that ends the wait from
    // running.
    [[nodiscard]] std::string meanwhile() const {
        std::map<std::uint32_t, lib::Ticks> ran;
        const std::span<const Item> items =
            m_job.window ? std::span<const Item>(*m_job.window) : std::span<const Item>();
        for (const Item& wait : items) {
            if (wait.cause != Cause::late_event || wait.quiet || wait.object != m_finding.object ||
                wait.job != m_job.account.job.number) {
                continue;
            }
            for (const Item& item : items) {
                const lib::Ticks begin = std::max(wait.begin, item.begin);
                const lib::Ticks end = std::min(wait.end, item.end);
                if (&item != &wait && item.executor.by == By::task && begin < end) {
                    ran[item.executor.who] = ran[item.executor.who] + (end - begin);
                }
            }
        }
        std::erase_if(ran, [this](const auto& one) {
            return one.second.value < m_finding.took.value / kMeanwhileLeast ||
                   m_names.find(Unit::context, one.first) == "idle";
        });
        std::vector<std::pair<std::uint32_t, lib::Ticks>> longest(ran.begin(), ran.end());
        std::ranges::stable_sort(longest, std::ranges::greater{}, &std::pair<std::uint32_t, lib::Ticks>::second);
        std::string text;
        for (std::size_t i = 0; i < std::min(longest.size(), kNamesMax); ++i) {
            text += fmt::format("{} {} ran {}", i == 0 ? "; meanwhile" : ",", task_of(m_names, longest[i].first),
                                time(longest[i].second));
        }
        return text;
    }

    // Returns the texts of a finding that is not a fault by itself.
    [[nodiscard]] FindingText expected() const {
        const std::string without = fmt::format("the {} of ", m_took);
        switch (m_finding.cause) {
        case Cause::interrupt_load: {
            const std::string interrupt = interrupt_of(m_names, m_finding.who);
            const auto count = m_job.interrupts.find(m_finding.who);
            const std::string came = count == m_job.interrupts.end() ? " had begun before the release"
                                     : count->second == 1            ? " came once"
                                                          : fmt::format(" came {} times", grouped(count->second));
            return {fmt::format("interrupts: {}{} and took {}", interrupt, came, m_took), without + interrupt};
        }
        case Cause::late_event: {
            const std::string waited = wait_of(m_names, m_finding.object) + by_whom();
            return {fmt::format("a wait: for {} it {}{}{}", m_took, waited, end_of_wait(), meanwhile()),
                    fmt::format("the {} for which it {}", m_took, waited)};
        }
        case Cause::tracing:
            return {fmt::format("tracing: {} records cost about {}", grouped(m_job.account.records), m_took),
                    without + "tracing"};
        case Cause::load:
            return {fmt::format("load: tasks that precede it ran for {}: {}", m_took, names(m_finding.tasks)),
                    without + names(m_finding.tasks)};
        case Cause::execution:
            return {fmt::format("its own execution: {}{}", m_took, handlers()), without + "its own execution"};
        case Cause::kernel:
            return {fmt::format("the kernel: switches and decisions took {}", m_took), without + "the kernel"};
        case Cause::missing_inheritance:
        case Cause::lock_across_wait:
        case Cause::own_overrun:
        case Cause::others_overrun:
        case Cause::server_budget:
        case Cause::priority_order:
        case Cause::interrupts_off:
        case Cause::critical_section:
        case Cause::unknown:
            break;
        }
        return {not_known(), without + "what is not known"};
    }

    [[nodiscard]] std::string not_known() const {
        if (m_finding.object == 0) {
            return fmt::format("not known: no record says what ran for {}", m_took);
        }
        const bool held = m_finding.chain && m_finding.chain->back().holder != schedule::kUnknownContext;
        return fmt::format("not known: it waited {} for {}, and no record says {}", m_took, way_to_mutex(),
                           held ? "what ran" : "who held it");
    }

    const trace::Names& m_names;
    const JobCase& m_job;
    const Finding& m_finding;
    std::uint32_t m_khz;
    std::string m_took;
};

} // namespace

FindingText text_of(const WhyView& view, const ExplainedJob& explained, const Finding& finding) {
    return Words(view, explained, finding).text();
}

} // namespace host::cli
