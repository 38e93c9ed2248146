// SPDX-License-Identifier: MIT
// Decides which of two tasks the scheduler prefers by their own parameters, without inheritance. Levels are searched in
// the order of their numbers; CBS and GRUB are guests of EDF, polling and deferrable servers of the fixed priorities.
// Among fixed priorities the task with the shorter relative deadline precedes; a server's period counts as its relative
// deadline. Within EDF the job with the earlier absolute deadline precedes.
#pragma once

#include "host/schedule/schedule.hpp"
#include "host/trace/event.hpp"
#include "host/trace/names.hpp"
#include "host/trace/recorded_times.hpp"

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace host::schedule {

enum class Order : std::uint8_t { unknown, higher, equal, lower };

class BasePriorities {
  public:
    // Must be called in time order, for sound events of our table. times: has taken the event.
    void take(const trace::Event& event, const trace::RecordedTimes& times) {
        if (event.names != nullptr && event.names->version() != m_names_version) {
            m_names_version = event.names->version();
            describe(*event.names);
        }
        if (kConcerns[event.code]) {
            follow(event, times);
        }
    }

    // Takes an event of any code that has the same names as the event before it.
    void follow(const trace::Event& event, const trace::RecordedTimes& times);

    static constexpr const auto& kConcerns =
        trace::kAnyOf<"job_deadline", "set_priority", "deadline_change", "job_release", "task_create", "server_create",
                      "server_attach", "server_kind", "server_period", "server_budget">;

    // Records are missing: forgets the deadlines of jobs and the budgets of servers.
    void forget() { ++m_forgotten; }

    // Returns the order of a relative to b; unknown if the trace does not have the parameters of both.
    [[nodiscard]] Order order(std::uint32_t a, std::uint32_t b) const;

    // Returns the polling or deferrable server of the task if its budget is used up: the task cannot run until the
    // server is replenished.
    [[nodiscard]] std::optional<std::uint32_t> throttled_by(std::uint32_t context) const {
        return context < m_tasks.size() && m_tasks[context].server ? used_up(*m_tasks[context].server) : std::nullopt;
    }

    // Returns whether the task may have such a server whose budget, or whose description, a loss has hidden.
    [[nodiscard]] bool may_be_throttled(std::uint32_t context) const;

  private:
    enum class Queue : std::uint8_t { unknown, fixed, deadline, last, idle };

    // Holds a value that is forgotten by itself: there may be many of them, and many losses.
    template <typename T>
    struct Transient {
        std::optional<T> value{};
        std::uint64_t stated_in = 0; // m_forgotten at that time

        [[nodiscard]] std::optional<T> at(std::uint64_t forgotten) const {
            return stated_in == forgotten ? value : std::nullopt;
        }
    };

    struct Task {
        Queue queue = Queue::unknown;
        std::uint32_t level = 0;
        std::uint64_t relative_ns = 0;
        std::optional<std::uint64_t> changed_ns{}; // relative deadline, as changed by deadline_change
        std::optional<std::uint64_t> next_ns{};    // the relative deadline from the next release on
        Transient<std::uint64_t> deadline{};       // absolute deadline of the job in progress, in ticks
        std::optional<std::uint16_t> server{};
    };

    struct Server {
        std::optional<bool> throttles{}; // a polling or deferrable server
        std::optional<std::uint64_t> period_ns{};
        Transient<std::uint32_t> budget{};
    };

    struct Key {
        std::uint32_t level = 0;
        bool is_known = false; // if false, neither the level nor the key is known
        bool has_key = false;  // if false, the deadline is not known
        std::uint64_t key = 0;
    };

    [[nodiscard]] Task& task(std::uint16_t context);
    void describe(const trace::Names& names);
    static void change_deadline(Task& task, std::uint64_t relative_ns);
    [[nodiscard]] std::optional<std::uint32_t> used_up(std::uint32_t server) const;
    [[nodiscard]] Key key_of(std::uint32_t context) const;

    std::vector<Task> m_tasks; // by context
    std::unordered_map<std::uint32_t, Server> m_servers;
    std::uint64_t m_names_version = 0;
    std::uint64_t m_forgotten = 0; // how often forget() was called
};

} // namespace host::schedule
