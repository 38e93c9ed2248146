// SPDX-License-Identifier: MIT
// Plans and writes a new volume, as format.hpp describes.
#include "drivers/fat/format.hpp"

#include "drivers/fat/geometry.hpp"
#include "lib/assert.hpp"
#include "lib/endian.hpp"

#include <algorithm>

namespace drivers::fat {

namespace {

constexpr std::uint64_t kBlankSectors = 136; // 68 KiB
constexpr std::uint64_t kFat16SectorsMax = 1048576;
constexpr std::uint8_t kFatCount = 2;
constexpr std::uint16_t kRootEntries16 = 512;
constexpr std::uint32_t kReserved16 = 1;
constexpr std::uint32_t kReserved32 = 32;
constexpr std::uint32_t kInfoSector = 1;
constexpr std::uint32_t kSecondBootSector = 2; // FAT32's boot loader is three sectors long; this one holds only 55 AA
constexpr std::uint32_t kBackupBootSector = 6;
constexpr std::uint8_t kMediaFixed = 0xF8;
constexpr std::size_t kOffsetSignature = 510;

struct SizeClass {
    std::uint64_t sectors_max;
    std::uint8_t sectors_per_cluster;
};

// These are the specification's tables; the smallest FAT16 volumes, not covered there, get clusters of one sector.
constexpr std::array<SizeClass, 5> kClasses16{{{8'400, 1}, {32'680, 2}, {262'144, 4}, {524'288, 8}, {1'048'576, 16}}};
constexpr std::array<SizeClass, 5> kClasses32{
    {{532'480, 1}, {16'777'216, 8}, {33'554'432, 16}, {67'108'864, 32}, {0xFFFF'FFFF, 64}}};

struct Plan {
    FatType type = FatType::fat16;
    std::uint32_t total_sectors = 0;
    std::uint32_t reserved_sectors = 0;
    std::uint32_t root_sectors = 0;
    std::uint32_t fat_sectors = 0;
    std::uint8_t sectors_per_cluster = 0;

    [[nodiscard]] constexpr std::uint32_t first_root() const { return reserved_sectors + kFatCount * fat_sectors; }

    [[nodiscard]] constexpr std::uint64_t first_data() const {
        return std::uint64_t{reserved_sectors} + std::uint64_t{kFatCount} * fat_sectors + root_sectors;
    }
};

lib::Result<Plan> make_plan(std::uint64_t sectors, FormatType type) {
    Plan plan;
    const bool small = type == FormatType::fat16 || (type == FormatType::by_size && sectors <= kFat16SectorsMax);
    plan.type = small ? FatType::fat16 : FatType::fat32;
    for (const SizeClass& size_class : small ? kClasses16 : kClasses32) {
        if (sectors <= size_class.sectors_max) {
            plan.sectors_per_cluster = size_class.sectors_per_cluster;
            break;
        }
    }
    if (plan.sectors_per_cluster == 0) {
        return lib::Error::unsupported;
    }
    plan.total_sectors = static_cast<std::uint32_t>(sectors);
    plan.reserved_sectors = small ? kReserved16 : kReserved32;
    plan.root_sectors = small ? kRootEntries16 * kDirectoryEntryBytes / kSectorBytes : 0;

    // By the specification's formula, which rounds up, 256 (or 128) entries describe a sector of the FAT.
    const std::uint64_t overhead = plan.reserved_sectors + plan.root_sectors;
    if (sectors <= overhead) {
        return lib::Error::no_space;
    }
    const std::uint64_t entries = small ? 256 : 128;
    const std::uint64_t divisor = entries * plan.sectors_per_cluster + (small ? kFatCount : kFatCount / 2);
    plan.fat_sectors = static_cast<std::uint32_t>((sectors - overhead + divisor - 1) / divisor);
    if (plan.first_data() >= sectors) {
        return lib::Error::no_space;
    }
    const std::uint64_t clusters = (sectors - plan.first_data()) / plan.sectors_per_cluster;
    if (clusters < (small ? kFat16ClustersMin : kFat32ClustersMin)) {
        return lib::Error::no_space;
    }
    return plan;
}

// Writes one sector at a time, and remembers a failure, so that the steps below read as a list.
class Formatter {
  public:
    Formatter(BlockDevice& device, const Plan& plan)
        : m_device(device)
        , m_plan(plan) {}

    void clear(std::uint32_t first, std::uint32_t count) {
        m_sector.fill(std::byte{0});
        for (std::uint32_t i = 0; i < count; ++i) {
            write(first + i);
        }
    }

    void write_fats() {
        clear(m_plan.reserved_sectors, kFatCount * m_plan.fat_sectors);
        for (std::uint32_t copy = 0; copy < kFatCount; ++copy) {
            m_sector.fill(std::byte{0});
            lib::ByteWriter writer(m_sector);
            if (m_plan.type == FatType::fat16) {
                writer.le(static_cast<std::uint16_t>(0xFF00 | kMediaFixed));
                writer.le(std::uint16_t{0xFFFF});
            } else {
                writer.le(std::uint32_t{0x0FFF'FF00 | kMediaFixed});
                writer.le(std::uint32_t{0x0FFF'FFFF});
                writer.le(std::uint32_t{0x0FFF'FFFF}); // the root directory
            }
            write(m_plan.reserved_sectors + copy * m_plan.fat_sectors);
        }
    }

    void write_root(const ShortName& label, const DateTime& created) {
        const bool fat16 = m_plan.type == FatType::fat16;
        clear(m_plan.first_root(), fat16 ? m_plan.root_sectors : m_plan.sectors_per_cluster);
        DirectoryEntry entry;
        entry.kind = EntryKind::label;
        entry.name = label;
        entry.modified = created;
        std::ranges::copy(encode_entry(entry), m_sector.begin());
        write(m_plan.first_root());
    }

    void write_info() {
        const auto data = static_cast<std::uint32_t>(m_plan.total_sectors - m_plan.first_data());
        const std::uint32_t clusters = data / m_plan.sectors_per_cluster;
        encode_info_sector({.free_clusters = clusters - 1, .next_candidate = kFirstCluster + 1}, m_sector);
        write(kInfoSector);
        write(kBackupBootSector + kInfoSector);
        m_sector.fill(std::byte{0});
        put_signature();
        write(kSecondBootSector);
        write(kBackupBootSector + kSecondBootSector);
    }

    void write_boot(const ShortName& label, std::uint32_t volume_id) {
        m_sector.fill(std::byte{0});
        put_boot_sector(label, volume_id);
        // The reader must accept what is written here.
        ASSERT(read_boot_sector(m_sector, m_plan.total_sectors).defect == Defect::none);
        if (m_plan.type == FatType::fat32) {
            write(kBackupBootSector);
        }
        flush();
        write(0);
        flush();
    }

    void flush() {
        if (!m_failed && !m_device.flush()) {
            m_failed = true;
        }
    }

    [[nodiscard]] bool failed() const { return m_failed; }

  private:
    void write(std::uint32_t sector) {
        if (!m_failed && !m_device.write(sector, m_sector)) {
            m_failed = true;
        }
    }

    void put_signature() { lib::store_le(std::span(m_sector).subspan(kOffsetSignature), std::uint16_t{0xAA55}); }

    void put_text(lib::ByteWriter& writer, std::string_view text) {
        for (const char character : text) {
            writer.le(static_cast<std::uint8_t>(character));
        }
    }

    void put_boot_sector(const ShortName& label, std::uint32_t volume_id) {
        const bool fat16 = m_plan.type == FatType::fat16;
        const bool short_total = fat16 && m_plan.total_sectors <= 0xFFFF;
        lib::ByteWriter writer(m_sector);
        writer.le(std::uint8_t{0xEB}); // jump over the fields
        writer.le(fat16 ? std::uint8_t{0x3C} : std::uint8_t{0x58});
        writer.le(std::uint8_t{0x90});
        put_text(writer, "REMORA  ");
        writer.le(static_cast<std::uint16_t>(kSectorBytes));
        writer.le(m_plan.sectors_per_cluster);
        writer.le(static_cast<std::uint16_t>(m_plan.reserved_sectors));
        writer.le(kFatCount);
        writer.le(fat16 ? kRootEntries16 : std::uint16_t{0});
        writer.le(short_total ? static_cast<std::uint16_t>(m_plan.total_sectors) : std::uint16_t{0});
        writer.le(kMediaFixed);
        writer.le(fat16 ? static_cast<std::uint16_t>(m_plan.fat_sectors) : std::uint16_t{0});
        writer.le(std::uint16_t{63}); // sectors per track and heads: no longer used
        writer.le(std::uint16_t{255});
        writer.le(std::uint32_t{0}); // hidden sectors: there is no partition
        writer.le(short_total ? std::uint32_t{0} : m_plan.total_sectors);
        if (!fat16) {
            writer.le(m_plan.fat_sectors);
            writer.le(std::uint16_t{0}); // all FATs are kept equal
            writer.le(std::uint16_t{0}); // version 0.0
            writer.le(std::uint32_t{kFirstCluster});
            writer.le(static_cast<std::uint16_t>(kInfoSector));
            writer.le(static_cast<std::uint16_t>(kBackupBootSector));
            put_text(writer, std::string_view("\0\0\0\0\0\0\0\0\0\0\0\0", 12));
        }
        writer.le(std::uint8_t{0x80}); // first fixed disk
        writer.le(std::uint8_t{0});
        writer.le(std::uint8_t{0x29}); // the three fields below are present
        writer.le(volume_id);
        put_text(writer, {label.text.data(), label.text.size()});
        put_text(writer, fat16 ? "FAT16   " : "FAT32   ");
        writer.le(std::uint16_t{0x18CD}); // int 18h: the BIOS reports "not bootable"
        writer.le(std::uint16_t{0xFEEB}); // if it returns: loop here
        put_signature();
    }

    BlockDevice& m_device;
    Plan m_plan;
    bool m_failed = false;
    std::array<std::byte, kSectorBytes> m_sector{};
};

} // namespace

lib::Result<bool> is_blank(BlockDevice& device) {
    std::array<std::byte, kSectorBytes> sector;
    const std::uint64_t count = std::min(device.sector_count(), kBlankSectors);
    for (std::uint64_t i = 0; i < count; ++i) {
        if (!device.read(i, sector)) {
            return lib::Error::io;
        }
        if (std::ranges::any_of(sector, [](std::byte byte) { return byte != std::byte{0}; })) {
            return false;
        }
    }
    return true;
}

lib::Result<void> format(BlockDevice& device, const FormatOptions& options) {
    const auto label = make_label(options.label);
    if (!label || !options.created.valid()) {
        return lib::Error::invalid_argument;
    }
    const auto plan = make_plan(device.sector_count(), options.type);
    if (!plan) {
        return plan.error();
    }
    if (options.overwrite == Overwrite::blank_only) {
        const auto blank = is_blank(device);
        if (!blank) {
            return blank.error();
        }
        if (!blank.value()) {
            return lib::Error::refused;
        }
    }
    Formatter formatter(device, plan.value());
    formatter.clear(0, plan.value().reserved_sectors);
    formatter.flush();
    formatter.write_fats();
    formatter.write_root(label.value(), options.created);
    if (plan.value().type == FatType::fat32) {
        formatter.write_info();
    }
    formatter.write_boot(label.value(), options.volume_id);
    if (formatter.failed()) {
        return lib::Error::io;
    }
    return {};
}

} // namespace drivers::fat
