// SPDX-License-Identifier: MIT
// Printing. Texts that a query makes may hold anything: for a terminal they are escaped.
#include "host/cli/command/sql/sql_output.hpp"

#include "host/cli/event/json_version.hpp"
#include "host/text/escape.hpp"

#include <algorithm>
#include <utility>

namespace host::cli {

namespace {

using Kind = sql::Value::Kind;

std::string hexadecimal(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) {
        text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    }
    return text;
}

// Columns of a terminal; names are nearly always ASCII, and other characters take one.
std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char character) { return (static_cast<unsigned char>(character) & 0xC0) != 0x80; }));
}

} // namespace

void SqlOutput::begin(std::span<const std::string> names) {
    m_names.assign(names.begin(), names.end());
    if (m_format == SqlFormat::csv) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            m_out.print("{}{}", i == 0 ? "" : ",", text::csv_field(names[i]));
        }
        m_out.print("\n");
    } else if (m_format == SqlFormat::json) {
        m_out.print("{{\"version\": {},\n\"rows\": ", kJsonVersion);
        m_json.begin_array();
    }
}

bool SqlOutput::row(std::span<const sql::Value> values) {
    switch (m_format) {
    case SqlFormat::csv:
        print_csv(values);
        break;
    case SqlFormat::json:
        print_json(values);
        break;
    case SqlFormat::columns: {
        std::vector<Field> fields;
        for (const sql::Value& value : values) {
            const bool number = value.kind == Kind::integer || value.kind == Kind::real;
            fields.push_back(
                {value.kind == Kind::blob ? hexadecimal(value.text) : text::made_printable(value.text), number});
        }
        if (m_widths_known) {
            print_fields(fields);
        } else {
            m_kept.push_back(std::move(fields));
            if (m_kept.size() == kRowsKept) {
                print_kept();
            }
        }
        break;
    }
    }
    return !m_out.failed();
}

void SqlOutput::finish() {
    if (m_format == SqlFormat::json) {
        m_json.end_lines();
        m_out.print("\n}}\n");
    } else if (m_format == SqlFormat::columns && !m_widths_known) {
        print_kept();
    }
}

void SqlOutput::print_kept() {
    m_widths_known = true;
    std::vector<Field> head;
    for (std::size_t i = 0; i < m_names.size(); ++i) {
        std::size_t width = width_of(m_names[i]);
        bool number = false;
        for (const std::vector<Field>& fields : m_kept) {
            width = std::max(width, width_of(fields[i].text));
            number = number || fields[i].number;
        }
        m_widths.push_back(width);
        head.push_back({text::made_printable(m_names[i]), number});
    }
    print_fields(head);
    for (const std::vector<Field>& fields : m_kept) {
        print_fields(fields);
    }
    m_kept.clear();
}

void SqlOutput::print_fields(std::span<const Field> fields) {
    std::string line;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const std::size_t width = width_of(fields[i].text);
        const std::string gap(m_widths[i] - std::min(width, m_widths[i]), ' ');
        line += i == 0 ? "" : "  ";
        line += fields[i].number ? gap + fields[i].text : fields[i].text + gap;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    m_out.print("{}\n", line);
}

void SqlOutput::print_csv(std::span<const sql::Value> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        const bool blob = values[i].kind == Kind::blob;
        m_out.print("{}{}", i == 0 ? "" : ",", blob ? hexadecimal(values[i].text) : text::csv_field(values[i].text));
    }
    m_out.print("\n");
}

// What SQLite holds, as it is; bytes that are no UTF-8 are replaced.
void SqlOutput::print_json(std::span<const sql::Value> values) {
    m_json.line();
    m_json.begin_object();
    for (std::size_t i = 0; i < values.size(); ++i) {
        const sql::Value& value = values[i];
        m_json.key(m_names[i]);
        switch (value.kind) {
        case Kind::null:
            m_json.value(nullptr);
            break;
        case Kind::integer:
            m_json.plain(value.text);
            break;
        case Kind::real: // JSON has no infinity
            m_json.plain(value.text.find_first_of("In") == std::string_view::npos ? value.text : "null");
            break;
        case Kind::text:
            m_json.value(value.text);
            break;
        case Kind::blob:
            m_json.value(hexadecimal(value.text));
            break;
        }
    }
    m_json.end_object();
    m_out.flush_if_full();
}

} // namespace host::cli
