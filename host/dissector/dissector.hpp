// SPDX-License-Identifier: MIT
// The Wireshark dissector for our packets: one Lua file, written out on demand, so that its tables are those of the
// tools that wrote it.
#pragma once

#include <string>

namespace host::dissector {

// The whole script. It needs Wireshark 3.6 or later.
[[nodiscard]] std::string wireshark_script();

} // namespace host::dissector
