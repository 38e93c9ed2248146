// SPDX-License-Identifier: MIT
#include "host/formats/fat/volume.hpp"

#include "host/text/format.hpp"
#include "lib/endian.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace host::formats::fat {

// --- entry -----------------------------------------------------------------------------------------------------------

namespace {

constexpr unsigned kAttributeLong = 0x0F;
constexpr unsigned kAttributeLabel = 0x08;
constexpr unsigned kAttributeDirectory = 0x10;
constexpr std::byte kDeleted{0xE5};
constexpr std::size_t kShortChars = 11;
constexpr std::size_t kBaseChars = 8;

unsigned attributes(std::span<const std::byte> entry) {
    return std::to_integer<unsigned>(entry[11]) & 0x3F;
}

std::byte short_checksum(std::span<const std::byte> entry) {
    unsigned sum = 0;
    for (std::size_t i = 0; i < kShortChars; ++i) {
        sum = (((sum & 1) << 7) + (sum >> 1) + std::to_integer<unsigned>(entry[i])) & 0xFF;
    }
    return static_cast<std::byte>(sum);
}

std::string short_name(std::span<const std::byte> entry) {
    std::string name;
    std::size_t end = 0; // position after the last character that is not a blank
    for (std::size_t i = 0; i < kShortChars; ++i) {
        if (i == kBaseChars) {
            name.resize(end);
            name += '.';
            end = name.size() - 1; // the dot is removed if nothing follows
        }
        const auto code = std::to_integer<unsigned char>(entry[i]);
        name += code >= 0x20 && code < 0x7F ? static_cast<char>(code) : '?';
        end = code != ' ' ? name.size() : end;
    }
    name.resize(end);
    return name;
}

} // namespace

bool is_file(std::span<const std::byte> entry) {
    return entry[0] != kDeleted && (attributes(entry) & (kAttributeLabel | kAttributeDirectory)) == 0;
}

bool LongName::take(std::span<const std::byte> entry) {
    if (entry[0] == kDeleted || attributes(entry) != kAttributeLong) {
        return false;
    }
    constexpr unsigned kLastPiece = 0x40;
    const auto order = std::to_integer<unsigned>(entry[0]);
    const unsigned number = order & 0x3F;
    if ((order & kLastPiece) != 0 && number >= 1 && number <= kPiecesMax) {
        m_text = {};
        m_pieces = number;
        m_expected = number;
        m_checksum = entry[13];
    }
    if (number == 0 || number != m_expected || entry[13] != m_checksum) {
        m_pieces = 0;
        m_expected = 0;
        return true;
    }
    constexpr std::array<std::size_t, kPieceChars> kPlaces = {1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30};
    for (std::size_t i = 0; i < kPieceChars; ++i) {
        const auto code = lib::load_le<std::uint16_t>(entry.subspan(kPlaces[i]));
        constexpr std::uint16_t kPadding = 0xFFFF;
        const bool plain = code >= 0x20 && code < 0x7F;
        m_text[(number - 1) * kPieceChars + i] = code == 0 || code == kPadding ? '\0'
                                                 : plain                       ? static_cast<char>(code)
                                                                               : '?';
    }
    --m_expected;
    return true;
}

std::string LongName::name_of(std::span<const std::byte> entry) const {
    if (m_pieces == 0 || m_expected != 0 || m_checksum != short_checksum(entry)) {
        return short_name(entry);
    }
    const auto end = std::ranges::find(m_text, '\0');
    return {m_text.begin(), end};
}

namespace {

constexpr std::size_t kSectorBytes = 512;
constexpr std::uint32_t kFat12ClustersMax = 4084;
constexpr std::uint32_t kFat16ClustersMax = 65'524;
constexpr std::uint32_t kFat32ClustersMax = 0x0FFF'FFF5;
constexpr std::uint32_t kFirstCluster = 2;
constexpr std::size_t kRootEntriesMax = 65'536; // of FAT32: the greatest number that a directory may have

std::uint32_t half(std::span<const std::byte> bytes, std::size_t at) {
    return lib::load_le<std::uint16_t>(bytes.subspan(at));
}

std::uint32_t word(std::span<const std::byte> bytes, std::size_t at) {
    return lib::load_le<std::uint32_t>(bytes.subspan(at));
}

// The clusters that a walk has visited: a bit for each cluster up to the greatest, at most 32 MiB.
class Visited {
  public:
    // Takes the next cluster. Returns true if the walk has visited it before.
    [[nodiscard]] bool again(std::uint32_t cluster) {
        if (cluster >= m_seen.size()) {
            m_seen.resize(cluster + 1);
        }
        const bool before = m_seen[cluster];
        m_seen[cluster] = true;
        return before;
    }

  private:
    std::vector<bool> m_seen;
};

} // namespace

bool is_fat_partition(std::byte type) {
    constexpr auto kTypes = std::to_array<unsigned>({0x01, 0x04, 0x06, 0x0B, 0x0C, 0x0E});
    return std::ranges::find(kTypes, std::to_integer<unsigned>(type)) != kTypes.end();
}

lib::Result<void> Volume::read_exactly(std::uint64_t offset_bytes, std::span<std::byte> out, Fault& fault) {
    const auto count = m_image->read(offset_bytes, out);
    if (!count) {
        fault = {offset_bytes, std::string(error_name(count.error()))};
        return count.error();
    }
    if (count.value() != out.size()) {
        fault = {m_image->size_bytes(), fmt::format("the image ends {} bytes before what it refers to",
                                                    offset_bytes + out.size() - m_image->size_bytes())};
        return lib::Error::corrupt;
    }
    return {};
}

lib::Result<Volume> Volume::open(std::shared_ptr<trace::ByteSource> image, Fault& fault) {
    Volume volume;
    volume.m_image = std::move(image);
    std::array<std::byte, kSectorBytes> sector{};
    if (const auto got = volume.read_exactly(0, sector, fault); !got) {
        return got.error();
    }
    const bool jump = sector[0] == std::byte{0xE9} || sector[0] == std::byte{0xEB};
    if (jump && std::has_single_bit(half(sector, 11)) && volume.read_geometry(0, fault)) {
        return volume;
    }
    constexpr std::size_t kTable = 446;
    constexpr std::size_t kRowBytes = 16;
    for (std::size_t row = 0; row < 4; ++row) {
        const auto entry = std::span(sector).subspan(kTable + row * kRowBytes, kRowBytes);
        if (is_fat_partition(entry[4])) {
            if (const auto read = volume.read_geometry(std::uint64_t{word(entry, 8)} * kSectorBytes, fault); !read) {
                return read.error();
            }
            return volume;
        }
    }
    if (fault.text.empty()) {
        fault = {0, "neither a FAT boot sector nor a partition table with a FAT partition"};
    }
    return lib::Error::corrupt;
}

lib::Result<void> Volume::read_geometry(std::uint64_t begin_bytes, Fault& fault) {
    std::array<std::byte, kSectorBytes> boot{};
    if (const auto got = read_exactly(begin_bytes, boot, fault); !got) {
        return got;
    }
    const auto refuse = [&](std::size_t at, std::string text) {
        fault = {begin_bytes + at, std::move(text)};
        return lib::Error::corrupt;
    };
    const std::uint32_t sector_bytes = half(boot, 11);
    if (sector_bytes < 512 || sector_bytes > 4096 || !std::has_single_bit(sector_bytes)) {
        return refuse(11, fmt::format("a sector cannot have {} bytes", sector_bytes));
    }
    const auto cluster_sectors = std::to_integer<std::uint32_t>(boot[13]);
    if (!std::has_single_bit(cluster_sectors)) {
        return refuse(13, fmt::format("a cluster cannot have {} sectors", cluster_sectors));
    }
    const std::uint32_t reserved = half(boot, 14);
    const auto tables = std::to_integer<std::uint32_t>(boot[16]);
    m_root_entries = half(boot, 17);
    const std::uint32_t total = half(boot, 19) != 0 ? half(boot, 19) : word(boot, 32);
    const std::uint32_t table_sectors = half(boot, 22) != 0 ? half(boot, 22) : word(boot, 36);
    if (reserved == 0 || tables == 0 || table_sectors == 0 || total == 0) {
        return refuse(14, fmt::format("{} reserved sectors, {} tables of {} sectors, {} sectors in all: none may be 0",
                                      reserved, tables, table_sectors, total));
    }
    const std::uint64_t root_sectors = (std::uint64_t{m_root_entries} * kEntryBytes + sector_bytes - 1) / sector_bytes;
    const std::uint64_t meta_sectors = reserved + std::uint64_t{tables} * table_sectors + root_sectors;
    if (meta_sectors >= total) {
        return refuse(19, fmt::format("{} sectors have no room for {} of tables", total, meta_sectors));
    }
    const std::uint64_t clusters = (total - meta_sectors) / cluster_sectors;
    m_bits = clusters <= kFat12ClustersMax ? 12 : clusters <= kFat16ClustersMax ? 16 : 32;
    const std::uint64_t in_table = std::uint64_t{table_sectors} * sector_bytes * 8 / m_bits;
    if (clusters == 0 || clusters > kFat32ClustersMax || in_table < clusters + kFirstCluster) {
        return refuse(22, fmt::format("{} clusters, but a table for {}", clusters, in_table));
    }
    m_clusters = static_cast<std::uint32_t>(clusters);
    m_cluster_bytes = cluster_sectors * sector_bytes;
    m_fat_bytes = begin_bytes + std::uint64_t{reserved} * sector_bytes;
    m_root_bytes = m_fat_bytes + std::uint64_t{tables} * table_sectors * sector_bytes;
    m_data_bytes = m_root_bytes + root_sectors * sector_bytes;
    m_root_cluster = m_bits == 32 ? word(boot, 44) : 0;
    m_buffer.resize(m_cluster_bytes);
    fault = {};
    return {};
}

bool Volume::is_data(std::uint32_t cluster) const {
    return cluster >= kFirstCluster && cluster - kFirstCluster < m_clusters;
}

std::uint64_t Volume::place_of(std::uint32_t cluster) const {
    return m_data_bytes + std::uint64_t{cluster - kFirstCluster} * m_cluster_bytes;
}

std::uint64_t Volume::entry_place(std::uint32_t cluster) const {
    return m_fat_bytes + std::uint64_t{cluster} * m_bits / 8;
}

// Returns the next value of the chain: a cluster, or another value (the end, a bad cluster, an invalid number).
lib::Result<std::uint32_t> Volume::next_cluster(std::uint32_t cluster, Fault& fault) {
    std::array<std::byte, 4> entry{};
    const std::size_t size = m_bits == 32 ? 4 : 2;
    if (const auto got = read_exactly(entry_place(cluster), std::span(entry).first(size), fault); !got) {
        return got.error();
    }
    if (m_bits == 12) {
        return cluster % 2 == 0 ? half(entry, 0) & 0x0FFF : half(entry, 0) >> 4;
    }
    return m_bits == 16 ? half(entry, 0) : word(entry, 0) & 0x0FFF'FFFF;
}

lib::Result<void> Volume::read(const File& file,
                               const std::function<lib::Result<void>(std::span<const std::byte>)>& use, Fault& fault) {
    std::uint32_t cluster = file.first_cluster;
    std::uint64_t fault_place = file.entry_bytes;
    Visited visited;
    for (std::uint64_t left = file.size_bytes; left != 0;) {
        if (!is_data(cluster)) {
            fault = {fault_place,
                     fmt::format("{}: cluster {} is none, {} bytes are missing", file.name, cluster, left)};
            return lib::Error::corrupt;
        }
        if (visited.again(cluster)) {
            fault = {fault_place, fmt::format("{}: its chain of clusters comes back to {}", file.name, cluster)};
            return lib::Error::corrupt;
        }
        const auto piece =
            std::span(m_buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(left, m_cluster_bytes)));
        const auto count = m_image->read(place_of(cluster), piece);
        if (count && count.value() != 0) {
            if (const auto used = use(piece.first(count.value())); !used) {
                return used;
            }
        }
        if (!count || count.value() != piece.size()) {
            return read_exactly(place_of(cluster), piece, fault);
        }
        left -= piece.size();
        fault_place = entry_place(cluster);
        if (left != 0) {
            const auto next = next_cluster(cluster, fault);
            if (!next) {
                return next.error();
            }
            cluster = next.value();
        }
    }
    return {};
}

// Passes each directory entry with its place to `use`, until `use` returns false.
lib::Result<void> Volume::read_root(const std::function<bool(std::span<const std::byte>, std::uint64_t)>& use,
                                    Fault& fault) {
    std::array<std::byte, kEntryBytes> entry{};
    if (m_bits != 32) {
        for (std::uint32_t i = 0; i < m_root_entries; ++i) {
            const std::uint64_t place = m_root_bytes + std::uint64_t{i} * kEntryBytes;
            if (const auto got = read_exactly(place, entry, fault); !got) {
                return got;
            }
            if (!use(entry, place)) {
                break;
            }
        }
        return {};
    }
    std::uint32_t cluster = m_root_cluster;
    std::size_t entries = 0;
    Visited visited;
    while (is_data(cluster) && entries < kRootEntriesMax) {
        if (visited.again(cluster)) {
            fault = {entry_place(cluster), fmt::format("the root directory's chain comes back to cluster {}", cluster)};
            return lib::Error::corrupt;
        }
        for (std::uint32_t at = 0; at < m_cluster_bytes; at += kEntryBytes, ++entries) {
            const std::uint64_t place = place_of(cluster) + at;
            if (const auto got = read_exactly(place, entry, fault); !got) {
                return got;
            }
            if (!use(entry, place)) {
                return {};
            }
        }
        const auto next = next_cluster(cluster, fault);
        if (!next) {
            return next.error();
        }
        cluster = next.value();
    }
    return {};
}

lib::Result<void> Volume::for_each_file(const std::function<void(const File&)>& use, Fault& fault) {
    LongName long_name;
    return read_root(
        [&](std::span<const std::byte> entry, std::uint64_t place) {
            if (entry[0] == kEndOfDirectory) {
                return false;
            }
            if (long_name.take(entry)) {
                return true;
            }
            if (is_file(entry)) {
                use({.name = long_name.name_of(entry),
                     .first_cluster = half(entry, 26) | (m_bits == 32 ? half(entry, 20) << 16 : 0),
                     .size_bytes = word(entry, 28),
                     .entry_bytes = place});
            }
            long_name = {};
            return true;
        },
        fault);
}

} // namespace host::formats::fat
