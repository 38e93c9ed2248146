// SPDX-License-Identifier: MIT
// Keeps the formats of trace_printf in the session of the kernel that they belong to, so that the session can be read
// when the kernel image is gone.
#pragma once

#include "host/trace/kernel_image.hpp"
#include "host/trace/manifest.hpp"

#include <string>

namespace host::collector {

// Writes formats.json and the manifest, which names it. False, with the reason in `why`, and nothing changed: the
// formats are of another image than the session, the session does not tell its image, or the disk refused.
[[nodiscard]] bool store_formats(const trace::KernelImage& formats, const std::string& directory,
                                 trace::Manifest& manifest, std::string& why);

} // namespace host::collector
