// SPDX-License-Identifier: MIT
// Reads bytes as a trace of a given kind, from a file in memory, to the end, as the fuzz target of a reader does.
#pragma once

#include "host/formats/trace.hpp"

#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

namespace fuzz {

inline void read_through(const std::uint8_t* data, std::size_t size, host::trace::InputKind kind) {
    const int descriptor = ::memfd_create("input", 0);
    if (descriptor < 0 || ::write(descriptor, data, size) != static_cast<ssize_t>(size)) {
        __builtin_trap();
    }
    host::trace::Diagnostics diagnostics([](std::string_view) {});
    const host::trace::NamedSource input{
        .name = "input", .bytes = std::make_shared<host::trace::ByteSource>(descriptor, true, size), .keep_open = true};
    auto trace = host::formats::Trace::open(input, {.kind = kind}, diagnostics);
    if (trace) {
        trace.value()->for_each([&](const host::trace::Event&) {});
    }
    diagnostics.finish();
}

} // namespace fuzz
