// SPDX-License-Identifier: MIT
// Keeps the formats of trace_printf in the session of the kernel that they belong to, so that the session can be read
// when the kernel image is gone.
#pragma once

#include "host/formats/dat/manifest.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/kernel_image.hpp"

#include <string>

namespace host::collector {

// Writes formats.json and the manifest, which names it. Refused, and nothing changed: the formats are of another image
// than the session, the session does not state its image, or they cannot be written.
[[nodiscard]] lib::Result<void, trace::Refusal>
store_formats(const trace::KernelImage& formats, const std::string& directory, formats::dat::Manifest& manifest);

} // namespace host::collector
