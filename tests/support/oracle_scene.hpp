// SPDX-License-Identifier: MIT
// Makes traces for the schedule oracle: a chunk with the kernel's levels and an idle task, to which tasks, jobs,
// decisions and servers are added in the order of records that the kernel keeps. One tick is one nanosecond.
#pragma once

#include "host/analyse/oracle/oracle.hpp"
#include "host/formats/trace.hpp"
#include "host/text/format.hpp"
#include "tests/support/host_trace_builder.hpp"
#include "tests/support/scene.hpp"

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

    // With khz 0 the rate of the clock is not known.
    explicit Scene(std::string_view text = "", std::uint32_t khz = 1'000'000) {
        chunk.begin.tsc_khz = khz;
        for (std::uint16_t level = 0; level < kLevels.size(); ++level) {
            chunk.name("level", level, kLevels.at(level).name);
        }
        chunk.event(0, "trace_start", 0, khz);
        play("task 1 idle background; 1 release 1");
        play(text);
    }

    // In addition to the words of scene.hpp, C, T, D, Q being numbers of nanoseconds:
    //     hard N LEVEL C T [D]                 a task named hardN with a worst case, a period and a deadline
    //     task N NAME LEVEL [wcet C] [period T] [deadline D] [budget Q]
    //     mutex N PROTOCOL [CEILING]           with a ceiling in microseconds
    //     arrive N at S budget Q due D         work for the idle CBS or GRUB S of the task N
    // The stamp increases by one with each record; a group may be a time alone, for what follows.
    Scene& play(std::string_view text) {
        for (const SceneStep& step : steps_of(text)) {
            if (step.time) {
                m_group = m_now = *step.time;
            }
            SceneWords words(step.words);
            if (words.is_empty() || declares(words)) {
                continue;
            }
            for (const SceneRecord& record : records_of(step, m_group)) {
                chunk.event(m_now++, record.event, record.par1, record.par2);
            }
        }
        return *this;
    }

    ChunkBuilder chunk;

  private:
    struct Level {
        std::string_view name; // in the trace
        std::string_view word; // in a scene
    };

    static constexpr auto kLevels = std::to_array<Level>({{"RM", "rm"},
                                                          {"EDF", "edf"},
                                                          {"RR", "rr"},
                                                          {"background", "background"},
                                                          {"CBS", "cbs"},
                                                          {"GRUB", "grub"},
                                                          {"SERVED", "served"}});

    static std::uint16_t level(SceneWords& words) {
        return words.kind(
            [](std::uint8_t number) { return number < kLevels.size() ? kLevels.at(number).word : std::string_view(); });
    }

    void event(std::string_view name, std::uint16_t par1, std::uint32_t par2) {
        chunk.event(m_now++, name, par1, par2);
    }

    void task(std::string_view name, const tracer::TaskParameters& parameters) {
        chunk.name("task", parameters.context, name).parameters(parameters);
        event("task_create", parameters.context, parameters.context);
    }

    // Returns whether the words are among those that records_of() does not know.
    bool declares(SceneWords& words) {
        const std::string_view word = words.next();
        if (word == "hard") {
            tracer::TaskParameters hard{.context = words.small(), .level = level(words)};
            hard.wcet_ns = words.number();
            hard.period_ns = words.number();
            hard.deadline_ns = words.is_empty() ? hard.period_ns : words.number();
            task(fmt::format("hard{}", hard.context), hard);
        } else if (word == "task") {
            const std::uint16_t context = words.small();
            const std::string_view name = words.next();
            tracer::TaskParameters soft{.context = context, .level = level(words)};
            while (!words.is_empty()) {
                std::uint64_t& value = words.takes("wcet")       ? soft.wcet_ns
                                       : words.takes("period")   ? soft.period_ns
                                       : words.takes("deadline") ? soft.deadline_ns
                                       : words.takes("budget")   ? soft.budget_ns
                                                                 : *unknown(words);
                value = words.number();
            }
            task(name, soft);
        } else if (word == "mutex") {
            const std::uint16_t id = words.small();
            event("set_mutex_create", 0, id);
            event("set_mutex_protocol",
                  words.kind([](std::uint8_t number) { return lib::word(static_cast<lib::MutexProtocol>(number)); }),
                  id);
            event("set_mutex_ceiling", id, words.is_empty() ? ~0U : words.large());
        } else if (word == "arrive") {
            const std::uint16_t context = words.small();
            const std::uint16_t server = after("at", words).small();
            event("server_active", context, server);
            event("server_budget", server, after("budget", words).large());
            const std::uint32_t deadline = after("due", words).time();
            event("server_deadline", server, deadline);
            event("job_release", context, static_cast<std::uint32_t>(m_now));
            event("job_deadline", context, deadline);
        } else {
            return false;
        }
        return true;
    }

    static std::uint64_t* unknown(const SceneWords& words) { words.fail("no parameter of a task"); }

    static SceneWords& after(std::string_view word, SceneWords& words) {
        if (!words.takes(word)) {
            words.fail(fmt::format("{} is missing", word));
        }
        return words;
    }

    std::uint64_t m_group = 1; // the time of the group of events
    std::uint64_t m_now = 0;
};

class OracleTest : public testing::Test {
  protected:
    static constexpr std::uint64_t kTolerance = 10;

    // Returns the rules that were violated, in order; their sentences are in m_texts.
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
        opened.value()->for_each([&](const host::trace::Event& event) { oracle.add(event, opened.value()->facts()); });
        oracle.finish(opened.value()->facts());
        m_relaxations = oracle.verdicts().relaxations();
        for (std::size_t i = 0; i < m_tallies.size(); ++i) {
            m_tallies[i] = oracle.verdicts().of(static_cast<host::analyse::oracle::Rule>(i));
        }
        return rules;
    }

    std::vector<std::string> judge(const Scene& scene) { return judge(scene.chunk.bytes()); }

    // Returns what is violated, with stamp and task, then for each rule: checked, undecided and violated.
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

    // Checks that the rule accepts the scenes of these values, and of none beside them; none means no limit.
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
