// SPDX-License-Identifier: MIT
// A b-tree of a SQLite database, made of rows that come in its order: an index, or a table WITHOUT ROWID. SQLite's own
// way to such a tree, a statement for each row, costs about twenty times as much. Its pages are kept in a file without
// a name, for the database grows meanwhile, and are appended to it when SQLite has closed it; the root is a page that
// SQLite has reserved with CREATE. Source: sqlite.org, "Database File Format", sections 1.6 and 2.1.
//
//   leaf       row row row ...                       a row is in one page alone: that between two pages is in the one
//   interior   child, row | child, row | ... child   above them, after its left neighbour
#pragma once

#include "convert/writer/output.hpp"
#include "host/trace/byte_source.hpp"
#include "lib/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace host::convert::table {

class IndexTree {
  public:
    static constexpr std::size_t kPageBytes = 16'384;

    // A longer row would continue on pages of its own.
    static constexpr std::size_t kRowBytesMax = (kPageBytes - 12) * 64 / 255 - 23;

    // no_space, io.
    [[nodiscard]] static lib::Result<IndexTree> create();

    IndexTree() = default; // takes nothing

    // A row in the format of SqliteRow, of kRowBytesMax bytes at most, greater than the one before. Errors are
    // remembered for append_to().
    void add(std::span<const std::byte> row) { add_cell(0, 0, row); }

    // After the last row. The database has `pages` pages, which are all that is in the file; `root`: the empty root of
    // this tree. Returns how many pages it has then. no_space, io.
    [[nodiscard]] lib::Result<std::uint32_t> append_to(OutputFile& file, std::uint32_t pages, std::uint32_t root);

  private:
    static constexpr std::size_t kPagesAtOnce = 16;

    struct Page {
        std::array<std::byte, kPageBytes> bytes{};
        std::size_t cells = 0;
        std::size_t begin = kPageBytes; // of the newest cell: they are placed from the end on
    };

    void add_cell(std::size_t level, std::uint32_t child, std::span<const std::byte> row);
    [[nodiscard]] std::uint32_t take_last_cell(std::size_t level, std::vector<std::byte>& row);
    void finish_page(std::size_t level, std::uint32_t last_child);
    [[nodiscard]] std::uint32_t spool_page(std::size_t level, std::uint32_t last_child);
    void write_out();

    trace::Spool m_spool;
    std::vector<std::byte> m_ahead;              // the newest pages, which are not in the spool yet
    std::uint32_t m_pages = 0;                   // finished; they are numbered from 0 on until they have their place
    std::vector<std::unique_ptr<Page>> m_levels; // that are not finished, leaves first
    lib::Result<void> m_result{};
};

} // namespace host::convert::table
