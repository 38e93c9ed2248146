// SPDX-License-Identifier: MIT
#include "host/fleet/network.hpp"

#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace host::fleet {

namespace {

constexpr std::string_view kProgram = "remora-fleet";

constexpr auto kSchemes = std::to_array<std::string_view>({"nats://", "tls://", "clickhouse://", "clickhouses://"});

// As the process was started.
std::vector<std::string> arguments() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> words;
    for (std::string word; std::getline(file, word, '\0');) {
        words.push_back(word);
    }
    return words;
}

std::string fault(const std::string& program, int error) {
    return fmt::format("{} cannot be started: {}; it is what speaks to servers: `make fleet` builds it (libnats-dev, "
                       "libcurl4-openssl-dev), beside remora",
                       text::escaped(program), std::strerror(error));
}

} // namespace

std::string network_program_fault() {
    const std::string program = network_program();
    return ::access(program.c_str(), X_OK) == 0 ? "" : fault(program, errno);
}

std::string network_program() {
    std::error_code failed;
    return (std::filesystem::read_symlink("/proc/self/exe", failed).parent_path() / kProgram).string();
}

std::string continue_with_network() {
    const std::string program = network_program();
    std::vector<std::string> words = arguments();
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (std::string& word : words) {
        pointers.push_back(word.data());
    }
    pointers.push_back(nullptr);
    ::execv(program.c_str(), pointers.data());
    return fault(program, errno);
}

bool is_server(std::string_view place) {
    return std::ranges::any_of(kSchemes, [place](std::string_view scheme) { return place.starts_with(scheme); });
}

} // namespace host::fleet
