// SPDX-License-Identifier: MIT
// Shows the model of the queues after each event as text: the tasks, mutexes and servers that are other than before,
// with everything that is known of them. One tick is one nanosecond.
#pragma once

#include "host/analyse/oracle/model.hpp"
#include "host/text/format.hpp"
#include "host/trace/event.hpp"

#include <array>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace host::analyse::oracle {

inline constexpr std::uint16_t kRm = 0;
inline constexpr std::uint16_t kEdf = 1;
inline constexpr std::uint16_t kRr = 2;
inline constexpr std::uint16_t kBackground = 3;
inline constexpr std::uint16_t kServed = 4;
inline constexpr std::uint16_t kUnnamed = 9;

inline std::string_view text_of(Truth truth) {
    static constexpr std::array<std::string_view, 3> kNames = {"?", "no", "yes"};
    return kNames[static_cast<std::size_t>(truth)];
}

inline std::string_view text_of(Policy policy) {
    static constexpr std::array<std::string_view, 9> kNames = {
        "?", "fixed", "edf", "cbs", "grub", "polling", "deferrable", "round robin", "background"};
    return kNames[static_cast<std::size_t>(policy)];
}

template <typename T>
std::string text_of(std::string_view what, const std::optional<T>& value) {
    return value ? fmt::format(" {} {}", what, *value) : "";
}

inline std::string text_of(const Task& task) {
    std::string text =
        fmt::format("{} ready {} begun {}", text_of(task.policy), text_of(task.ready), text_of(task.begun));
    for (const auto& [name, value] : {std::pair("idle", task.idle), std::pair("suspended", task.suspended),
                                      std::pair("kept", task.kept_place), std::pair("maybe", task.may_be_blocked)}) {
        text += value ? fmt::format(" {}", name) : "";
    }
    text += text_of("released", task.release) + text_of("due", task.deadline);
    text += task.deadline && task.deadline_slack != 0 ? fmt::format("+{}", task.deadline_slack) : "";
    text += fmt::format(" turn {}", task.sequence);
    return text + text_of("blocked on", task.blocked_on) + text_of("of server", task.server);
}

inline std::string text_of(const Mutex& mutex) {
    return fmt::format("protocol {}{} {}",
                       mutex.protocol ? fmt::format("{}", static_cast<unsigned>(*mutex.protocol)) : "?",
                       text_of("ceiling", mutex.ceiling_us), mutex.known ? fmt::format("owner {}", mutex.owner) : "?");
}

inline std::string text_of(const Server& server) {
    return fmt::format("{} {}/{}{}{}", text_of(server.kind), server.capacity_ns, server.period_ns,
                       text_of("budget", server.budget), text_of("due", server.deadline));
}

class Journal {
  public:
    Journal() {
        m_names.set(tracer::Unit::level, kRm, "RM");
        m_names.set(tracer::Unit::level, kEdf, "EDF");
        m_names.set(tracer::Unit::level, kRr, "RR");
        m_names.set(tracer::Unit::level, kBackground, "background");
        m_names.set(tracer::Unit::level, kServed, "SERVED");
        m_names.set(tracer::Unit::context, 1, "idle");
        m_names.set(tracer::Unit::context, 12, "motor");
        m_names.set_parameters({.context = 1, .level = kBackground});
        m_names.set_parameters({.context = 12, .level = kEdf, .period_ns = 900'000, .deadline_ns = 300'000});
        m_names.set_parameters({.context = 13, .level = kRm, .period_ns = 900'000, .deadline_ns = 400'000});
        m_names.set_parameters({.context = 14, .level = kRr});
        m_names.set_parameters({.context = 15, .level = kServed});
        m_names.set_parameters({.context = 16, .level = kUnnamed});
        m_model.set_rate(1'000'000);
        m_model.set_names(m_names);
    }

    Journal& at(std::uint64_t stamp, std::string_view name, std::uint16_t par1 = 0, std::uint32_t par2 = 0) {
        trace::Event event;
        trace::set_meaning(event, {.code = tracer::find_event(name)->code, .par1 = par1, .par2 = par2});
        event.ticks = {stamp};
        event.names = &m_names;
        m_model.restore(event);
        m_model.apply(event);
        note(fmt::format("{} {} {}", name, par1, par2));
        return *this;
    }

    void forget() {
        m_model.forget();
        note("forget");
    }

    // Returns what has changed since the lines were taken.
    std::vector<std::string> take() { return std::exchange(m_lines, {}); }

    [[nodiscard]] const Model& model() const { return m_model; }

    [[nodiscard]] const Task& task(std::uint16_t context) const { return *m_model.find(context); }

  private:
    void note(const std::string& cause) {
        std::map<std::string, std::string> now;
        for (const auto& [context, task] : m_model.tasks()) {
            EXPECT_EQ(task.context, context);
            now[fmt::format("task {}", context)] = text_of(task);
        }
        for (const auto& [id, mutex] : m_model.mutexes()) {
            now[fmt::format("mutex {}", id)] = text_of(mutex);
        }
        for (const auto& [id, server] : m_model.servers()) {
            now[fmt::format("server {}", id)] = text_of(server);
        }
        if (const auto& running = m_model.running()) {
            now["runs"] = fmt::format("{} for {} since {}", running->shadow, running->exec, running->since);
        }
        now["model"] =
            fmt::format("{}{}{}", m_model.complete() ? "complete" : "partial", m_model.jobs_recorded() ? ", jobs" : "",
                        m_model.acquires_recorded() ? ", owners" : "");
        for (const auto& [what, text] : now) {
            if (m_before[what] != text) {
                m_lines.push_back(fmt::format("{}: {} {}", cause, what, text));
            }
        }
        for (const auto& [what, text] : m_before) {
            if (!now.contains(what)) {
                m_lines.push_back(fmt::format("{}: {} is gone", cause, what));
            }
        }
        m_before = std::move(now);
    }

    trace::Names m_names;
    Model m_model;
    std::map<std::string, std::string> m_before;
    std::vector<std::string> m_lines;
};

} // namespace host::analyse::oracle
