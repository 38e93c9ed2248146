// SPDX-License-Identifier: MIT
// A row of the table of malformed inputs has the damage, and the required result of a reader. Rows have descriptive
// names; `row` is the number under which docs/malformed.md lists them.
#pragma once

#include "host/trace/diagnostics.hpp"
#include "host/trace/event_stream.hpp"
#include "tests/support/host_command_line.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace support {

// Is the result of a reader, or a command, for an input.
struct Outcome {
    host::trace::ExitStatus status = host::trace::ExitStatus::clean;
    std::string lines{};     // diagnostics
    std::string shown{};     // the output of a command
    std::size_t events = 0;  // valid ones of the workload
    std::size_t late = 0;    // of these
    std::size_t unsound = 0; // shown, but marked as damaged
    std::vector<std::uint64_t> ticks{};
};

// Is the environment of rows: a directory, the command line, and the reader.
class MalformedInput : public CommandLine {
  public:
    // Returns the result of a command that reads everything.
    Outcome read(const Bytes& bytes, const host::trace::OpenOptions& options = {});
    Outcome read_path(const std::string& path, const host::trace::OpenOptions& options = {});
    Outcome run(std::vector<std::string> arguments);

    [[nodiscard]] std::string store(std::string_view name, const Bytes& bytes) const {
        return m_directory.write(name, bytes);
    }

    [[nodiscard]] std::string path_of(std::string_view name) const { return m_directory / name; }

    [[nodiscard]] const std::string& directory() const { return m_directory.path(); }
};

// Is the line that a reader must write.
struct Says {
    std::string code;                          // empty: no diagnostic
    std::optional<std::uint64_t> offset_bytes; // in the line with the code
    std::string text;                          // in that line, too
};

[[nodiscard]] inline Says says(std::string code = "", std::optional<std::uint64_t> offset_bytes = {},
                               std::string text = "") {
    return {std::move(code), offset_bytes, std::move(text)};
}

using MalformedAct = std::function<Outcome(MalformedInput&)>;

struct MalformedRow {
    std::string row;   // D1 to D60
    std::string name;  // the damage, as an identifier
    std::string input; // described as in the document
    Says says;
    host::trace::ExitStatus status;
    std::optional<std::size_t> events;       // that must still be delivered
    std::variant<Bytes, MalformedAct> given; // bytes to be read, or what is done instead
    host::trace::OpenOptions options;
};

[[nodiscard]] inline MalformedRow row(std::string number, std::string name, std::string input, Says says,
                                      host::trace::ExitStatus status, std::optional<std::size_t> events,
                                      std::variant<Bytes, MalformedAct> given, host::trace::OpenOptions options = {}) {
    return {std::move(number), std::move(name),   std::move(input), std::move(says), status, events,
            std::move(given),  std::move(options)};
}

inline std::ostream& operator<<(std::ostream& out, const MalformedRow& row) {
    return out << row.row << ' ' << row.name;
}

// Return the table, by groups.
[[nodiscard]] std::vector<MalformedRow> malformed_records();
[[nodiscard]] std::vector<MalformedRow> malformed_chunks();
[[nodiscard]] std::vector<MalformedRow> malformed_long_events();
[[nodiscard]] std::vector<MalformedRow> malformed_compact();
[[nodiscard]] std::vector<MalformedRow> malformed_packed();
[[nodiscard]] std::vector<MalformedRow> malformed_packets();
[[nodiscard]] std::vector<MalformedRow> malformed_exports();

// Returns a chunk with three events, at 1000, 1500 and 2000 ticks.
[[nodiscard]] inline ChunkBuilder three_events(std::uint16_t number = 3) {
    ChunkBuilder chunk(number);
    chunk.event(1000, "task_dispatch", 12).event(1500, "task_end_cycle", 12).event(2000, "context_switch", 13);
    return chunk;
}

// Returns another chunk, which follows.
[[nodiscard]] inline ChunkBuilder one_event(std::uint16_t number = 4) {
    ChunkBuilder chunk(number);
    chunk.event(5000, "ipoint", 42);
    return chunk;
}

[[nodiscard]] inline Bytes operator+(Bytes a, const Bytes& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

[[nodiscard]] inline Bytes flipped(Bytes bytes, std::size_t at, unsigned bit) {
    bytes[at] ^= static_cast<std::byte>(1U << bit);
    return bytes;
}

[[nodiscard]] inline Bytes with_byte(Bytes bytes, std::size_t at, unsigned value) {
    bytes[at] = static_cast<std::byte>(value);
    return bytes;
}

[[nodiscard]] inline Bytes zeroed(Bytes bytes, std::size_t at, std::size_t size) {
    std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), size, std::byte{0});
    return bytes;
}

[[nodiscard]] inline Bytes without_end(Bytes bytes, std::size_t size) {
    bytes.resize(bytes.size() - size);
    return bytes;
}

// Returns the offset of the first record after the preamble.
[[nodiscard]] inline std::size_t main_area(const ChunkBuilder& chunk) {
    return chunk.description().preamble_slots * tracer::kRecordBytes;
}

// These are the sizes of three_events(): the whole chunk, and where its main area begins.
inline const std::size_t kSize = three_events().bytes().size();
inline const std::size_t kMain = main_area(three_events());

} // namespace support
