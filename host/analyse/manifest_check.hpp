// SPDX-License-Identifier: MIT
// Checks that a session's manifest and its files agree: every figure that the files can confirm, and every checksum, is
// compared with their content. For a chunk with a gap only the sums are compared, because it is unknown which of its
// slots were preamble. The check changes no file, and trusts neither side.
#pragma once

#include "host/analyse/structure_check.hpp"
#include "host/formats/trace.hpp"
#include "host/trace/kernel_image.hpp"

#include <string>
#include <vector>

namespace host::analyse {

struct ManifestFault {
    Rule rule = Rule::counts; // counts or checksums
    std::string file;         // the file, or the manifest itself
    std::string text;         // the key and both values
};

// The trace has been read to its end. Empty if it is no session. Reads every file once more, for its checksum.
[[nodiscard]] std::vector<ManifestFault> manifest_faults(const formats::Trace& trace);

} // namespace host::analyse
