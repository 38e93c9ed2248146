// SPDX-License-Identifier: MIT
// Whether a session's manifest and its files tell the same: every figure that the files can confirm is compared with
// what is in them, the checksums too. Of a chunk with a gap only the sums are comparable: which of its slots were
// preamble can no longer be told. It changes nothing and believes neither side.
#pragma once

#include "host/analyse/structure_check.hpp"
#include "host/trace/kernel_image.hpp"
#include "host/trace/trace.hpp"

#include <string>
#include <vector>

namespace host::analyse {

struct ManifestFault {
    Rule rule = Rule::counts; // counts or checksums
    std::string file;         // the file, or the manifest itself
    std::string text;         // the key and both values
};

// The trace has been read to its end. Empty if it is no session. Reads every file once more, for its checksum.
[[nodiscard]] std::vector<ManifestFault> manifest_faults(const trace::Trace& trace);

} // namespace host::analyse
