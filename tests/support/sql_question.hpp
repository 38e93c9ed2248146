// SPDX-License-Identifier: MIT
// Asks a trace in SQL, as `remora sql` does, and returns rows as text, and the work that it took. With m_literals,
// values are as SQL writes them, so that their types show.
#pragma once

#include "host/sql/database.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <span>
#include <string>
#include <vector>

namespace support {

struct SqlAnswer {
    std::vector<std::string> names; // of the columns
    std::vector<std::string> rows;  // a blank after each value
    std::string failure;
    bool stopped = false;
    host::sql::Statistics statistics;
    host::trace::ExitStatus status = host::trace::ExitStatus::clean;
};

class SqlQuestion : public testing::Test {
  protected:
    SqlAnswer ask(const std::string& statement) {
        SqlAnswer answer;
        const auto source =
            host::sql::Source::open({.path = m_path, .open = m_open, .watch = m_watch},
                                    [this](std::string_view line) { m_lines += std::string(line) + '\n'; });
        if (!source) {
            answer.failure = "not opened";
            return answer;
        }
        const auto database = host::sql::Database::open(*source.value());
        EXPECT_TRUE(database.ok());
        const auto row = [&](std::span<const host::sql::Value> values) {
            std::string text;
            for (const host::sql::Value& value : values) {
                text += (m_literals ? literal(value) : std::string(value.text)) + ' ';
            }
            answer.rows.push_back(text);
            return true;
        };
        const auto begin = [&](std::span<const std::string> names) { answer.names.assign(names.begin(), names.end()); };
        const auto failure = database.value()->run(statement, {.begin = begin, .row = row});
        if (failure) {
            answer.failure = failure->text;
            answer.stopped = failure->stopped;
        }
        answer.statistics = source.value()->statistics();
        answer.status = source.value()->status();
        return answer;
    }

    static std::string literal(const host::sql::Value& value) {
        using Kind = host::sql::Value::Kind;
        switch (value.kind) {
        case Kind::null:
            return "NULL";
        case Kind::integer:
        case Kind::real:
            return std::string(value.text);
        case Kind::text:
            return '\'' + std::string(value.text) + '\'';
        case Kind::blob:
            return "blob of " + std::to_string(value.text.size());
        }
        return {};
    }

    void write(const Bytes& bytes) { m_path = m_directory.write("0trace.dat", bytes); }

    std::function<bool(std::uint64_t)> m_watch;
    bool m_literals = false;
    host::trace::OpenOptions m_open;
    TemporaryDirectory m_directory;
    std::string m_path;
    std::string m_lines;
};

} // namespace support
