// SPDX-License-Identifier: MIT
#include "fleet/network.hpp"

#include "host/cli/terminal/program.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>

namespace host::fleet {

namespace {

constexpr std::string_view kProgram = "remora-fleet";

constexpr auto kSchemes = std::to_array<std::string_view>({"nats://", "tls://", "clickhouse://", "clickhouses://"});

std::string fault(const std::string& program, int error) {
    return fmt::format("{} cannot be started: {}; it is what speaks to servers: `make fleet` builds it (libnats-dev, "
                       "libcurl4-openssl-dev), beside remora",
                       text::escaped(program), std::strerror(error));
}

} // namespace

std::string network_program_fault() {
    const std::string program = network_program();
    return cli::is_executable(program) ? "" : fault(program, errno);
}

std::string network_program() {
    return cli::program_beside(kProgram);
}

std::string continue_with_network() {
    const std::string program = network_program();
    return fault(program, cli::continue_as(program));
}

bool is_server(std::string_view place) {
    return std::ranges::any_of(kSchemes, [place](std::string_view scheme) { return place.starts_with(scheme); });
}

} // namespace host::fleet
