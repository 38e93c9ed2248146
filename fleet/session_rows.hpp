// SPDX-License-Identifier: MIT
// The rows of a session in the tables of a fleet: nodes and listed from its manifest, the others from one pass of the
// schedule model over its chunks, as `remora sql` makes them.
#pragma once

#include "fleet/store.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace host::fleet {

// The class of a response time: rounded up to five significant bits, so at most 6.25 % more.
[[nodiscard]] std::uint64_t response_class(std::uint64_t response_ns);

struct SessionRows {
    Run run;
    const formats::dat::Manifest& manifest;
    std::string directory;         // chunks and manifest, or as many of them as there are
    std::function<void()> working; // called now and then

    [[nodiscard]] lib::Result<void, trace::Refusal> write(const RowSink& sink) const;
};

} // namespace host::fleet
