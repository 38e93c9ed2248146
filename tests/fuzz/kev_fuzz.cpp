// SPDX-License-Identifier: MIT
// libFuzzer on the reader of .kev files: any bytes, read to the end. It must terminate and deliver no more events than
// there are slots; the sanitizers check the rest.
#include "foreign/kev/kev_stream.hpp"

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
    const auto stream =
        host::formats::kev::KevStream::open({.name = "fuzz", .bytes = spool.value().take()}, {}, diagnostics);
    if (!stream) {
        return 0;
    }
    std::size_t events = 0;
    std::uint32_t sum = 0;
    for (auto batch = stream.value()->next_batch(); !batch.empty(); batch = stream.value()->next_batch()) {
        const Event& event = batch.front();
        for (const std::uint32_t word : event.words) {
            sum += word;
        }
        for (const std::byte byte : event.payload) {
            sum += std::to_integer<std::uint32_t>(byte);
        }
        if (++events > size / host::formats::kev::kSlotBytes) {
            std::abort();
        }
    }
    volatile std::uint32_t used = sum;
    static_cast<void>(used);
    return 0;
}
