// SPDX-License-Identifier: MIT
// Several rows of bytes are appended in turn to a file without a name, and read from it one after the other. This is
// for formats that store together what one task or processor did, while events come in order of time. Memory is one
// block for each row, and four bytes for each block in the file; rows shorter than a block stay in memory.
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

    // Creates the file. no_space, io.
    [[nodiscard]] static lib::Result<RowSpool> create();

    RowSpool() = default; // accepts no rows

    // Adds a row and returns its number.
    [[nodiscard]] std::size_t add_row();

    // Appends bytes to a row. read() returns its errors.
    void append(std::size_t row_number, std::span<const std::byte> bytes) {
        Row& row = m_rows[row_number];
        if (bytes.size() > row.end.size() - row.filled) [[unlikely]] {
            bytes = append_blocks(row, bytes);
        }
        std::copy(bytes.begin(), bytes.end(), row.end.data() + row.filled);
        row.filled += bytes.size();
    }

    // Receives the bytes of a row, in pieces of kBlockBytes and a shorter last one.
    using Take = std::function<void(std::size_t row_number, std::span<const std::byte> bytes)>;

    // Passes on all rows in the order of `rows`. Nothing can be appended afterwards. no_space, io.
    [[nodiscard]] lib::Result<void> read(std::span<const std::size_t> rows, const Take& take);

  private:
    static constexpr std::size_t kBlocksAtOnce = 16; // in one write

    struct Row {
        std::vector<std::uint32_t> blocks; // positions in the file, in blocks
        std::vector<std::byte> end;        // bytes after the last full block
        std::size_t filled = 0;
    };

    // Returns the remaining bytes, which fit into the row.
    [[nodiscard]] std::span<const std::byte> append_blocks(Row& row, std::span<const std::byte> bytes);
    void write_out();

    trace::Spool m_spool;
    std::vector<std::byte> m_ahead; // blocks that are not in the file yet
    std::uint32_t m_blocks = 0;
    std::vector<Row> m_rows;
    lib::Result<void> m_result{};
};

} // namespace host::convert
