// SPDX-License-Identifier: MIT
// Walking, searching and extending the root directory. See root_directory.hpp.
#include "drivers/fat/root_directory.hpp"

#include "lib/assert.hpp"

#include <algorithm>

namespace drivers::fat {

namespace {

constexpr std::uint32_t kEntriesMax = 65536; // the format's limit for one directory
constexpr std::uint32_t kSectorsMax = kEntriesMax * kDirectoryEntryBytes / kSectorBytes;

} // namespace

void RootDirectory::attach(BlockDevice& device, std::uint64_t volume_start, const Geometry& geometry,
                           AllocationTable& table) {
    m_device = &device;
    m_table = &table;
    m_volume_start = volume_start;
    m_geometry = geometry;
}

RootDirectory::Position RootDirectory::first() const {
    ASSERT(m_device != nullptr);
    if (m_geometry.type == FatType::fat16) {
        return {.sector = m_geometry.first_root, .cluster = 0, .walked = 0};
    }
    return {
        .sector = m_geometry.first_sector(m_geometry.root_cluster), .cluster = m_geometry.root_cluster, .walked = 0};
}

lib::Result<bool> RootDirectory::advance(Position& position) {
    if (m_geometry.type == FatType::fat16) {
        if (position.walked + 1 == m_geometry.root_sectors) {
            return false;
        }
        ++position.walked;
        ++position.sector;
        return true;
    }
    if ((position.walked + 1) % m_geometry.sectors_per_cluster != 0) {
        ++position.walked;
        ++position.sector;
        return true;
    }
    const auto next = m_table->get(position.cluster);
    if (!next) {
        return next.error();
    }
    if (next.value() == kEndOfChain) {
        return false;
    }
    if (!m_geometry.holds(next.value()) || position.walked + 1 >= kSectorsMax) {
        return lib::Error::corrupt; // outside the volume, or circular
    }
    position.cluster = next.value();
    position.sector = m_geometry.first_sector(position.cluster);
    ++position.walked;
    return true;
}

lib::Result<RootDirectory::Search> RootDirectory::search(const ShortName& name) {
    Search search;
    Position position = first();
    bool more = true;
    while (more) { // bounded by advance()
        if (const auto done = read_sector(position.sector); !done) {
            return done.error();
        }
        for (std::uint32_t offset = 0; offset < kSectorBytes; offset += kDirectoryEntryBytes) {
            const DirectoryEntry entry = decode_entry(std::span(m_bytes).subspan(offset));
            const bool at_end = entry.kind == EntryKind::end;
            if ((at_end || entry.kind == EntryKind::free) && !search.free.has_value()) {
                search.free = Slot{.sector = position.sector, .offset = offset, .was_end_mark = at_end};
            }
            if (at_end) {
                return search;
            }
            const bool named = entry.kind == EntryKind::file || entry.kind == EntryKind::directory;
            if (named && entry.name.same_as(name)) {
                search.found = entry;
                if (m_geometry.type == FatType::fat16) {
                    search.found->first_cluster &= 0xFFFF; // the upper half is used by OS/2 there
                }
                return search;
            }
        }
        const auto advanced = advance(position);
        if (!advanced) {
            return advanced.error();
        }
        more = advanced.value();
    }
    search.last_cluster = position.cluster;
    search.sectors = position.walked + 1;
    return search;
}

bool RootDirectory::can_grow(const Search& search) const {
    return m_geometry.type == FatType::fat32 && !search.free.has_value() && search.last_cluster != 0 &&
           search.sectors + m_geometry.sectors_per_cluster <= kSectorsMax;
}

lib::Result<Slot> RootDirectory::grow(const Search& search) {
    ASSERT(can_grow(search));
    const auto cluster = m_table->allocate(1);
    if (!cluster) {
        return cluster.error();
    }
    const std::uint32_t sector = m_geometry.first_sector(cluster.value().first);
    m_bytes.fill(std::byte{0});
    for (std::uint32_t i = 0; i < m_geometry.sectors_per_cluster; ++i) {
        if (const auto done = write_sector(sector + i); !done) {
            return done.error();
        }
    }
    if (const auto done = m_table->flush(); !done) {
        return done.error();
    }
    if (const auto done = m_table->set(search.last_cluster, cluster.value().first); !done) {
        return done.error();
    }
    if (const auto done = m_table->flush(); !done) {
        return done.error();
    }
    return Slot{.sector = sector, .offset = 0, .was_end_mark = true};
}

lib::Result<void> RootDirectory::prepare(const Slot& slot) {
    const bool last_of_sector = slot.offset + kDirectoryEntryBytes == kSectorBytes;
    if (!slot.was_end_mark || !last_of_sector) {
        return {}; // write() moves the end within the same sector
    }
    Position position = first();
    while (position.sector != slot.sector) {
        const auto advanced = advance(position);
        if (!advanced) {
            return advanced.error();
        }
        if (!advanced.value()) {
            return lib::Error::corrupt;
        }
    }
    const auto advanced = advance(position);
    if (!advanced) {
        return advanced.error();
    }
    if (!advanced.value()) {
        return {}; // the slot is the last one: no end mark is needed
    }
    if (const auto done = read_sector(position.sector); !done) {
        return done.error();
    }
    if (m_bytes[0] == std::byte{0}) {
        return {};
    }
    m_bytes[0] = std::byte{0}; // entries that a formatter left after the end must not become visible
    return write_sector(position.sector);
}

lib::Result<void> RootDirectory::write(const Slot& slot, const EntryBytes& entry) {
    if (const auto done = read_sector(slot.sector); !done) {
        return done.error();
    }
    std::ranges::copy(entry, m_bytes.begin() + slot.offset);
    if (slot.was_end_mark && slot.offset + kDirectoryEntryBytes < kSectorBytes) {
        m_bytes[slot.offset + kDirectoryEntryBytes] = std::byte{0};
    }
    return write_sector(slot.sector);
}

lib::Result<void> RootDirectory::read_sector(std::uint32_t sector) {
    if (!m_device->read(m_volume_start + sector, m_bytes)) {
        return lib::Error::io;
    }
    return {};
}

lib::Result<void> RootDirectory::write_sector(std::uint32_t sector) {
    if (!m_device->write(m_volume_start + sector, m_bytes)) {
        return lib::Error::io;
    }
    return {};
}

} // namespace drivers::fat
