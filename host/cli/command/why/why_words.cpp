// SPDX-License-Identifier: MIT
// Describes culprits and causes in words.
#include "host/cli/command/time_text.hpp"
#include "host/cli/command/why/why_view.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/trace/value_text.hpp"
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
using schedule::By;
using schedule::Culprit;
using schedule::Part;
using tracer::Unit;

constexpr std::size_t kNamesMax = 3;
constexpr std::size_t kNameBytes = 40;
constexpr std::uint64_t kMeanwhileLeast = 10; // part of a wait
constexpr std::uint32_t kKindShift = 16;      // of the parameter of task_block

std::string name_of(const trace::Names& names, Unit unit, std::uint32_t number, std::string_view kind) {
    const std::string_view name = number < schedule::kContexts ? names.find(unit, number) : std::string_view();
    return name.empty() ? fmt::format("{} {}", kind, number) : text::escaped(name.substr(0, kNameBytes));
}

std::string task_of(const trace::Names& names, std::uint32_t context) {
    return context == schedule::kUnknownContext ? "an unknown task" : name_of(names, Unit::context, context, "context");
}

std::string mutex_of(const trace::Names& names, std::uint32_t mutex) {
    return mutex == 0 ? "a mutex" : "the mutex " + trace::name_or_number(names, Unit::mutex, mutex);
}

std::string interrupt_of(const trace::Names& names, std::uint32_t vector) {
    if (vector == schedule::kTimerHandler) {
        return "the timer's interrupt";
    }
    const std::string_view name = names.find(Unit::vector, vector);
    return fmt::format("interrupt {}{}", vector,
                       name.empty() ? "" : fmt::format(" ({})", text::escaped(name.substr(0, kNameBytes))));
}

std::string server_of(const trace::Names& names, std::uint32_t server) {
    return "server " + trace::name_or_number(names, Unit::server, server);
}

std::string executor_of(const trace::Names& names, const schedule::Executor& executor) {
    switch (executor.by) {
    case By::task:
    case By::section:
    case By::kernel:
        return task_of(names, executor.who);
    case By::interrupt:
        return interrupt_of(names, executor.who);
    case By::unknown:
    case By::self:
    case By::throttling:
    case By::backlog:
        break;
    }
    return "an unknown task";
}

std::string waiting(const trace::Names& names, const Culprit& culprit) {
    std::string text =
        fmt::format("waited for {} of {}", mutex_of(names, culprit.object), task_of(names, culprit.holder));
    if (culprit.end_waits != 0) {
        return text + fmt::format(", and {} for {}", task_of(names, culprit.chain_end),
                                  trace::wait_text(names, culprit.end_waits));
    }
    if (culprit.by == By::task) {
        return culprit.who == culprit.holder ? text + ", which ran"
                                             : text + fmt::format(", while {} ran", task_of(names, culprit.who));
    }
    return text;
}

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
            const std::string held = fmt::format("{} held {} and waited for {}", who, mutex_of(m_names, finding.object),
                                                 trace::wait_text(m_names, finding.wait));
            return {fmt::format("a lock held across a wait: for {} {}", m_took, held),
                    fmt::format("the {} for which {}", m_took, held)};
        }
        case Cause::own_overrun:
            return {fmt::format("an overrun: the job executed {} and declares {}",
                                time(m_job.account.part(Part::execution)), declared(finding.who)),
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
            return {fmt::format("a critical section: it waited {} for {}, while {} ran{}", m_took,
                                mutex_of(m_names, finding.object), who, protocol()),
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

    // Returns the protocol of the mutex in words; empty if it is not recorded.
    [[nodiscard]] std::string protocol() const {
        const auto found = m_job.protocols.find(m_finding.object);
        return found != m_job.protocols.end() && found->second ? fmt::format(" (protocol {})", word(*found->second))
                                                               : "";
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
        const auto found = m_job.protocols.find(m_finding.object);
        const bool none = found != m_job.protocols.end() && found->second == lib::MutexProtocol::none;
        const std::string ran = fmt::format("{} ran while {} held {}", names(m_finding.tasks),
                                            task_of(m_names, m_finding.who), mutex_of(m_names, m_finding.object));
        return {fmt::format("priority inversion without bound: for {} {}{}", m_took, ran,
                            none ? ", which has no inheritance (protocol none)" : protocol()),
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
        const std::string has =
            facts && facts->period_ns != 0
                ? fmt::format("{} has {} every {}", server, time_ns(facts->capacity_ns), time_ns(facts->period_ns))
                : server + " is short of budget";
        std::string what =
            fmt::format("the budget: {}, and the job executed {}", has, time(m_job.account.part(Part::execution)));
        if (facts && facts->exhausted != 0 && !throttled()) {
            what += fmt::format("; used up {} times, its deadline postponed each time", facts->exhausted);
            return {what, m_finding.decisive
                              ? fmt::format("the {} by which its budget is below what it executed", shortage())
                              : fmt::format("the {} for which others ran after that", m_took)};
        }
        return {what, fmt::format("the {} for which {} had no budget", m_took, server)};
    }

    [[nodiscard]] bool throttled() const { return m_job.share_of(Part::interference, By::throttling) > lib::Ticks{}; }

    // Returns how much it executed beyond its budget before its first deadline.
    [[nodiscard]] std::string shortage() const {
        const lib::Ticks executed = m_job.account.part(Part::execution);
        const lib::Ticks budget =
            m_khz != 0 ? lib::TickRate{m_khz}.to_ticks({m_job.server->capacity_ns}) : lib::Ticks{};
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
            const std::string object = trace::wait_text(m_names, m_finding.object);
            return {fmt::format("a wait: it waited {} for {}{}{}", m_took, object, end_of_wait(), meanwhile()),
                    fmt::format("the {} for which it waited for {}", m_took, object)};
        }
        case Cause::tracing:
            return {fmt::format("tracing: {} records cost about {}", grouped(m_job.account.records), m_took),
                    without + "tracing"};
        case Cause::load:
            return {fmt::format("load: tasks that precede it ran for {}: {}", m_took, names(m_finding.tasks)),
                    without + names(m_finding.tasks)};
        case Cause::execution:
            return {fmt::format("its own execution: {}", m_took), without + "its own execution"};
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
        return {m_finding.object != 0 ? fmt::format("not known: it waited {} for {}, and no record says who held it",
                                                    m_took, mutex_of(m_names, m_finding.object))
                                      : fmt::format("not known: no record says what ran for {}", m_took),
                without + "what is not known"};
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

std::string text_of(const trace::Names& names, const Culprit& culprit) {
    if (culprit.part == Part::blocking) {
        return waiting(names, culprit);
    }
    if (culprit.part == Part::suspension) {
        return "waited for " + trace::wait_text(names, culprit.object);
    }
    const std::string late = culprit.part == Part::jitter ? "release recorded late: " : "";
    switch (culprit.by) {
    case By::self:
        return "executed";
    case By::task:
        return late + task_of(names, culprit.who) + " ran";
    case By::interrupt:
        return late + interrupt_of(names, culprit.who);
    case By::kernel:
        return late + "the kernel, in " + task_of(names, culprit.who);
    case By::section:
        return late + task_of(names, culprit.who) + " had interrupts off";
    case By::throttling:
        return server_of(names, culprit.who) + " had no budget";
    case By::backlog:
        return "the job before was not complete";
    case By::unknown:
        break;
    }
    return late + "not known what ran";
}

} // namespace host::cli
