// SPDX-License-Identifier: MIT
// Plays scenes for the cause of a late job: tasks of fixed priorities, one of a server, one by deadline, and the idle
// task. One tick is one nanosecond. The whole result is shown as text.
#pragma once

#include "host/analyse/why/diagnosis.hpp"
#include "host/analyse/why/job_watch.hpp"
#include "host/text/format.hpp"
#include "host/trace/names.hpp"
#include "tests/support/scene.hpp"

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace host::analyse::why {

inline constexpr std::uint32_t kKhz = 1'000'000;
using support::kDated; // after the fixed priorities
using support::kHigh;
using support::kIdle;
using support::kLow;
using support::kMiddle;
using support::kServed;
inline constexpr std::uint16_t kTimer = 32;

class WhyScene {
  public:
    explicit WhyScene(std::uint16_t watched, std::string_view text = "")
        : WhyScene(watched, Wanted{}) {
        play(text);
    }

    WhyScene(std::uint16_t watched, Wanted wanted)
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
        m_names.set_parameters({.context = 10, .level = 1, .deadline_ns = 100}); // by deadline, too
        trace::Event boot = support::event_of(0, "trace_start");                 // nothing is missing before it
        boot.names = &m_names;
        m_watch.take(boot, kKhz);
    }

    WhyScene& play(std::string_view text) {
        for (trace::Event event : m_reader.read(text)) {
            event.names = &m_names;
            m_watch.take(event, kKhz);
        }
        return *this;
    }

    // Returns "cause gain" of those that would have sufficed.
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

    void listen(std::function<void(const Found&)> late) { m_watch.listen(std::move(late)); }

  private:
    trace::Names m_names;
    support::SceneReader m_reader;
    JobWatch m_watch;
};

inline std::string who_text(std::uint32_t who) {
    return who == schedule::kUnknownContext ? "?" : fmt::format("{}", who);
}

inline std::string executor_text(const schedule::Executor& executor) {
    return fmt::format("{} {}", schedule::by_name(executor.by), who_text(executor.who));
}

// Returns what is not as in a new item.
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

inline std::string chain_text(const Finding& finding) {
    std::string text;
    for (const Link& link : finding.chain ? *finding.chain : Chain()) {
        text += fmt::format("{}{} of {} {}", text.empty() ? "" : ", ", link.mutex, who_text(link.holder),
                            link.protocol ? lib::word(*link.protocol) : "unknown");
    }
    return text;
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
