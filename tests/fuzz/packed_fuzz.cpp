// SPDX-License-Identifier: MIT
// Untrusted packed sessions. The input is read unchanged, and once more with every header's checksum corrected, because
// no random change passes a checksum. An input of odd size is salvaged: its bodies need no checksum, either.
#include "host/formats/packed/block.hpp"
#include "host/formats/trace.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace {

using namespace host::trace;

void read(std::span<const std::byte> bytes, bool salvage) {
    auto spool = Spool::create();
    if (!spool || !spool.value().append(bytes)) {
        return;
    }
    Diagnostics diagnostics([](std::string_view) {});
    const auto trace = host::formats::Trace::open({.name = "x", .bytes = spool.value().take()},
                                                  {.kind = InputKind::packed, .salvage = salvage}, diagnostics);
    if (trace) {
        trace.value()->for_each([](const Event&) {});
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::vector<std::byte> bytes(size);
    std::ranges::copy(std::as_bytes(std::span(data, size)), bytes.begin());
    read(bytes, false);
    for (std::size_t at = 0; at + host::formats::packed::kHeaderBytes <= bytes.size(); ++at) {
        if (host::formats::packed::has_magic(std::span(bytes).subspan(at))) {
            lib::store_le(std::span(bytes).subspan(at + 60), lib::crc32c(std::span(bytes).subspan(at, 60)));
        }
    }
    read(bytes, size % 2 != 0);
    return 0;
}
