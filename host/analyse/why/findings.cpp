// SPDX-License-Identifier: MIT
#include "host/analyse/why/findings.hpp"

#include "host/analyse/why/replay.hpp"

#include <algorithm>

namespace host::analyse::why {

namespace {

using Role = Item::Role;
using schedule::By;

std::span<const Item> items_of(const JobCase& job) {
    return job.window ? std::span<const Item>(*job.window) : std::span<const Item>();
}

bool is_own(const Item& item, std::uint64_t of_job) {
    return item.role == Role::own && item.job == of_job;
}

// How much of the item belongs to the finding.
lib::Ticks part_of(const Item& item, const Finding& finding, std::uint64_t of_job) {
    const bool same_job = item.job == of_job;
    const auto whole = [&](bool condition) { return condition ? item.length() : lib::Ticks{}; };
    switch (finding.cause) {
    case Cause::own_overrun:
        return is_own(item, of_job) ? item.excess : lib::Ticks{};
    case Cause::others_overrun:
        return item.role != Role::note && !is_own(item, of_job) && item.executor.who == finding.who &&
                       item.executor.by != By::interrupt
                   ? item.excess
                   : lib::Ticks{};
    case Cause::interrupt_load:
        return whole(item.cause == Cause::interrupt_load && item.who == finding.who);
    case Cause::priority_order:
        return whole(item.later && item.cause == Cause::load);
    case Cause::load:
        return whole(item.role == Role::preceding && item.cause == Cause::load && item.for_wait == 0);
    case Cause::server_budget:
        return whole((item.cause == Cause::server_budget && item.who == finding.who) ||
                     (item.postponed && same_job && item.role == Role::preceding && item.cause == Cause::load));
    case Cause::late_event:
        return whole(same_job && ((item.cause == Cause::late_event && item.object == finding.object) ||
                                  (item.for_wait != 0 && item.for_wait == finding.object)));
    case Cause::missing_inheritance:
    case Cause::lock_across_wait:
    case Cause::interrupts_off:
    case Cause::critical_section:
    case Cause::unknown:
        return whole(same_job && item.cause == finding.cause && item.who == finding.who &&
                     item.object == finding.object);
    case Cause::execution:
    case Cause::kernel:
        return whole(same_job && item.cause == finding.cause && item.begin < item.end);
    case Cause::tracing:
        break;
    }
    return {};
}

class Findings {
  public:
    Findings(const JobCase& job, double ticks_per_record)
        : m_job(job)
        , m_number(job.account.job.number) {
        std::ranges::for_each(items_of(job), [this](const Item& item) { take(item); });
        if (ticks_per_record > 0) {
            const auto cost = static_cast<double>(job.account.records) * ticks_per_record;
            m_all.push_back({.cause = Cause::tracing, .took = {static_cast<std::uint64_t>(cost)}});
        }
        for (Finding& finding : m_all) {
            finding.gain = gain_without(job, std::span(&finding, 1), m_number);
        }
        name_server();
        std::erase_if(m_all, [](const Finding& finding) { return finding.gain == lib::Ticks{} && !finding.decisive; });
    }

    [[nodiscard]] std::vector<Finding> take_all() { return std::move(m_all); }

  private:
    // The finding of this cause and culprit.
    Finding& at(Cause cause, std::uint32_t who = schedule::kUnknownContext, std::uint32_t object = 0) {
        const auto found = std::ranges::find_if(m_all, [&](const Finding& finding) {
            return finding.cause == cause && finding.who == who && finding.object == object;
        });
        return found != m_all.end() ? *found
                                    : m_all.emplace_back(Finding{.cause = cause, .who = who, .object = object});
    }

    static void add(Finding& finding, const Item& item, lib::Ticks ticks) {
        finding.took = finding.took + ticks;
        if (item.length() > finding.longest) {
            finding.longest = item.length();
            finding.place = item.place;
            finding.ended_by = item.ended_by;
        }
    }

    void take(const Item& item) {
        take_excess(item);
        if (item.job != m_number || item.quiet || item.begin >= item.end) {
            return;
        }
        const bool by_object = item.cause == Cause::late_event || item.cause == Cause::critical_section ||
                               item.cause == Cause::missing_inheritance || item.cause == Cause::lock_across_wait ||
                               item.cause == Cause::unknown;
        const bool by_culprit = by_object || item.cause == Cause::interrupts_off ||
                                item.cause == Cause::interrupt_load || item.cause == Cause::server_budget;
        if (item.cause == Cause::execution) {
            add(at(Cause::execution), item, item.length() - item.excess);
            return;
        }
        Finding& finding = by_culprit ? at(item.cause, item.who, by_object ? item.object : 0) : at(item.cause);
        finding.wait = item.wait != 0 ? item.wait : finding.wait;
        add(finding, item, item.length());
        if (item.cause == Cause::load || item.cause == Cause::missing_inheritance) {
            finding.tasks.push_back(item.executor.who);
        }
        if (item.later && item.cause == Cause::load) {
            Finding& order = at(Cause::priority_order);
            add(order, item, item.length());
            order.tasks.push_back(item.executor.who);
        }
        if (item.postponed && item.cause == Cause::load) {
            add(at(Cause::server_budget, m_job.server ? m_job.server->id : 0U), item, item.length());
        }
    }

    void take_excess(const Item& item) {
        if (item.excess == lib::Ticks{} || item.role == Role::note) {
            return;
        }
        const bool own = is_own(item, m_number);
        Finding& finding = at(own ? Cause::own_overrun : Cause::others_overrun, item.executor.who);
        add(finding, item, item.excess);
        finding.greatest = std::max(finding.greatest, item.total);
        if (item.begin < m_job.account.job.release.ticks && !finding.since) {
            finding.since = item.end - item.excess;
        }
    }

    void name_server() {
        const bool used_up = m_job.server && m_job.server->exhausted != 0;
        for (Finding& finding : m_all) {
            finding.decisive = finding.cause == Cause::server_budget && used_up &&
                               m_job.account.part(schedule::Part::suspension) == lib::Ticks{};
        }
    }

    const JobCase& m_job;
    std::uint64_t m_number;
    std::vector<Finding> m_all;
};

} // namespace

lib::Ticks gain_without(const JobCase& job, std::span<const Finding> findings, std::uint64_t of_job) {
    const std::span<const Item> items = items_of(job);
    const lib::Ticks end = end_without(items, [](const Item&) { return lib::Ticks{}; });
    const lib::Ticks without = end_without(items, [&](const Item& item) {
        lib::Ticks most{};
        for (const Finding& finding : findings) {
            most = std::max(most, part_of(item, finding, of_job));
        }
        return most;
    });
    lib::Ticks gain = end > without ? end - without : lib::Ticks{};
    for (const Finding& finding : findings) {
        gain = finding.cause == Cause::tracing ? gain + finding.took : gain;
    }
    return gain;
}

std::vector<Finding> find_causes(const JobCase& job, double ticks_per_record) {
    return Findings(job, ticks_per_record).take_all();
}

} // namespace host::analyse::why
