// SPDX-License-Identifier: MIT
// Kinds are numbered as they come, so their order is that of the rows of the spool. The head of a database states how
// many pages it has; SQLite believes it as long as its change counter is the one that the head was written with.
#include "convert/table/event_trees.hpp"

#include "convert/table/stored_events.hpp"
#include "lib/endian.hpp"

#include <array>
#include <bit>
#include <numeric>
#include <utility>
#include <vector>

namespace host::convert::table {

namespace {

constexpr std::uint64_t kPagesAt = 28; // in the head of a database

// Of an event: what the index of kinds has of it.
struct Key {
    std::int64_t time_ns;
    std::int64_t turn;
};

static_assert(RowSpool::kBlockBytes % sizeof(Key) == 0);

} // namespace

lib::Result<EventTrees> EventTrees::create() {
    EventTrees trees;
    for (IndexTree* const tree : {&trees.m_rows, &trees.m_kinds}) {
        auto made = IndexTree::create();
        if (!made) {
            return made.error();
        }
        *tree = std::move(made.value());
    }
    auto keys = RowSpool::create();
    if (!keys) {
        return keys.error();
    }
    trees.m_keys = std::move(keys.value());
    return trees;
}

bool EventTrees::add(std::span<const sql::Cell> cells) {
    const auto row = m_row.encode(cells);
    if (row.size() > IndexTree::kRowBytesMax) {
        return false;
    }
    m_rows.add(row);
    const auto number = [&](StoredEvents::RowColumn column) {
        return *cells[static_cast<std::size_t>(column)].number();
    };
    const auto kind = static_cast<std::size_t>(number(StoredEvents::RowColumn::kind));
    while (m_last_kind < kind) {
        m_last_kind = m_keys.add_row() + 1;
    }
    const Key key{.time_ns = number(StoredEvents::RowColumn::time_ns), .turn = number(StoredEvents::RowColumn::turn)};
    m_keys.append(kind - 1, std::as_bytes(std::span(&key, 1)));
    return true;
}

lib::Result<void> EventTrees::add_kinds() {
    std::vector<std::size_t> kinds(m_last_kind);
    std::iota(kinds.begin(), kinds.end(), 0);
    return m_keys.read(kinds, [this](std::size_t kind, std::span<const std::byte> keys) {
        for (; !keys.empty(); keys = keys.subspan(sizeof(Key))) {
            std::array<std::byte, sizeof(Key)> bytes{};
            std::copy_n(keys.begin(), bytes.size(), bytes.begin());
            const auto key = std::bit_cast<Key>(bytes);
            m_kinds.add(m_row.encode(std::array{sql::Cell(kind + 1), sql::Cell(key.time_ns), sql::Cell(key.turn)}));
        }
    });
}

lib::Result<void> EventTrees::append_to(const std::string& path, const Place& place) {
    if (const auto added = add_kinds(); !added) {
        return added;
    }
    const auto opened = OutputFile::continued(path);
    if (!opened) {
        return opened.error();
    }
    OutputFile& file = *opened.value();
    const auto after_rows = m_rows.append_to(file, place.pages, place.rows_root);
    const auto after_kinds = after_rows ? m_kinds.append_to(file, after_rows.value(), place.kinds_root) : after_rows;
    if (!after_kinds) {
        return after_kinds.error();
    }
    std::array<std::byte, sizeof(std::uint32_t)> pages{};
    lib::store_be(std::span(pages), after_kinds.value());
    file.patch(kPagesAt, pages);
    return file.close();
}

} // namespace host::convert::table
