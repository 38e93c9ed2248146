// SPDX-License-Identifier: MIT
// Mounting, finding, reading. See volume.hpp.
#include "drivers/fat/volume.hpp"

#include "lib/assert.hpp"
#include "lib/copy_bytes.hpp"

#include <algorithm>

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

} // namespace drivers::fat
