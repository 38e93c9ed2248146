// SPDX-License-Identifier: MIT
// Has one small input of each format, which readings_test.cpp reads whole, cut and damaged.
#pragma once

#include "host/trace/event.hpp"
#include "host/trace/event_stream.hpp"
#include "tests/support/capture_files.hpp"
#include "tests/support/host_command.hpp"
#include "tests/support/kev_builder.hpp"
#include "tests/support/memory_image.hpp"
#include "tests/support/packed_archives.hpp"
#include "tests/support/tlog_files.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace support::inputs {

using host::trace::kCodeOf;

inline void append(Bytes& bytes, const Bytes& more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
}

inline tracer::Record slot(std::uint16_t code, std::uint64_t stamp, std::uint16_t par1 = 1, std::uint32_t par2 = 2) {
    return tracer::make_record(code, par1, par2, {stamp});
}

inline ChunkBuilder chunk_of(std::uint16_t number, std::uint16_t cpu) {
    ChunkBuilder chunk(number);
    chunk.begin.cpu = cpu;
    chunk.begin.generation = 3;
    chunk.begin.tsc_error_ppm = 40;
    chunk.begin.dropped = 5;
    chunk.begin.refused = 1;
    chunk.build("control", 7, 0xABCD).cost({.enabled_ticks_x256 = 9, .rounds = 4});
    return chunk.name("task", 12, "sensor").parameters({.context = 12, .level = 1, .period_ns = 10'000});
}

// It has all names, a declaration and a format; lost, damaged, unknown and long events; a blackout.
inline Bytes machine() {
    ChunkBuilder first = chunk_of(0, 0);
    first.name("interrupt", 32, "timer").name("mutex", 1, "bus").name("semaphore", 2, "items").name("port", 4, "mail");
    first.name("condition", 3, "ready").name("server", 6, "cbs").name("level", 1, "RM");
    tracer::EventDeclaration declaration{.id = 9, .name = {"out"}, .field_count = 1};
    declaration.items[0] = {.type = tracer::FieldType::u16, .detail = 4, .name = {"error"}, .unit = {"m/s"}};
    first.declare(declaration).format(5, "x=%d");
    first.event(1000, "task_create", 12, 77).event(1100, "blackout_start").event(1200, "blackout_end", 0, 5);
    for (const tracer::Record& part : combined(kCodeOf<"typed_event">, Bytes(12, std::byte{6}), {1250})) {
        first.raw(part);
    }
    first.raw(slot(0x00FC, 1300)).raw(slot(0x4019, 1400)).raw(slot(0x8019, 1450)).raw(slot(0x20EE, 1500));
    first.raw(slot(0x10EE, 1600)).raw(slot(0x2001, 1600)).raw(slot(0, 0, 0, 0)).event(1700, "ipoint", 3, 4);
    first.raw({0xFFFF, 0xFFFF, 0xFFFF'FFFF, 0xFFFF'FFFF, 0xFFFF'FFFF}).event(1800, "blackout_start");
    ChunkBuilder second = chunk_of(1, 1);
    second.event(900, "context_switch", 12).event(1550, "context_switch", 13).event(1750, "task_end", 12, 77);
    second.unordered(1650, "ipoint", 1);
    Bytes bytes = first.bytes();
    append(bytes, second.bytes());
    append(bytes, export_end({.chunks = 2, .records = 19, .dropped = 5}));
    return bytes;
}

// It is one chunk with a checksum.
inline Bytes sealed() {
    ChunkBuilder chunk(2);
    chunk.name("task", 12, "s").event(1000, "task_dispatch", 12).event(1500, "ipoint", 7, 9);
    return support::sealed(chunk.event(1600, "ipoint", 8).event(2000, "task_end_cycle", 12).bytes());
}

// It is two chunks; five bytes of the first are lost, three were added to the second, and the header of a third one has
// lost its first slot.
inline Bytes shifted() {
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
        append(bytes, image);
    }
    return bytes;
}

// It is records of a published kernel, a lap in memory order.
inline Bytes plain() {
    ChunkBuilder chunk;
    chunk.event(500, "ipoint", 5).event(600, "cycles_per_msec", 0, 2'000'000).event(700, "context_switch", 7);
    for (unsigned i = 0; i < 6; ++i) {
        chunk.unordered(100 + 50 * i, i % 2 == 0 ? "ipoint" : "task_block", 7, i);
    }
    return chunk.plain();
}

inline Bytes compact() {
    ChunkBuilder chunk(4);
    for (unsigned i = 0; i < 12; ++i) {
        chunk.event(1000 + 100 * i, i % 2 == 0 ? "task_dispatch" : "ipoint", static_cast<std::uint16_t>(i % 3), i % 2);
    }
    return chunk.compact(tracer::compact::Layout::a, 2);
}

inline Bytes packed() {
    return pack(machine());
}

inline Bytes kev_foreign() {
    KevBuilder file({.cycles_per_second = "2000000000", .syspage_bytes = "8", .more = ""});
    file.text("syspage.").buffer(0, 0x1000, 0).time(0, 0x1000).time(1, 0x1000).user(0, 0x1010, 1);
    file.slot('S', 0, 4, 24, 0x1020, 2, 3).slot('S', 0, 4, 1, 0x1030, 2, 3).slot('B', 1, 6, 5, 0x1040, 3, 4);
    file.slot('S', 0, 2, 1, 0x1050, 0x9000, 6).slot('E', 1, 6, 5, 0x1040, 5, 6).slot('S', 0, 2, 2, 0x1060, 0x9000);
    file.slot('B', 0, 4, 192, 0x1070, 1, 2).slot('E', 0, 4, 192, 0x1070, 0x636261, 0).slot('S', 0, 4, 13, 0x1080, 2, 3);
    file.slot('C', 1, 6, 7, 0x1090, 1, 2).slot('S', 0, 4, 2, 0x10A0, 2, 3).slot('S', 9, 30, 2, 0x10B0, 2, 3);
    file.buffer(0, 0x10C0, 3).slot('B', 0, 6, 8, 0x10D0, 1, 2).user(1, 0xF000'0000, 7);
    return file.time(0, 0x1'0000'0000).user(0, 0x1'0000'0300, 9).user(2, 0x1'0000'0400, 9).bytes;
}

// It is of a big-endian machine, whose stamps turn over.
inline Bytes kev_big() {
    KevBuilder file({.byte_order = "BIG", .cycles_per_second = "0", .processors = "1"});
    file.user(0, 0xFFFF'FFF0, 1).user(0, 0x10, 2).time(0, 0x5'0000'0100).user(0, 0x5'8000'0100, 3);
    file.user(0, 0x5'8000'0300, 4).user(0, 0x5'7000'0000, 5).time(0, 0x6'0000'0100).user(0, 0x5'FFFF'FF00, 6);
    file.user(0, 0x6'F000'0000, 7).user(0, 0x7'0000'0001, 8).time(0, 0x3'0000'0100).user(0, 0x3'0000'0200, 9);
    return file.slot('B', 0, 4, 192, 0x300, 1, 2)
        .slot('E', 0, 4, 192, 0x300, 0x61626300, 0)
        .time(1, 7)
        .user(1, 8, 9)
        .bytes;
}

// It is as our writer has it.
inline Bytes kev_ours() {
    KevBuilder file({.system = "Remora",
                     .more = "TRACE_TSC_SOURCE::3TRACE_CLOCK_MODE::2TRACE_TSC_ERROR_PPM::40TRACE_BOOT_ID::b007"
                             "TRACE_UNPLACED::1TRACE_DROPPED::5TRACE_OVERWRITTEN::6"});
    file.buffer(0, 0x1000, 0).time(0, 0x1000);
    file.slot('B', 0, 4, 320, 0x1000, 77, 13).slot('E', 0, 4, 320, 0x1000, 0x636261, 0);
    file.slot('S', 0, 4, 1, 0x1010, 1, 13).slot('S', 0, 4, 24, 0x1020, 77, 14).slot('S', 0, 4, 2, 0x1030, 1, 13);
    file.slot('S', 0, 6, kCodeOf<"task_block">, 0x1040, 12, 0x1'0005);
    file.slot('B', 0, 4, 17, 0x1040, 1, 13).slot('E', 0, 4, 17, 0x1040, 10, 1);
    file.slot('S', 0, 2, 1, 0x1050, 32, 0).slot('S', 0, 2, 2, 0x1060, 32, 0);
    file.slot('S', 0, 6, kCodeOf<"ipoint">, 0x1070, 3, 4).slot('S', 0, 6, 0x1EE, 0x1080, 3, 4);
    file.slot('B', 0, 6, kCodeOf<"mutex_name">, 0x1090, 0x737562, 7)
        .slot('E', 0, 6, kCodeOf<"mutex_name">, 0x1090, 0x62040001, 0x007375);
    file.slot('B', 0, 6, kCodeOf<"typed_event">, 0x10A0, 0x737562, 4);
    file.slot('E', 0, 6, kCodeOf<"typed_event">, 0x10A0, 0x00010009, 0);
    return file.slot('S', 0, 6, 0xFC, 0x10B0, 1, 2).slot('S', 0, 4, 9, 0x10C0, 1, 0).bytes;
}

inline Bytes tlog() {
    TlogFile file;
    file.record(0, 1, 0).record(0, 10, 0.5, 3, 7).record(0, 31, 0.75, 4, 5).record(0, 32, 0.7).record(0, 11, 1, 3, 7);
    file.record(0, 99, 1.5).record(0, 2, 2).pad().small_process(1, 0.25);
    return file.record(2, 1, 0.125).record(2, 10, 0.5, 3, 7).unused(2).record(2, 31, 0.625).bytes();
}

inline Bytes tlog_old() {
    TlogFile file;
    file.openmp(0, 2, 0).openmp(0, 11, 0.5, 1, 5).openmp(0, 12, 1).openmp(0, 1, 2).pad();
    return file.openmp(1, 2, 0.25).openmp(1, 40, 0.5, 1, 5).openmp(1, 1, 2).bytes();
}

// They are a chunk in two packets.
inline std::vector<Bytes> datagrams() {
    ChunkBuilder chunk(3);
    chunk.name("task", 12, "s");
    for (unsigned i = 0; i < 12; ++i) {
        chunk.event(1000 + i, "ipoint", 1, i);
    }
    std::uint32_t number = 1;
    return packets(chunk.bytes(), number, 15);
}

// It has the second packet twice, and first; a fragment, another protocol, and a frame that was captured in part.
inline Bytes pcap() {
    const std::vector<Bytes> parts = datagrams();
    Bytes other = ethernet(ip_packet(parts[0]));
    other[14 + 9] = std::byte{6};
    Bytes fragment = ethernet(ip_packet(parts[0]));
    fragment[14 + 6] = std::byte{0x20};
    Pcap file;
    file.add(other).add(fragment).add(ethernet(ip_packet(parts[1]), {0x8100}));
    file.add(ethernet(ip_packet(parts[0]))).add(ethernet(ip_packet(parts[1])));
    return file.raw(ethernet(ip_packet(Bytes(40))), 50, 82).bytes();
}

inline Bytes pcapng() {
    const std::vector<Bytes> parts = datagrams();
    Pcapng file;
    file.interface(1).interface(101).block(5, Bytes(8)).add(ethernet(ip_packet(parts[0])));
    return file.add(ip_packet(parts[1]), 1).simple(ethernet(ip_packet(parts[0]))).bytes();
}

// It is the smallest floppy: boot sector, two tables of one sector, four of the directory, the files.
inline Bytes fat() {
    const TemporaryDirectory directory;
    const std::string image = directory / "volume.img";
    ChunkBuilder first(0);
    ChunkBuilder second(1);
    for (unsigned i = 0; i < 12; ++i) {
        first.event(1000 + i, "ipoint", 1, i);
    }
    second.event(2000, "ipoint", 2);
    const std::string a = directory.write("0trace.dat", first.bytes());
    const std::string b = directory.write("1trace.dat", second.bytes());
    const std::string c = directory.write("endtrace.dat", export_end({.chunks = 2, .records = 13}));
    const auto made = ::test::run_command("mformat -C -f 160 -N 12345678 -i " + image + " :: && mcopy -i " + image +
                                          " " + a + " " + b + " " + c + " ::");
    EXPECT_EQ(made.exit_code, 0) << made.output;
    Bytes bytes = ::test::read_file(image);
    bytes.resize(8192);
    return bytes;
}

inline Bytes memory() {
    MemoryImage image(0x600);
    image.add_task(12, "control");
    image.add_chunk(0, 4, 2);
    image.add_chunk(1, 4, 0, tracer::kFlagCyclic);
    image.add_chunk(2, 60);
    for (std::uint64_t stamp = 1000; stamp < 1300; stamp += 100) {
        image.write(0, slot(kCodeOf<"ipoint">, stamp));
    }
    image.write_emergency(0, slot(kCodeOf<"ipoint">, 1350));
    for (std::uint64_t stamp = 1400; stamp < 1406; ++stamp) {
        image.write(1, slot(kCodeOf<"ipoint">, stamp, 2));
    }
    for (std::uint64_t stamp = 1500; stamp < 1506; ++stamp) {
        image.write(2, slot(kCodeOf<"task_dispatch">, stamp, 12, 0));
    }
    image.set_active(2);
    return image.saved(0);
}

} // namespace support::inputs
