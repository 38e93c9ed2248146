// SPDX-License-Identifier: MIT
// Runs the host's FAT tools on an image. Each test has a directory of its own, removed at the end; a command's output
// and exit code are one value. A missing tool fails the test, it does not skip it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace test {

class ScratchDirectory {
  public:
    ScratchDirectory();
    ~ScratchDirectory();
    ScratchDirectory(const ScratchDirectory&) = delete;
    ScratchDirectory& operator=(const ScratchDirectory&) = delete;

    [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return m_path / name; }

  private:
    std::filesystem::path m_path;
};

struct CommandOutcome {
    int exit_code = -1;
    std::string output; // both streams
};

[[nodiscard]] CommandOutcome run_command(const std::string& command);

void write_file(const std::filesystem::path& path, const std::vector<std::byte>& bytes);
[[nodiscard]] std::vector<std::byte> read_file(const std::filesystem::path& path);

} // namespace test
