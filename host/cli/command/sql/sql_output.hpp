// SPDX-License-Identifier: MIT
// The rows of a query as columns, CSV or JSON.
#pragma once

#include "host/cli/terminal/output.hpp"
#include "host/sql/database.hpp"
#include "host/text/json_writer.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace host::cli {

enum class SqlFormat : std::uint8_t {
    columns, // aligned; numbers to the right
    csv,     // RFC 4180, with a head
    json,    // an object with the array `rows`, one row to a line
};

class SqlOutput {
  public:
    SqlOutput(Output& out, SqlFormat format)
        : m_out(out)
        , m_json(out.buffer())
        , m_format(format) {}

    void begin(std::span<const std::string> names);

    // False once the output cannot be written.
    [[nodiscard]] bool row(std::span<const sql::Value> values);

    void finish();

  private:
    // So many rows are kept to learn how wide the columns are; later rows follow those widths.
    static constexpr std::size_t kRowsKept = 1000;

    struct Field {
        std::string text;
        bool number = false;
    };

    void print_kept();
    void print_fields(std::span<const Field> fields);
    void print_csv(std::span<const sql::Value> values);
    void print_json(std::span<const sql::Value> values);

    Output& m_out;
    text::JsonText m_json;
    SqlFormat m_format;
    std::vector<std::string> m_names;
    std::vector<std::vector<Field>> m_kept;
    std::vector<std::size_t> m_widths;
    bool m_widths_known = false;
};

} // namespace host::cli
