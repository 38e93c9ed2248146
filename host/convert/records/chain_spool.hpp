// SPDX-License-Identifier: MIT
// A file without a name that takes several rows of bytes at once and gives them back one after the other: for formats
// in which what one processor did is stored together, while events come in order of time. Memory is one block per row,
// however long the rows grow; the blocks of a row are linked in the file.
#pragma once

#include "host/convert/output_file.hpp"
#include "host/trace/byte_source.hpp"
#include "lib/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace host::convert::records {

class ChainSpool {
  public:
    static constexpr std::size_t kBlockBytes = 1024;

    // no_space, io.
    [[nodiscard]] static lib::Result<ChainSpool> create();

    ChainSpool() = default; // takes nothing

    // A new row; its number.
    [[nodiscard]] std::size_t add_row();

    // Errors are remembered for copy_to().
    void append(std::size_t row, std::span<const std::byte> bytes);

    // All rows in the order of `rows`, each filled up with zeros to whole blocks. Nothing can be appended afterwards.
    // no_space, io.
    [[nodiscard]] lib::Result<void> copy_to(OutputFile& file, std::span<const std::size_t> rows);

  private:
    static constexpr std::uint64_t kSlotBytes = kBlockBytes + sizeof(std::uint64_t); // the next slot's place in front

    struct Row {
        std::uint64_t first_slot = 0;
        std::uint64_t slot = 0; // reserved for the block in memory
        std::uint64_t blocks = 0;
        std::size_t filled = 0;
        std::array<std::byte, kBlockBytes> block{};
    };

    static constexpr std::size_t kSlotsAtOnce = 64;

    void write_block(Row& row);
    void write_ahead();

    trace::Spool m_spool;
    std::vector<std::byte> m_ahead; // slots that follow each other and are not in the spool yet
    std::uint64_t m_ahead_slot = 0; // the first of them
    std::vector<Row> m_rows;
    std::uint64_t m_slots = 0;
    lib::Result<void> m_result{};
};

} // namespace host::convert::records
