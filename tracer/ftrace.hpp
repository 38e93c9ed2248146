// SPDX-License-Identifier: MIT
// The published C-style interface of the S.Ha.R.K. New Tracer: names, signatures and flag values as in the user manual,
// volume V; behaviour as documented there, also where the original implementation was incomplete. Every function
// returns 0 (or a chunk number) on success, and -1 when nothing was changed; FTrace_last_error() then returns the
// reason. Context: task, or irq-off; TRACER_LOGEVENT and FAST_TRACER_LOGEVENT: any. One control call at a time: a call
// that interrupts another one (of a preempted task) returns -1. With REMORA_TRACER=0 the two macros are empty and every
// function returns -1.
#pragma once

#include "tracer/ftrace_codes.hpp"

#include <cstdint>

using FTrace_flags = BYTE;

inline constexpr FTrace_flags FTRACE_CHUNK_FLAG_FREE = 0x01;
inline constexpr FTrace_flags FTRACE_CHUNK_FLAG_FULL = 0x02;
inline constexpr FTrace_flags FTRACE_CHUNK_FLAG_CYC = 0x00;
inline constexpr FTrace_flags FTRACE_CHUNK_FLAG_JTN = 0x04;
inline constexpr FTrace_flags FTRACE_CHUNK_FLAG_STOP = 0x08;
inline constexpr FTrace_flags FTRACE_CHUNK_FLAG_BUSY = 0x10;
inline constexpr FTrace_flags FTRACE_CHUNK_FLAG_NODEL = 0x20;
inline constexpr FTrace_flags FTRACE_CHUNK_FLAG_COMPR = 0x40;

inline constexpr int FTRACE_MAX_CHUNK = 256;

// Actions and states of FTrace_trigger_*.
inline constexpr int FTRACE_ANY = -1;
inline constexpr int FTRACE_TRIGGER_START = 1;
inline constexpr int FTRACE_TRIGGER_STOP = 2;
inline constexpr int FTRACE_TRIGGER_FREEZE = 3;
inline constexpr int FTRACE_TRIGGER_IDLE = 0;
inline constexpr int FTRACE_TRIGGER_ARMED = 1;
inline constexpr int FTRACE_TRIGGER_FIRED = 2;
inline constexpr int FTRACE_TRIGGER_DONE = 3;

// Grains of FTrace_itrace_*.
inline constexpr int FTRACE_ITRACE_INSTRUCTIONS = 0;
inline constexpr int FTRACE_ITRACE_BLOCKS = 1;

// osd_flags of FTrace_send_chunk: by which protocol the network gets the chunk. AUTO: as the run's PROTOCOL says, which
// is TRACER-V2.0, acknowledged, if a collector answers it, else TRACER-V1.0.
inline constexpr int FTRACE_OSD_AUTO = 0;
inline constexpr int FTRACE_OSD_V1 = 1;
inline constexpr int FTRACE_OSD_V2 = 2;

// Layouts of a compact chunk, for FTrace_set_compact_layout (our extension): which bits of a header are event id and
// time. A, A2, 64 and 96 keep every bit of the time; docs/trace-format.md has the table.
inline constexpr int FTRACE_LAYOUT_A = 0;
inline constexpr int FTRACE_LAYOUT_B = 1;
inline constexpr int FTRACE_LAYOUT_C = 2;
inline constexpr int FTRACE_LAYOUT_D = 3;
inline constexpr int FTRACE_LAYOUT_PLAN12 = 4;
inline constexpr int FTRACE_LAYOUT_A2 = 5;
inline constexpr int FTRACE_LAYOUT_B2 = 6;
inline constexpr int FTRACE_LAYOUT_C2 = 7;
inline constexpr int FTRACE_LAYOUT_D2 = 8;
inline constexpr int FTRACE_LAYOUT_64 = 9;
inline constexpr int FTRACE_LAYOUT_96 = 10;

// A row of the chunk table: a snapshot, updated by FTrace_get_chunk_table(); writing to it changes nothing.
struct FTrace_Chunk {
    DWORD id; // always FTRACE_CHUNK_ID
    DWORD number;
    FTrace_flags flags;
    DWORD size;      // bytes of the main area
    DWORD emergency; // bytes of the emergency area
    const void* osd; // address of the main area's records
};

using FTrace_Chunk_Ptr = FTrace_Chunk*;

inline constexpr DWORD FTRACE_CHUNK_ID = 0xFFAA'FFBB;

// Why the last call returned -1. The strings are literals.
struct FTrace_Error {
    const char* function; // null: no failure so far
    const char* argument; // null: no argument is at fault
    long long value;      // of that argument
    const char* text;
};

#if REMORA_TRACER

#include "tracer/log_published.hpp"

// Records an event; `type` is an FTrace_EVT_* constant. A constant that is not in the event table, or that only the
// tracer itself may write, does not compile; at run time such a type is counted as refused. FTrace_EVT_next_chunk is an
// instruction: the following records go to the next chunk.
#define TRACER_LOGEVENT(type, par1, par2)                                                                              \
    ::tracer::log_published(::tracer::detail::cut_to<::WORD>(type), ::tracer::detail::cut_to<::WORD>(par1),            \
                            ::tracer::detail::cut_to<::DWORD>(par2))

// As above, regardless of the filters; bit 15 of the record's code is set.
#define FAST_TRACER_LOGEVENT(type, par1, par2)                                                                         \
    ::tracer::log_published_fast(::tracer::detail::cut_to<::WORD>(type), ::tracer::detail::cut_to<::WORD>(par1),       \
                                 ::tracer::detail::cut_to<::DWORD>(par2))

// Starts recording into the selected chunk. -1: no chunk is selected.
int FTrace_enable();

// Stops recording; further records are refused and counted. The selection stays.
int FTrace_disable();

// Creates a chunk. Sizes in bytes; a remainder that does not fill a record is unused. normal_size 16 or more,
// emergency_size 0 or more. flags: FREE, NODEL, COMPR and one mode. COMPR: the chunk is written compactly from the
// start, in the layout of FTrace_set_compact_layout(); it needs less space, and each record takes more instructions.
// Returns the chunk's number, 0..255. -1: sizes, flags, COMPR with CYC, 256 chunks exist, or the arena is full.
int FTrace_chunk_create(int normal_size, int emergency_size, FTrace_flags flags);

// -1: no such chunk, NODEL, BUSY, current, or linked to the current one.
int FTrace_chunk_delete(int number);

// Replaces FREE, NODEL and the mode. FULL, BUSY and COMPR are derived: they are accepted only with their present
// values. -1: no such chunk, two modes, a derived flag with another value, or FREE for a chunk that is current or BUSY.
int FTrace_set_chunk_flags(int number, FTrace_flags flags);

// The flags at this moment, FULL included. -1: no such chunk, or a null pointer.
int FTrace_get_chunk_flags(int number, FTrace_flags* flags);

// Records go to this chunk, which loses FREE and starts empty. -1: no such chunk, or not FREE.
int FTrace_actual_chunk_select(int number);

// When chunk_A is full (JTN) or closed (next_chunk), recording continues in chunk_B, which loses FREE and starts empty.
// -1: no such chunk, the same chunk, or chunk_B not FREE.
int FTrace_chunk_link(int chunk_A, int chunk_B);

// Number of the first chunk with ANY of these flags; with CYC (0), of the first cyclic chunk. -1: there is none.
int FTrace_get_first_chunk(FTrace_flags flags);

// 256 entries, updated by this call; null where there is no chunk.
FTrace_Chunk_Ptr* FTrace_get_chunk_table();

// Re-encodes the records of the chunk as a compact stream in a new region and frees the old one; the chunk gets
// new_flags and COMPR. Links, counts and the sinks that have carried it do not change. Takes time in proportion to the
// records; the chunk is BUSY meanwhile. -1, without any change: no such chunk; it is FREE, BUSY, being recorded into,
// already COMPR, or empty; another chunk is being compressed; there is no space for the copy; or the result would not
// be smaller.
int FTrace_compress_chunk(int number, FTrace_flags new_flags);

// The layout, FTRACE_LAYOUT_*, of chunks that become compact from now on; initially A. -1: no such layout.
int FTrace_set_compact_layout(int layout);

// Submits the chunk to every sink and waits until the stream sinks have carried it; a chunk for the disk stays BUSY
// until the run level has exited. The chunk then gets new_flags. osd_flags: an FTRACE_OSD_* constant; all chunks of a
// run go by one protocol. -1: no such chunk, another osd_flags, or one that contradicts the chunks before, it is being
// recorded into, it was already sent, no sink is open, or a sink failed (then the chunk does not become FREE).
int FTrace_send_chunk(int number, int osd_flags, FTrace_flags new_flags);

// Chunks become files 0<fname>, 1<fname>, ... when the run level has exited; a later call replaces the name. With the
// number, at most 255, it must be an 8.3 name: at most 5 characters, then perhaps a dot and at most 3 more, each a
// letter, a digit or one of $%'-_@~`!(){}^#&. Programs that take a whole volume or directory look for "trace.dat";
// files of another name are read one by one. flag and the addresses are ignored, as published. -1: no name or not such
// a name, no volume.
int FTrace_init_disk_writer(const char* fname, int flag, const char* l_ip, const char* t_ip);

// Queues one chunk for the disk alone. If it cannot be queued, FTrace_last_error() returns the reason.
void FTrace_disk_writer(FTrace_Chunk_Ptr c);

// Chunks are sent as UDP packets from l_ip to t_ip, port 20000, different addresses written as 192.168.1.10. flag 1:
// starts the network first, unless it runs; other values: it runs already. The first call that succeeds opens the one
// flow of the run; a further one succeeds if its addresses are the same. -1: addresses, no network, not started, t_ip
// does not answer, or another flow is open.
int FTrace_OSD_init_udp(int flag, const char* l_ip, const char* t_ip);

// status 1: events of this family are no longer recorded; 0: they are recorded again. family is an FTrace_filter_*
// constant; any other value changes nothing, and FTrace_last_error() reports it.
void FTrace_set_filter(BYTE family, int status);

// Our extension: waits for a record of this type (an FTrace_EVT_* constant) with this par1 and par2 (FTRACE_ANY: any
// value), and replaces an earlier trigger. START: earlier records are refused, recording begins with this one. STOP: it
// and records_after more are kept, later ones are refused, until FTrace_trigger_disarm(). FREEZE: as STOP, but then the
// chunk is closed, and recording continues in the next one, if there is one; the history before the trigger is what the
// chunk holds (a cyclic one: its newest records). The window extends from chunk to chunk; a blackout_end in it counts
// as one of its records, and it ends before a long event that does not fit whole. A record that finds no space does not
// fire a trigger. -1: an argument, the family is filtered, no chunk is selected, or a chunk that may be recorded into
// is written compactly.
int FTrace_trigger_arm(int action, WORD type, int par1, long long par2, DWORD records_after);

// Removes the trigger; recording that it stopped continues.
int FTrace_trigger_disarm();

// Our extension: the calling task runs in steps from here on. Each step leaves a record: with
// FTRACE_ITRACE_INSTRUCTIONS, each instruction; with FTRACE_ITRACE_BLOCKS, each branch that is taken, with the number
// of instructions before it. A step costs some hundred instructions. What the task executes inside the kernel is
// recorded as well. A record that the task writes counts as one step, and so does an instruction with a repeat prefix.
// -1: the grain, the caller is no task, it already runs in steps, or the machine cannot step.
int FTrace_itrace_begin(int grain);

// The calling task runs freely again. -1: it did already.
int FTrace_itrace_end();

// The same for any task, by its context, from its next dispatch or interrupt on. status 1: in steps, 0: freely. -1: no
// such task, the grain, or it is already in this state.
int FTrace_itrace_task(int context, int status, int grain);

// Only instructions in [begin, end) leave records; both null: all of them. -1: end is before begin.
int FTrace_itrace_range(const void* begin, const void* end);

// Records are left only while *flag is not 0; null: always. The flag must remain valid as long.
int FTrace_itrace_flag(const volatile int* flag);

// FTRACE_TRIGGER_IDLE, _ARMED, _FIRED (the window is open) or _DONE. -1: another call is in progress.
int FTrace_trigger_state();

FTrace_Error FTrace_last_error();

#else

#define TRACER_LOGEVENT(type, par1, par2) static_cast<void>(0)
#define FAST_TRACER_LOGEVENT(type, par1, par2) static_cast<void>(0)

// clang-format off
inline int FTrace_enable() { return -1; }
inline int FTrace_disable() { return -1; }
inline int FTrace_chunk_create(int, int, FTrace_flags) { return -1; }
inline int FTrace_chunk_delete(int) { return -1; }
inline int FTrace_set_chunk_flags(int, FTrace_flags) { return -1; }
inline int FTrace_get_chunk_flags(int, FTrace_flags*) { return -1; }
inline int FTrace_actual_chunk_select(int) { return -1; }
inline int FTrace_chunk_link(int, int) { return -1; }
inline int FTrace_get_first_chunk(FTrace_flags) { return -1; }
inline FTrace_Chunk_Ptr* FTrace_get_chunk_table() { return nullptr; }
inline int FTrace_compress_chunk(int, FTrace_flags) { return -1; }
inline int FTrace_set_compact_layout(int) { return -1; }
inline int FTrace_send_chunk(int, int, FTrace_flags) { return -1; }
inline int FTrace_init_disk_writer(const char*, int, const char*, const char*) { return -1; }
inline void FTrace_disk_writer(FTrace_Chunk_Ptr) {}
inline int FTrace_OSD_init_udp(int, const char*, const char*) { return -1; }
inline void FTrace_set_filter(BYTE, int) {}
inline int FTrace_trigger_arm(int, WORD, int, long long, DWORD) { return -1; }
inline int FTrace_trigger_disarm() { return -1; }
inline int FTrace_trigger_state() { return -1; }
inline int FTrace_itrace_begin(int) { return -1; }
inline int FTrace_itrace_end() { return -1; }
inline int FTrace_itrace_task(int, int, int) { return -1; }
inline int FTrace_itrace_range(const void*, const void*) { return -1; }
inline int FTrace_itrace_flag(const volatile int*) { return -1; }
inline FTrace_Error FTrace_last_error() { return {"FTrace", nullptr, 0, "this kernel was built without the tracer"}; }

// clang-format on

#endif
