// SPDX-License-Identifier: MIT
// Searches for \_S5_, as contents.hpp describes.
#include "drivers/acpi/contents.hpp"

#include "lib/endian.hpp"

#include <array>

namespace drivers::acpi {

namespace {

constexpr std::byte kZeroOp{0x00};
constexpr std::byte kOneOp{0x01};
constexpr std::byte kNameOp{0x08};
constexpr std::byte kBytePrefix{0x0A};
constexpr std::byte kWordPrefix{0x0B};
constexpr std::byte kDwordPrefix{0x0C};
constexpr std::byte kPackageOp{0x12};
constexpr std::byte kRootChar{0x5C};
constexpr std::array kName{std::byte{0x5F}, std::byte{0x53}, std::byte{0x35}, std::byte{0x5F}};
constexpr std::uint32_t kSleepTypeMax = 7;
constexpr std::size_t kSecondaryTablesMax = 64;

bool is_definition(std::span<const std::byte> aml, std::size_t name) {
    for (std::size_t i = 0; i < kName.size(); ++i) {
        if (aml[name + i] != kName[i]) {
            return false;
        }
    }
    const bool rooted = name >= 2 && aml[name - 1] == kRootChar && aml[name - 2] == kNameOp;
    return rooted || (name >= 1 && aml[name - 1] == kNameOp);
}

// Returns the contents of a package. Bits 7..6 of the first byte count the bytes after it; the length includes it.
lib::Result<std::span<const std::byte>> package_contents(lib::ByteReader& reader) {
    const std::size_t before = reader.offset();
    const auto lead = reader.le<std::uint8_t>();
    const unsigned following = lead >> 6;
    std::uint32_t length = following == 0 ? lead & 0x3FU : lead & 0x0FU;
    for (unsigned i = 0; i < following; ++i) {
        length |= static_cast<std::uint32_t>(reader.le<std::uint8_t>()) << (4 + 8 * i);
    }
    const std::size_t header_bytes = reader.offset() - before;
    if (reader.failed() || length < header_bytes) {
        return lib::Error::corrupt;
    }
    const auto contents = reader.take(length - header_bytes);
    if (reader.failed()) {
        return lib::Error::corrupt;
    }
    return contents;
}

lib::Result<std::uint32_t> read_integer(lib::ByteReader& reader) {
    const auto opcode = static_cast<std::byte>(reader.le<std::uint8_t>());
    std::uint32_t value = 0;
    if (opcode == kBytePrefix) {
        value = reader.le<std::uint8_t>();
    } else if (opcode == kWordPrefix) {
        value = reader.le<std::uint16_t>();
    } else if (opcode == kDwordPrefix) {
        value = reader.le<std::uint32_t>();
    } else if (opcode == kOneOp) {
        value = 1;
    } else if (opcode != kZeroOp) {
        return lib::Error::corrupt;
    }
    if (reader.failed()) {
        return lib::Error::corrupt;
    }
    return value;
}

lib::Result<SleepType> read_package(std::span<const std::byte> after_name) {
    lib::ByteReader reader(after_name);
    if (static_cast<std::byte>(reader.le<std::uint8_t>()) != kPackageOp) {
        return lib::Error::corrupt;
    }
    const auto contents = package_contents(reader);
    if (!contents) {
        return contents.error();
    }
    lib::ByteReader elements(contents.value());
    const auto count = elements.le<std::uint8_t>();
    if (count == 0) {
        return lib::Error::corrupt;
    }
    const auto first = read_integer(elements);
    if (!first) {
        return first.error();
    }
    std::uint32_t pm1a = first.value();
    std::uint32_t pm1b = 0;
    if (count == 1) { // both in one integer, one byte each
        pm1b = (pm1a >> 8) & 0xFF;
        pm1a &= 0xFF;
    } else {
        const auto second = read_integer(elements);
        if (!second) {
            return second.error();
        }
        pm1b = second.value();
    }
    if (pm1a > kSleepTypeMax || pm1b > kSleepTypeMax) {
        return lib::Error::corrupt;
    }
    return SleepType{.pm1a = static_cast<std::uint8_t>(pm1a), .pm1b = static_cast<std::uint8_t>(pm1b)};
}

} // namespace

lib::Result<SleepType> parse_soft_off(std::span<const std::byte> aml) {
    lib::Error reason = lib::Error::not_found;
    for (std::size_t name = 0; name + kName.size() <= aml.size(); ++name) {
        if (!is_definition(aml, name)) {
            continue;
        }
        const auto found = read_package(aml.subspan(name + kName.size()));
        if (found) {
            return found;
        }
        reason = found.error(); // the five bytes may be inside a string or a buffer: continue the search
    }
    return reason;
}

lib::Result<SleepType> find_soft_off(const Tables& tables, std::uint64_t dsdt_address) {
    const auto dsdt = tables.at(dsdt_address, "DSDT");
    if (!dsdt) {
        return dsdt.error();
    }
    auto found = parse_soft_off(dsdt.value().bytes.subspan(kTableHeaderBytes));
    for (std::size_t i = 0; i < kSecondaryTablesMax && !found && found.error() == lib::Error::not_found; ++i) {
        const auto ssdt = tables.find("SSDT", i);
        if (!ssdt) {
            break; // no more tables, or this one is damaged: in both cases there is no valid definition
        }
        found = parse_soft_off(ssdt.value().bytes.subspan(kTableHeaderBytes));
    }
    return found;
}

} // namespace drivers::acpi
