// SPDX-License-Identifier: MIT
// Has four small traces with every kind of event, name, loss and damage in them: of a machine with two processors, of a
// published kernel, and two of other systems. Tests compare what is made of them as a whole.
#pragma once

#include "host/trace/event.hpp"
#include "lib/wire_numbers.hpp"
#include "tests/support/host_trace_builder.hpp"
#include "tests/support/kev_builder.hpp"
#include "tests/support/tlog_files.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace support::example {

using lib::Flow;
using lib::WaitKind;

inline constexpr std::uint64_t kImage = 0x1234'5678'9ABC'DEF0;

inline std::uint32_t wait_on(WaitKind kind, std::uint16_t object = 0) {
    return static_cast<std::uint32_t>(kind) << 16 | object;
}

inline Bytes numbers(std::initializer_list<unsigned> values) {
    Bytes bytes;
    for (const unsigned value : values) {
        bytes.push_back(static_cast<std::byte>(value));
    }
    return bytes;
}

inline Bytes operator+(Bytes left, const Bytes& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

// Adds a long event, with its length before it.
inline void add_long(ChunkBuilder& chunk, std::uint8_t code, std::uint64_t ticks, const Bytes& payload) {
    const auto length = static_cast<unsigned>(payload.size() + 2);
    for (const tracer::Record& slot : combined(code, numbers({length & 0xFF, length >> 8}) + payload, {ticks})) {
        chunk.raw(slot);
    }
}

// Returns a chunk with what every chunk of the machine states in its preamble.
inline ChunkBuilder chunk_of(std::uint16_t number, std::uint16_t cpu) {
    ChunkBuilder chunk(number);
    chunk.begin.cpu = cpu;
    chunk.begin.tsc_error_ppm = 40;
    chunk.build("con:trol", 7, kImage);
    chunk.name("task", 1, "idle").name("task", 2, "fast").name("task", 3, "slow loop").name("task", 5, "\"q\"\\\x01");
    chunk.name("level", 0, "EDF").name("level", 1, "RR").name("level", 2, "CBS");
    chunk.name("interrupt", 32, "timer").name("mutex", 1, "bus").name("semaphore", 2, "items").name("port", 4, "mail");
    chunk.name("condition", 3, "ready").name("server", 6, "cbs");
    chunk.parameters({.context = 2, .level = 0, .wcet_ns = 500, .period_ns = 10'000, .deadline_ns = 9'000});
    chunk.parameters({.context = 3, .level = 1, .budget_ns = 77, .offset_ns = 5});
    chunk.parameters({.context = 5, .level = 2, .budget_ns = 300});
    tracer::EventDeclaration declaration{.id = 9, .name = {"control out"}, .field_count = 6};
    declaration.items[0] = {.type = tracer::FieldType::u16, .detail = 4, .name = {"error"}, .unit = {"m/s"}};
    declaration.items[1] = {.type = tracer::FieldType::i8, .name = {"sign"}, .unit = {}};
    declaration.items[2] = {.type = tracer::FieldType::text, .detail = 8, .name = {"why"}, .unit = {}};
    declaration.items[3] = {.type = tracer::FieldType::float32, .name = {"gain"}, .unit = {}};
    declaration.items[4] = {.type = tracer::FieldType::character, .name = {"mark"}, .unit = {}};
    declaration.items[5] = {.type = tracer::FieldType::pointer, .name = {"at"}, .unit = {}};
    chunk.declare(declaration).format(5, "x=%d %s");
    return chunk;
}

inline void add_schedule(ChunkBuilder& chunk) {
    chunk.event(1'000'000, "trace_start", 0, 1'000'000).event(1'000'010, "task_create", 2, 102);
    chunk.event(1'000'020, "task_create", 3, 103).event(1'000'030, "set_mutex_create", 2, 1);
    chunk.event(1'000'040, "set_mutex_protocol", 1, 1).event(1'000'050, "context_switch", 1);
    chunk.event(1'000'100, "task_activate", 2).event(1'000'110, "job_release", 2, 1'000'100);
    chunk.event(1'000'120, "job_deadline", 2, 1'009'100).event(1'000'130, "task_schedule", 2, 2);
    chunk.event(1'000'140, "task_dispatch", 2, 0).event(1'000'150, "context_switch", 2);
    chunk.event(1'000'160, "task_begin_cycle", 2, 0).event(1'000'200, "set_mutex_lock", 2, 1);
    chunk.event(1'000'210, "set_mutex_acquire", 2, 1).event(1'000'300, "interrupt_start", 32);
    chunk.event(1'000'310, "timer_wakeup_start").event(1'000'320, "interrupt_start", 33);
    chunk.event(1'000'330, "interrupt_end", 33).event(1'000'340, "task_activate", 3);
    chunk.event(1'000'350, "timer_wakeup_end", 2).event(1'000'360, "interrupt_end", 32);
    chunk.event(1'000'400, "context_switch", 3).event(1'000'410, "set_mutex_lock", 3, 1);
    chunk.event(1'000'420, "task_block", 3, wait_on(WaitKind::mutex, 1)).event(1'000'430, "inheritance", 2, 3);
    chunk.event(1'000'440, "context_switch", 2).event(1'000'500, "set_mutex_unlock", 2, 1);
    chunk.event(1'000'510, "task_unblock", 3, wait_on(WaitKind::mutex, 1)).event(1'000'520, "set_mutex_acquire", 3, 1);
    chunk.event(1'000'530, "set_mutex_wait", 2, 2).event(1'000'540, "task_block", 2, wait_on(WaitKind::semaphore, 2));
    chunk.event(1'000'550, "context_switch", 3).event(1'000'600, "set_mutex_post", 3, 2);
    chunk.event(1'000'610, "task_unblock", 2, wait_on(WaitKind::semaphore, 2)).event(1'000'620, "port_send", 3, 4);
    chunk.event(1'000'630, "task_block", 3, wait_on(WaitKind::delay)).event(1'000'640, "context_switch", 2);
    chunk.event(1'000'650, "task_epilogue", 3, 1).event(1'000'700, "task_end_cycle", 2, 0);
    chunk.event(1'000'710, "context_switch", 1)
        .event(1'000'720, "timer_post", 0, 8)
        .event(1'000'730, "timer_delete", 0, 8);
}

inline void add_others(ChunkBuilder& chunk) {
    chunk.event(1'001'000, "server_create", 0, 6).event(1'001'010, "server_kind", 1, 6);
    chunk.event(1'001'020, "server_budget", 6, 250).event(1'001'030, "server_budget", 9, 100);
    chunk.event(1'001'040, "condition_signal", 2, 3).event(1'001'050, "signal", 2, 10);
    chunk.event(1'001'060, "set_priority", 2, 50).event(1'001'070, "user_event_3", 0xFFFF, 0xFFFF'FFFF);
    chunk.raw(tracer::make_record(0x8001, 9, 8, {1'001'080})); // past the filters
    chunk.raw(tracer::make_record(0x10EC, 7, 6, {1'001'090})); // no row; of a long event that never began
    chunk.raw(tracer::make_record(0x00FC, 7, 6, {1'001'100})); // no row
    chunk.raw(tracer::make_record(0x4019, 1, 2, {1'001'110})); // reserved bits
    chunk.event(1'001'150, "context_switch", 1);
    add_long(chunk, host::trace::kCodeOf<"typed_event">, 1'001'200,
             numbers({9, 0, 0x98, 0x01, 0xFD, 3, 'a', ' ', 'b', 0, 0, 0xC0, 0x3F, ':', 8, 7, 6, 5, 4, 3, 2, 1}));
    add_long(chunk, host::trace::kCodeOf<"typed_event">, 1'001'210, numbers({8, 0, 1}));
    add_long(chunk, host::trace::kCodeOf<"formatted_event">, 1'001'220,
             numbers({5, 0, 0, 0, 7, 0xFE, 0xFF, 0xFF, 0xFF, 14, 3, 'y', '"', 'z'}));
    add_long(chunk, host::trace::kCodeOf<"formatted_event">, 1'001'230, numbers({6, 0, 0, 0, 3, 1, 2, 0, 0}));
    chunk.event(1'002'000, "blackout_start")
        .event(1'002'100, "blackout_end", 0, 7)
        .event(1'002'200, "context_switch", 2);
    chunk.event(1'002'210, "task_fault", 2, 14).event(1'002'220, "fault_instruction", 0x12, 0x3456'789A);
}

// Adds a task in steps, and its end two turns of the clock's low half later.
inline void add_steps(ChunkBuilder& chunk) {
    const auto flow = [](Flow how) { return static_cast<std::uint16_t>(how); };
    chunk.event(200'000'000, "instruction_trace_begin", 2, 0)
        .event(200'000'010, "instruction", flow(Flow::resumed), 0x1000);
    chunk.event(200'000'020, "instruction", flow(Flow::call), 0x1104).event(200'000'030, "interrupt_start", 32);
    chunk.event(200'000'040, "interrupt_end", 32).event(200'000'050, "instruction", flow(Flow::next), 0x1108);
    chunk.event(200'000'060, "instruction", flow(Flow::ret), 0x1004).event(200'000'070, "context_switch", 3);
    chunk.event(200'000'080, "instruction", flow(Flow::resumed), 0x9000).event(200'000'090, "context_switch", 2);
    chunk.event(200'000'100, "block", static_cast<std::uint16_t>(flow(Flow::resumed) << 13 | 3), 0x1100);
    chunk.event(200'000'110, "job_abort", 2, 1).event(200'000'120, "instruction_trace_end", 2, 9);
    chunk.event(9'000'000'000, "task_end", 2, 102).event(9'000'000'001, "panic", 3, 0xDEAD);
}

inline ChunkBuilder second_processor() {
    ChunkBuilder chunk = chunk_of(1, 1);
    chunk.begin.dropped = 4;
    chunk.event(1'000'005, "context_switch", 1).event(1'000'105, "interrupt_start", 40);
    chunk.event(1'000'115, "interrupt_hit", 41).event(1'000'125, "interrupt_end", 40);
    chunk.event(1'000'615, "task_unblock", 5, wait_on(WaitKind::receive, 4)).event(1'000'625, "context_switch", 5);
    chunk.event(1'000'635, "port_receive", 5, 4).event(1'000'645, "server_attach", 6, 5);
    chunk.event(1'000'655, "task_block", 5, wait_on(WaitKind::condition, 3)).event(1'000'665, "context_switch", 4);
    chunk.event(1'001'005, "task_sleep", 4, 0).event(1'001'015, "context_switch", 0);
    return chunk;
}

// The machine has two processors; the second has lost two records after its last one.
inline Bytes machine() {
    ChunkBuilder first = chunk_of(0, 0);
    first.begin.dropped = 9; // two more than the gap shows
    add_schedule(first);
    add_others(first);
    add_steps(first);
    const ChunkBuilder second = second_processor();
    tracer::ChunkBegin more = second.description();
    more.records += 2;
    return first.bytes() + second.with(more);
}

// Returns records of a published kernel, without preamble, with a rate in between.
inline Bytes records() {
    ChunkBuilder chunk;
    chunk.event(100, "ipoint", 1, 2).event(200, "cycles_per_msec", 0, 2'000'000).event(300, "context_switch", 7);
    return chunk.event(400, "task_block", 7, 3).event(500, "context_switch", 8).plain();
}

inline Bytes kev() {
    KevBuilder file({.system = "QNX \"x\""});
    file.buffer(0, 0x1000, 0).time(0, 0x1000).time(1, 0x1000).user(0, 0x1010, 1).slot('S', 0, 4, 1, 0x1020, 1, 2);
    file.slot('B', 1, 6, 5, 0x1030, 3, 4).slot('S', 0, 2, 11, 0x1040, 5, 6).slot('E', 1, 6, 5, 0x1030, 5, 6);
    file.slot('C', 1, 6, 7, 0x1050, 1, 2).slot('S', 0, 4, 2, 0x1060, 1, 2).slot('S', 0, 4, 1, 0x1070, 1, 3);
    return file.buffer(0, 0x1080, 2).time(0, 0x1'0000'0000).user(0, 0x1'0000'0300, 9).bytes;
}

inline Bytes tlog() {
    return TlogFile().small_process(0, 0).small_process(1, 0.25).bytes();
}

} // namespace support::example
