// SPDX-License-Identifier: MIT
// Implements the one-sector window onto the table that allocation_table.hpp describes.
#include "drivers/fat/allocation_table.hpp"

#include "lib/endian.hpp"

#include <algorithm>

namespace drivers::fat {

namespace {

constexpr Cluster kEndOfChain16 = 0xFFFF;
constexpr Cluster kEndOfChain16Min = 0xFFF8;
constexpr Cluster kEndOfChain32Min = 0x0FFF'FFF8;
constexpr std::uint16_t kValueMask16 = 0xFFFF;
constexpr std::uint32_t kValueMask32 = 0x0FFF'FFFF;

// Links the free entry of cluster `first`, with which `entries` begins, to the free ones that follow it. It returns how
// many there are, including the first, at most count_max. It is a template, because this loop is most of the cost of a
// cluster.
template <typename Entry, Entry ValueMask>
std::uint32_t link_free(std::span<std::byte> entries, Cluster first, std::uint32_t count_max) {
    const auto count_of_all = static_cast<std::uint32_t>(entries.size() / sizeof(Entry));
    std::byte* at = entries.data();
    auto value = lib::load_le<Entry>(std::span(at, sizeof(Entry)));
    std::uint32_t count = 1;
    for (const std::uint32_t end = std::min(count_max, count_of_all); count < end; ++count, at += sizeof(Entry)) {
        const auto next = lib::load_le<Entry>(std::span(at + sizeof(Entry), sizeof(Entry)));
        if ((next & ValueMask) != kFree) {
            break;
        }
        lib::store_le(std::span(at, sizeof(Entry)),
                      static_cast<Entry>((value & ~Cluster{ValueMask}) | (first + count)));
        value = next;
    }
    return count;
}

} // namespace

void AllocationTable::attach(BlockDevice& device, std::uint64_t volume_start, const Geometry& geometry) {
    m_device = &device;
    m_volume_start = volume_start;
    m_geometry = geometry;
    m_candidate = kFirstCluster;
    discard();
}

lib::Result<std::size_t> AllocationTable::load(Cluster cluster) {
    ASSERT(m_device != nullptr && cluster < m_geometry.cluster_count + kFirstCluster);
    const std::size_t position = std::size_t{cluster} * entry_bytes();
    const auto sector = static_cast<std::uint32_t>(position / kSectorBytes);
    if (sector != m_sector) {
        if (const auto flushed = flush(); !flushed) {
            return flushed.error();
        }
        m_sector = kNothing;
        const auto done = m_device->read(m_volume_start + m_geometry.first_fat + sector, m_bytes);
        if (!done) {
            return lib::Error::io;
        }
        m_sector = sector;
    }
    return position % kSectorBytes;
}

Cluster AllocationTable::decode(std::size_t offset) {
    if (m_geometry.type == FatType::fat16) {
        const Cluster value = lib::load_le<std::uint16_t>(entry(offset));
        return value >= kEndOfChain16Min ? kEndOfChain : value;
    }
    const Cluster value = lib::load_le<std::uint32_t>(entry(offset)) & kValueMask32;
    return value >= kEndOfChain32Min ? kEndOfChain : value;
}

void AllocationTable::encode(std::size_t offset, Cluster value) {
    if (m_geometry.type == FatType::fat16) {
        lib::store_le(entry(offset), static_cast<std::uint16_t>(value == kEndOfChain ? kEndOfChain16 : value));
    } else {
        const auto kept = lib::load_le<std::uint32_t>(entry(offset)) & ~kValueMask32;
        lib::store_le(entry(offset), kept | value);
    }
    m_changed = true;
}

lib::Result<Cluster> AllocationTable::get(Cluster cluster) {
    ASSERT(m_geometry.holds(cluster));
    const auto offset = load(cluster);
    if (!offset) {
        return offset.error();
    }
    return decode(offset.value());
}

lib::Result<void> AllocationTable::set(Cluster cluster, Cluster value) {
    ASSERT(m_geometry.holds(cluster));
    ASSERT(value == kFree || value == kEndOfChain || m_geometry.holds(value));
    const auto offset = load(cluster);
    if (!offset) {
        return offset.error();
    }
    if (m_free_count.has_value()) {
        const std::uint32_t was_free = decode(offset.value()) == kFree ? 1 : 0;
        const std::uint32_t is_free = value == kFree ? 1 : 0;
        m_free_count = *m_free_count - was_free + is_free;
    }
    encode(offset.value(), value);
    return {};
}

lib::Result<Run> AllocationTable::allocate(std::uint32_t wanted) {
    ASSERT(wanted > 0);
    const auto free = free_count();
    if (!free) {
        return free.error();
    }
    if (free.value() == 0) {
        return lib::Error::no_space;
    }
    for (std::uint32_t i = 0; i < m_geometry.cluster_count; ++i) {
        const Cluster candidate = m_candidate;
        ASSERT(m_geometry.holds(candidate));
        const auto offset = load(candidate);
        if (!offset) {
            return offset.error();
        }
        Cluster last = candidate;
        std::optional<Run> run;
        if (decode(offset.value()) == kFree) {
            run = take(candidate, offset.value(), std::min(wanted, free.value()));
            last = run->last();
        }
        m_candidate = m_geometry.holds(last + 1) ? last + 1 : kFirstCluster;
        if (run.has_value()) {
            return *run;
        }
    }
    return lib::Error::corrupt; // it was counted and had a free cluster, so the table has changed
}

Run AllocationTable::take(Cluster first, std::size_t offset, std::uint32_t count_max) {
    const std::uint32_t in_volume = m_geometry.cluster_count + kFirstCluster - first;
    count_max = std::min(count_max, in_volume);
    const auto entries = entry(offset);
    const Run run{.first = first,
                  .count = m_geometry.type == FatType::fat16
                               ? link_free<std::uint16_t, kValueMask16>(entries, first, count_max)
                               : link_free<std::uint32_t, kValueMask32>(entries, first, count_max)};
    encode(offset + (run.count - 1) * entry_bytes(), kEndOfChain);
    m_free_count = *m_free_count - run.count;
    return run;
}

lib::Result<std::uint32_t> AllocationTable::free_count() {
    if (m_free_count.has_value()) {
        return *m_free_count;
    }
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < m_geometry.cluster_count; ++i) {
        const auto value = get(kFirstCluster + i);
        if (!value) {
            return value.error();
        }
        if (value.value() == kFree) {
            ++count;
        }
    }
    m_free_count = count;
    return count;
}

lib::Result<std::uint8_t> AllocationTable::media() {
    const auto offset = load(0);
    if (!offset) {
        return offset.error();
    }
    return static_cast<std::uint8_t>(m_bytes[offset.value()]);
}

lib::Result<void> AllocationTable::flush() {
    if (!m_changed) {
        return {};
    }
    for (std::uint32_t copy = 0; copy < m_geometry.fat_count; ++copy) {
        const std::uint64_t first =
            m_volume_start + m_geometry.first_fat + std::uint64_t{copy} * m_geometry.fat_sectors;
        if (!m_device->write(first + m_sector, m_bytes)) {
            return lib::Error::io; // still marked changed: a later flush writes all copies again
        }
    }
    m_changed = false;
    return {};
}

void AllocationTable::discard() {
    m_sector = kNothing;
    m_changed = false;
    m_free_count.reset();
}

} // namespace drivers::fat
