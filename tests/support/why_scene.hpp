// SPDX-License-Identifier: MIT
// Records for the cause of a late job: tasks of fixed priorities, one of a server, one by deadline, and the idle task.
// One tick is one nanosecond. The whole result is shown as text.
#pragma once

#include "host/analyse/why/diagnosis.hpp"
#include "host/analyse/why/job_watch.hpp"
#include "host/text/format.hpp"
#include "host/trace/foreign.hpp"
#include "host/trace/names.hpp"
#include "lib/wire_numbers.hpp"

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace host::analyse::why {

inline constexpr std::uint32_t kKhz = 1'000'000;
inline constexpr std::uint16_t kIdle = 1;
inline constexpr std::uint16_t kLow = 3;
inline constexpr std::uint16_t kMiddle = 4;
inline constexpr std::uint16_t kHigh = 5;
inline constexpr std::uint16_t kServed = 6;
inline constexpr std::uint16_t kDated = 7; // by deadlines, after the fixed priorities
inline constexpr std::uint16_t kTimer = 32;

constexpr std::uint32_t wait_word(lib::WaitKind kind, std::uint32_t object) {
    return static_cast<std::uint32_t>(kind) << 16 | object;
}

class WhyScene {
  public:
    explicit WhyScene(std::uint16_t watched, Wanted wanted = {})
        : WhyScene(wanted, [watched](std::uint32_t context) { return context == watched; }) {}

    WhyScene(Wanted wanted, std::function<bool(std::uint32_t context)> is_watched)
        : m_watch(wanted, [is_watched = std::move(is_watched)](const trace::Names&, std::uint32_t context) {
            return is_watched(context);
        }) {
        m_names.set(tracer::Unit::level, 0, "RM");
        m_names.set(tracer::Unit::level, 1, "EDF");
        m_names.set(tracer::Unit::level, 2, "SERVED");
        m_names.set(tracer::Unit::level, 3, "background");
        m_names.set(tracer::Unit::context, kIdle, "idle");
        m_names.set_parameters({.context = kIdle, .level = 3});
        m_names.set_parameters({.context = kLow, .level = 0, .wcet_ns = 200, .deadline_ns = 3000});
        m_names.set_parameters({.context = kMiddle, .level = 0, .wcet_ns = 100, .deadline_ns = 2000});
        m_names.set_parameters({.context = kHigh, .level = 0, .wcet_ns = 50, .deadline_ns = 100});
        m_names.set_parameters({.context = kServed, .level = 2});
        m_names.set_parameters({.context = kDated, .level = 1, .wcet_ns = 50, .deadline_ns = 100});
    }

    WhyScene& at(std::uint64_t stamp, std::string_view name, std::uint16_t par1 = 0, std::uint32_t par2 = 0) {
        trace::Event event;
        trace::set_meaning(event, {.code = tracer::find_event(name)->code, .par1 = par1, .par2 = par2});
        event.ticks = {stamp};
        event.time_ns = static_cast<std::int64_t>(stamp);
        event.timed = true;
        event.names = &m_names;
        event.record = m_record++;
        m_watch.take(event, kKhz);
        return *this;
    }

    WhyScene& release(std::uint64_t stamp, std::uint16_t context, std::uint64_t release, std::uint64_t deadline) {
        return at(stamp, "job_release", context, static_cast<std::uint32_t>(release))
            .at(stamp, "job_deadline", context, static_cast<std::uint32_t>(deadline));
    }

    WhyScene& change(std::uint64_t stamp, std::uint16_t from, std::uint16_t to) {
        return change_for(stamp, from, to, to);
    }

    WhyScene& change_for(std::uint64_t stamp, std::uint16_t from, std::uint16_t to, std::uint16_t place) {
        return at(stamp, "task_epilogue", from)
            .at(stamp, "task_schedule", to, place)
            .at(stamp, "task_dispatch", to)
            .at(stamp, "context_switch", to);
    }

    // "cause gain", of those that would have sufficed.
    [[nodiscard]] std::vector<std::string> needed() const {
        const Diagnosis diagnosis = diagnose(job(), 0);
        std::vector<std::string> texts;
        for (std::size_t i = 0; i < diagnosis.needed; ++i) {
            texts.push_back(
                fmt::format("{} {}", cause_name(diagnosis.findings[i].cause), diagnosis.findings[i].gain.value));
        }
        return texts;
    }

    [[nodiscard]] const JobCase& job() const { return m_watch.found().job.value(); }

    [[nodiscard]] const Found& found() const { return m_watch.found(); }

    void finish() { m_watch.finish(); }

  private:
    trace::Names m_names;
    std::uint64_t m_record = 0;
    JobWatch m_watch;
};

inline std::string who_text(std::uint32_t who) {
    return who == schedule::kUnknownContext ? "?" : fmt::format("{}", who);
}

inline std::string executor_text(const schedule::Executor& executor) {
    return fmt::format("{} {}", schedule::by_name(executor.by), who_text(executor.who));
}

// What is not as in a new item.
inline std::string text_of(const Item& item) {
    static constexpr std::array<std::string_view, 7> kRoles = {"own",       "path",      "until", "delay",
                                                               "preceding", "undecided", "note"};
    std::string text = fmt::format("{}..{} {} {}", item.begin.value, item.end.value,
                                   kRoles[static_cast<std::size_t>(item.role)], cause_name(item.cause));
    const auto add = [&text](std::string_view what, std::uint64_t value, std::uint64_t usual) {
        if (value != usual) {
            text += fmt::format(" {} {}", what, value);
        }
    };
    add("of", item.who, schedule::kUnknownContext);
    add("object", item.object, 0);
    add("wait", item.wait, 0);
    add("for", item.for_wait, 0);
    add("worker", item.worker, schedule::kUnknownContext);
    text += " by " + executor_text(item.executor);
    if (item.ended_by != schedule::Executor{}) {
        text += " ended by " + executor_text(item.ended_by);
    }
    add("arrived", item.arrival.value, item.begin.value);
    add("excess", item.excess.value, 0);
    add("total", item.total.value, 0);
    add("job", item.job, 1);
    text += item.later ? " later" : "";
    text += item.postponed ? " postponed" : "";
    text += item.quiet ? " quiet" : "";
    return text + fmt::format(" #{}", item.place.record);
}

inline std::string text_of(const Finding& finding) {
    std::string text = fmt::format("{} gain {} took {} of {}", cause_name(finding.cause), finding.gain.value,
                                   finding.took.value, who_text(finding.who));
    const auto add = [&text](std::string_view what, std::uint64_t value) {
        if (value != 0) {
            text += fmt::format(" {} {}", what, value);
        }
    };
    add("object", finding.object);
    add("wait", finding.wait);
    text += fmt::format(" longest {} at #{}", finding.longest.value, finding.place.record);
    if (finding.ended_by != schedule::Executor{}) {
        text += " ended by " + executor_text(finding.ended_by);
    }
    add("greatest", finding.greatest.value);
    for (const std::uint32_t task : finding.tasks) {
        text += fmt::format(" task {}", task);
    }
    text += finding.decisive ? " decisive" : "";
    return finding.since ? text + fmt::format(" since {}", finding.since->value) : text;
}

template <typename Parts>
std::vector<std::string> texts_of(const Parts& parts) {
    std::vector<std::string> texts;
    for (const auto& part : parts) {
        texts.push_back(text_of(part));
    }
    return texts;
}

} // namespace host::analyse::why
