// SPDX-License-Identifier: MIT
// Has rows D54 to D60: what is written from an input that is damaged or extreme, and where it cannot be written. What
// viewers make of the files is tested in tests/viewers.
#include "tests/support/kev_builder.hpp"
#include "tests/support/malformed_row.hpp"
#include "tests/support/tlog_files.hpp"

#include "host/formats/dat/manifest.hpp"
#include "host/trace/json.hpp"
#include "host/trace/kernel_image.hpp"
#include "lib/endian.hpp"
#include "tracer/names/user_fields.hpp"

#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <gmock/gmock.h>
#include <sstream>
#include <sys/resource.h>

namespace support {

namespace {

using enum host::trace::ExitStatus;
using testing::HasSubstr;
using testing::Not;

Outcome convert(MalformedInput& at, const Bytes& bytes, const std::string& format) {
    return at.run({"convert", at.store("input", bytes), "--to", format, "-o", at.path_of("out")});
}

// Stamps of a row in its CSV: the first column.
std::vector<std::uint64_t> csv_ticks(const std::string& path) {
    std::istringstream in(read_text(path));
    std::vector<std::uint64_t> ticks;
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line)) {
        ticks.push_back(std::stoull(line));
    }
    return ticks;
}

// Two processors, and one whose time falls.
Outcome export_inverted(MalformedInput& at) {
    ChunkBuilder first = three_events(0);
    ChunkBuilder second(1);
    second.begin.cpu = 1;
    second.event(900, "ipoint", 1).event(1600, "ipoint", 2).unordered(1200, "ipoint", 3);
    const Bytes bytes = first.bytes() + second.bytes();
    Outcome outcome = convert(at, bytes, "csv");
    EXPECT_EQ(csv_ticks(at.path_of("out")), (std::vector<std::uint64_t>{900, 1000, 1500, 1600, 1200, 2000}));
    std::filesystem::remove(at.path_of("out"));
    convert(at, bytes, "tlog"); // a stamp below its processor's last is raised to it
    const Outcome again = at.read_path(at.path_of("out"));
    EXPECT_TRUE(std::ranges::is_sorted(again.ticks));
    EXPECT_EQ(again.late, 0U);
    return outcome;
}

// The stamps are in several turns of 32 bits; the stream of CTF has them whole.
Outcome export_turns(MalformedInput& at) {
    constexpr std::uint64_t kOneTurn = std::uint64_t{1} << 32;
    ChunkBuilder chunk;
    chunk.event(kOneTurn - 1, "ipoint", 1).event(kOneTurn, "ipoint", 2).event(5 * kOneTurn + 7, "ipoint", 3);
    Outcome outcome = convert(at, chunk.compact(tracer::compact::Layout::a), "ctf");
    std::string files;
    for (const auto& entry : std::filesystem::directory_iterator(at.path_of("out"))) {
        if (entry.path().filename() != "metadata") {
            files += read_text(entry.path().string());
        }
    }
    for (const std::uint64_t stamp : {kTurn - 1, kTurn, 5 * kTurn + 7}) {
        std::string bytes(8, '\0');
        std::memcpy(bytes.data(), &stamp, 8);
        EXPECT_NE(files.find(bytes), std::string::npos) << stamp;
    }
    return outcome;
}

Outcome export_hostile_name(MalformedInput& at) {
    ChunkBuilder chunk;
    chunk.name("task", 12, "a\"\\*/\n\x01").event(1000, "task_dispatch", 12).event(1100, "context_switch", 12);
    Outcome outcome = convert(at, chunk.bytes(), "chrome-json");
    const auto json = host::trace::Json::parse(read_text(at.path_of("out")), nullptr, false);
    EXPECT_FALSE(json.is_discarded());
    std::filesystem::remove(at.path_of("out"));
    EXPECT_EQ(convert(at, chunk.bytes(), "ctf-lttng").status, clean);
    EXPECT_THAT(read_text(at.path_of("out") + "/metadata"), Not(HasSubstr("\x01")));
    return outcome;
}

// A session whose copy of the formats has one of 700,000 bytes.
Outcome export_long_format(MalformedInput& at) {
    const std::string session = at.path_of("session");
    std::filesystem::create_directory(session);
    static_cast<void>(at.store("session/0trace.dat", one_event().bytes()));
    EXPECT_EQ(at.run({"adopt", session}).status, clean);
    auto manifest = host::formats::dat::load_manifest(session);
    EXPECT_TRUE(manifest.ok());
    manifest.value().formats.emplace();
    EXPECT_TRUE(host::formats::dat::save_manifest(manifest.value(), session).ok());
    const std::string text = R"({"format":"remora-formats","version":1,"image":"ff","formats":[{"id":8,"text":")" +
                             std::string(700'000, 'x') + "\"}]}";
    EXPECT_TRUE(host::formats::dat::save_text(text, session, host::trace::kFormatsName).ok());
    return at.run({"convert", session, "--to", "chrome-json", "-o", at.path_of("out")});
}

// One event of our own in a .kev file: the length of its payload, the payload, zeros to whole slots.
void add_long(KevBuilder& file, std::uint8_t code, std::uint64_t stamp, std::vector<std::byte> payload) {
    const auto length = static_cast<std::uint32_t>(payload.size());
    payload.insert(payload.begin(), 4, std::byte{0});
    lib::store_le(std::span(payload), length);
    payload.resize((payload.size() + 7) / 8 * 8);
    for (std::size_t at = 0; at < payload.size(); at += 8) {
        const auto words = std::span<const std::byte>(payload).subspan(at);
        file.slot(at == 0                   ? 'B'
                  : at + 8 < payload.size() ? 'C'
                                            : 'E',
                  0, 6, code, stamp, lib::load_le<std::uint32_t>(words), lib::load_le<std::uint32_t>(words.subspan(4)));
    }
}

// 16 texts of 255 control characters each, of which an escape is four times as long.
Outcome export_long_payload(MalformedInput& at) {
    tracer::EventDeclaration declaration{.id = 1, .name = {"long"}, .field_count = tracer::kFieldsMax};
    declaration.items.fill({.type = tracer::FieldType::text, .detail = 255, .name = {"text"}, .unit = {}});
    std::array<std::byte, tracer::kCombinePayloadMax + 2> encoded{};
    const std::size_t size = tracer::encode_payload(declaration, encoded).value();
    KevBuilder file({.system = "Remora"});
    file.time(0, 1000);
    add_long(file, tracer::event_code("event_declaration"), 1000, {encoded.begin() + 2, encoded.begin() + size});
    std::vector<std::byte> texts = {std::byte{1}, std::byte{0}};
    for (std::size_t i = 0; i < tracer::kFieldsMax; ++i) {
        texts.push_back(std::byte{255});
        texts.insert(texts.end(), 255, std::byte{1});
    }
    for (std::uint64_t i = 0; i < 10; ++i) {
        add_long(file, tracer::event_code("typed_event"), 2000 + i, texts);
    }
    file.slot('S', 0, 6, tracer::event_code("ipoint"), 3000, 1);
    return convert(at, file.bytes, "ctf");
}

// The words of a user's event are a length and the bytes, those of a thread's event a pid, a number and the name.
Outcome export_name_of_a_user(MalformedInput& at) {
    KevBuilder file({.system = "Remora"});
    file.time(0, 1000).slot('S', 0, 6, tracer::event_code("task_name"), 1000, 0, 7);
    file.slot('S', 0, 6, tracer::event_code("ipoint"), 3000, 1);
    return convert(at, file.bytes, "csv");
}

Outcome export_few(MalformedInput& at, const Bytes& bytes) {
    Outcome outcome;
    for (const char* const format : {"csv", "chrome-json", "perfetto", "ctf", "vcd", "kev", "tlog", "dat", "compact"}) {
        outcome = convert(at, bytes, format);
        EXPECT_EQ(outcome.status, clean) << format << outcome.lines;
        EXPECT_TRUE(std::filesystem::exists(at.path_of("out"))) << format;
        std::filesystem::remove_all(at.path_of("out"));
    }
    return outcome;
}

// All files that this process writes end at so many bytes.
class FileLimit {
  public:
    explicit FileLimit(rlim_t bytes)
        : m_handler(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &m_before);
        const rlimit now{.rlim_cur = bytes, .rlim_max = m_before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &now);
    }

    FileLimit(const FileLimit&) = delete;
    FileLimit& operator=(const FileLimit&) = delete;

    ~FileLimit() {
        ::setrlimit(RLIMIT_FSIZE, &m_before);
        std::signal(SIGXFSZ, m_handler);
    }

  private:
    void (*m_handler)(int);
    rlimit m_before{};
};

Bytes large() {
    ChunkBuilder chunk;
    for (unsigned i = 0; i < 5000; ++i) {
        chunk.event(1000 + i, "ipoint", 1);
    }
    return chunk.bytes();
}

Outcome convert_pipe_without_room(MalformedInput& at) {
    const StandardInput input(at.store("input", large()));
    const FileLimit limit(16'384);
    return at.run({"convert", "-", "--to", "vcd", "-o", at.path_of("out")});
}

Outcome read_pipe_without_room(MalformedInput& at) {
    TlogFile file;
    for (unsigned process = 0; process < 40; ++process) {
        file.small_process(static_cast<std::uint16_t>(process), 0);
    }
    const StandardInput input(at.store("input", file.bytes()));
    const FileLimit limit(16'384);
    return at.run({"summary", "-"});
}

Outcome write_over_input(MalformedInput& at) {
    const Bytes bytes = three_events().bytes();
    const std::string path = at.store("input", bytes);
    Outcome outcome = at.run({"convert", path, "--to", "csv", "-o", path});
    EXPECT_EQ(read_text(path).size(), bytes.size());
    return outcome;
}

Bytes bad_time(double seconds) {
    return TlogFile().record(0, 1, 0).record(0, 31, 1).record(0, 32, seconds).record(0, 2, 2).pad().bytes();
}

Bytes damaged_first_block() {
    return with_byte(TlogFile().small_process(0, 0).small_process(1, 0.25).bytes(), 2, 0xFF); // the type of START
}

} // namespace

std::vector<MalformedRow> malformed_exports() {
    return {
        row("D54", "inverted_stamps_exported", "two processors, on one of which time decreases, to csv and tlog",
            says("W-TIME", {}, "from 1600 to 1200"), clean, {}, export_inverted),
        row("D55", "turns_exported", "a compact chunk over several turns of 32 bits, to CTF", says(), clean, {},
            export_turns),
        row("D56", "hostile_name_exported",
            "a name with quotes, an end of comment and control characters, to JSON and CTF", says(), clean, {},
            export_hostile_name),
        row("D56", "long_format_exported",
            "a session whose table of formats has a text of 700,000 bytes, to JSON: the table is not used",
            says("W-FORMATS", {},
                 "the format 8 has a text of 700000 bytes, more than 4096: name the image that ran with --kernel"),
            clean, {}, export_long_format),
        row("D56", "long_payload_exported",
            "a .kev file of ours with typed events of 4098 bytes, more than a long event holds, to CTF",
            says("E-LEN", {}, "class 6 event 30 with 1026 words is none that Remora writes"), damaged, {},
            export_long_payload),
        row("D56", "user_event_with_the_code_of_a_name",
            "a .kev file of ours with a user's event that has the code of task_name, to csv",
            says("E-LEN", {}, "class 6 event 28 with 2 words is none that Remora writes"), damaged, {},
            export_name_of_a_user),
        row("D57", "one_event_exported", "one event, to every format", says(), clean, {},
            [](MalformedInput& at) { return export_few(at, one_event().bytes()); }),
        row("D57", "only_a_loss_exported", "a chunk of one blackout, to every format", says(), clean, {},
            [](MalformedInput& at) {
                ChunkBuilder chunk;
                chunk.begin.dropped = 7;
                return export_few(at, chunk.event(1, "blackout_start").event(2, "blackout_end", 0, 7).bytes());
            }),
        row("D57", "no_event_exported", "a chunk without a record, to csv", says("E-NOTHING"), nothing, {},
            [](MalformedInput& at) { return convert(at, ChunkBuilder().bytes(), "csv"); }),
        row("D59", "time_that_is_not_a_number", "a tlog record whose time is not a number",
            says("E-LINE", 32, "record 2"), damaged, 3, bad_time(std::nan(""))),
        row("D59", "time_beyond_63_bits_in_tlog", "a tlog record of 10^300 s", says("E-LINE", 32, "1e+300"), damaged, 3,
            bad_time(1e300)),
        row("D59", "negative_time", "a tlog record of -1 s", says("E-LINE", 32, "-1 s"), damaged, 3, bad_time(-1)),
        row("D59", "tlog_cut", "a tlog file that ends inside a block", says("E-TRUNC", 1024 + 40, "40 of 1024 bytes"),
            damaged, 7, without_end(TlogFile().small_process(0, 0).small_process(1, 0).bytes(), 1024 - 40)),
        row("D59", "tlog_with_a_damaged_first_block",
            "a tlog file whose first record is damaged: recognised nevertheless", says("W-UNKNOWN", 0, "0xff"), clean,
            {}, damaged_first_block()),
        row("D60", "output_disk_full", "no space for the output", says("", {}, "no space"), no_space, {},
            [](MalformedInput& at) {
                return at.run({"convert", at.store("input", three_events().bytes()), "--to", "csv", "-o", "/dev/full"});
            }),
        row("D60", "output_is_the_input", "the output is the input", says("", {}, "it is the input"), usage, {},
            write_over_input),
        row("D60", "temporary_disk_full", "a pipe that must be read twice, and no space in TMPDIR",
            says("", {}, "TMPDIR): no space"), no_space, {}, convert_pipe_without_room),
        row("D60", "temporary_disk_full_to_unpack", "a tlog file through a pipe, and no space in TMPDIR",
            says("E-IO", {}, "no space"), no_space, {}, read_pipe_without_room),
    };
}

} // namespace support
