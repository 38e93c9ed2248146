// SPDX-License-Identifier: MIT
// Tests --jobs: with any number of threads a command prints the same bytes, reports the same, and ends with the same
// status, whatever the trace is like.
#include "tests/support/host_command_line.hpp"

#include <map>
#include <random>

namespace host::cli {

namespace jobs_test {

using support::Bytes;
using support::ChunkBuilder;

constexpr std::uint16_t kTask = 12;

void append(Bytes& bytes, const Bytes& more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
}

// Events of several tasks, as chunks do that were recorded one after the other.
ChunkBuilder chunk_of(std::uint16_t number, std::uint16_t cpu, std::uint64_t begin, std::size_t events) {
    ChunkBuilder chunk(number);
    chunk.begin.cpu = cpu;
    chunk.name("task", kTask, fmt::format("task{}", number)).name("task", kTask + 1, "other").name("mutex", 1, "bus");
    for (std::size_t i = 0; i < events; ++i) {
        const auto task = static_cast<std::uint16_t>(kTask + i / 5 % 3);
        constexpr auto kNames = std::to_array<std::string_view>(
            {"context_switch", "set_mutex_lock", "task_timer", "set_mutex_unlock", "task_end_cycle"});
        chunk.event(begin + 7 * i, kNames.at(i % kNames.size()), task, 1);
    }
    return chunk;
}

std::map<std::string, Bytes> traces() {
    std::map<std::string, Bytes> all;
    for (std::uint16_t i = 0; i < 4; ++i) {
        append(all["in turn"], chunk_of(i, 0, 1'000 + 100'000ULL * i, 1'700).bytes());
        append(all["side by side"], chunk_of(i, i, 1'000 + 3ULL * i, 1'000).bytes());
    }
    all["plain"] = chunk_of(0, 0, 1'000, 6'000).plain();
    all["compact"] = chunk_of(0, 0, 1'000, 3'000).compact(tracer::compact::Layout::a);
    append(all["compact"], chunk_of(1, 0, 90'000, 3'000).bytes());
    ChunkBuilder no_rate = chunk_of(0, 0, 1'000, 3'000);
    no_rate.begin.tsc_khz = 0;
    all["without a rate"] = no_rate.bytes();
    all["sealed, one byte changed"] = support::sealed(chunk_of(0, 0, 1'000, 3'000).bytes());
    all["sealed, one byte changed"][40'000] ^= std::byte{8};
    std::mt19937_64 random(5);
    for (int i = 0; i < 3; ++i) {
        Bytes& damaged = all[fmt::format("damaged {}", i)] = all["in turn"];
        for (int flips = 0; flips < 40; ++flips) {
            damaged[random() % damaged.size()] ^= static_cast<std::byte>(1U << random() % 8);
        }
        damaged.resize(damaged.size() - random() % 5'000);
    }
    return all;
}

class Jobs : public support::CommandLine {
  protected:
    void expect_the_same(const std::vector<std::string>& arguments) {
        const auto run = [&](const std::string& jobs) {
            std::vector<std::string> all = arguments;
            all.insert(all.end(), {"-j", jobs});
            const int status = remora(all);
            return std::tuple(status, m_out, m_err);
        };
        const auto alone = run("1");
        for (const std::string jobs : {"2", "8"}) {
            EXPECT_TRUE(run(jobs) == alone) << fmt::format("{} -j {}", fmt::join(arguments, " "), jobs);
        }
    }
};

TEST_F(Jobs, ChangeNoByteOfWhatIsShown) {
    for (const auto& [name, bytes] : traces()) {
        SCOPED_TRACE(name);
        const std::string path = write(bytes);
        for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{{},
                                                                                             {"--ticks", "--all"},
                                                                                             {"--json"},
                                                                                             {"--family", "mutex"},
                                                                                             {"--strict"},
                                                                                             {"--salvage"},
                                                                                             {"--limit", "2500"},
                                                                                             {"--task", "other"}}) {
            std::vector<std::string> arguments{"print", path};
            arguments.insert(arguments.end(), options.begin(), options.end());
            expect_the_same(arguments);
        }
        expect_the_same({"count", path}); // which takes the option, and has one thread
    }
}

TEST_F(Jobs, AreOneAtLeast) {
    const std::string path = write(sample().bytes());
    EXPECT_EQ(remora({"print", path, "-j", "0"}), 1);
    EXPECT_EQ(remora({"print", path, "-j", "257"}), 1);
    EXPECT_EQ(remora({"print", path, "--jobs", "256"}), 0);
}

} // namespace jobs_test

} // namespace host::cli
