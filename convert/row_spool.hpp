// SPDX-License-Identifier: MIT
// A file without a name that takes several rows of bytes at once and gives them back one after the other: for formats
// in which what one task or processor did is stored together, while events come in order of time. Memory is one block
// for each row, and four bytes for each block that is in the file; rows shorter than a block never get there.
#pragma once

#include "host/trace/byte_source.hpp"
#include "lib/result.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace host::convert {

class RowSpool {
  public:
    static constexpr std::size_t kBlockBytes = std::size_t{16} * 1024;

    // no_space, io.
    [[nodiscard]] static lib::Result<RowSpool> create();

    RowSpool() = default; // takes nothing

    // A new row; its number.
    [[nodiscard]] std::size_t add_row();

    // Errors are remembered for read().
    void append(std::size_t row_number, std::span<const std::byte> bytes) {
        Row& row = m_rows[row_number];
        if (bytes.size() > row.end.size() - row.filled) [[unlikely]] {
            bytes = append_blocks(row, bytes);
        }
        std::copy(bytes.begin(), bytes.end(), row.end.data() + row.filled);
        row.filled += bytes.size();
    }

    // A row's bytes, in pieces of kBlockBytes and one that is shorter.
    using Take = std::function<void(std::size_t row_number, std::span<const std::byte> bytes)>;

    // All rows in the order of `rows`. Nothing can be appended afterwards. no_space, io.
    [[nodiscard]] lib::Result<void> read(std::span<const std::size_t> rows, const Take& take);

  private:
    static constexpr std::size_t kBlocksAtOnce = 16; // for each write

    struct Row {
        std::vector<std::uint32_t> blocks; // their numbers in the file
        std::vector<std::byte> end;        // room for what is in no block yet: it grows up to a block
        std::size_t filled = 0;
    };

    // Returns the bytes that are left, for which there is room.
    [[nodiscard]] std::span<const std::byte> append_blocks(Row& row, std::span<const std::byte> bytes);
    void write_out();

    trace::Spool m_spool;
    std::vector<std::byte> m_ahead; // the newest blocks, which are not in the file yet
    std::uint32_t m_blocks = 0;
    std::vector<Row> m_rows;
    lib::Result<void> m_result{};
};

} // namespace host::convert
