// SPDX-License-Identifier: MIT
// What `remora record` needs of a publisher, if the program has one: its options, and an observer of the collector.
#pragma once

#include "host/cli/command/command_line.hpp"
#include "host/cli/command/record/record_report.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <memory>
#include <string>

namespace host::cli {

// A publisher while sessions are recorded.
class PublishedRecording : public collector::Observer {
  public:
    // The collector has ended. False: something is not published; that is reported.
    [[nodiscard]] virtual bool finish() = 0;
};

class Publishing {
  public:
    Publishing() = default;
    Publishing(const Publishing&) = delete;
    Publishing& operator=(const Publishing&) = delete;
    virtual ~Publishing() = default;

    virtual void add_options(Command& command) = 0;

    // What is wrong with the options together; empty: nothing. serve: `record --serve` is running.
    [[nodiscard]] virtual std::string fault(bool serve) const = 0;

    // Null: nothing is to be published. report outlives the result. served: the directory of `record --serve`, or
    // empty.
    [[nodiscard]] virtual lib::Result<std::unique_ptr<PublishedRecording>, trace::Refusal>
    start(RecordReport& report, const std::string& served, Context context) = 0;
};

} // namespace host::cli
