// SPDX-License-Identifier: MIT
// The memory of a machine in a file, read by physical address: the file that is a guest's RAM (offset = address, also
// while the guest runs), a part of it that QEMU's pmemsave wrote (the descriptor of the black box says where it
// begins), or an ELF core of dump-guest-memory. Sizes and offsets in the file are checked before they are used.
// Sources: System V ABI, chapter 5 (program headers); QEMU's documentation of pmemsave and dump-guest-memory.
#pragma once

#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace host::formats::memory {

class Image {
  public:
    // A pmemsave file is searched so far for the descriptor, page by page.
    static constexpr std::uint64_t kSearchBytesMax = std::uint64_t{1} << 32;
    // An ELF core may have so many; QEMU writes a few.
    static constexpr std::size_t kSegmentsMax = 1024;

    Image() = default; // of nothing: read() fails

    // source: positioned (no stream). corrupt: an ELF file that is no core of a 64-bit machine, or whose headers
    // contradict themselves; not_found: the file holds no descriptor; the text says where it was looked for.
    [[nodiscard]] static lib::Result<Image, trace::Failure<lib::Error>> open(std::shared_ptr<trace::ByteSource> source);

    // Fills `out` from this address on; false if the file does not hold all of it.
    [[nodiscard]] bool read(std::uint64_t address, std::span<std::byte> out) const;

    // Where the address is in the file, for messages; 0 if it is not.
    [[nodiscard]] std::uint64_t offset_of(std::uint64_t address) const;

    // Returns the address of the descriptor's magic.
    [[nodiscard]] std::uint64_t descriptor_address() const { return m_descriptor; }

  private:
    struct Segment {
        std::uint64_t address = 0;
        std::uint64_t bytes = 0;
        std::uint64_t offset_bytes = 0;
    };

    [[nodiscard]] std::optional<trace::Failure<lib::Error>> take_core();
    [[nodiscard]] bool has_magic(std::uint64_t address) const;
    [[nodiscard]] bool find_base();
    [[nodiscard]] const Segment* segment_of(std::uint64_t address) const;

    std::shared_ptr<trace::ByteSource> m_source;
    std::vector<Segment> m_segments; // one of the whole file unless it is a core
    std::uint64_t m_descriptor = 0;
};

// A cheap look, for an input whose kind is not known: an ELF core, or the descriptor at its address or first of all.
[[nodiscard]] bool is_memory(trace::ByteSource& source);

// A search through all of it.
[[nodiscard]] bool holds_descriptor(trace::ByteSource& source);

} // namespace host::formats::memory
