// SPDX-License-Identifier: MIT
// The Wireshark dissector for our packets is one Lua file, which is written on demand, so that its tables are those of
// the program that wrote it.
#pragma once

#include "host/trace/kernel_image.hpp"

#include <string>

namespace host::dissector {

// Returns the whole script, which needs Wireshark 3.6 or later. image: the kernel image with the texts of trace_printf;
// null: only texts in the trace are shown.
[[nodiscard]] std::string wireshark_script(const trace::KernelImage* image);

} // namespace host::dissector
