// SPDX-License-Identifier: MIT
// Offsets and bits that the record path (record_path.S) and C++ (cpu_trace.hpp) must agree on: object-like macros,
// because the assembler reads this file too. cpu_trace.hpp asserts every offset against the types.
//
// A chunk's word, the ONE commit word of its main area:
//
//   63            32   31      30        29     28         0
//   +---------------+--------+--------+----------+----------+   position: bytes used, a multiple of 16, <= limit
//   | laps          | closed | resume | reported | position |   Any flag makes the low half >= limit, so the fast
//   +---------------+--------+--------+----------+----------+   path's one comparison sends it to the slow path.
//
//   closed    no further record may enter (next_chunk, or the chunk was handed to an exporter)
//   resume    a blackout ended with the entry into this chunk: blackout_end comes first
//   reported  blackout_end is written; the CPU's figure of reported losses must follow
//
// An emergency word:
//
//   63       62         32  31        0
//   +------+---------------+-----------+   open: a blackout has begun in this chunk
//   | open | starts        | position  |   starts: blackout_start records the tracer itself wrote here
//   +------+---------------+-----------+
#ifndef TRACER_RECORD_PATH_LAYOUT_H
#define TRACER_RECORD_PATH_LAYOUT_H

// Per CPU, at GS:0.
#define TRACER_CPU_SELF 0
#define TRACER_CPU_ACTIVE 8
#define TRACER_CPU_DROPPED 16
#define TRACER_CPU_REFUSED 24
#define TRACER_CPU_REPORTED 32
#define TRACER_CPU_MASK 40

// Per chunk: the first cache line is all that the fast path touches.
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

#define TRACER_WORD_POSITION_MASK 0x1FFFFFFF
#define TRACER_WORD_REPORTED 0x20000000
#define TRACER_WORD_RESUME 0x40000000
#define TRACER_WORD_CLOSED 0x80000000

// The published values of the mode bits; NONE marks the null chunk that stands in when nothing records.
#define TRACER_MODE_CYC 0x00
#define TRACER_MODE_JTN 0x04
#define TRACER_MODE_STOP 0x08
#define TRACER_MODE_NONE 0x80

#define TRACER_EVENT_BLACKOUT_START 0x40
#define TRACER_EVENT_BLACKOUT_END 0x50

#endif
