// SPDX-License-Identifier: MIT
// The speed at which the host tools read, count, print, pack and convert, compared with minimal loops. Everything runs
// in this process, the variants of one comparison in turn, and the best round of each counts. Time is the processor
// time of the process, so other load on the machine is not counted (but its effect on the caches is).
//
//   host_speed generate FILE EVENTS     a trace (generated_trace.hpp)
//   host_speed session DIRECTORY EVENTS CHUNKS
//                                       the same events as a session of so many files
//   host_speed files DIRECTORY CHUNKS   opens each of them, reads its first page and closes it: no reader can avoid
//   that host_speed measure FILE SCRATCH [FORMAT ...]
//                                       prints FIGURE and GOAL lines; SCRATCH is a directory for outputs; with formats,
//                                       their converters alone
#include "convert/convert.hpp"
#include "host/analyse/summary.hpp"
#include "host/cli/event/event_lines.hpp"
#include "host/formats/packed/archive.hpp"
#include "host/formats/trace.hpp"
#include "tests/bench/generated_trace.hpp"
#include "tests/bench/plain_output.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace host;

constexpr int kRounds = 7;
constexpr int kConverterRounds = 3; // each takes a second
constexpr double kMega = 1e6;

double processor_time_s() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Keeps unused results from being optimised away.
volatile std::uint64_t g_kept = 0;

class Mapped {
  public:
    explicit Mapped(const std::string& path)
        : m_descriptor(::open(path.c_str(), O_RDONLY)) {
        struct stat status {};

        if (m_descriptor >= 0 && ::fstat(m_descriptor, &status) == 0) {
            m_bytes = static_cast<std::size_t>(status.st_size);
            m_data = ::mmap(nullptr, m_bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, m_descriptor, 0);
        }
    }

    Mapped(const Mapped&) = delete;
    Mapped& operator=(const Mapped&) = delete;

    ~Mapped() {
        ::munmap(m_data, m_bytes);
        ::close(m_descriptor);
    }

    [[nodiscard]] bool ok() const { return m_data != MAP_FAILED && m_data != nullptr; }

    [[nodiscard]] std::span<const tracer::Record> records() const {
        return {static_cast<const tracer::Record*>(m_data), m_bytes / sizeof(tracer::Record)};
    }

  private:
    int m_descriptor;
    void* m_data = nullptr;
    std::size_t m_bytes = 0;
};

// CEIL: no code that reads every field can be faster.
void sum_fields(std::span<const tracer::Record> records) {
    std::uint64_t sum = 0;
    for (const tracer::Record& record : records) {
        sum += record.code + record.par1 + record.stamp().value + record.par2;
    }
    g_kept = g_kept + sum;
}

// A program that knows only the layout: it writes the same bytes as print for these events.
void print_with_to_chars(std::span<const tracer::Record> records, int descriptor) {
    std::vector<char> buffer(1 << 16);
    std::size_t used = 0;
    const std::uint64_t start = records.front().stamp().value;
    std::array<const tracer::EventRow*, 256> rows{};
    for (const tracer::EventRow& row : tracer::kEvents) {
        rows[row.code] = &row;
    }
    for (const tracer::Record& record : records) {
        if (buffer.size() - used < 256) {
            g_kept = g_kept + static_cast<std::uint64_t>(::write(descriptor, buffer.data(), used));
            used = 0;
        }
        char* at = buffer.data() + used;
        const auto text = [&](std::string_view piece) { at = std::ranges::copy(piece, at).out; };
        const auto number = [&](std::uint64_t value) { at = std::to_chars(at, at + 20, value).ptr; };
        std::array<char, 20> digits{};
        __extension__ using Wide = unsigned __int128;
        const auto time =
            static_cast<std::uint64_t>(Wide{record.stamp().value - start} * 1'000'000 / bench::kGeneratedKhz);
        const auto length =
            static_cast<std::size_t>(std::to_chars(digits.data(), digits.data() + 20, time).ptr - digits.data());
        at = std::fill_n(at, length < 13 ? 13 - length : 0, ' ');
        text({digits.data(), length});
        text(" ns  cpu0  ");
        const tracer::EventRow& row = *rows[record.event_code()];
        text(row.name);
        at = std::fill_n(at, row.name.size() < 20 ? 20 - row.name.size() : 0, ' ');
        if (row.par1.unit != tracer::Unit::none) {
            *at++ = ' ';
            text(row.par1.name);
            *at++ = '=';
            number(record.par1);
        }
        if (row.par2.unit != tracer::Unit::none) {
            *at++ = ' ';
            text(row.par2.name);
            *at++ = '=';
            number(record.par2);
        }
        *at++ = '\n';
        used = static_cast<std::size_t>(at - buffer.data());
    }
    g_kept = g_kept + static_cast<std::uint64_t>(::write(descriptor, buffer.data(), used));
}

template <typename EachEvent>
void read_events(const std::string& path, EachEvent each) {
    trace::Diagnostics diagnostics(
        [](std::string_view line) { std::fprintf(stderr, "%s\n", std::string(line).c_str()); });
    const auto opened = formats::Trace::open(path, {}, diagnostics);
    if (opened) {
        opened.value()->for_each(each);
    }
}

// append(out, event) formats one event.
template <typename Append>
void print_events(const std::string& path, int descriptor, Append append) {
    fmt::memory_buffer out;
    const auto flush = [&] {
        g_kept = g_kept + static_cast<std::uint64_t>(::write(descriptor, out.data(), out.size()));
        out.clear();
    };
    read_events(path, [&](const trace::Event& event) {
        append(out, event);
        if (out.size() >= std::size_t{1} << 16) {
            flush();
        }
    });
    flush();
}

// One variant, and its best time.
struct Way {
    std::function<void()> run;
    double best_s = 1e9;
};

void race(std::initializer_list<Way*> ways, int rounds = kRounds) {
    for (int round = 0; round < rounds; ++round) {
        for (Way* const way : ways) {
            const double begin = processor_time_s();
            way->run();
            way->best_s = std::min(way->best_s, processor_time_s() - begin);
        }
    }
}

void figure(const std::string& name, double value, const char* unit) {
    std::printf("FIGURE %s %.2f %s\n", name.c_str(), value, unit);
}

void goal(const std::string& id, double value, double least) {
    std::printf("GOAL %s %.2f >=%.2f %s\n", id.c_str(), value, least, value >= least ? "met" : "missed");
}

void measure_packing(const std::string& path, double raw_mb) {
    const auto source = trace::ByteSource::open(path);
    if (!source) {
        return;
    }
    std::vector<std::byte> packed;
    Way pack{.run = [&] {
        packed.clear();
        formats::packed::ArchiveWriter writer(
            [&](std::span<const std::byte> bytes) { packed.insert(packed.end(), bytes.begin(), bytes.end()); },
            [](std::uint64_t) {});
        const formats::packed::FileToPack file{.name = "0trace.dat", .bytes = source.value(), .records = true};
        static_cast<void>(writer.write(std::span(&file, 1)));
    }};
    pack.run();
    auto spool = trace::Spool::create();
    if (!spool || !spool.value().append(packed)) {
        return;
    }
    const auto archive = spool.value().take();
    Way unpack{.run = [&] {
        trace::Diagnostics diagnostics([](std::string_view) {});
        const auto reader = formats::packed::ArchiveReader::open({.name = "x", .bytes = archive}, {}, diagnostics);
        static_cast<void>(
            reader.value()->extract([](std::size_t, std::span<const std::byte> bytes) -> lib::Result<void> {
                g_kept = g_kept + bytes.size();
                return {};
            }));
    }};
    race({&pack, &unpack});
    goal("P13.ratio", raw_mb * kMega / static_cast<double>(packed.size()), 7.0);
    goal("P13.pack_mb_s", raw_mb / pack.best_s, 200);
    goal("P13.unpack_mb_s", raw_mb / unpack.best_s, 200);
}

std::uint64_t bytes_below(const std::filesystem::path& path) {
    if (!std::filesystem::is_directory(path)) {
        return std::filesystem::file_size(path);
    }
    std::uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
        bytes += entry.is_regular_file() ? entry.file_size() : 0;
    }
    return bytes;
}

// Met at 8 M events/s, or at 0.8 of the speed of a loop that has the output in advance and writes the same bytes
// (plain_output.hpp). A database, which also has the schedule, its indices and statistics, is SQLite's work: it has no
// goal.
void measure_converter(const convert::FormatRow& format, const std::string& path, const std::filesystem::path& scratch,
                       double events) {
    const std::filesystem::path output = scratch / ("out" + std::string(format.suffix));
    bool worked = true;
    const auto run = [&] {
        std::filesystem::remove_all(output);
        trace::Diagnostics diagnostics([](std::string_view) {});
        const auto outcome = convert::convert({.input = path, .output = output.string(), .format = &format},
                                              diagnostics, [](std::uint64_t, std::uint64_t) {});
        worked = worked && outcome.error.empty();
    };
    run();
    const std::string name(format.name);
    if (!worked || !std::filesystem::exists(output)) {
        std::printf("NOTE %s cannot carry this trace\n", name.c_str());
        return;
    }
    const std::uint64_t bytes = bytes_below(output);
    const bench::PlainOutput plain(output.string());
    const std::string beside = (scratch / "plain").string();
    Way converting{.run = run};
    Way writing{.run = [&] { plain.write(beside, bytes); }};
    race({&converting, &writing}, format.shape == output::Destination::Shape::library_file ? 1 : kConverterRounds);
    const double rate = events / kMega / converting.best_s;
    const double ratio = writing.best_s / converting.best_s;
    figure("converter_" + name, static_cast<double>(bytes) / kMega / converting.best_s, "MB/s");
    figure("plain_" + name, static_cast<double>(bytes) / kMega / writing.best_s, "MB/s");
    if (format.shape == output::Destination::Shape::library_file) {
        figure("P11." + name, rate, "M_events/s");
        figure("P11." + name + "_bytes_per_event", static_cast<double>(bytes) / events, "bytes");
    } else {
        std::printf("GOAL P11.%s %.2f_M/s_or_%.2f_of_%s >=8_or_0.8 %s\n", name.c_str(), rate, ratio,
                    plain.is_text() ? "formatting" : "writing", rate >= 8 || ratio >= 0.8 ? "met" : "missed");
    }
    std::fflush(stdout);
    std::filesystem::remove_all(output);
    std::filesystem::remove(scratch / "plain");
}

void measure_converters(const std::string& path, const std::filesystem::path& scratch,
                        std::span<const std::string> names) {
    const double events = static_cast<double>(std::filesystem::file_size(path)) / sizeof(tracer::Record);
    for (const convert::FormatRow* const format : convert::all_formats()) {
        if (names.empty() || std::ranges::find(names, format->name) != names.end()) {
            measure_converter(*format, path, scratch, events);
        }
    }
}

int measure(const std::string& path, const std::filesystem::path& scratch) {
    const Mapped mapped(path);
    const int nowhere = ::open("/dev/null", O_WRONLY);
    if (!mapped.ok() || nowhere < 0) {
        std::fprintf(stderr, "host_speed: %s cannot be mapped\n", path.c_str());
        return 1;
    }
    const auto records = mapped.records();
    const auto events = static_cast<double>(records.size());
    Way ceil{.run = [&] { sum_fields(records); }};
    Way count{.run = [&] {
        analyse::Tally tally;
        read_events(path, [&tally](const trace::Event& event) { tally.add(event); });
        g_kept = g_kept + tally.events();
    }};
    Way pass{.run = [&] { read_events(path, [](const trace::Event& event) { g_kept = g_kept + event.par1; }); }};
    Way naive_text{.run = [&] { print_with_to_chars(records, nowhere); }};
    Way text{.run = [&] {
        cli::EventLines lines(cli::TimeUnit::nanoseconds);
        print_events(path, nowhere, [&lines](auto& out, const trace::Event& event) { lines.append(out, event); });
    }};
    Way json{.run = [&] {
        cli::JsonLines lines;
        print_events(path, nowhere, [&lines](auto& out, const trace::Event& event) { lines.append(out, event, {}); });
    }};
    race({&ceil, &count, &pass, &naive_text, &text, &json});
    ::close(nowhere);
    figure("host_ceil", events / kMega / ceil.best_s, "M_events/s");
    figure("host_count", events / kMega / count.best_s, "M_events/s");
    figure("host_event_stream", events / kMega / pass.best_s, "M_events/s");
    figure("host_text_to_chars", events / kMega / naive_text.best_s, "M_events/s");
    figure("host_text", events / kMega / text.best_s, "M_events/s");
    goal("P9.ceil", ceil.best_s / count.best_s, 0.05);
    goal("P10.to_chars", naive_text.best_s / text.best_s, 0.6);
    goal("P10.json_m_s", events / kMega / json.best_s, 12);
    measure_packing(path, events * sizeof(tracer::Record) / kMega);
    measure_converters(path, scratch, {});
    return 0;
}

// What a file costs by itself: the rest of its bytes cost as much in one file.
bool read_files(const std::string& directory, std::uint64_t chunks) {
    const int folder = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY);
    std::array<std::byte, 4096> buffer{};
    bool read = folder >= 0;
    for (std::uint64_t number = 0; number < chunks && read; ++number) {
        const int file = ::openat(folder, fmt::format("{}trace.dat", number).c_str(), O_RDONLY);
        read = file >= 0 && ::read(file, buffer.data(), buffer.size()) > 0;
        ::close(file);
    }
    return read;
}

} // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv, argv + argc);
    if (argc == 4 && arguments[1] == "generate") {
        return bench::generate_file(arguments[2], std::stoull(arguments[3])) ? 0 : 1;
    }
    if (argc == 5 && arguments[1] == "session") {
        const bool generated =
            bench::generate_session(arguments[2], std::stoull(arguments[3]), std::stoull(arguments[4]));
        return generated ? 0 : 1;
    }
    if (argc == 4 && arguments[1] == "files") {
        return read_files(arguments[2], std::stoull(arguments[3])) ? 0 : 1;
    }
    if (argc == 4 && arguments[1] == "measure") {
        return measure(arguments[2], arguments[3]);
    }
    if (argc > 4 && arguments[1] == "measure") {
        measure_converters(arguments[2], arguments[3], std::span(arguments).subspan(4));
        return 0;
    }
    std::fprintf(stderr, "usage: host_speed generate FILE EVENTS | session DIRECTORY EVENTS CHUNKS | files DIRECTORY "
                         "CHUNKS | measure FILE SCRATCH [FORMAT ...]\n");
    return 1;
}
