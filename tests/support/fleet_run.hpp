// SPDX-License-Identifier: MIT
// Builds a run of a node, row by row, on its way into a store: chunks as a loader adds them, and the session's rows.
// Columns that a test does not name are 0, empty or NULL.
#pragma once

#include "fleet/store.hpp"
#include "fleet/tables.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace support {

using FleetRow = std::map<std::string, std::variant<std::int64_t, std::string>, std::less<>>;

class FleetRun {
  public:
    FleetRun(std::string site, std::string node, std::uint64_t boot_id, std::int64_t started_s)
        : m_run{
              .from = {.site = std::move(site), .node = std::move(node)}, .boot_id = boot_id, .started_s = started_s} {}

    [[nodiscard]] const host::fleet::Run& run() const { return m_run; }

    FleetRun& row(host::fleet::Table table, FleetRow columns) {
        m_rows.emplace_back(table, std::move(columns));
        return *this;
    }

    // Stores a chunk, whose file is `body`.
    FleetRun& chunk(std::uint16_t cpu, std::uint16_t number, std::uint32_t generation, std::uint32_t records,
                    std::uint32_t crc32c = 1, const std::string& body = "chunk") {
        host::fleet::Message& message = m_messages.emplace_back();
        message.from = m_run.from;
        message.started_s = m_run.started_s;
        message.body = body;
        host::fleet::ReadChunk& chunk = m_chunks.emplace_back();
        chunk.run = m_run;
        chunk.key = {.boot_id = m_run.boot_id, .cpu = cpu, .chunk = number, .generation = generation};
        chunk.description.records = records;
        chunk.events = records;
        chunk.crc32c = crc32c;
        return *this;
    }

    // Sets how many records the latest chunk() has lost.
    FleetRun& lost(std::uint64_t dropped, std::uint64_t refused, std::uint64_t overwritten) {
        m_chunks.back().description.dropped = dropped;
        m_chunks.back().description.refused = refused;
        m_chunks.back().description.overwritten = overwritten;
        return *this;
    }

    // Makes the latest chunk() a compact one.
    FleetRun& compact() {
        m_chunks.back().description.encoding = tracer::Encoding::compact;
        return *this;
    }

    FleetRun& listed(std::uint16_t cpu, std::uint16_t number, std::uint32_t generation, std::uint32_t records,
                     std::uint32_t crc32c = 1) {
        const std::int64_t position = m_listed++;
        return row(host::fleet::Table::listed, {{"position", position},
                                                {"file", std::to_string(position) + "trace.dat"},
                                                {"described", 1},
                                                {"cpu", cpu},
                                                {"chunk", number},
                                                {"generation", generation},
                                                {"records", records},
                                                {"crc32c", crc32c}});
    }

    FleetRun& job(const std::string& task, std::int64_t number, std::int64_t time_s, std::int64_t response_ns,
                  std::int64_t class_ns, bool missed = false) {
        return row(host::fleet::Table::jobs, {{"row", m_jobs++},
                                              {"task", task},
                                              {"job", number},
                                              {"time_s", time_s},
                                              {"class_ns", class_ns},
                                              {"response_ns", response_ns},
                                              {"release_ns", number * 10},
                                              {"missed", missed},
                                              {"outcome", "completed"}});
    }

    // Adds the row of a session that has ended well, unless `columns` states otherwise.
    FleetRun& ended(FleetRow columns) {
        columns.insert({{"complete", 1}, {"application", "control"}, {"kernel", "remora 1"}});
        return row(host::fleet::Table::nodes, std::move(columns));
    }

    void store_chunks(host::fleet::Store& store) {
        for (std::size_t i = 0; i < m_chunks.size(); ++i) {
            m_chunks[i].message = &m_messages[i];
        }
        const auto added = store.add_chunks(m_chunks);
        ASSERT_TRUE(added) << added.error().text;
    }

    void write_rows(const host::fleet::RowSink& sink) const {
        for (const auto& [table, columns] : m_rows) {
            std::vector<host::sql::Cell> cells;
            const std::string boot = host::fleet::boot_text(m_run.boot_id);
            for (const host::fleet::Column& column : host::fleet::columns_of(table)) {
                const auto found = columns.find(column.name);
                cells.push_back(column.name == "site"        ? host::sql::Cell(std::string_view(m_run.from.site))
                                : column.name == "node"      ? host::sql::Cell(std::string_view(m_run.from.node))
                                : column.name == "boot"      ? host::sql::Cell(std::string_view(boot))
                                : column.name == "started_s" ? host::sql::Cell(m_run.started_s)
                                : found == columns.end()     ? otherwise(table, column.name)
                                : found->second.index() == 0
                                    ? host::sql::Cell(std::get<0>(found->second))
                                    : host::sql::Cell(std::string_view(std::get<1>(found->second))));
            }
            sink(table, cells);
        }
    }

    // Returns the session; `directory` is that of the session, with files in it.
    [[nodiscard]] host::fleet::ReadSession session(const std::string& directory) const {
        return {.run = m_run,
                .directory = directory,
                .rows = [this](const host::fleet::RowSink& sink) -> lib::Result<void, host::trace::Refusal> {
                    write_rows(sink);
                    return {};
                }};
    }

    // Stores the run with its chunks, and a session directory with one file.
    void store(host::fleet::Store& store, const TemporaryDirectory& scratch) {
        store_chunks(store);
        const std::string directory = scratch / ("session-" + std::to_string(m_run.boot_id));
        std::filesystem::create_directories(directory);
        std::ofstream(directory + "/manifest.json") << "{}";
        const auto added = store.add_session(session(directory));
        ASSERT_TRUE(added) << added.error().text;
    }

  private:
    // A node's rows were made of all its events.
    [[nodiscard]] host::sql::Cell otherwise(host::fleet::Table table, std::string_view column) const {
        std::uint64_t events = 0;
        for (const host::fleet::ReadChunk& chunk : m_chunks) {
            events += chunk.events;
        }
        return table == host::fleet::Table::nodes && column == "events" ? host::sql::Cell(events) : host::sql::Cell();
    }

    host::fleet::Run m_run;
    std::vector<host::fleet::Message> m_messages;
    std::vector<host::fleet::ReadChunk> m_chunks;
    std::vector<std::pair<host::fleet::Table, FleetRow>> m_rows;
    std::int64_t m_listed = 0;
    std::int64_t m_jobs = 0;
};

} // namespace support
