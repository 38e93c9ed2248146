// SPDX-License-Identifier: MIT
#include "host/cli/terminal/program.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace host::cli {

std::string program_beside(std::string_view name) {
    std::error_code failed;
    return (std::filesystem::read_symlink("/proc/self/exe", failed).parent_path() / name).string();
}

int continue_as(const std::string& path) {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> words;
    for (std::string word; std::getline(file, word, '\0');) {
        words.push_back(word);
    }
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (std::string& word : words) {
        pointers.push_back(word.data());
    }
    pointers.push_back(nullptr);
    ::execv(path.c_str(), pointers.data());
    return errno;
}

} // namespace host::cli
