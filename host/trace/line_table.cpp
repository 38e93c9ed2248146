// SPDX-License-Identifier: MIT
// Runs the line number programs. Source: DWARF Debugging Information Format, version 5, chapter 6.2.
#include "host/trace/line_table.hpp"

#include "host/text/format.hpp"
#include "lib/endian.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace host::trace {

namespace {

using lib::ByteReader;

constexpr std::uint16_t kDwarfVersion = 5;
constexpr std::uint64_t kLineEntriesMax = 65536; // files or folders of one unit

std::uint64_t unsigned_leb(ByteReader& reader) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !reader.failed(); shift += 7) {
        const auto byte = reader.le<std::uint8_t>();
        value |= shift < 64 ? std::uint64_t{byte & 0x7FU} << shift : 0;
        if ((byte & 0x80U) == 0) {
            return value;
        }
    }
    return 0;
}

std::int64_t signed_leb(ByteReader& reader) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !reader.failed();) {
        const auto byte = reader.le<std::uint8_t>();
        value |= shift < 64 ? std::uint64_t{byte & 0x7FU} << shift : 0;
        shift += 7;
        if ((byte & 0x80U) == 0) {
            const bool negative = (byte & 0x40U) != 0 && shift < 64;
            return static_cast<std::int64_t>(negative ? value | (~std::uint64_t{0} << shift) : value);
        }
    }
    return 0;
}

// Is a name in the table of files or of folders.
struct Entry {
    std::string_view name;
    std::uint64_t folder = 0;
};

class Unit {
  public:
    Unit(std::string_view bytes, std::string_view texts)
        : m_reader(std::as_bytes(std::span(bytes)))
        , m_texts(texts) {}

    // Returns the name and the line; empty if no sequence of the unit has the address.
    [[nodiscard]] std::string find(std::uint64_t address) {
        if (!read_header()) {
            return {};
        }
        while (!m_reader.failed() && m_reader.remaining() != 0) {
            step();
            if (m_row_is_new) {
                const bool inside = m_has_row && m_before.address <= address && address < m_now.address;
                if (inside) {
                    return text_of(m_before);
                }
                m_before = m_now;
                m_has_row = !m_ends;
                m_row_is_new = false;
                if (std::exchange(m_ends, false)) {
                    m_now = {};
                }
            }
        }
        return {};
    }

  private:
    struct Row {
        std::uint64_t address = 0;
        std::uint64_t file = 1;
        std::uint64_t line = 1;
    };

    [[nodiscard]] bool read_header() {
        if (m_reader.le<std::uint16_t>() != kDwarfVersion) {
            return false;
        }
        skip(2); // the sizes of an address and of a segment selector
        const auto header_bytes = m_reader.le<std::uint32_t>();
        if (header_bytes > m_reader.remaining()) {
            return false;
        }
        const std::size_t program_bytes = m_reader.remaining() - header_bytes;
        m_instruction_bytes = m_reader.le<std::uint8_t>();
        skip(2); // operations in an instruction, and whether rows are statements at first
        m_line_base = static_cast<std::int8_t>(m_reader.le<std::uint8_t>());
        m_line_range = m_reader.le<std::uint8_t>();
        m_opcode_base = m_reader.le<std::uint8_t>();
        for (unsigned opcode = 1; opcode < m_opcode_base; ++opcode) {
            m_operands[opcode] = m_reader.le<std::uint8_t>();
        }
        m_folders = entries();
        m_files = entries();
        if (m_reader.failed() || m_line_range == 0 || m_reader.remaining() < program_bytes) {
            return false;
        }
        skip(m_reader.remaining() - program_bytes);
        return true;
    }

    [[nodiscard]] std::vector<Entry> entries() {
        constexpr std::uint64_t kPath = 1;
        constexpr std::uint64_t kFolder = 2;
        std::vector<std::pair<std::uint64_t, std::uint64_t>> fields(m_reader.le<std::uint8_t>());
        for (auto& [content, form] : fields) {
            content = unsigned_leb(m_reader);
            form = unsigned_leb(m_reader);
        }
        std::vector<Entry> found;
        const std::uint64_t count = unsigned_leb(m_reader);
        for (std::uint64_t i = 0; i < std::min(count, kLineEntriesMax) && !m_reader.failed(); ++i) {
            Entry& entry = found.emplace_back();
            for (const auto& [content, form] : fields) {
                const auto [number, text] = value(form);
                entry.name = content == kPath ? text : entry.name;
                entry.folder = content == kFolder ? number : entry.folder;
            }
        }
        return found;
    }

    // Takes a value of one of the forms that compilers use here; any other one ends the unit.
    [[nodiscard]] std::pair<std::uint64_t, std::string_view> value(std::uint64_t form) {
        switch (form) {
        case 0x1F: { // DW_FORM_line_strp
            const auto at = m_reader.le<std::uint32_t>();
            const std::string_view text = m_texts.substr(std::min<std::size_t>(at, m_texts.size()));
            return {0, text.substr(0, text.find('\0'))};
        }
        case 0x0B: // DW_FORM_data1
            return {m_reader.le<std::uint8_t>(), {}};
        case 0x05: // DW_FORM_data2
            return {m_reader.le<std::uint16_t>(), {}};
        case 0x0F: // DW_FORM_udata
            return {unsigned_leb(m_reader), {}};
        case 0x1E: // DW_FORM_data16: the MD5 of a file
            skip(16);
            return {};
        default:
            skip(m_reader.remaining() + 1);
            return {};
        }
    }

    void skip(std::size_t bytes) { static_cast<void>(m_reader.take(bytes)); }

    void add_row(bool ends) {
        m_row_is_new = true;
        m_ends = ends;
    }

    void advance(std::uint64_t operation) { m_now.address += operation * m_instruction_bytes; }

    void step() {
        const auto opcode = m_reader.le<std::uint8_t>();
        if (opcode >= m_opcode_base) {
            const unsigned adjusted = opcode - m_opcode_base;
            advance(adjusted / m_line_range);
            m_now.line += static_cast<std::uint64_t>(m_line_base + static_cast<std::int64_t>(adjusted % m_line_range));
            add_row(false);
            return;
        }
        switch (opcode) {
        case 0:
            extended();
            break;
        case 1: // DW_LNS_copy
            add_row(false);
            break;
        case 2: // DW_LNS_advance_pc
            advance(unsigned_leb(m_reader));
            break;
        case 3: // DW_LNS_advance_line
            m_now.line += static_cast<std::uint64_t>(signed_leb(m_reader));
            break;
        case 4: // DW_LNS_set_file
            m_now.file = unsigned_leb(m_reader);
            break;
        case 8: // DW_LNS_const_add_pc
            advance((255U - m_opcode_base) / m_line_range);
            break;
        case 9: // DW_LNS_fixed_advance_pc
            m_now.address += m_reader.le<std::uint16_t>();
            break;
        default: // what it sets is not needed
            for (unsigned i = 0; i < m_operands[opcode]; ++i) {
                static_cast<void>(unsigned_leb(m_reader));
            }
            break;
        }
    }

    void extended() {
        const std::uint64_t bytes = unsigned_leb(m_reader);
        if (bytes == 0 || bytes > m_reader.remaining()) {
            skip(m_reader.remaining() + 1);
            return;
        }
        const std::size_t after = m_reader.remaining() - bytes;
        const auto opcode = m_reader.le<std::uint8_t>();
        if (opcode == 1) { // DW_LNE_end_sequence
            add_row(true);
        } else if (opcode == 2 && bytes == 1 + sizeof(std::uint64_t)) { // DW_LNE_set_address
            m_now.address = m_reader.le<std::uint64_t>();
        }
        skip(m_reader.remaining() - after);
    }

    [[nodiscard]] std::string text_of(const Row& row) const {
        if (row.file >= m_files.size()) {
            return {};
        }
        const Entry& file = m_files[row.file];
        const std::string_view base = m_folders.empty() ? std::string_view() : m_folders.front().name;
        std::string name(file.name);
        if (file.folder != 0 && file.folder < m_folders.size() && !name.starts_with('/')) {
            name = fmt::format("{}/{}", m_folders[file.folder].name, name);
        }
        name = std::filesystem::path(name).lexically_normal().generic_string();
        if (!base.empty() && name.starts_with(base) && name.substr(base.size()).starts_with('/')) {
            name.erase(0, base.size() + 1);
        }
        return fmt::format("{}:{}", name, row.line);
    }

    ByteReader m_reader;
    std::string_view m_texts;
    std::vector<Entry> m_folders;
    std::vector<Entry> m_files;
    std::array<std::uint8_t, 256> m_operands{}; // by opcode
    std::uint64_t m_instruction_bytes = 1;
    std::int8_t m_line_base = 0;
    std::uint8_t m_line_range = 1;
    std::uint8_t m_opcode_base = 1;
    Row m_now;
    Row m_before;
    bool m_has_row = false; // m_before belongs to the same sequence
    bool m_row_is_new = false;
    bool m_ends = false; // the new row ends its sequence
};

} // namespace

std::string line_of(std::string_view debug_line_untrusted, std::string_view line_texts_untrusted,
                    std::uint64_t address) {
    constexpr std::size_t kLengthBytes = 4;
    std::string_view rest = debug_line_untrusted;
    while (rest.size() > kLengthBytes) {
        const auto bytes = ByteReader(std::as_bytes(std::span(rest))).le<std::uint32_t>();
        rest.remove_prefix(kLengthBytes);
        std::string found = Unit(rest.substr(0, bytes), line_texts_untrusted).find(address);
        if (!found.empty() || bytes > rest.size()) {
            return found;
        }
        rest.remove_prefix(bytes);
    }
    return {};
}

} // namespace host::trace
