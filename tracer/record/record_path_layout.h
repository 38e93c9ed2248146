// SPDX-License-Identifier: MIT
// The record path (record_path.S) and C++ (cpu_trace.hpp) must agree on these offsets and bits. They are object-like
// macros, because the assembler reads this file too. cpu_trace.hpp asserts every offset against the types.
//
// A chunk's word is the ONE commit word of its main area:
//
//   63          32   31      30        29        28      27    26      0
//   +-------------+--------+--------+----------+-------+-------+----------+   position: bytes used. Any flag makes the
//   | laps / turn | closed | resume | reported | armed | fired | position |   low half >= limit, so the fast path's one
//   +-------------+--------+--------+----------+-------+-------+----------+   comparison sends it to the slow path.
//
//   closed    no further record may enter (next_chunk, or the chunk was handed to an exporter)
//   resume    a blackout ends with the first record here: blackout_end is written first
//   reported  blackout_end is written; the CPU's count of reported losses must be updated
//   armed     a trigger watches: every record is compared with the awaited one
//   fired     the trigger has fired: recording ends at stop_at
//   laps      of a cyclic chunk: how often it has wrapped
//   turn      of a chunk that is written compactly: stamp >> shift of the last event, so that each new turn
//             gets a heartbeat
//
// An emergency word has these fields:
//
//   63       62         32  31        0
//   +------+---------------+-----------+   open: a blackout has begun in this chunk
//   | open | starts        | position  |   starts: blackout_start records written here by the tracer itself
//   +------+---------------+-----------+
#ifndef TRACER_RECORD_PATH_LAYOUT_H
#define TRACER_RECORD_PATH_LAYOUT_H

// These are offsets in a CpuTrace, at GS:0.
#define TRACER_CPU_SELF 0
#define TRACER_CPU_ACTIVE 8
#define TRACER_CPU_DROPPED 16
#define TRACER_CPU_REFUSED 24
#define TRACER_CPU_REPORTED 32
#define TRACER_CPU_MASK 40
#define TRACER_CPU_TRIGGER_ACTION 56
#define TRACER_CPU_TRIGGER_KEY1 60
#define TRACER_CPU_TRIGGER_MASK1 64
#define TRACER_CPU_TRIGGER_KEY2 68
#define TRACER_CPU_TRIGGER_MASK2 72
#define TRACER_CPU_TRIGGER_AFTER 80

// These are in a ChunkControl; the fast path uses only its first cache line.
#define TRACER_CHUNK_WORD 0
#define TRACER_CHUNK_DATA 8
#define TRACER_CHUNK_LIMIT 16
#define TRACER_CHUNK_MODE 20
#define TRACER_CHUNK_NEXT 24
#define TRACER_CHUNK_EMERGENCY_WORD 32
#define TRACER_CHUNK_EMERGENCY_DATA 40
#define TRACER_CHUNK_EMERGENCY_LIMIT 48
#define TRACER_CHUNK_ENDS 52
#define TRACER_CHUNK_PENDING_REPORTED 56
#define TRACER_CHUNK_PENDING_ENDS 64
#define TRACER_CHUNK_COMPACT_LIMIT 68
#define TRACER_CHUNK_STOP_AT 72
#define TRACER_CHUNK_LAP_BASE 80
#define TRACER_CHUNK_LAP_END 96
#define TRACER_CHUNK_SCRIBBLED 104
#define TRACER_CHUNK_COMPACT_HEADERS 112
#define TRACER_CHUNK_COMPACT_ESCAPE 120
#define TRACER_CHUNK_COMPACT_TURN_SHIFT 124
#define TRACER_CHUNK_COMPACT_LEFT 125
#define TRACER_CHUNK_COMPACT_RIGHT 126

#define TRACER_WORD_POSITION_MASK 0x07FFFFFF
#define TRACER_WORD_FIRED 0x08000000
#define TRACER_WORD_ARMED 0x10000000
#define TRACER_WORD_REPORTED 0x20000000
#define TRACER_WORD_RESUME 0x40000000
#define TRACER_WORD_CLOSED 0x80000000

// These are the published mode bits; NONE marks the null chunk, which is active while nothing is recorded.
#define TRACER_MODE_CYC 0x00
#define TRACER_MODE_JTN 0x04
#define TRACER_MODE_STOP 0x08
#define TRACER_MODE_COMPACT 0x40
#define TRACER_MODE_NONE 0x80
// These two describe a compact chunk. ESCAPE: its headers have no select bit, so a large header follows an escape word.
// WIDE: its large headers hold all 64 bits of the stamp, aligned to 8.
#define TRACER_MODE_ESCAPE 0x100
#define TRACER_MODE_WIDE 0x200

#define TRACER_TRIGGER_NONE 0
#define TRACER_TRIGGER_START 1
#define TRACER_TRIGGER_STOP 2
#define TRACER_TRIGGER_FREEZE 3

// Compact headers without stamps have one 32-bit word per code, whose two lowest bits are the form of the payload.
#define TRACER_FORM_LARGE 0
#define TRACER_FORM_NONE 1
#define TRACER_FORM_WORD 2
#define TRACER_FORM_MASK 3
#define TRACER_COMPACT_FAST_BIT 0x100
#define TRACER_COMPACT_LONG_BIT 0x200
// The longest event with a payload of 8 bytes has escape, header, padding, TSC and payload.
#define TRACER_COMPACT_SIMPLE_MAX 28
#define TRACER_COMPACT_LARGE_HEADER_MAX 20
#define TRACER_COMPACT_HEARTBEAT_MAX 16

#define TRACER_EVENT_BLACKOUT_START 0x40
#define TRACER_EVENT_BLACKOUT_END 0x50

#endif
