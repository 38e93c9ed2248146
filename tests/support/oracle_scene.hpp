// SPDX-License-Identifier: MIT
// Traces for the schedule oracle: a chunk with the kernel's levels and an idle task, to which tasks, jobs, decisions
// and servers are added in the order of records that the kernel keeps. One tick is one nanosecond.
#pragma once

#include "host/analyse/oracle/oracle.hpp"
#include "host/formats/trace.hpp"
#include "host/text/format.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <string>
#include <vector>

namespace support {

class Scene {
  public:
    static constexpr std::uint16_t kRm = 0;
    static constexpr std::uint16_t kEdf = 1;
    static constexpr std::uint16_t kRr = 2;
    static constexpr std::uint16_t kBackground = 3;
    static constexpr std::uint16_t kCbs = 4;
    static constexpr std::uint16_t kGrub = 5;
    static constexpr std::uint16_t kServed = 6;
    static constexpr std::uint16_t kIdle = 1;

    explicit Scene(std::uint32_t khz = 1'000'000) { // 0: the rate of the clock is not known
        chunk.begin.tsc_khz = khz;
        chunk.name("level", kRm, "RM").name("level", kEdf, "EDF").name("level", kRr, "RR");
        chunk.name("level", kBackground, "background").name("level", kCbs, "CBS").name("level", kGrub, "GRUB");
        chunk.name("level", kServed, "SERVED");
        chunk.event(0, "trace_start", 0, khz);
        task(kIdle, "idle", {.level = kBackground}).at(1).release(kIdle, 1);
    }

    ChunkBuilder chunk;

    // The stamp of the next record; it increases by one with each record.
    Scene& at(std::uint64_t ticks) {
        m_now = ticks;
        return *this;
    }

    Scene& event(std::string_view name, std::uint16_t par1 = 0, std::uint32_t par2 = 0) {
        chunk.event(m_now++, name, par1, par2);
        return *this;
    }

    Scene& task(std::uint16_t context, std::string_view name, tracer::TaskParameters parameters) {
        parameters.context = context;
        chunk.name("task", context, name).parameters(parameters);
        return event("task_create", context, context);
    }

    Scene& hard(std::uint16_t context, std::uint16_t level, std::uint64_t wcet, std::uint64_t period,
                std::uint64_t deadline = 0) {
        return task(
            context, "hard" + std::to_string(context),
            {.level = level, .wcet_ns = wcet, .period_ns = period, .deadline_ns = deadline != 0 ? deadline : period});
    }

    Scene& release(std::uint16_t context, std::uint32_t release) { return event("job_release", context, release); }

    Scene& release(std::uint16_t context, std::uint32_t release, std::uint32_t deadline) {
        event("task_timer", context).event("job_release", context, release);
        return event("job_deadline", context, deadline);
    }

    // A decision and its dispatch; without `exec` the task runs on its own behalf.
    Scene& run(std::uint16_t shadow, std::uint16_t exec = 0, bool begins = false) {
        event("task_schedule", shadow, exec != 0 ? exec : shadow);
        if (begins) {
            event("task_begin_cycle", shadow);
        }
        return event("task_dispatch", shadow);
    }

    Scene& leave(std::uint16_t context) { return event("task_epilogue", context); }

    Scene& end_job(std::uint16_t context) { return leave(context).event("task_end_cycle", context); }

    Scene& server(std::uint16_t id, std::uint16_t kind, std::uint32_t capacity, std::uint32_t period,
                  std::uint16_t context) {
        event("server_create", 0, id).event("server_capacity", id, capacity).event("server_period", id, period);
        return event("server_kind", kind, id).event("server_attach", id, context);
    }

    // Work for an idle CBS or GRUB.
    Scene& arrive(std::uint16_t id, std::uint16_t context, std::uint32_t budget, std::uint32_t deadline) {
        event("server_active", context, id).event("server_budget", id, budget).event("server_deadline", id, deadline);
        return event("job_release", context, static_cast<std::uint32_t>(m_now))
            .event("job_deadline", context, deadline);
    }

    Scene& mutex(std::uint32_t id, std::uint16_t protocol, std::uint32_t ceiling_us = ~0U) {
        event("set_mutex_create", 0, id).event("set_mutex_protocol", protocol, id);
        return event("set_mutex_ceiling", static_cast<std::uint16_t>(id), ceiling_us);
    }

  private:
    std::uint64_t m_now = 0;
};

class OracleTest : public testing::Test {
  protected:
    static constexpr std::uint64_t kTolerance = 10;

    // The rules that were violated, in order; sentences in m_texts.
    std::vector<std::string> judge(const Bytes& bytes, std::optional<std::uint64_t> tolerance = kTolerance) {
        host::trace::Diagnostics diagnostics([](std::string_view) {});
        const auto opened = host::formats::Trace::open(m_directory.write("0trace.dat", bytes), {}, diagnostics);
        std::vector<std::string> rules;
        m_texts.clear();
        m_reports.clear();
        host::analyse::oracle::Oracle oracle(
            [&](const host::analyse::oracle::Finding& finding) {
                rules.emplace_back(row_of(finding.rule).name);
                m_texts.push_back(finding.text);
                m_reports.push_back(fmt::format("{} at {}{}: {}", row_of(finding.rule).name, finding.event->ticks.value,
                                                finding.task ? fmt::format(" of {}", *finding.task) : "",
                                                finding.text));
            },
            tolerance);
        host::trace::Event event;
        while (opened.value()->next(event)) {
            oracle.add(event, opened.value()->facts());
        }
        oracle.finish(opened.value()->facts());
        m_relaxations = oracle.verdicts().relaxations();
        for (std::size_t i = 0; i < m_tallies.size(); ++i) {
            m_tallies[i] = oracle.verdicts().of(static_cast<host::analyse::oracle::Rule>(i));
        }
        return rules;
    }

    std::vector<std::string> judge(const Scene& scene) { return judge(scene.chunk.bytes()); }

    // What is violated, with stamp and task, then for each rule that was looked at: checked, undecided and violated.
    std::vector<std::string> report(const Scene& scene, std::optional<std::uint64_t> tolerance = kTolerance) {
        judge(scene.chunk.bytes(), tolerance);
        std::vector<std::string> lines = m_reports;
        for (std::size_t i = 0; i < m_tallies.size(); ++i) {
            const host::analyse::oracle::Tally& tally = m_tallies[i];
            if (tally.checked + tally.undecided != 0) {
                lines.push_back(fmt::format("{} {}/{}/{}", row_of(static_cast<host::analyse::oracle::Rule>(i)).name,
                                            tally.checked, tally.undecided, tally.violations));
            }
        }
        return lines;
    }

    [[nodiscard]] bool violates(host::analyse::oracle::Rule rule, const Scene& scene) {
        judge(scene);
        return of(rule).violations != 0;
    }

    // The rule accepts the scenes of these values, and of none beside them; none: there is no such limit.
    template <typename SceneOf>
    void expect_limits(host::analyse::oracle::Rule rule, std::optional<std::uint64_t> first,
                       std::optional<std::uint64_t> last, SceneOf&& scene_of) {
        if (first) {
            EXPECT_FALSE(violates(rule, scene_of(*first))) << *first << testing::PrintToString(m_texts);
            EXPECT_TRUE(violates(rule, scene_of(*first - 1))) << *first - 1;
        }
        if (last) {
            EXPECT_FALSE(violates(rule, scene_of(*last))) << *last << testing::PrintToString(m_texts);
            EXPECT_TRUE(violates(rule, scene_of(*last + 1))) << *last + 1;
        }
    }

    [[nodiscard]] host::analyse::oracle::Tally of(host::analyse::oracle::Rule rule) const {
        return m_tallies[static_cast<std::size_t>(rule)];
    }

    TemporaryDirectory m_directory;
    std::vector<std::string> m_texts;
    std::vector<std::string> m_reports;
    std::vector<std::string> m_relaxations;
    std::array<host::analyse::oracle::Tally, host::analyse::oracle::kRules.size()> m_tallies{};
};

} // namespace support
