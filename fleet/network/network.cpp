// SPDX-License-Identifier: MIT
// Of the program that speaks to servers.
#include "fleet/network.hpp"

#include "fleet/network/nats_outlet.hpp"
#include "fleet/network/nats_source.hpp"
#include "fleet/network/open_clickhouse.hpp"

namespace host::fleet {

const Network* network() {
    static constexpr Network kNetwork{.outlet = nats_outlet, .source = nats_source, .store = open_clickhouse};
    return &kNetwork;
}

} // namespace host::fleet
