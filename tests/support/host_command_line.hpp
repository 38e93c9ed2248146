// SPDX-License-Identifier: MIT
// Runs `remora` in process, in its own directory, and returns output and exit status. There is a sample chunk without
// errors in which everything has a name, and standard input may come from a file, as in `cat FILE | remora ... -`.
#pragma once

#include "fleet/command/commands.hpp"

#include "tests/support/host_trace_builder.hpp"

#include <cstdio>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace support {

// Standard input is this file while the object lives. The reader treats standard input as a pipe in any case.
class StandardInput {
  public:
    explicit StandardInput(const std::string& path)
        : m_saved(::dup(STDIN_FILENO)) {
        const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        EXPECT_GE(descriptor, 0) << path;
        ::dup2(descriptor, STDIN_FILENO);
        ::close(descriptor);
    }

    StandardInput(const StandardInput&) = delete;
    StandardInput& operator=(const StandardInput&) = delete;

    ~StandardInput() {
        ::dup2(m_saved, STDIN_FILENO);
        ::close(m_saved);
    }

  private:
    int m_saved;
};

class CommandLine : public testing::Test {
  protected:
    int remora(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), "remora");
        std::vector<const char*> argv;
        for (const std::string& argument : arguments) {
            argv.push_back(argument.c_str());
        }
        const std::string out_path = m_directory / "out.txt";
        const std::string err_path = m_directory / "err.txt";
        std::FILE* const out = std::fopen(out_path.c_str(), "w");
        std::FILE* const err = std::fopen(err_path.c_str(), "w");
        const int status =
            host::cli::run(static_cast<int>(argv.size()), argv.data(), out, err, host::cli::kWholeProgram);
        std::fclose(out);
        std::fclose(err);
        m_out = support::read_text(out_path);
        m_err = support::read_text(err_path);
        return status;
    }

    static ChunkBuilder sample() {
        ChunkBuilder chunk;
        chunk.build("control", 7).name("task", 12, "sensor").name("level", 0, "EDF").name("interrupt", 32, "timer");
        chunk.name("mutex", 1, "bus");
        chunk.parameters({.context = 12, .level = 0, .wcet_ns = 500, .period_ns = 10'000, .deadline_ns = 10'000});
        chunk.event(5000, "task_activate", 12).event(5100, "interrupt_start", 32).event(5200, "interrupt_end", 32);
        chunk.event(5300, "task_schedule", 12, 12).event(5310, "task_dispatch", 12, 0);
        chunk.event(5320, "context_switch", 12).event(5400, "set_mutex_lock", 12, 1);
        chunk.event(6000, "ipoint", 12, 0xDEAD).event(6100, "task_end_cycle", 12, 0);
        return chunk;
    }

    std::string write(std::span<const std::byte> bytes) const { return m_directory.write("0trace.dat", bytes); }

    support::TemporaryDirectory m_directory;
    std::string m_out;
    std::string m_err;
};

} // namespace support
