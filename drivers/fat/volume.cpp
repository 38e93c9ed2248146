// SPDX-License-Identifier: MIT
// Mounts a volume, finds and reads its files, and writes new ones.
#include "drivers/fat/volume.hpp"

#include "lib/assert.hpp"
#include "lib/copy_bytes.hpp"

#include <algorithm>
#include <limits>

namespace drivers::fat {

lib::Result<void> Volume::mount(BlockDevice& device) {
    m_device = nullptr;
    m_defect = Defect::no_volume;
    const auto location = locate_volume(device, m_sector);
    if (!location) {
        return location.error();
    }
    m_defect = location.value().defect;
    if (m_defect != Defect::none) {
        return defect_error(m_defect);
    }
    m_start = location.value().start;
    m_geometry = location.value().geometry;
    m_table.attach(device, m_start, m_geometry);
    m_root.attach(device, m_start, m_geometry, m_table);
    const auto media = m_table.media();
    if (!media) {
        return media.error();
    }
    if (media.value() != m_geometry.media) {
        m_defect = Defect::media;
        return defect_error(m_defect);
    }
    m_device = &device;
    return {};
}

lib::Result<std::uint64_t> Volume::free_bytes() {
    ASSERT(mounted());
    const auto clusters = m_table.free_count();
    if (!clusters) {
        return clusters.error();
    }
    return std::uint64_t{clusters.value()} * m_geometry.cluster_bytes();
}

lib::Result<FileInfo> Volume::find(std::string_view name) {
    ASSERT(mounted());
    const auto short_name = make_short_name(name);
    if (!short_name) {
        return short_name.error();
    }
    const auto search = m_root.search(short_name.value());
    if (!search) {
        return search.error();
    }
    const auto& found = search.value().found;
    if (!found.has_value()) {
        return lib::Error::not_found;
    }
    if (found->kind != EntryKind::file) {
        return lib::Error::invalid_argument;
    }
    const bool empty = found->first_cluster == 0 && found->size_bytes == 0;
    if (!empty && !m_geometry.holds(found->first_cluster)) {
        return lib::Error::corrupt;
    }
    return FileInfo{
        .first_cluster = found->first_cluster, .size_bytes = found->size_bytes, .modified = found->modified};
}

lib::Result<std::size_t> Volume::read(const FileInfo& file, std::uint32_t offset, std::span<std::byte> out) {
    ASSERT(mounted());
    if (offset >= file.size_bytes) {
        return std::size_t{0};
    }
    const std::size_t wanted = std::min<std::size_t>(out.size(), file.size_bytes - offset);
    const std::uint32_t cluster_bytes = m_geometry.cluster_bytes();
    Cluster cluster = file.first_cluster;
    std::size_t copied = 0;
    std::uint32_t cluster_start = 0; // offset of the cluster in the file; ends the loop even in a circular chain
    while (copied < wanted) {
        if (!m_geometry.holds(cluster)) {
            return lib::Error::corrupt;
        }
        const std::size_t position = offset + copied;
        if (position - cluster_start < cluster_bytes) {
            const auto inside = static_cast<std::uint32_t>(position - cluster_start);
            const std::size_t count = std::min<std::size_t>(cluster_bytes - inside, wanted - copied);
            if (const auto done = read_cluster(cluster, inside, out.subspan(copied, count)); !done) {
                return done.error();
            }
            copied += count;
        }
        if (copied == wanted) {
            break;
        }
        const auto next = m_table.get(cluster);
        if (!next) {
            return next.error();
        }
        cluster = next.value();
        cluster_start += cluster_bytes;
    }
    return copied;
}

lib::Result<void> Volume::read_cluster(Cluster cluster, std::uint32_t offset, std::span<std::byte> out) {
    std::uint64_t sector = m_start + m_geometry.first_sector(cluster) + offset / kSectorBytes;
    std::size_t skip = offset % kSectorBytes;
    while (!out.empty()) {
        const std::size_t count = std::min(kSectorBytes - skip, out.size());
        if (!m_device->read(sector, m_sector)) {
            return lib::Error::io;
        }
        lib::copy_bytes(std::span(m_sector).subspan(skip, count), out);
        out = out.subspan(count);
        skip = 0;
        ++sector;
    }
    return {};
}

lib::Result<void> Volume::write(std::uint32_t sector, std::span<const std::byte> bytes) {
    ASSERT(mounted() && sector + bytes.size() / kSectorBytes <= m_geometry.total_sectors);
    if (!m_device->write(m_start + sector, bytes)) {
        return lib::Error::io;
    }
    return {};
}

lib::Result<void> Volume::flush() {
    ASSERT(mounted());
    return m_device->flush();
}

lib::Result<void> Volume::mark_space_unknown() {
    return update_hint({});
}

lib::Result<void> Volume::mark_space_known() {
    if (m_geometry.info_sector == 0) {
        return {};
    }
    const auto free = m_table.free_count();
    if (!free) {
        return free.error();
    }
    return update_hint({.free_clusters = free.value(), .next_candidate = m_table.next_candidate()});
}

lib::Result<void> Volume::update_hint(const SpaceHint& hint) {
    ASSERT(mounted());
    if (m_geometry.info_sector == 0) {
        return {};
    }
    return update_info_sector(*m_device, m_start + m_geometry.info_sector, hint, m_sector);
}

// --- FileWriter: volume.hpp has the order of its writes ---

lib::Result<void> FileWriter::create(const NewFile& file) {
    ASSERT(m_volume.mounted());
    if (m_open) {
        return lib::Error::busy;
    }
    const auto name = make_short_name(file.name);
    if (!name || !file.modified.valid()) {
        return lib::Error::invalid_argument;
    }
    const auto search = m_volume.root().search(name.value());
    if (!search) {
        return search.error();
    }
    if (search.value().found.has_value()) {
        return lib::Error::exists;
    }
    const bool grows = !search.value().free.has_value();
    if (grows && !m_volume.root().can_grow(search.value())) {
        return lib::Error::no_space;
    }
    const auto free = m_volume.free_bytes();
    if (!free) {
        return free.error();
    }
    const std::uint64_t for_directory = grows ? m_volume.geometry().cluster_bytes() : 0;
    if (file.size_hint_bytes > free.value() || free.value() - file.size_hint_bytes < for_directory) {
        return lib::Error::no_space;
    }

    // The device is written to from here on.
    if (const auto done = m_volume.mark_space_unknown(); !done) {
        return done.error();
    }
    const auto slot = take_slot(search.value());
    if (!slot) {
        forget_unwritten();
        return slot.error();
    }
    m_slot = slot.value();
    m_name = name.value();
    m_modified = file.modified;
    m_first = 0;
    m_last = 0;
    m_clusters = 0;
    m_size = 0;
    m_open = true;
    return {};
}

lib::Result<Slot> FileWriter::take_slot(const RootDirectory::Search& search) {
    Slot slot;
    if (search.free.has_value()) {
        slot = *search.free;
    } else {
        const auto grown = m_volume.root().grow(search);
        if (!grown) {
            return grown.error();
        }
        slot = grown.value();
    }
    if (const auto done = m_volume.root().prepare(slot); !done) {
        return done.error();
    }
    return slot;
}

lib::Result<void> FileWriter::append(std::span<const std::byte> bytes) {
    ASSERT(m_open);
    if (const auto done = add(bytes); !done) {
        return give_up(done.error());
    }
    return {};
}

// Returns the number of bytes that fit after the last one. They follow each other on the volume up to the end of
// m_last, because a run is added only when this is 0.
std::uint64_t FileWriter::room() const {
    return std::uint64_t{m_clusters} * m_volume.geometry().cluster_bytes() - m_size;
}

// Returns the sector of the next byte, or the one after the last cluster if there is no room.
std::uint32_t FileWriter::sector() const {
    const Geometry& geometry = m_volume.geometry();
    const auto left = static_cast<std::uint32_t>((room() + kSectorBytes - 1) / kSectorBytes);
    return geometry.first_sector(m_last) + geometry.sectors_per_cluster - left;
}

lib::Result<void> FileWriter::add(std::span<const std::byte> bytes) {
    if (bytes.size() > std::numeric_limits<std::uint32_t>::max() - m_size) {
        return lib::Error::no_space;
    }
    while (!bytes.empty()) {
        if (room() == 0) {
            if (const auto done = add_run(bytes.size()); !done) {
                return done.error();
            }
        }
        const std::size_t in_sector = m_size % kSectorBytes;
        std::size_t count = 0;
        if (in_sector != 0 || bytes.size() < kSectorBytes) {
            count = std::min(kSectorBytes - in_sector, bytes.size());
            lib::copy_bytes(bytes.first(count), std::span(m_tail).subspan(in_sector));
            if (in_sector + count == kSectorBytes) {
                if (const auto done = m_volume.write(sector(), m_tail); !done) {
                    return done.error();
                }
            }
        } else { // whole sectors, up to the end of the run, directly from the caller's memory
            count = std::min<std::size_t>(room(), bytes.size() / kSectorBytes * kSectorBytes);
            if (const auto done = m_volume.write(sector(), bytes.first(count)); !done) {
                return done.error();
            }
        }
        ASSERT(count <= room());
        m_size += static_cast<std::uint32_t>(count);
        bytes = bytes.subspan(count);
    }
    return {};
}

lib::Result<void> FileWriter::add_run(std::size_t for_bytes) {
    AllocationTable& table = m_volume.table();
    const std::size_t cluster_bytes = m_volume.geometry().cluster_bytes();
    const auto taken = table.allocate(static_cast<std::uint32_t>((for_bytes + cluster_bytes - 1) / cluster_bytes));
    if (!taken) {
        return taken.error();
    }
    const Run run = taken.value();
    if (m_first == 0) {
        m_first = run.first;
    } else if (const auto linked = table.set(m_last, run.first); !linked) {
        for (Cluster cluster = run.first; cluster <= run.last(); ++cluster) {
            static_cast<void>(table.set(cluster, kFree)); // a failure leaves it in no chain: lost
        }
        return linked.error();
    }
    m_last = run.last();
    m_clusters += run.count;
    ASSERT(m_volume.geometry().holds(m_first) && m_volume.geometry().holds(m_last));
    return {};
}

lib::Result<void> FileWriter::write_tail() {
    const std::size_t used = m_size % kSectorBytes;
    if (used == 0) {
        return {};
    }
    std::ranges::fill(std::span(m_tail).subspan(used), std::byte{0}); // no stale memory on the disk
    return m_volume.write(sector(), m_tail);
}

lib::Result<void> FileWriter::close() {
    ASSERT(m_open);
    if (const auto done = write_tail(); !done) {
        return give_up(done.error());
    }
    if (const auto done = m_volume.table().flush(); !done) {
        return give_up(done.error());
    }
    if (const auto done = m_volume.flush(); !done) {
        return give_up(done.error());
    }
    m_open = false;
    DirectoryEntry entry;
    entry.kind = EntryKind::file;
    entry.name = m_name;
    entry.first_cluster = m_first;
    entry.size_bytes = m_size;
    entry.modified = m_modified;
    if (const auto done = m_volume.root().write(m_slot, encode_entry(entry)); !done) {
        // It is unknown whether the write succeeded: freeing the clusters could leave an entry that points to free
        // clusters.
        return done.error();
    }
    if (const auto done = m_volume.mark_space_known(); !done) {
        return done.error();
    }
    return m_volume.flush();
}

lib::Result<void> FileWriter::abandon() {
    ASSERT(m_open);
    m_open = false;
    auto done = free_chain();
    if (done) {
        done = m_volume.table().flush();
    }
    if (done) {
        done = m_volume.mark_space_known();
    }
    if (done) {
        done = m_volume.flush();
    }
    if (!done) {
        forget_unwritten();
    }
    return done;
}

lib::Result<void> FileWriter::free_chain() {
    Cluster cluster = m_first;
    for (std::uint32_t i = 0; i < m_clusters; ++i) {
        const auto next = m_volume.table().get(cluster);
        if (!next) {
            return next.error();
        }
        if (const auto done = m_volume.table().set(cluster, kFree); !done) {
            return done.error();
        }
        cluster = next.value();
        const bool last = i + 1 == m_clusters;
        if (!last && !m_volume.geometry().holds(cluster)) {
            return lib::Error::io; // the device does not return what was written to it
        }
    }
    return {};
}

lib::Error FileWriter::give_up(lib::Error reason) {
    if (const auto removed = abandon(); !removed) {
        return lib::Error::io; // the removal failed, too
    }
    return reason;
}

void FileWriter::forget_unwritten() {
    m_volume.table().discard();
}

} // namespace drivers::fat
