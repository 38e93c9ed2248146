// SPDX-License-Identifier: MIT
// Tests judges and analyses with times that 32 bits do not hold: two tasks with deadlines, periods and backlogs from a
// millisecond to a hundred days, at 0.1 to 5 GHz, are simulated, and what is computed of their trace is compared with
// the simulation.
#include "host/schedule/pass.hpp"
#include "tests/support/oracle_scene.hpp"

#include <gmock/gmock.h>

#include <deque>
#include <random>

namespace host::analyse::oracle::long_times_test {

namespace {

using support::Scene;

constexpr std::uint64_t kGroupTicks = 40; // what happens at one time takes less: a record takes one tick here

struct Job {
    std::uint64_t release = 0;
    std::uint64_t deadline = 0;
    std::uint64_t left = 0;
    bool is_late = false;
};

// Simulates the kernel: the earlier deadline, or the shorter relative one, first; a deadline is checked once.
class Simulation {
  public:
    Simulation(std::uint64_t seed, std::uint32_t khz)
        : m_random(seed)
        , m_rate{khz}
        , m_is_edf(below(2) == 0)
        , m_scene("", khz) {
        const std::uint64_t shift = below(34);
        for (Task& task : m_tasks) {
            task.period_ns = ((1'000'003 + below(1'000'000)) << shift) * (1 + below(3));
            task.deadline_ns = below(2) == 0 ? task.period_ns : task.period_ns - below(task.period_ns / 3);
            task.most_ns = below(2) == 0 ? task.deadline_ns : task.deadline_ns / 3;
            task.context = static_cast<std::uint16_t>(12 + (&task - m_tasks.data()));
            m_scene.play(fmt::format("hard {} {} {} {} {}", task.context, m_is_edf ? "edf" : "rm", task.most_ns,
                                     task.period_ns, task.deadline_ns));
        }
        m_begin = ticks(1'000'000'000 + below(1'000'000'000));
        for (Task& task : m_tasks) {
            m_scene.play(fmt::format("{} activate {}", origin(task), task.context));
            release(task);
        }
        m_since = m_stamp = origin(m_tasks[1]);
        decide();
        for (int i = 0; i < 120; ++i) {
            step();
        }
    }

    [[nodiscard]] const Scene& scene() const { return m_scene; }

    // Returns the complete jobs of a context, in order.
    [[nodiscard]] const std::vector<Job>& done(std::uint16_t context) const { return m_tasks.at(context - 12U).done; }

  private:
    struct Task {
        std::uint16_t context = 0;
        std::uint64_t period_ns = 0;
        std::uint64_t deadline_ns = 0;
        std::uint64_t most_ns = 0;
        std::uint64_t at = 0; // of its timer: the next release, or the deadline of the latest
        bool checks = false;
        bool begun = false;
        std::uint64_t number = 0;
        std::deque<Job> jobs;
        std::vector<Job> done;
    };

    void step() {
        const std::uint64_t timer = std::min(m_tasks[0].at, m_tasks[1].at);
        Task* const runs = m_running;
        const std::uint64_t end =
            runs != nullptr ? m_since + runs->jobs.front().left : std::numeric_limits<std::uint64_t>::max();
        const std::uint64_t now = std::min(timer, end);
        if (runs != nullptr) {
            runs->jobs.front().left -= now - m_since;
        }
        m_since = now;
        m_stamp = std::max(now, m_stamp + kGroupTicks);
        m_scene.play(fmt::format("{}", m_stamp));
        if (now == end && now != timer) {
            complete(*runs);
        }
        for (Task& task : m_tasks) {
            if (task.at == now && task.checks) {
                check(task);
            }
            if (task.at == now && !task.checks) {
                release(task);
            }
        }
        decide();
    }

    void complete(Task& task) {
        play(fmt::format("leave {0}, task_end_cycle {0} {1}", task.context, m_is_edf ? 1 : 0));
        task.done.push_back(task.jobs.front());
        task.done.back().is_late = m_since > task.done.back().deadline;
        task.jobs.pop_front();
        task.begun = false;
        m_running = nullptr;
        m_idles = false;
        if (!task.jobs.empty()) {
            begin(task);
        }
    }

    void check(Task& task) {
        if (!task.jobs.empty()) {
            play(fmt::format("miss {}", task.context));
        }
        task.checks = false;
        task.at = origin(task) + ticks(task.number * task.period_ns);
    }

    void release(Task& task) {
        Job job{.release = origin(task) + ticks(task.number * task.period_ns), .deadline = 0, .left = 0};
        job.deadline = origin(task) + ticks(task.number * task.period_ns + task.deadline_ns);
        job.left = ticks(task.most_ns) / (1 + below(3)) + 1;
        ++task.number;
        task.at = job.deadline;
        task.checks = true;
        play(fmt::format("task_timer {} {}", task.context, m_is_edf ? 1 : 0));
        task.jobs.push_back(job);
        if (task.jobs.size() == 1) {
            begin(task);
        }
    }

    void begin(const Task& task) {
        const Job& job = task.jobs.front();
        const std::uint64_t us = m_rate.to_nanoseconds({job.deadline}).value / 1'000;
        play(fmt::format("job_release {0} {1}, job_deadline {0} {2}, set_priority {0} {3}", task.context,
                         static_cast<std::uint32_t>(job.release), static_cast<std::uint32_t>(job.deadline),
                         static_cast<std::uint32_t>(us)));
    }

    // Returns the first release.
    [[nodiscard]] std::uint64_t origin(const Task& task) const {
        return m_begin + (task.context - 12U) * ticks(500'000);
    }

    [[nodiscard]] std::uint64_t key(const Task& task) const {
        return m_is_edf ? task.jobs.front().deadline : task.deadline_ns;
    }

    void decide() {
        Task* best = nullptr;
        for (Task& task : m_tasks) {
            best = !task.jobs.empty() && (best == nullptr || key(task) < key(*best)) ? &task : best;
        }
        const std::uint16_t chosen = best != nullptr ? best->context : support::kIdle;
        const bool stays = best == m_running && (best != nullptr || m_idles);
        if (stays && (best == nullptr || best->begun)) {
            play(fmt::format("choose {}", chosen));
            return;
        }
        if (m_running != nullptr) {
            play(fmt::format("leave {}", m_running->context));
        } else if (m_idles) {
            play("leave idle");
        }
        const bool first = best != nullptr && !best->begun;
        play(fmt::format("dispatch {0}{1}, switch {0}", chosen, first ? " first" : ""));
        m_running = best;
        m_idles = best == nullptr;
        if (best != nullptr) {
            best->begun = true;
        }
    }

    void play(const std::string& text) { m_scene.play(text); }

    [[nodiscard]] std::uint64_t ticks(std::uint64_t ns) const { return m_rate.to_ticks({ns}).value; }

    std::uint64_t below(std::uint64_t end) { return m_random() % end; }

    std::mt19937_64 m_random;
    lib::TickRate m_rate;
    bool m_is_edf;
    Scene m_scene;
    std::array<Task, 2> m_tasks;
    std::uint64_t m_begin = 0;
    std::uint64_t m_since = 0;
    std::uint64_t m_stamp = 0; // of the latest group of records
    Task* m_running = nullptr;
    bool m_idles = false;
};

class LongTimes : public support::OracleTest {
  protected:
    // Compares each complete job with the simulation.
    void compare(const Simulation& simulation, std::uint32_t khz) {
        std::map<std::uint16_t, std::size_t> seen;
        schedule::Pass pass([&](const schedule::JobAccount& account) {
            if (account.job.context < 12 || account.job.outcome != schedule::Outcome::completed) {
                return;
            }
            const Job& truth = simulation.done(account.job.context).at(seen[account.job.context]++);
            ASSERT_TRUE(account.job.release);
            ASSERT_TRUE(account.job.deadline);
            EXPECT_EQ(account.job.release->ticks.value, truth.release);
            EXPECT_EQ(account.job.deadline->ticks.value, truth.deadline);
            if (account.job.end->ticks.value > truth.deadline + kStampsTicks ||
                account.job.end->ticks.value < truth.deadline) {
                EXPECT_EQ(account.job.end->ticks > account.job.deadline->ticks, truth.is_late);
            }
            EXPECT_TRUE(account.is_known());
            EXPECT_EQ(account.residue, 0);
        });
        trace::Diagnostics diagnostics([](std::string_view) {});
        const auto opened =
            formats::Trace::open(m_directory.write("0trace.dat", simulation.scene().chunk.bytes()), {}, diagnostics);
        opened.value()->for_each([&](const trace::Event& event) { pass.take(event, khz); });
        pass.finish();
        m_jobs += seen[12] + seen[13];
    }

    static constexpr std::uint64_t kStampsTicks = 5 * kGroupTicks; // by which stamps may be late

    std::size_t m_jobs = 0;
};

TEST_F(LongTimes, AreThoseOfTheSimulation) {
    std::size_t misses = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE(seed);
        const std::uint32_t khz = std::array{100'000U, 999'999U, 2'394'451U, 4'000'000U, 5'000'000U}.at(seed % 5);
        const Simulation simulation(seed, khz);
        EXPECT_THAT(judge(simulation.scene().chunk.bytes(), kStampsTicks), testing::IsEmpty())
            << testing::PrintToString(m_texts);
        EXPECT_GT(of(Rule::release_period).checked, 0U);
        EXPECT_EQ(of(Rule::release_period).undecided, 0U);
        EXPECT_EQ(of(Rule::edf_deadline).undecided + of(Rule::rm_deadline).undecided, 0U);
        misses += of(Rule::deadline_miss).checked;
        compare(simulation, khz);
        ASSERT_FALSE(HasFailure());
    }
    EXPECT_GT(m_jobs, 500U);
    EXPECT_GT(misses, 50U);
}

} // namespace

} // namespace host::analyse::oracle::long_times_test
