// SPDX-License-Identifier: MIT
// Of the program that speaks to servers.
#include "host/fleet/network.hpp"

#include "host/fleet/network/open_clickhouse.hpp"

namespace host::fleet {

const Network* network() {
    static constexpr Network kNetwork{.outlet = nullptr, .source = nullptr, .store = open_clickhouse};
    return &kNetwork;
}

} // namespace host::fleet
