// SPDX-License-Identifier: MIT
// See servers.hpp.
#include "host/analyse/oracle/servers.hpp"

#include <algorithm>

namespace host::analyse::oracle {

std::uint64_t scaled_up(std::uint64_t value, std::uint64_t numerator, std::uint64_t denominator) {
    __extension__ using Product = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Product>(value) * numerator + denominator - 1) / denominator);
}

void ServerMeter::flush(std::uint64_t now) {
    const auto& running = model().running();
    const Task* const exec = running ? model().find(running->exec) : nullptr;
    if (exec != nullptr && exec->server) {
        const std::uint64_t begin = std::max(running->since, m_counted_to);
        if (now > begin) {
            Use& use = m_uses[*exec->server];
            use.ran += now - begin;
            use.charged += scaled_up(now - begin, m_bandwidth.value_or(kWholeProcessor), kWholeProcessor);
            ++use.intervals;
        }
    }
    m_counted_to = now;
}

void ServerMeter::restart(std::uint16_t server) {
    m_uses[server] = Use{.known = true};
}

void ServerMeter::forget() {
    m_uses.clear();
    m_bandwidth.reset();
}

} // namespace host::analyse::oracle
