// SPDX-License-Identifier: MIT
// tlogdump prints the records of a tlog file, process after process in the order of the file, or what is wrong with
// them.
//
//   tlogdump trace.log              0:proc_id=0, log_type=1, time=0
//   tlogdump --readable trace.log   names, arguments, pairs indented by their depth
//   tlogdump --check trace.log      order, time, nesting; exit status 2 if anything is to be said
#include "foreign/tlog/detect.hpp"
#include "foreign/tlog/process.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

namespace {

namespace trace = host::trace;
namespace tlog = host::formats::tlog;

struct Options {
    std::string path;
    bool old_layout = false;
    bool readable = false;
    bool check = false;
};

constexpr std::size_t kBufferBytes = 64 * 1024;

void print_readable(std::uint64_t number, const tlog::Slot& slot, tlog::Table table, std::size_t depth) {
    const tlog::Record& record = slot.record;
    const tlog::Kind kind = tlog::kind_of(table, record.type);
    fmt::print("{:>8} {:>16.9f} {:>{}}{} arg1={} arg2={}\n", number, record.seconds, "", 2 * depth,
               kind.name.empty() ? fmt::format("type_{}", record.type) : std::string(kind.name), record.arg1,
               static_cast<std::int32_t>(record.arg2));
}

// Returns the records of the process.
std::uint64_t dump_process(tlog::ProcessCursor& cursor, const tlog::RunIndex& index, const Options& options,
                           trace::Diagnostics& diagnostics) {
    tlog::ProcessCheck check;
    tlog::Slot slot;
    std::uint64_t number = 0;
    for (; cursor.next(slot); ++number) {
        const std::size_t depth_before = check.depth();
        static_cast<void>(check.take(slot, index.table, options.path, diagnostics));
        if (options.readable) {
            print_readable(number, slot, index.table, std::min(depth_before, check.depth()));
        } else if (!options.check) {
            fmt::print("{}:proc_id={}, log_type={}, time={:g}\n", number, slot.record.process, slot.record.type,
                       slot.record.seconds);
        }
    }
    if (cursor.failed()) {
        diagnostics.report("E-IO", {.file = options.path, .offset_bytes = cursor.offset_bytes()},
                           "the file could not be read to its end");
    }
    check.finish(index.table, options.path, diagnostics);
    return number;
}

trace::ExitStatus dump(const Options& options) {
    std::uint64_t lines = 0;
    trace::Diagnostics diagnostics([&](std::string_view line) {
        ++lines;
        if (options.check) {
            fmt::print("{}\n", line);
        } else {
            fmt::print(stderr, "{}\n", line);
        }
    });
    const auto opened = trace::ByteSource::open(options.path);
    const auto source = opened ? trace::ByteSource::positioned(opened.value()) : opened.error();
    if (!source) {
        fmt::print(stderr, "tlogdump: {}: {}\n", host::text::escaped(options.path), error_name(source.error()));
        return trace::ExitStatus::usage;
    }
    std::array<std::byte, tlog::kBlockBytes> begin{};
    const auto count = source.value()->read(0, begin);
    auto layout = tlog::detect(std::span(begin).first(count ? count.value() : 0)).value_or(tlog::Layout::current);
    layout = options.old_layout ? tlog::Layout::openmp : layout;
    const auto index = tlog::index_runs(*source.value(), options.path, layout, diagnostics);
    if (!index) {
        return diagnostics.exit_status(false);
    }
    const tlog::RunIndex& runs = index.value();
    if (runs.too_many_runs) {
        fmt::print(stderr, "tlogdump: processes take turns too often to be put apart: use remora print\n");
        return trace::ExitStatus::damaged;
    }
    std::uint64_t processes = 0;
    for (std::size_t at = 0; at < runs.runs.size(); at += runs.process_at(at).size()) {
        const auto own = runs.process_at(at);
        std::uint64_t records = 0;
        for (const tlog::Run& run : own) {
            records += run.records;
        }
        if (!options.check) {
            fmt::print("--- Tlog exec profile dump: proc={}, #data={}\n", own.front().process, records);
        }
        tlog::ProcessCursor cursor(source.value(), own, layout, kBufferBytes);
        static_cast<void>(dump_process(cursor, runs, options, diagnostics));
        ++processes;
    }
    diagnostics.finish();
    if (options.check) {
        fmt::print("{} records of {} processes, {}\n", runs.records, processes,
                   lines == 0 ? "all in order" : "not all in order");
    }
    const auto status = diagnostics.exit_status(runs.records != 0);
    return options.check && lines != 0 ? std::max(status, trace::ExitStatus::damaged) : status;
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app("the records of a tlog file");
    Options options;
    app.add_option("FILE", options.path, "tlog file, or - for standard input")->required();
    app.add_flag("--old", options.old_layout, "the layout of the OpenMP runtime; default: detect it");
    app.add_flag("--readable", options.readable, "names, arguments and depth");
    app.add_flag("--check", options.check, "only say what is wrong; exit status 2 if anything is");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : static_cast<int>(trace::ExitStatus::usage);
    }
    const auto status = dump(options);
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        std::fputs("tlogdump: the output cannot be written\n", stderr);
        return static_cast<int>(trace::ExitStatus::no_space);
    }
    return static_cast<int>(status);
}
