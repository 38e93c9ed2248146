// SPDX-License-Identifier: MIT
// This fixture reads one file as a trace: the number of its events, and the diagnostics.
#pragma once

#include "host/formats/trace.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <string>

namespace support {

class ReadingTest : public testing::Test {
  protected:
    // Returns the number of events of the workload.
    std::size_t read(const Bytes& bytes, host::trace::InputKind kind = host::trace::InputKind::detect) {
        using namespace host::trace;
        const std::string path = m_directory.write("input", bytes);
        m_lines.clear();
        m_diagnostics = std::make_unique<Diagnostics>([this](std::string_view line) {
            m_lines += line;
            m_lines += '\n';
        });
        auto trace = host::formats::Trace::open(path, {.kind = kind}, *m_diagnostics);
        std::size_t events = 0;
        if (trace) {
            trace.value()->for_each([&](const Event& event) { events += event.metadata ? 0 : 1; });
        }
        m_diagnostics->finish();
        return events;
    }

    TemporaryDirectory m_directory;
    std::unique_ptr<host::trace::Diagnostics> m_diagnostics;
    std::string m_lines;
};

} // namespace support
