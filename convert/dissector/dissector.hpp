// SPDX-License-Identifier: MIT
// The Wireshark dissector for our packets: one Lua file, written out on demand, so that its tables are those of the
// tools that wrote it.
#pragma once

#include "host/trace/kernel_image.hpp"

#include <string>

namespace host::dissector {

// The whole script. It needs Wireshark 3.6 or later. image: whose texts of trace_printf it shows; null: only those that
// a trace has in itself.
[[nodiscard]] std::string wireshark_script(const trace::KernelImage* image);

} // namespace host::dissector
