// SPDX-License-Identifier: MIT
// Any bytes as a tlog file, in the layout that the last byte chooses.
#include "tests/fuzz/read_through.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using host::trace::InputKind;
    const bool older = size != 0 && (data[size - 1] & 1) != 0;
    fuzz::read_through(data, size, older ? InputKind::tlog_old : InputKind::tlog);
    return 0;
}
