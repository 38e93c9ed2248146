// SPDX-License-Identifier: MIT
// The instruction is part of SSE 4.2 and asked for at run time: the tools run on any x86-64.
#include "host/trace/checksum.hpp"

#include "lib/crc32c.hpp"

#include <nmmintrin.h>

namespace host::trace {

namespace {

[[gnu::target("sse4.2")]] std::uint32_t by_instruction(std::span<const std::byte> bytes, std::uint32_t previous) {
    std::uint64_t crc = ~previous;
    std::size_t at = 0;
    for (; at + 8 <= bytes.size(); at += 8) {
        std::uint64_t word = 0;
        __builtin_memcpy(&word, bytes.data() + at, sizeof word);
        crc = _mm_crc32_u64(crc, word);
    }
    auto rest = static_cast<std::uint32_t>(crc);
    for (; at < bytes.size(); ++at) {
        rest = _mm_crc32_u8(rest, std::to_integer<std::uint8_t>(bytes[at]));
    }
    return ~rest;
}

} // namespace

std::uint32_t checksum(std::span<const std::byte> bytes, std::uint32_t previous) {
    static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
    return has_instruction ? by_instruction(bytes, previous) : lib::crc32c(bytes, previous);
}

} // namespace host::trace
