// SPDX-License-Identifier: MIT
// What the readers make of one small input of each format, field for field, and what each truncation and each changed
// byte changes of that: the texts are in tests/unit/host/formats/readings/. That no damage crashes a reader is what
// sweep_test.cpp shows; a change of what is read or reported is seen here. REMORA_UPDATE_DOCS=1 rewrites the files.
// Runs in the root of the checkout, as `make test-unit` does.
#include "tests/support/reading_text.hpp"

#include "tests/support/capture_files.hpp"
#include "tests/support/host_command.hpp"
#include "tests/support/kev_builder.hpp"
#include "tests/support/memory_image.hpp"
#include "tests/support/memory_source.hpp"
#include "tests/support/packed_archives.hpp"
#include "tests/support/tlog_files.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <map>

namespace host::formats {

namespace {

using support::Bytes;
using support::ChunkBuilder;
using support::Lines;

// Which bytes are changed, and where the input is cut.
struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t step = 1;
};

struct Input {
    std::string name;
    trace::InputKind kind;
    Bytes (*bytes)();
    std::vector<Range> cuts;
    std::vector<Range> changes;
    bool is_stream = false; // a pipe has no size, and is read once
    trace::OpenOptions options{};
};

std::ostream& operator<<(std::ostream& out, const Input& input) {
    return out << input.name;
}

// --- the inputs ------------------------------------------------------------------------------------------------------

Bytes operator+(Bytes left, const Bytes& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

tracer::Record slot(std::uint16_t code, std::uint64_t stamp, std::uint16_t par1 = 1, std::uint32_t par2 = 2) {
    return tracer::make_record(code, par1, par2, {stamp});
}

ChunkBuilder chunk_of(std::uint16_t number, std::uint16_t cpu) {
    ChunkBuilder chunk(number);
    chunk.begin.cpu = cpu;
    chunk.begin.generation = 3;
    chunk.begin.tsc_error_ppm = 40;
    chunk.begin.dropped = 5;
    chunk.begin.refused = 1;
    chunk.build("control", 7, 0xABCD).cost({.enabled_ticks_x256 = 9, .rounds = 4});
    return chunk.name("task", 12, "sensor").parameters({.context = 12, .level = 1, .period_ns = 10'000});
}

// All names, a declaration and a format; lost, damaged, unknown and long events; a blackout.
Bytes machine() {
    ChunkBuilder first = chunk_of(0, 0);
    first.name("interrupt", 32, "timer").name("mutex", 1, "bus").name("semaphore", 2, "items").name("port", 4, "mail");
    first.name("condition", 3, "ready").name("server", 6, "cbs").name("level", 1, "RM");
    tracer::EventDeclaration declaration{.id = 9, .name = {"out"}, .field_count = 1};
    declaration.items[0] = {.type = tracer::FieldType::u16, .detail = 4, .name = {"error"}, .unit = {"m/s"}};
    first.declare(declaration).format(5, "x=%d");
    first.event(1000, "task_create", 12, 77).event(1100, "blackout_start").event(1200, "blackout_end", 0, 5);
    for (const tracer::Record& part :
         support::combined(trace::kCodeOf<"typed_event">, Bytes(12, std::byte{6}), {1250})) {
        first.raw(part);
    }
    first.raw(slot(0x00FC, 1300)).raw(slot(0x4019, 1400)).raw(slot(0x8019, 1450)).raw(slot(0x20EE, 1500));
    first.raw(slot(0x10EE, 1600)).raw(slot(0x2001, 1600)).raw(slot(0, 0, 0, 0)).event(1700, "ipoint", 3, 4);
    first.raw({0xFFFF, 0xFFFF, 0xFFFF'FFFF, 0xFFFF'FFFF, 0xFFFF'FFFF}).event(1800, "blackout_start");
    ChunkBuilder second = chunk_of(1, 1);
    second.event(900, "context_switch", 12).event(1550, "context_switch", 13).event(1750, "task_end", 12, 77);
    second.unordered(1650, "ipoint", 1);
    return first.bytes() + second.bytes() + support::export_end({.chunks = 2, .records = 19, .dropped = 5});
}

// One chunk with a checksum.
Bytes sealed() {
    ChunkBuilder chunk(2);
    chunk.name("task", 12, "s").event(1000, "task_dispatch", 12).event(1500, "ipoint", 7, 9);
    return support::sealed(chunk.event(1600, "ipoint", 8).event(2000, "task_end_cycle", 12).bytes());
}

// Two chunks; five bytes of the first are lost, three were added to the second, and the header of a third one has lost
// its first slot.
Bytes shifted() {
    Bytes bytes;
    for (std::uint16_t number = 0; number < 3; ++number) {
        ChunkBuilder chunk(number);
        chunk.name("task", 12, "sensor");
        for (unsigned i = 0; i < 20; ++i) {
            chunk.event(1000U * (number + 1U) + 10 * i, i % 2 == 0 ? "ipoint" : "task_dispatch", 12, i);
        }
        Bytes image = chunk.bytes();
        const auto middle = image.end() - 150;
        if (number == 0) {
            image.erase(middle, middle + 5);
        } else if (number == 1) {
            image.insert(middle, 3, std::byte{0x5A});
        } else {
            image.erase(image.begin(), image.begin() + 16);
        }
        bytes = std::move(bytes) + image;
    }
    return bytes;
}

// Records of a published kernel, a lap in memory order.
Bytes plain() {
    ChunkBuilder chunk;
    chunk.event(500, "ipoint", 5).event(600, "cycles_per_msec", 0, 2'000'000).event(700, "context_switch", 7);
    for (unsigned i = 0; i < 6; ++i) {
        chunk.unordered(100 + 50 * i, i % 2 == 0 ? "ipoint" : "task_block", 7, i);
    }
    return chunk.plain();
}

Bytes compact() {
    ChunkBuilder chunk(4);
    for (unsigned i = 0; i < 12; ++i) {
        chunk.event(1000 + 100 * i, i % 2 == 0 ? "task_dispatch" : "ipoint", static_cast<std::uint16_t>(i % 3), i % 2);
    }
    return chunk.compact(tracer::compact::Layout::a, 2);
}

Bytes packed() {
    return support::pack(machine());
}

Bytes kev_foreign() {
    support::KevBuilder file({.cycles_per_second = "2000000000", .syspage_bytes = "8", .more = ""});
    file.text("syspage.").buffer(0, 0x1000, 0).time(0, 0x1000).time(1, 0x1000).user(0, 0x1010, 1);
    file.slot('S', 0, 4, 24, 0x1020, 2, 3).slot('S', 0, 4, 1, 0x1030, 2, 3).slot('B', 1, 6, 5, 0x1040, 3, 4);
    file.slot('S', 0, 2, 1, 0x1050, 0x9000, 6).slot('E', 1, 6, 5, 0x1040, 5, 6).slot('S', 0, 2, 2, 0x1060, 0x9000);
    file.slot('B', 0, 4, 192, 0x1070, 1, 2).slot('E', 0, 4, 192, 0x1070, 0x636261, 0).slot('S', 0, 4, 13, 0x1080, 2, 3);
    file.slot('C', 1, 6, 7, 0x1090, 1, 2).slot('S', 0, 4, 2, 0x10A0, 2, 3).slot('S', 9, 30, 2, 0x10B0, 2, 3);
    file.buffer(0, 0x10C0, 3).slot('B', 0, 6, 8, 0x10D0, 1, 2).user(1, 0xF000'0000, 7);
    return file.time(0, 0x1'0000'0000).user(0, 0x1'0000'0300, 9).user(2, 0x1'0000'0400, 9).bytes;
}

// Of a big-endian machine, whose stamps turn over.
Bytes kev_big() {
    support::KevBuilder file({.byte_order = "BIG", .cycles_per_second = "0", .processors = "1"});
    file.user(0, 0xFFFF'FFF0, 1).user(0, 0x10, 2).time(0, 0x5'0000'0100).user(0, 0x5'8000'0100, 3);
    file.user(0, 0x5'8000'0300, 4).user(0, 0x5'7000'0000, 5).time(0, 0x6'0000'0100).user(0, 0x5'FFFF'FF00, 6);
    file.user(0, 0x6'F000'0000, 7).user(0, 0x7'0000'0001, 8).time(0, 0x3'0000'0100).user(0, 0x3'0000'0200, 9);
    return file.slot('B', 0, 4, 192, 0x300, 1, 2)
        .slot('E', 0, 4, 192, 0x300, 0x61626300, 0)
        .time(1, 7)
        .user(1, 8, 9)
        .bytes;
}

// As our writer has it.
Bytes kev_ours() {
    support::KevBuilder file({.system = "Remora",
                              .more = "TRACE_TSC_SOURCE::3TRACE_CLOCK_MODE::2TRACE_TSC_ERROR_PPM::40TRACE_BOOT_ID::b007"
                                      "TRACE_UNPLACED::1TRACE_DROPPED::5TRACE_OVERWRITTEN::6"});
    file.buffer(0, 0x1000, 0).time(0, 0x1000);
    file.slot('B', 0, 4, 320, 0x1000, 77, 13).slot('E', 0, 4, 320, 0x1000, 0x636261, 0);
    file.slot('S', 0, 4, 1, 0x1010, 1, 13).slot('S', 0, 4, 24, 0x1020, 77, 14).slot('S', 0, 4, 2, 0x1030, 1, 13);
    file.slot('S', 0, 6, trace::kCodeOf<"task_block">, 0x1040, 12, 0x1'0005);
    file.slot('B', 0, 4, 17, 0x1040, 1, 13).slot('E', 0, 4, 17, 0x1040, 10, 1);
    file.slot('S', 0, 2, 1, 0x1050, 32, 0).slot('S', 0, 2, 2, 0x1060, 32, 0);
    file.slot('S', 0, 6, trace::kCodeOf<"ipoint">, 0x1070, 3, 4).slot('S', 0, 6, 0x1EE, 0x1080, 3, 4);
    file.slot('B', 0, 6, trace::kCodeOf<"mutex_name">, 0x1090, 0x737562, 7)
        .slot('E', 0, 6, trace::kCodeOf<"mutex_name">, 0x1090, 0x62040001, 0x007375);
    file.slot('B', 0, 6, trace::kCodeOf<"typed_event">, 0x10A0, 0x737562, 4);
    file.slot('E', 0, 6, trace::kCodeOf<"typed_event">, 0x10A0, 0x00010009, 0);
    return file.slot('S', 0, 6, 0xFC, 0x10B0, 1, 2).slot('S', 0, 4, 9, 0x10C0, 1, 0).bytes;
}

Bytes tlog() {
    support::TlogFile file;
    file.record(0, 1, 0).record(0, 10, 0.5, 3, 7).record(0, 31, 0.75, 4, 5).record(0, 32, 0.7).record(0, 11, 1, 3, 7);
    file.record(0, 99, 1.5).record(0, 2, 2).pad().small_process(1, 0.25);
    return file.record(2, 1, 0.125).record(2, 10, 0.5, 3, 7).unused(2).record(2, 31, 0.625).bytes();
}

Bytes tlog_old() {
    support::TlogFile file;
    file.openmp(0, 2, 0).openmp(0, 11, 0.5, 1, 5).openmp(0, 12, 1).openmp(0, 1, 2).pad();
    return file.openmp(1, 2, 0.25).openmp(1, 40, 0.5, 1, 5).openmp(1, 1, 2).bytes();
}

std::vector<Bytes> datagrams() {
    ChunkBuilder chunk(3);
    chunk.name("task", 12, "s");
    for (unsigned i = 0; i < 100; ++i) {
        chunk.event(1000 + i, "ipoint", 1, i);
    }
    std::uint32_t number = 1;
    return support::packets(chunk.bytes(), number);
}

// Three packets, of which the second is there twice, the third comes first; a fragment, and another protocol.
Bytes pcap() {
    const std::vector<Bytes> parts = datagrams();
    Bytes other = support::ethernet(support::ip_packet(parts[0]));
    other[14 + 9] = std::byte{6};
    Bytes fragment = support::ethernet(support::ip_packet(parts[0]));
    fragment[14 + 6] = std::byte{0x20};
    support::Pcap file;
    file.add(other).add(fragment).add(support::ethernet(support::ip_packet(parts[1]), {0x8100}));
    file.add(support::ethernet(support::ip_packet(parts[0]))).add(support::ethernet(support::ip_packet(parts[1])));
    return file.raw(support::ethernet(support::ip_packet(Bytes(40))), 50, 82).bytes();
}

Bytes pcapng() {
    const std::vector<Bytes> parts = datagrams();
    support::Pcapng file;
    file.interface(1).interface(101).block(5, Bytes(8)).add(support::ethernet(support::ip_packet(parts[0])));
    return file.add(support::ip_packet(parts[1]), 1).simple(support::ethernet(support::ip_packet(parts[0]))).bytes();
}

// The smallest floppy: boot sector, two tables of one sector, four of the directory, the files.
Bytes fat() {
    const support::TemporaryDirectory directory;
    const std::string image = directory / "volume.img";
    ChunkBuilder first(0);
    ChunkBuilder second(1);
    for (unsigned i = 0; i < 60; ++i) {
        first.event(1000 + i, "ipoint", 1, i);
    }
    second.event(2000, "ipoint", 2);
    const std::string a = directory.write("0trace.dat", first.bytes());
    const std::string b = directory.write("1trace.dat", second.bytes());
    const std::string c = directory.write("endtrace.dat", support::export_end({.chunks = 2, .records = 61}));
    const auto made = test::run_command("mformat -C -f 160 -N 12345678 -i " + image + " :: && mcopy -i " + image + " " +
                                        a + " " + b + " " + c + " ::");
    EXPECT_EQ(made.exit_code, 0) << made.output;
    Bytes bytes = test::read_file(image);
    bytes.resize(8192);
    return bytes;
}

Bytes memory() {
    support::MemoryImage image(0x600);
    image.add_task(12, "control");
    image.add_chunk(0, 4, 2);
    image.add_chunk(1, 4, 0, tracer::kFlagCyclic);
    image.add_chunk(2, 60);
    for (std::uint64_t stamp = 1000; stamp < 1300; stamp += 100) {
        image.write(0, slot(trace::kCodeOf<"ipoint">, stamp));
    }
    image.write_emergency(0, slot(trace::kCodeOf<"ipoint">, 1350));
    for (std::uint64_t stamp = 1400; stamp < 1406; ++stamp) {
        image.write(1, slot(trace::kCodeOf<"ipoint">, stamp, 2));
    }
    for (std::uint64_t stamp = 1500; stamp < 1506; ++stamp) {
        image.write(2, slot(trace::kCodeOf<"task_dispatch">, stamp, 12, 0));
    }
    image.set_active(2);
    return image.saved(0);
}

const auto kInputs = std::to_array<Input>({
    {"machine", trace::InputKind::records, machine, {{0, 912, 144}, {912, 2000, 56}}, {{0, 112, 3}, {112, 2000, 17}}},
    {"sealed", trace::InputKind::records, sealed, {{0, 600, 24}}, {{0, 600, 7}}},
    {"shifted", trace::InputKind::records, shifted, {{560, 640, 40}, {1280, 1500, 55}}, {{0, 2000, 61}}},
    {"plain", trace::InputKind::records, plain, {{0, 200, 9}}, {{0, 200, 3}}},
    {"compact", trace::InputKind::records, compact, {{200, 272, 24}, {272, 600, 5}}, {{96, 112}, {112, 600, 5}}},
    {"compact_salvaged", trace::InputKind::records, compact, {}, {{272, 600, 2}}, false, {.salvage = true}},
    {"packed", trace::InputKind::packed, packed, {{0, 2000, 48}}, {{0, 2000, 5}}},
    {"packed_salvaged", trace::InputKind::packed, packed, {}, {{0, 2000, 23}}, false, {.salvage = true}},
    {"machine_piped", trace::InputKind::records, machine, {{912, 1200, 40}}, {{0, 2000, 97}}, true},
    {"machine_strict", trace::InputKind::records, machine, {}, {{1200, 2000, 97}}, false, {.strict = true}},
    {"machine_salvaged", trace::InputKind::records, machine, {}, {{0, 240, 17}}, false, {.salvage = true}},
    {"sealed_piped", trace::InputKind::records, sealed, {{200, 600, 72}}, {{0, 600, 41}}, true},
    {"compact_piped", trace::InputKind::records, compact, {{260, 600, 24}}, {{240, 600, 17}}, true, {.tsc_khz = 3000}},
    {"packed_strict", trace::InputKind::packed, packed, {}, {{0, 2000, 197}}, true, {.strict = true}},
    {"kev_strict", trace::InputKind::kev, kev_foreign, {}, {{440, 900, 97}}, true, {.tsc_khz = 3000, .strict = true}},
    {"kev_salvaged", trace::InputKind::kev, kev_foreign, {{440, 480, 4}}, {}, false, {.salvage = true}},
    {"tlog_strict", trace::InputKind::tlog, tlog, {}, {{0, 130, 19}}, true, {.strict = true}},
    {"pcap_strict", trace::InputKind::capture, pcap, {}, {}, true, {.strict = true}},
    {"kev_foreign", trace::InputKind::kev, kev_foreign, {{0, 440, 50}, {440, 900, 12}}, {{0, 420, 7}, {440, 900, 2}}},
    {"kev_ours", trace::InputKind::kev, kev_ours, {{550, 900, 24}}, {{400, 560, 9}, {560, 900, 2}}},
    {"kev_big", trace::InputKind::kev, kev_big, {{480, 900, 16}}, {{440, 900, 3}}},
    {"tlog", trace::InputKind::tlog, tlog, {{0, 2200, 40}}, {{0, 130}, {1024, 1120, 3}, {2048, 2200, 3}}},
    {"tlog_old", trace::InputKind::tlog_old, tlog_old, {{0, 1100, 40}}, {{0, 64, 2}, {1024, 1080, 3}}},
    {"pcap", trace::InputKind::capture, pcap, {{0, 120, 7}, {120, 6000, 250}}, {{0, 100}, {1500, 1620}}},
    {"pcapng", trace::InputKind::capture, pcapng, {{0, 160, 9}, {160, 6000, 250}}, {{0, 180}}},
    {"fat", trace::InputKind::fat, fat, {{0, 8192, 256}}, {{0, 64}, {510, 522}, {1024, 1034}, {1536, 1664}}},
    {"memory",
     trace::InputKind::memory,
     memory,
     {{0, 5000, 128}},
     {{0, 592}, {1024, 1696, 5}, {2048, 2080}, {3200, 3400, 5}}},
});

// --- their texts -----------------------------------------------------------------------------------------------------

class Readings : public testing::TestWithParam<Input> {
  protected:
    Readings()
        : m_bytes(GetParam().bytes())
        , m_whole(read(m_bytes)) {}

    [[nodiscard]] static Lines read(std::span<const std::byte> bytes) {
        trace::OpenOptions options = GetParam().options;
        options.kind = GetParam().kind;
        return support::reading_of(GetParam().is_stream ? support::memory_stream(bytes) : support::memory_source(bytes),
                                   options);
    }

    // The differences at each place of the ranges; places in a row that differ in the same way are one.
    template <typename Read>
    [[nodiscard]] std::string differences(const std::vector<Range>& ranges, const Read& read_at) const {
        std::string text;
        std::map<std::string, std::size_t> met;
        std::string row;
        std::size_t row_begin = 0;
        std::size_t row_end = 0;
        const auto end_row = [&] {
            if (!row.empty()) {
                text += row_begin == row_end ? fmt::format("0x{:x}:\n", row_begin)
                                             : fmt::format("0x{:x} to 0x{:x}:\n", row_begin, row_end);
                const auto [first, is_new] = met.try_emplace(row, row_begin);
                text += is_new ? row : fmt::format("  as at 0x{:x}\n", first->second);
            }
        };
        for (const Range& range : ranges) {
            for (std::size_t at = range.begin; at < std::min(range.end, m_bytes.size()); at += range.step) {
                std::string now = support::difference(m_whole, read_at(at));
                if (now != row) {
                    end_row();
                    row = std::move(now);
                    row_begin = at;
                }
                row_end = at;
            }
        }
        end_row();
        return text;
    }

    // A test without places has no file.
    static void compare(const std::string& text, const std::string& name) {
        if (text.empty()) {
            return;
        }
        const std::string path = "tests/unit/host/formats/readings/" + name;
        if (std::getenv("REMORA_UPDATE_DOCS") != nullptr) {
            std::FILE* const file = std::fopen(path.c_str(), "w");
            std::fputs(text.c_str(), file);
            std::fclose(file);
            return;
        }
        const std::string expected = support::read_text(path);
        const auto [is, was] = std::ranges::mismatch(text, expected);
        EXPECT_TRUE(text == expected) << path << " differs from byte " << was - expected.begin()
                                      << " on; there it has\n"
                                      << std::string(was, expected.end()).substr(0, 300) << "\nand now it is\n"
                                      << std::string(is, text.end()).substr(0, 300)
                                      << "\nREMORA_UPDATE_DOCS=1 rewrites it";
    }

    Bytes m_bytes;
    Lines m_whole;
};

TEST_P(Readings, AreThoseOfTheirFile) {
    std::string text;
    for (std::size_t i = 0; i < m_whole.size(); ++i) {
        text += fmt::format("{}: {}\n", i + 1, m_whole[i]);
    }
    compare(text, GetParam().name + ".txt");
}

TEST_P(Readings, OfEachTruncationAreThoseOfTheirFile) {
    compare(differences(GetParam().cuts, [this](std::size_t size) { return read(std::span(m_bytes).first(size)); }),
            GetParam().name + "_cut.txt");
}

// Each byte is raised by one.
TEST_P(Readings, OfEachChangedByteAreThoseOfTheirFile) {
    const auto read_changed = [this](std::size_t at) {
        Bytes changed = m_bytes;
        changed[at] = static_cast<std::byte>(std::to_integer<unsigned>(m_bytes[at]) + 1);
        return read(changed);
    };
    compare(differences(GetParam().changes, read_changed), GetParam().name + "_changed.txt");
}

INSTANTIATE_TEST_SUITE_P(Inputs, Readings, testing::ValuesIn(kInputs),
                         [](const auto& input) { return input.param.name; });

} // namespace

} // namespace host::formats
