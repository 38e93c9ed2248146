// SPDX-License-Identifier: MIT
// What a run throws when a promise is broken.
#pragma once

#include <stdexcept>
#include <string>

namespace simulation {

struct Failed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline void require(bool holds, const char* broken) {
    if (!holds) {
        throw Failed(broken);
    }
}

} // namespace simulation
