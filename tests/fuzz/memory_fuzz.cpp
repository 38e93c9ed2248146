// SPDX-License-Identifier: MIT
// Any bytes as the memory of a machine. The input is read unchanged, and once more with the checksum of each descriptor
// in it corrected, because no random change passes a checksum.
#include "tests/fuzz/read_through.hpp"
#include "tracer/black_box/descriptor.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using host::trace::InputKind;
    using tracer::black_box::Descriptor;
    fuzz::read_through(data, size, InputKind::memory);
    std::vector<std::uint8_t> sealed(data, data + size);
    const auto& magic = tracer::black_box::kMagic;
    auto found = std::search(sealed.begin(), sealed.end(), magic.begin(), magic.end());
    while (static_cast<std::size_t>(sealed.end() - found) >= sizeof(Descriptor)) {
        const std::span<std::uint8_t> descriptor(&*found, sizeof(Descriptor));
        const std::uint32_t crc32c = tracer::black_box::checksum(std::as_bytes(descriptor));
        std::memcpy(&descriptor[offsetof(Descriptor, crc32c)], &crc32c, sizeof(crc32c));
        found = std::search(found + 1, sealed.end(), magic.begin(), magic.end());
    }
    fuzz::read_through(sealed.data(), sealed.size(), InputKind::memory);
    return 0;
}
