// SPDX-License-Identifier: MIT
// Declares the published C-style interface of the S.Ha.R.K. New Tracer. Names, signatures and flag values are those of
// the user manual, volume V, and so is the behaviour, also where the original implementation was incomplete. A function
// returns 0, or what its comment states, on success. It returns -1 if it has changed nothing; FTrace_last_error() then
// returns the reason. Every function also returns -1 if it interrupts another one of them (of a preempted task),
// because only one can be in progress. In a kernel built with TRACER=OFF the two macros are empty and every function
// returns -1. Context: task or irq-off.
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

// These are the actions and states of FTrace_trigger_*.
inline constexpr int FTRACE_ANY = -1;
inline constexpr int FTRACE_TRIGGER_START = 1;
inline constexpr int FTRACE_TRIGGER_STOP = 2;
inline constexpr int FTRACE_TRIGGER_FREEZE = 3;
inline constexpr int FTRACE_TRIGGER_IDLE = 0;
inline constexpr int FTRACE_TRIGGER_ARMED = 1;
inline constexpr int FTRACE_TRIGGER_FIRED = 2;
inline constexpr int FTRACE_TRIGGER_DONE = 3;

// These are the grains of FTrace_itrace_*.
inline constexpr int FTRACE_ITRACE_INSTRUCTIONS = 0;
inline constexpr int FTRACE_ITRACE_BLOCKS = 1;

// The osd_flags of FTrace_send_chunk choose the protocol by which the network gets the chunk. AUTO is the run's
// PROTOCOL: TRACER-V2.0, which is acknowledged, if a collector answers it, and else TRACER-V1.0.
inline constexpr int FTRACE_OSD_AUTO = 0;
inline constexpr int FTRACE_OSD_V1 = 1;
inline constexpr int FTRACE_OSD_V2 = 2;

// The layouts of a compact chunk, for FTrace_set_compact_layout (our extension), determine which bits of a header are
// event id and time. A, A2, 64 and 96 keep every bit of the time; docs/trace-format.md has the table.
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

// A row of the chunk table is a snapshot, which FTrace_get_chunk_table() updates; writing to it changes no chunk.
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

// Holds the reason for which the last call returned -1. The strings are literals.
struct FTrace_Error {
    const char* function; // null: no failure so far
    const char* argument; // null: no argument is at fault
    long long value;      // of that argument
    const char* text;
};

#if REMORA_TRACER

// Records an event. FTrace_EVT_next_chunk is an instruction: the following records go to the next chunk.
// type: an FTrace_EVT_* constant. A constant that is not in the event table, or that only the tracer itself may write,
// does not compile; at run time such a type is counted as refused.
// par1: 16 bits; a longer value is cut.
// par2: 32 bits; a longer value is cut.
// Context: any, NMI included.
#define TRACER_LOGEVENT(type, par1, par2)                                                                              \
    ::tracer::log_published(::tracer::detail::cut_to<::WORD>(type), ::tracer::detail::cut_to<::WORD>(par1),            \
                            ::tracer::detail::cut_to<::DWORD>(par2))

// Records an event like TRACER_LOGEVENT, regardless of the filters. Bit 15 of the record's code is set.
// type: an FTrace_EVT_* constant.
// par1: 16 bits; a longer value is cut.
// par2: 32 bits; a longer value is cut.
// Context: any, NMI included.
#define FAST_TRACER_LOGEVENT(type, par1, par2)                                                                         \
    ::tracer::log_published_fast(::tracer::detail::cut_to<::WORD>(type), ::tracer::detail::cut_to<::WORD>(par1),       \
                                 ::tracer::detail::cut_to<::DWORD>(par2))

extern "C" {

// Starts recording into the selected chunk. The filters in force are recorded, as FTrace_set_filter() records them; if
// recording was enabled before, a trace_start precedes them, which states that records may be missing before it.
// -1: no chunk is selected.
int FTrace_enable();

// Stops recording: TRACER_LOGEVENT then leaves nothing, as if its family were filtered, and FAST_TRACER_LOGEVENT is
// counted as refused. The selection stays.
// -1: another call is in progress.
int FTrace_disable();

// Creates a chunk and returns its number, 0 to 255. With COMPR the chunk is written compactly from the start, in the
// layout of FTrace_set_compact_layout(): it needs less space, and each record takes more instructions.
// normal_size: 16 bytes to 128 MiB; a remainder that does not fill a record is unused.
// emergency_size: 0 bytes to 128 MiB.
// flags: FREE, NODEL, COMPR and one mode.
// -1: a size or the flags are outside their range, COMPR is combined with CYC, a compact chunk cannot hold its map and
// the longest event, 256 chunks exist, or no gap of the arena is large enough.
int FTrace_chunk_create(int normal_size, int emergency_size, FTrace_flags flags);

// Deletes a chunk.
// number: 0 to 255.
// -1: there is no such chunk, or it is NODEL, BUSY, current, or linked to the current one.
int FTrace_chunk_delete(int number);

// Replaces FREE, NODEL and the mode of a chunk.
// number: 0 to 255.
// flags: FREE, NODEL and one mode. FULL, BUSY and COMPR are derived and accepted only with their present values.
// -1: there is no such chunk, there are two modes, a derived flag has another value, or FREE is set for a chunk that is
// current or BUSY.
int FTrace_set_chunk_flags(int number, FTrace_flags flags);

// Stores the flags of a chunk at this moment, FULL included.
// number: 0 to 255.
// -1: there is no such chunk, or the pointer is null.
int FTrace_get_chunk_flags(int number, FTrace_flags* flags);

// Selects the chunk that records go to from now on; it loses FREE and starts empty.
// number: 0 to 255.
// -1: there is no such chunk, it is not FREE, it is BUSY, or a trigger is set and the chunk is written compactly.
int FTrace_actual_chunk_select(int number);

// Links two chunks: when chunk_A is full (JTN) or closed (next_chunk), recording continues in chunk_B, which loses FREE
// and starts empty.
// chunk_A: 0 to 255.
// chunk_B: 0 to 255, another one.
// -1: there is no such chunk, both are the same, chunk_B is not FREE or is BUSY, or a trigger is set and chunk_B is
// written compactly.
int FTrace_chunk_link(int chunk_A, int chunk_B);

// Returns the number of the first chunk with any of these flags.
// flags: FTRACE_CHUNK_FLAG_*; CYC, which is 0, finds the first cyclic chunk.
// -1: there is no such chunk.
int FTrace_get_first_chunk(FTrace_flags flags);

// Returns the chunk table of 256 entries, which it updates; an entry without a chunk is null. A kernel without the
// tracer returns null.
FTrace_Chunk_Ptr* FTrace_get_chunk_table();

// Encodes the records of the chunk again as a compact stream in a new region and frees the old one; the chunk gets
// new_flags and COMPR. Links, counts and the sinks that have carried the chunk do not change. The call takes time in
// proportion to the records; the chunk is BUSY meanwhile.
// number: 0 to 255.
// new_flags: FREE, NODEL and one mode.
// -1: there is no such chunk; it is FREE, BUSY, being recorded into, already COMPR, or empty; the flags are outside
// their range; another chunk is being compressed; there is no space for the copy; or the result would not be smaller.
int FTrace_compress_chunk(int number, FTrace_flags new_flags);

// Sets the layout of chunks that become compact from now on; initially it is A.
// layout: FTRACE_LAYOUT_*.
// -1: there is no such layout.
int FTrace_set_compact_layout(int layout);

// Submits the chunk to every sink and waits until the stream sinks have carried it; a chunk for the disk stays BUSY
// until the run level has exited. The chunk then gets new_flags.
// number: 0 to 255.
// osd_flags: an FTRACE_OSD_* constant; all chunks of a run go by one protocol.
// new_flags: FREE, NODEL and one mode.
// -1: there is no such chunk, osd_flags or new_flags are outside their range, osd_flags contradicts the chunks before,
// the chunk is being recorded into, it was sent already, no sink is open, or a sink failed (the chunk then does not
// become FREE).
int FTrace_send_chunk(int number, int osd_flags, FTrace_flags new_flags);

// Opens the disk: chunks become files 0<fname>, 1<fname>, ... when the run level has exited. A later call replaces the
// name. With the number, at most 255, it must be an 8.3 name: at most 5 characters, then perhaps a dot and at most 3
// more, each a letter, a digit or one of $%'-_@~!(){}^#& or a grave accent. Programs that take a whole volume or
// directory look for "trace.dat"; files of another name are read one by one. The addresses are ignored, as published.
// flag: ignored, as published.
// -1: there is no name, it is not such a name, files were written already, or the kernel has no volume.
int FTrace_init_disk_writer(const char* fname, int flag, const char* l_ip, const char* t_ip);

// Queues one chunk for the disk alone. If it cannot be queued, FTrace_last_error() returns the reason.
void FTrace_disk_writer(FTrace_Chunk_Ptr c);

// Opens the network: chunks are sent as UDP packets from l_ip to t_ip, port 20000; these are different addresses,
// written as 192.168.1.10. The first call that succeeds opens the one flow of the run; a further one succeeds if its
// addresses are the same.
// flag: 1 starts the network first, unless it is started; any other value requires that it is started.
// -1: an address is invalid, the machine has no network, the network is not started, t_ip does not answer, or another
// flow is open.
int FTrace_OSD_init_udp(int flag, const char* l_ip, const char* t_ip);

// Filters a family of events. The call is recorded; if recording is disabled or a trigger has stopped it, the filters
// in force are recorded when it continues.
// family: an FTrace_filter_* constant; any other value changes nothing, and FTrace_last_error() reports it.
// status: 1: the events of this family are no longer recorded; 0: they are recorded again.
void FTrace_set_filter(BYTE family, int status);

// Sets a trigger (our extension), which fires at the next record of this type with this par1 and par2, and replaces an
// earlier trigger. START refuses earlier records: recording begins with the one that fires. STOP keeps that one and
// records_after more; later ones are refused until FTrace_trigger_disarm(). FREEZE does the same, but then closes the
// chunk, and recording continues in the next one, if there is one; the history before the trigger is what the chunk
// holds (a cyclic one holds its newest records). The window extends from chunk to chunk; a blackout_end in it counts as
// one of its records, and it ends before a long event that does not fit whole. A record that finds no space fires no
// trigger. If START is set while recording is enabled, a trace_stop states it; if recording continues that a trigger
// refused, a trace_start does. The filters in force follow each. An armed trigger neither refuses nor counts these.
// action: FTRACE_TRIGGER_START, _STOP or _FREEZE.
// type: an FTrace_EVT_* constant.
// par1: 0 to 65535, or FTRACE_ANY.
// par2: 0 to 4294967295, or FTRACE_ANY.
// records_after: 0 for START, 0 to 4294967295 for the others.
// -1: an argument is outside its range, the family is filtered, no chunk is selected, or a chunk that may be recorded
// into is written compactly.
int FTrace_trigger_arm(int action, WORD type, int par1, long long par2, DWORD records_after);

// Removes the trigger; recording that it refused continues, with a trace_start and the filters in force.
// -1: another call is in progress.
int FTrace_trigger_disarm();

// Lets the calling task run in steps from now on (our extension). With FTRACE_ITRACE_INSTRUCTIONS each instruction
// leaves a record; with FTRACE_ITRACE_BLOCKS each branch that is taken does, with the number of instructions before it.
// A step costs some hundred instructions. Instructions that the task executes inside the kernel are recorded as well. A
// record that the task writes counts as one step, and so does an instruction with a repeat prefix.
// grain: FTRACE_ITRACE_INSTRUCTIONS or FTRACE_ITRACE_BLOCKS.
// -1: the grain is outside its range, the caller is no task, it already runs in steps, or the machine cannot step.
int FTrace_itrace_begin(int grain);

// Lets the calling task run freely again.
// -1: the task does not run in steps.
int FTrace_itrace_end();

// Lets any task run in steps, or freely again, from its next dispatch or interrupt on.
// context: 1 to 65535, the number that trace records carry.
// status: 1: in steps; 0: freely.
// grain: FTRACE_ITRACE_INSTRUCTIONS or FTRACE_ITRACE_BLOCKS; it is ignored if the status is 0.
// -1: an argument is outside its range, no task has this context, it is already in this state, or the machine cannot
// step.
int FTrace_itrace_task(int context, int status, int grain);

// Lets only instructions in [begin, end) leave records; if both are null, all of them do.
// -1: end is before begin.
int FTrace_itrace_range(const void* begin, const void* end);

// Lets steps leave records only while *flag is not 0; if the pointer is null, they always do. The flag must remain
// valid until the next call.
// -1: another call is in progress.
int FTrace_itrace_flag(const volatile int* flag);

// Returns FTRACE_TRIGGER_IDLE, _ARMED, _FIRED (the window is open) or _DONE.
// -1: another call is in progress.
int FTrace_trigger_state();

// Returns the reason for which the last call returned -1.
FTrace_Error FTrace_last_error();

} // extern "C"

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
