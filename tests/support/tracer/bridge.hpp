// SPDX-License-Identifier: MIT
// Says in a text what a function of the bridge (kernel/trace/) records, with a tracer and two tasks to call it with.
#pragma once

#include "kernel/state/task_object.hpp"
#include "tests/support/tracer/fixture.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

namespace tests {

class BridgeTest : public testing::Test {
  protected:
    BridgeTest() {
        traced.select_and_enable(m_chunk);
        task.context = 7;
        task.level_index = 2;
        task.pid = {3};
        task.name.add("seven");
        other.context = 9;
        other.level_index = 4;
        other.pid = {5};
    }

    // Returns the records of the call, "event par1 par2" with commas between them; one that no filter stops has a star.
    template <typename Call>
    [[nodiscard]] std::string by(Call call) {
        const std::size_t before = main_records(m_chunk).size();
        call();
        const auto records = main_records(m_chunk);
        std::string text;
        for (const tracer::Record& record : std::span(records).subspan(before)) {
            const char* const star = (record.code & tracer::kFastPathBit) != 0 ? "*" : "";
            text += fmt::format("{}{}{} {} {}", text.empty() ? "" : ", ", tracer::find_event(record.event_code())->name,
                                star, record.par1, record.par2);
        }
        return text;
    }

    // Returns the name that was registered last, "kind number name".
    [[nodiscard]] std::string last_name() {
        static constexpr std::array<std::string_view, 8> kKinds = {"task",   "interrupt", "mutex",     "semaphore",
                                                                   "server", "level",     "condition", "port"};
        const tracer::NameRegistry& names = traced.names();
        if (names.size() == 0) {
            return "none";
        }
        const tracer::NameEntry& entry = names.entry(names.size() - 1);
        return fmt::format("{} {} {}", kKinds.at(static_cast<std::size_t>(entry.kind)), entry.id, entry.name.view());
    }

    TracerFixture traced;
    kernel::Task task;
    kernel::Task other;

  private:
    tracer::Chunk& m_chunk{traced.chunk(512, 0, tracer::kFlagStop)};
};

} // namespace tests
