// SPDX-License-Identifier: MIT
// Of a program that is linked with no library for servers.
#include "fleet/network.hpp"

namespace host::fleet {

const Network* network() {
    return nullptr;
}

} // namespace host::fleet
