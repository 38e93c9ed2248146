/* SPDX-License-Identifier: MIT */
/* The published interface of the S.Ha.R.K. New Tracer in C, for a kernel with the library: chunks, filters, triggers.
 * docs/kernel-api.md describes each function. They act on the tracer of the processor that calls. */
#ifndef REMORA_FTRACE_H
#define REMORA_FTRACE_H

#include <remora_tracer.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint8_t FTrace_flags;

enum {
    FTRACE_CHUNK_FLAG_CYC = 0x00,
    FTRACE_CHUNK_FLAG_FREE = 0x01,
    FTRACE_CHUNK_FLAG_FULL = 0x02,
    FTRACE_CHUNK_FLAG_JTN = 0x04,
    FTRACE_CHUNK_FLAG_STOP = 0x08,
    FTRACE_CHUNK_FLAG_BUSY = 0x10,
    FTRACE_CHUNK_FLAG_NODEL = 0x20,
    FTRACE_CHUNK_FLAG_COMPR = 0x40,
    FTRACE_ANY = -1,
    FTRACE_TRIGGER_START = 1,
    FTRACE_TRIGGER_STOP = 2,
    FTRACE_TRIGGER_FREEZE = 3,
    FTRACE_TRIGGER_IDLE = 0,
    FTRACE_TRIGGER_ARMED = 1,
    FTRACE_TRIGGER_FIRED = 2,
    FTRACE_TRIGGER_DONE = 3
};

struct FTrace_Chunk {
    uint32_t id; /* always 0xFFAAFFBB */
    uint32_t number;
    FTrace_flags flags;
    uint32_t size;      /* bytes of the main area */
    uint32_t emergency; /* bytes of the emergency area */
    const void* osd;    /* address of the main area's records */
};
typedef struct FTrace_Chunk* FTrace_Chunk_Ptr;

struct FTrace_Error {
    const char* function;
    const char* argument;
    long long value;
    const char* text;
};

#define TRACER_LOGEVENT(type, par1, par2) remora_log_code((uint8_t)(type), (uint16_t)(par1), (uint32_t)(par2))

int FTrace_enable(void);
int FTrace_disable(void);
int FTrace_chunk_create(int normal_size, int emergency_size, FTrace_flags flags);
int FTrace_chunk_delete(int number);
int FTrace_set_chunk_flags(int number, FTrace_flags flags);
int FTrace_get_chunk_flags(int number, FTrace_flags* flags);
int FTrace_actual_chunk_select(int number);
int FTrace_chunk_link(int chunk_A, int chunk_B);
int FTrace_get_first_chunk(FTrace_flags flags);
FTrace_Chunk_Ptr* FTrace_get_chunk_table(void);
int FTrace_compress_chunk(int number, FTrace_flags new_flags);
int FTrace_set_compact_layout(int layout);
void FTrace_set_filter(uint8_t family, int status);
int FTrace_trigger_arm(int action, uint16_t type, int par1, long long par2, uint32_t records_after);
int FTrace_trigger_disarm(void);
int FTrace_trigger_state(void);
struct FTrace_Error FTrace_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
