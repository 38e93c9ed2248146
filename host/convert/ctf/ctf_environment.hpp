// SPDX-License-Identifier: MIT
// What the trace says about itself, as lines of a CTF environment.
#pragma once

#include "host/trace/facts.hpp"

#include <string>

namespace host::convert::ctf {

[[nodiscard]] std::string environment_of(const trace::TraceFacts& facts);

} // namespace host::convert::ctf
