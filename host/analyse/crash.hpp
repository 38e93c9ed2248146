// SPDX-License-Identifier: MIT
// Finds how a run ended badly: a panic, a hang, a task that was killed, an application that reported a failure. Says
// what happened, in which task, where in the source, how the machine came there, and what ran before. summary, print,
// why, verify, check, the page and the end of `make run` show it.
//
// Usage:
//   CrashWatch watch;
//   for each event: watch.take(event);
//   for (const Crash& crash : crashes_in(watch, trace)) { lines_of(crash), or write_json(json, crash) }
#pragma once

#include "host/formats/trace.hpp"
#include "host/schedule/share.hpp"
#include "host/text/json_writer.hpp"
#include "host/trace/event.hpp"
#include "host/trace/kernel_image.hpp"
#include "tracer/names/metadata.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::analyse {

// Is an instruction on the way to a crash. No text in these structures is escaped.
struct CrashFrame {
    std::uint64_t address = 0;
    std::string function{}; // "kernel::sem_wait(kernel::Semaphore&)+0x1c"; empty: not known
    std::string line{};     // "kernel/sync/semaphore.cpp:120"; empty: not known
};

// Is an execution of a task or of an interrupt handler before a crash.
struct CrashRun {
    std::int64_t begin_ns = 0;
    std::int64_t length_ns = 0;
    bool interrupt = false;   // `name` is that of a vector
    std::uint16_t number = 0; // the context or the vector
    std::string name{};       // empty: not known
};

struct Crash {
    enum class Kind : std::uint8_t { panic, hang, killed, failed };

    Kind kind = Kind::failed;
    std::string what{};                     // "divide error"; "kernel/sync/mutex.cpp:120: owner == self"
    std::optional<std::uint16_t> context{}; // of the task; none: it is not known, or no task is concerned
    std::string task{};                     // its name; empty: not known
    std::optional<std::int64_t> time_ns{};
    schedule::RecordPlace place{};   // the record that states it; of Kind::failed nothing
    std::vector<CrashFrame> stack{}; // innermost first
    std::vector<CrashRun> before{};  // in the order of their begin

    [[nodiscard]] bool ended_the_run() const { return kind != Kind::killed; }

    // Returns the innermost instruction that is not one of the functions that only report; null if none is known.
    [[nodiscard]] const CrashFrame* where() const;
};

[[nodiscard]] std::string_view kind_name(Crash::Kind kind);

// Returns whether one of them ended the run.
[[nodiscard]] bool ended_badly(std::span<const Crash> crashes);

// Returns "panic in task main: divide error", "task greedy was killed: wcet". Escaped.
[[nodiscard]] std::string sentence(const Crash& crash);

// Returns "function (file:line)", or what is known of it. Escaped.
[[nodiscard]] std::string text_of(const CrashFrame& frame);

// Returns the sentence, where it happened, how the machine came there, and what ran before. Escaped.
[[nodiscard]] std::vector<std::string> lines_of(const Crash& crash);

// Writes the crash as an object: the structure, with the sentence as `text`. Escaped.
void write_json(text::JsonDocument& json, const Crash& crash);

class CrashWatch {
  public:
    // Must be called in time order. Records of a damaged chunk are left out: none of them is a fact.
    void take(const trace::Event& event) {
        if (event.after_hole) [[unlikely]] {
            m_processors.erase(event.cpu);
        }
        if (kConcerns[event.code] && event.is_sound() && !event.metadata && !event.doubtful) {
            follow(event);
        }
    }

    // Returns what happened, the worst first: a panic or hang, a failure, tasks that were killed. end: what the machine
    // announced at its end, if that is known. symbols: null if the image that ran is not known.
    [[nodiscard]] std::vector<Crash> finish(const std::optional<tracer::ExportEnd>& end,
                                            const trace::KernelImage* symbols);

    // Returns whether finish() has use for symbols.
    [[nodiscard]] bool has_stack() const { return m_panic.has_value() || !m_killed.empty(); }

  private:
    static constexpr std::size_t kRunsMax = 12;  // before a crash
    static constexpr std::size_t kKilledMax = 8; // further ones are not kept
    static constexpr std::size_t kFramesMax = 32;
    static constexpr std::size_t kNestedMax = 256; // handlers that have not ended, of which there are few

    static constexpr const auto& kConcerns =
        trace::kAnyOf<"context_switch", "interrupt_start", "interrupt_end", "blackout_end", "task_fault",
                      "fault_instruction", "fault_address", "task_exception", "panic", "typed_event">;

    struct Processor {
        std::deque<CrashRun> runs; // the last one is not complete
        std::vector<CrashRun> interrupted;
        std::optional<std::uint32_t> fault{}; // the vector of the latest fault, whose addresses follow
        std::uint64_t fault_instruction = 0;
        std::uint64_t fault_address = 0;
    };

    void follow(const trace::Event& event);
    void begin_run(Processor& processor, const trace::Event& event, bool interrupt, std::uint16_t number);
    void begin_crash(const trace::Event& event, Crash::Kind kind);
    void take_exception(const trace::Event& event);
    void take_text(const trace::Event& event);

    std::map<std::uint16_t, Processor> m_processors;
    std::vector<Crash> m_killed;
    std::optional<Crash> m_panic;
    std::uint16_t m_panic_cpu = 0;
    std::uint32_t m_reason = 0; // the number in the record of the panic
    bool m_exact = false;       // the first address of the stack is that of an instruction, not of a return
    std::string m_failed;       // what the application's verdict says, first line
};

// Returns finish() by what the trace states, which must have been read to its end.
[[nodiscard]] std::vector<Crash> crashes_in(CrashWatch& watch, const formats::Trace& trace);

// Reads a panic from the lines of the machine's console; nothing if there is none.
[[nodiscard]] std::optional<Crash> crash_of_console(std::string_view console_untrusted,
                                                    const trace::KernelImage* symbols);

} // namespace host::analyse
