// SPDX-License-Identifier: MIT
// libFuzzer on the reader of our own records: chunks, plain, described and compact. Any bytes are read to the end,
// under the sanitizers. Records that are not compact give no more events than there are slots.
#include "host/formats/trace.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace host::trace;
    auto spool = Spool::create();
    if (!spool || !spool.value().append(std::as_bytes(std::span(data, size)))) {
        return 0;
    }
    Diagnostics diagnostics([](std::string_view) {});
    const auto trace = host::formats::Trace::open({.name = "fuzz", .bytes = spool.value().take(), .keep_open = true},
                                                  {.kind = InputKind::records}, diagnostics);
    std::size_t events = 0;
    if (trace) {
        trace.value()->for_each([&](const Event& event) {
            ++events;
            static_cast<void>(event_name(event).size());
        });
    }
    bool compact = false;
    for (std::size_t i = 0; trace && i < trace.value()->facts().chunks.size(); ++i) {
        compact = compact || trace.value()->facts().chunks[i].compact();
    }
    if (!compact && events > size / tracer::kRecordBytes) {
        std::abort();
    }
    return 0;
}
