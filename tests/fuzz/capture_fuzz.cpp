// SPDX-License-Identifier: MIT
// Any bytes as a network capture.
#include "tests/fuzz/read_through.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using host::trace::InputKind;
    fuzz::read_through(data, size, InputKind::capture);
    return 0;
}
