// SPDX-License-Identifier: MIT
// Encodes and decodes directory entries; walks, searches and extends the root directory.
#include "drivers/fat/directory.hpp"

#include "lib/assert.hpp"
#include "lib/endian.hpp"

#include <algorithm>

namespace drivers::fat {

namespace {

constexpr std::uint8_t kAttributeLabel = 0x08;
constexpr std::uint8_t kAttributeDirectory = 0x10;
constexpr std::uint8_t kAttributeArchive = 0x20;
constexpr std::uint8_t kAttributeLongName = 0x0F;
constexpr std::uint8_t kAttributeLongNameMask = 0x3F;
constexpr std::uint8_t kLowerBase = 0x08;
constexpr std::uint8_t kLowerExtension = 0x10;
constexpr char kDeleted = static_cast<char>(0xE5);
constexpr char kDeletedSubstitute = 0x05; // replaces a real E5 at the start of a name
constexpr std::size_t kBaseCharacters = 8;
constexpr std::size_t kExtensionCharacters = 3;

constexpr char upper(char character) {
    return character >= 'a' && character <= 'z' ? static_cast<char>(character - 'a' + 'A') : character;
}

constexpr bool allowed(char character) {
    constexpr std::string_view kPunctuation = "$%'-_@~`!(){}^#&";
    return (character >= '0' && character <= '9') || (character >= 'A' && character <= 'Z') ||
           (character >= 'a' && character <= 'z') || std::ranges::find(kPunctuation, character) != kPunctuation.end();
}

enum class PartCase : std::uint8_t {
    upper, // or mixed: stored in upper case, as DOS does
    lower,
    refused,
};

PartCase put_part(std::string_view part, std::span<char> target) {
    if (part.size() > target.size()) {
        return PartCase::refused;
    }
    bool has_lower = false;
    bool has_upper = false;
    for (std::size_t i = 0; i < target.size(); ++i) {
        if (i >= part.size()) {
            target[i] = ' ';
            continue;
        }
        if (!allowed(part[i])) {
            return PartCase::refused;
        }
        target[i] = upper(part[i]);
        has_lower = has_lower || target[i] != part[i];
        has_upper = has_upper || (part[i] >= 'A' && part[i] <= 'Z');
    }
    return has_lower && !has_upper ? PartCase::lower : PartCase::upper;
}

constexpr std::uint16_t encode_date(const DateTime& time) {
    return static_cast<std::uint16_t>(((time.year - 1980) << 9) | (time.month << 5) | time.day);
}

constexpr std::uint16_t encode_time(const DateTime& time) {
    return static_cast<std::uint16_t>((time.hour << 11) | (time.minute << 5) | (time.second / 2));
}

DateTime decode_time(std::uint16_t date, std::uint16_t time) {
    DateTime result;
    result.year = static_cast<std::uint16_t>(1980 + (date >> 9));
    result.month = static_cast<std::uint8_t>((date >> 5) & 0xF);
    result.day = static_cast<std::uint8_t>(date & 0x1F);
    result.hour = static_cast<std::uint8_t>(time >> 11);
    result.minute = static_cast<std::uint8_t>((time >> 5) & 0x3F);
    result.second = static_cast<std::uint8_t>((time & 0x1F) * 2);
    return result;
}

EntryKind kind_of(char first, std::uint8_t attributes) {
    if (first == 0) {
        return EntryKind::end;
    }
    if (first == kDeleted) {
        return EntryKind::free;
    }
    if ((attributes & kAttributeLongNameMask) == kAttributeLongName) {
        return EntryKind::long_name;
    }
    if ((attributes & kAttributeLabel) != 0) {
        return EntryKind::label;
    }
    return (attributes & kAttributeDirectory) != 0 ? EntryKind::directory : EntryKind::file;
}

} // namespace

lib::Result<ShortName> make_short_name(std::string_view name) {
    const auto dot = std::ranges::find(name, '.');
    const std::string_view base(name.begin(), dot);
    const std::string_view extension = dot == name.end() ? std::string_view{} : std::string_view(dot + 1, name.end());
    if (base.empty() || (dot != name.end() && extension.empty())) {
        return lib::Error::invalid_argument;
    }
    ShortName result;
    const PartCase base_case = put_part(base, std::span(result.text).first(kBaseCharacters));
    const PartCase extension_case = put_part(extension, std::span(result.text).last(kExtensionCharacters));
    if (base_case == PartCase::refused || extension_case == PartCase::refused) {
        return lib::Error::invalid_argument;
    }
    const auto base_flag = static_cast<std::uint8_t>(base_case == PartCase::lower ? kLowerBase : 0);
    const auto extension_flag = static_cast<std::uint8_t>(extension_case == PartCase::lower ? kLowerExtension : 0);
    result.lower_case = static_cast<std::uint8_t>(base_flag | extension_flag);
    return result;
}

lib::Result<ShortName> make_label(std::string_view label) {
    ShortName result;
    if (label.empty() || label.size() > result.text.size() || label.front() == ' ') {
        return lib::Error::invalid_argument;
    }
    for (std::size_t i = 0; i < result.text.size(); ++i) {
        const char character = i < label.size() ? label[i] : ' ';
        if (character != ' ' && !allowed(character)) {
            return lib::Error::invalid_argument;
        }
        result.text[i] = upper(character);
    }
    return result;
}

DirectoryEntry decode_entry(std::span<const std::byte> bytes) {
    ASSERT(bytes.size() >= kDirectoryEntryBytes);
    lib::ByteReader reader(bytes);
    DirectoryEntry entry;
    for (char& character : entry.name.text) {
        character = static_cast<char>(reader.le<std::uint8_t>());
    }
    const auto attributes = reader.le<std::uint8_t>();
    entry.name.lower_case = static_cast<std::uint8_t>(reader.le<std::uint8_t>() & (kLowerBase | kLowerExtension));
    reader.take(1 + 2 + 2 + 2); // created, accessed
    const auto cluster_high = reader.le<std::uint16_t>();
    const auto time = reader.le<std::uint16_t>();
    const auto date = reader.le<std::uint16_t>();
    const auto cluster_low = reader.le<std::uint16_t>();
    entry.size_bytes = reader.le<std::uint32_t>();
    entry.kind = kind_of(entry.name.text[0], attributes);
    entry.modified = decode_time(date, time);
    entry.first_cluster = (Cluster{cluster_high} << 16) | cluster_low;
    if (entry.name.text[0] == kDeletedSubstitute) {
        entry.name.text[0] = kDeleted;
    }
    return entry;
}

EntryBytes encode_entry(const DirectoryEntry& entry) {
    ASSERT(entry.modified.valid());
    ASSERT(entry.kind == EntryKind::file || entry.kind == EntryKind::label);
    const std::uint16_t date = encode_date(entry.modified);
    const std::uint16_t time = encode_time(entry.modified);
    EntryBytes bytes{};
    lib::ByteWriter writer(bytes);
    for (const char character : entry.name.text) {
        writer.le(static_cast<std::uint8_t>(character));
    }
    writer.le(entry.kind == EntryKind::label ? kAttributeLabel : kAttributeArchive);
    writer.le(entry.name.lower_case);
    writer.le(std::uint8_t{0});
    writer.le(time); // created
    writer.le(date);
    writer.le(date); // accessed
    writer.le(static_cast<std::uint16_t>(entry.first_cluster >> 16));
    writer.le(time); // written
    writer.le(date);
    writer.le(static_cast<std::uint16_t>(entry.first_cluster & 0xFFFF));
    writer.le(entry.size_bytes);
    ASSERT(!writer.failed() && writer.offset() == kDirectoryEntryBytes);
    return bytes;
}

// --- the root directory ---

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
