// SPDX-License-Identifier: MIT
// Makes the rows of a session in the tables of a fleet: nodes and listed from its manifest, the others from one pass of
// the schedule model over its chunks, as `remora sql` does.
#pragma once

#include "fleet/store.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace host::fleet {

// Returns the class of a response time: the time rounded up to five significant bits, which is at most 6.25 % more.
[[nodiscard]] std::uint64_t response_class(std::uint64_t response_ns);

struct SessionRows {
    Run run;
    const formats::dat::Manifest& manifest;
    std::string directory;         // has the manifest and the chunks that exist
    std::function<void()> working; // called now and then

    [[nodiscard]] lib::Result<void, trace::Refusal> write(const RowSink& sink) const;
};

} // namespace host::fleet
