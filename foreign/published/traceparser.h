/* SPDX-License-Identifier: MIT */
/*
 * libtraceparser: the published interface to traces of the QNX System Analysis Toolkit, in C. Names, classes and
 * signatures are the published ones (C Library Reference, "traceparser_*"); the implementation is our own. It reads
 * .kev files of either byte order, and the traces of this project (a file or a session directory), which it shows as
 * the .kev file that `remora convert --to kev` would make of them. "-" is standard input.
 *
 *   struct traceparser_state *state = traceparser_init(NULL);
 *   traceparser_cs_range(state, data, on_event, _NTO_TRACE_THREAD, _NTO_TRACE_THDEAD, _NTO_TRACE_THDESTROY);
 *   if (traceparser(state, NULL, "trace.kev") != 0)
 *       fprintf(stderr, "%s\n", traceparser_error_text(state));
 *   traceparser_destroy(&state);
 *
 * Link with `pkg-config --libs libtraceparser`, and --static for the static library, which needs others. One state is
 * used by one thread at a time.
 * Everything below the line "Additions" is ours. docs/kev.md lists the differences from the published library.
 */
#ifndef REMORA_TRACEPARSER_H
#define REMORA_TRACEPARSER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TRACEPARSER_API __attribute__((visibility("default")))

/* One slot of a trace. Only the library uses its contents. */
typedef struct traceevent {
    uint32_t opaque[4];
} traceevent_t;

/* Parts of the `header` of a callback, which is that of the event's first slot. The class is the internal one. */
#define _NTO_TRACE_GETEVENT(h) ((h)&0x3FFu)
#define _NTO_TRACE_GETEVENT_C(h) ((h) & (0x1Fu << 10))
#define _NTO_TRACE_GETCPU(h) (((h)&0x3F000000u) >> 24)

/* Internal classes, which _NTO_TRACE_GETEVENT_C() returns. Registering with one of these is an error. */
#define _TRACE_EMPTY_C (0x0u << 10)
#define _TRACE_CONTROL_C (0x1u << 10)
#define _TRACE_KER_CALL_C (0x2u << 10)
#define _TRACE_INT_C (0x3u << 10)
#define _TRACE_PR_TH_C (0x4u << 10)
#define _TRACE_SYSTEM_C (0x5u << 10)
#define _TRACE_CONTAINER_C _TRACE_SYSTEM_C
#define _TRACE_USER_C (0x6u << 10)
#define _TRACE_COMM_C (0x7u << 10)

#define _TRACE_MAX_KER_CALL_NUM (128u)
#define _TRACE_MAX_TH_STATE_NUM (26u)

/* External classes, with which callbacks are registered. */
#define _NTO_TRACE_EMPTY (0x00u)
#define _NTO_TRACE_CONTROL (0x01u)
#define _NTO_TRACE_KERCALL (0x02u) /* ENTER, EXIT and INT together */
#define _NTO_TRACE_KERCALLENTER (0x03u)
#define _NTO_TRACE_KERCALLEXIT (0x04u)
#define _NTO_TRACE_KERCALLINT (0x05u)
#define _NTO_TRACE_INT (0x06u) /* the four interrupt classes together */
#define _NTO_TRACE_INTENTER (0x07u)
#define _NTO_TRACE_INTEXIT (0x08u)
#define _NTO_TRACE_PROCESS (0x09u)
#define _NTO_TRACE_THREAD (0x0Au)
#define _NTO_TRACE_VTHREAD (0x0Bu)
#define _NTO_TRACE_USER (0x0Cu)
#define _NTO_TRACE_SYSTEM (0x0Du)
#define _NTO_TRACE_COMM (0x0Eu)
#define _NTO_TRACE_INT_HANDLER_ENTER (0x0Fu)
#define _NTO_TRACE_INT_HANDLER_EXIT (0x10u)

/* External events. Those of threads, virtual threads and processes are one bit each. */
#define _NTO_TRACE_EMPTYEVENT (0x0u)

#define _NTO_TRACE_CONTROLTIME (0x1u << 0)
#define _NTO_TRACE_CONTROLBUFFER (0x1u << 1)

#define _NTO_TRACE_KERCALLFIRST (0u)
#define _NTO_TRACE_KERCALLLAST (127u)
#define _NTO_TRACE_KERCALL64 (0x1u << 9) /* added to the number: the data are 64-bit values */

#define _NTO_TRACE_INTFIRST (0x00000000u) /* an interrupt's event is its number */
#define _NTO_TRACE_INTLAST (0xFFFFFFFFu)

#define _NTO_TRACE_PROCCREATE (0x1u << 0)
#define _NTO_TRACE_PROCDESTROY (0x1u << 1)
#define _NTO_TRACE_PROCCREATE_NAME (0x1u << 2)
#define _NTO_TRACE_PROCDESTROY_NAME (0x1u << 3)
#define _NTO_TRACE_PROCTHREAD_NAME (0x1u << 4)

#define _NTO_TRACE_THDEAD (0x1u << 0)
#define _NTO_TRACE_THRUNNING (0x1u << 1)
#define _NTO_TRACE_THREADY (0x1u << 2)
#define _NTO_TRACE_THSTOPPED (0x1u << 3)
#define _NTO_TRACE_THSEND (0x1u << 4)
#define _NTO_TRACE_THRECEIVE (0x1u << 5)
#define _NTO_TRACE_THREPLY (0x1u << 6)
#define _NTO_TRACE_THSTACK (0x1u << 7)
#define _NTO_TRACE_THWAITTHREAD (0x1u << 8)
#define _NTO_TRACE_THWAITPAGE (0x1u << 9)
#define _NTO_TRACE_THSIGSUSPEND (0x1u << 10)
#define _NTO_TRACE_THSIGWAITINFO (0x1u << 11)
#define _NTO_TRACE_THNANOSLEEP (0x1u << 12)
#define _NTO_TRACE_THMUTEX (0x1u << 13)
#define _NTO_TRACE_THCONDVAR (0x1u << 14)
#define _NTO_TRACE_THJOIN (0x1u << 15)
#define _NTO_TRACE_THINTR (0x1u << 16)
#define _NTO_TRACE_THSEM (0x1u << 17)
#define _NTO_TRACE_THWAITCTX (0x1u << 18)
#define _NTO_TRACE_THNET_SEND (0x1u << 19)
#define _NTO_TRACE_THNET_REPLY (0x1u << 20)
#define _NTO_TRACE_THCREATE (0x1u << 24)
#define _NTO_TRACE_THDESTROY (0x1u << 25)

#define _NTO_TRACE_VTHDEAD _NTO_TRACE_THDEAD /* all bits of virtual threads are those of threads */
#define _NTO_TRACE_VTHCREATE _NTO_TRACE_THCREATE
#define _NTO_TRACE_VTHDESTROY _NTO_TRACE_THDESTROY

#define _NTO_TRACE_USERFIRST (0x000u)
#define _NTO_TRACE_USERLAST (0x3FFu)

#define _NTO_TRACE_SYS_RESERVED (0x01u)
#define _NTO_TRACE_SYS_PATHMGR (0x02u)
#define _NTO_TRACE_SYS_APS_NAME (0x03u)
#define _NTO_TRACE_SYS_APS_BUDGETS (0x04u)
#define _NTO_TRACE_SYS_APS_BNKR (0x05u)
#define _NTO_TRACE_SYS_MMAP (0x06u)
#define _NTO_TRACE_SYS_MUNMAP (0x07u)
#define _NTO_TRACE_SYS_MAPNAME (0x08u)
#define _NTO_TRACE_SYS_ADDRESS (0x09u)
#define _NTO_TRACE_SYS_FUNC_ENTER (0x0Au)
#define _NTO_TRACE_SYS_FUNC_EXIT (0x0Bu)
#define _NTO_TRACE_SYS_SLOG (0x0Cu)
#define _NTO_TRACE_SYS_LAST (0x1Fu)

#define _NTO_TRACE_COMM_SMSG (0x0u)
#define _NTO_TRACE_COMM_SPULSE (0x1u)
#define _NTO_TRACE_COMM_RMSG (0x2u)
#define _NTO_TRACE_COMM_RPULSE (0x3u)
#define _NTO_TRACE_COMM_SPULSE_EXE (0x4u)
#define _NTO_TRACE_COMM_SPULSE_DIS (0x5u)
#define _NTO_TRACE_COMM_SPULSE_DEA (0x6u)
#define _NTO_TRACE_COMM_SPULSE_UN (0x7u)
#define _NTO_TRACE_COMM_SPULSE_QUN (0x8u)
#define _NTO_TRACE_COMM_SIGNAL (0x9u)
#define _NTO_TRACE_COMM_REPLY (0xAu)
#define _NTO_TRACE_COMM_ERROR (0xBu)
#define _NTO_TRACE_COMM_LAST _NTO_TRACE_COMM_ERROR

/* What traceparser_get_info() returns: the text of a key of the header, or one of the values below 0. */
typedef enum {
    _TRACEPARSER_INFO_HEADER_BEGIN = 0,
    _TRACEPARSER_INFO_FILE_NAME,
    _TRACEPARSER_INFO_DATE,
    _TRACEPARSER_INFO_VER_MAJOR,
    _TRACEPARSER_INFO_VER_MINOR,
    _TRACEPARSER_INFO_LITTLE_ENDIAN,
    _TRACEPARSER_INFO_BIG_ENDIAN,
    _TRACEPARSER_INFO_MIDDLE_ENDIAN,
    _TRACEPARSER_INFO_ENCODING,
    _TRACEPARSER_INFO_BOOT_DATE,
    _TRACEPARSER_INFO_CYCLES_PER_SEC,
    _TRACEPARSER_INFO_CPU_NUM,
    _TRACEPARSER_INFO_SYSNAME,
    _TRACEPARSER_INFO_NODENAME,
    _TRACEPARSER_INFO_SYS_RELEASE,
    _TRACEPARSER_INFO_SYS_VERSION,
    _TRACEPARSER_INFO_MACHINE,
    _TRACEPARSER_INFO_SYSPAGE_LEN,
    _TRACEPARSER_INFO_HEADER_END,
    _TRACEPARSER_INFO_SYSPAGE = -1,              /* bytes; *len is their number */
    _TRACEPARSER_INFO_ENDIAN_CONV = -2,          /* unsigned: 1 if the file has the other byte order */
    _TRACEPARSER_INFO_NOW_CALLBACK_CLASS = -3,   /* unsigned: external class */
    _TRACEPARSER_INFO_NOW_CALLBACK_EVENT = -4,   /* unsigned: external event */
    _TRACEPARSER_INFO_PREV_CALLBACK_CLASS = -5,  /* unsigned */
    _TRACEPARSER_INFO_PREV_CALLBACK_EVENT = -6,  /* unsigned */
    _TRACEPARSER_INFO_PREV_CALLBACK_RETURN = -7, /* int */
    _TRACEPARSER_INFO_DEBUG = -8,                /* unsigned: the flags of traceparser_debug() */
    _TRACEPARSER_INFO_ERROR = -9                 /* unsigned: a traceparser_error_t */
} info_modes_t;

typedef enum {
    _TRACEPARSER_UNKNOWN_CLASS,           /* 0: also an internal class instead of an external one */
    _TRACEPARSER_UNKNOWN_PR_TH_EVENT,     /* 1 */
    _TRACEPARSER_UNKNOWN_CONTROL_EVENT,   /* 2 */
    _TRACEPARSER_UNKNOWN_KER_CALL_EVENT,  /* 3 */
    _TRACEPARSER_UNKNOWN_INT_EVENT,       /* 4 */
    _TRACEPARSER_UNKNOWN_CONTAINER_EVENT, /* 5: system class */
    _TRACEPARSER_UNKNOWN_USR_EVENT,       /* 6 */
    _TRACEPARSER_UNKNOWN_COMM_EVENT,      /* 7 */
    _TRACEPARSER_NO_MORE_MEMORY,          /* 8 */
    _TRACEPARSER_WRONG_H_KEYWORD,         /* 9: the header is cut, or a value in it is invalid */
    _TRACEPARSER_NULL_STATE_PTR,          /* 10 */
    _TRACEPARSER_WRONG_ENDIAN_TYPE,       /* 11 */
    _TRACEPARSER_CANNOT_READ_IN_FILE,     /* 12 */
    _TRACEPARSER_WRONG_FILE_VERSION,      /* 13: below 1.01, or slots of another size */
    _TRACEPARSER_MISSING_FIELD,           /* 14 */
    _TRACEPARSER_UNKNOWN_ERROR            /* 15: also before any error */
} traceparser_error_t;

/* The flags that select what traceparser_debug() writes. */
#define _TRACEPARSER_DEBUG_ALL (0xFFFFFFFFu)
#define _TRACEPARSER_DEBUG_NONE (0x0u)
#define _TRACEPARSER_DEBUG_ERRORS (0x1u << 0)  /* what is wrong with the file, one line each */
#define _TRACEPARSER_DEBUG_HEADER (0x1u << 1)  /* the keys of the header */
#define _TRACEPARSER_DEBUG_SYSPAGE (0x1u << 2) /* the size of the system page */
#define _TRACEPARSER_DEBUG_EVENTS (0x1u << 3)  /* header, stamp and data of each event */

struct traceparser_state;

/*
 * A callback. header: of the event's first slot. time: its stamp, the low half of the clock. words: the data, in the
 * byte order of this machine. n: the number of words, 2 or a greater even number. The words are valid during the call.
 * The value that is returned is kept for _TRACEPARSER_INFO_PREV_CALLBACK_RETURN; it does not end the parsing.
 */
typedef int (*tracep_callb_func_t)(struct traceparser_state* state, void* user, unsigned header, unsigned time,
                                   unsigned* words, unsigned n);

/* If state is NULL, returns a new state, or NULL if there is no memory. Else resets the state and returns it. */
TRACEPARSER_API struct traceparser_state* traceparser_init(struct traceparser_state* state);

/* Frees *state and sets it to NULL. A null pointer is ignored. */
TRACEPARSER_API void traceparser_destroy(struct traceparser_state** state);

/* Writes what the flags select to the stream. Returns 0, or -1 with errno EINVAL if one of the pointers is NULL. */
TRACEPARSER_API int traceparser_debug(struct traceparser_state* state, FILE* stream, unsigned flags);

/*
 * Calls f for each event of this external class and number, or of those numbers from event1 to event2 that exist. f
 * receives user. Several callbacks may be registered for one event; they are called in the order of registration.
 * Returns 0; or -1 with errno EINVAL if state or f is NULL, if the class is unknown or none of the events exists
 * (_TRACEPARSER_INFO_ERROR has the reason), or if event1 is greater than event2. With _NTO_TRACE_EMPTY and event 0, f
 * is called once, after the header, with zeros.
 */
TRACEPARSER_API int traceparser_cs(struct traceparser_state* state, void* user, tracep_callb_func_t f, unsigned class_,
                                   unsigned event);
TRACEPARSER_API int traceparser_cs_range(struct traceparser_state* state, void* user, tracep_callb_func_t f,
                                         unsigned class_, unsigned event1, unsigned event2);

/*
 * Parses the file to its end and calls the callbacks. user, if not NULL, is for callbacks that were registered
 * without one. Returns 0, also if the file is damaged after its header (traceparser_damage() is not 0); -1 if it cannot
 * be read.
 */
TRACEPARSER_API int traceparser(struct traceparser_state* state, void* user, const char* file);

/*
 * Returns a pointer to the value, valid until the next call of traceparser(), traceparser_init() or
 * traceparser_destroy(); NULL with errno EINVAL if there is no such value. len, if not NULL, receives its size in bytes
 * (of a text without its final zero).
 */
TRACEPARSER_API void* traceparser_get_info(struct traceparser_state* state, info_modes_t mode, unsigned* len);

/* ------------------------------------------------ Additions ------------------------------------------------ */

/* The state of an event. */
#define TRACEPARSER_STATE_OK 0
#define TRACEPARSER_STATE_INCOMPLETE 1 /* its last slot is missing */
#define TRACEPARSER_STATE_ORPHAN 2     /* a slot of an event that never began */
#define TRACEPARSER_STATE_MALFORMED 3  /* it has too many slots */
#define TRACEPARSER_STATE_LATE 4       /* sound, but its processor wrote a later one before it */

/* An event with everything that the library knows of it. It is valid during the call. */
struct traceparser_event {
    uint64_t ticks;  /* of the 64-bit clock */
    int64_t time_ns; /* since the first event; INT64_MIN if the rate of the clock is unknown */
    uint32_t header; /* of the first slot */
    uint32_t cpu;
    uint32_t class_;     /* external */
    uint32_t event;      /* external */
    uint32_t state;      /* TRACEPARSER_STATE_... */
    uint32_t word_count; /* the exact number if the event's class states it */
    const uint32_t* words;
    const char* class_label; /* as in the published printer; never NULL */
    const char* event_label; /* "" if it has none */
};

typedef int (*traceparser_event_function)(struct traceparser_state* state, void* user,
                                          const struct traceparser_event* event);

/* Works as traceparser_cs_range(), for a callback that receives the whole event. */
TRACEPARSER_API int traceparser_on_event(struct traceparser_state* state, void* user, traceparser_event_function f,
                                         unsigned class_, unsigned event1, unsigned event2);

/* Calls f for every event of every class, also for damaged and unknown ones. Returns 0, or -1 with errno EINVAL. */
TRACEPARSER_API int traceparser_on_every_event(struct traceparser_state* state, void* user,
                                               traceparser_event_function f);

/* Sets whether traceparser_cs() callbacks receive damaged events, too. Default: 0, only sound ones. */
TRACEPARSER_API void traceparser_deliver_damaged(struct traceparser_state* state, int yes);

/* Sets the order of events. _TRACEPARSER_SORT: by time across processors, within a window of some thousand events.
 * Default: as written. */
#define _TRACEPARSER_NOSORT 0u
#define _TRACEPARSER_SORT 1u
TRACEPARSER_API void traceparser_sort(struct traceparser_state* state, unsigned order);

/* Returns the 64-bit clock of the event whose callback is running; 0 outside a callback. */
TRACEPARSER_API uint64_t traceparser_get_ticks(const struct traceparser_state* state);

/* Reads a number of the header, by its key without TRACE_ ("CYCLES_PER_SEC"). Returns 0, or -1 if there is no such key
 * or it is not a number. */
TRACEPARSER_API int traceparser_get_u64(const struct traceparser_state* state, const char* key, uint64_t* value);

/* Returns a text of the header, by its key without TRACE_, known or not; NULL if there is none. It is valid as the
 * result of traceparser_get_info(). */
TRACEPARSER_API const char* traceparser_get_text(const struct traceparser_state* state, const char* key);

/* Returns the last error as text, "" if there was none. It is valid until the next call with this state. */
TRACEPARSER_API const char* traceparser_error_text(const struct traceparser_state* state);

/* Returns how many errors the file has that was parsed last. */
TRACEPARSER_API uint64_t traceparser_damage(const struct traceparser_state* state);

/* Return parts of a slot: kind (0 simple, 1 begin, 2 middle, 3 end), header without kind, stamp, and data word 0 or 1.
 */
TRACEPARSER_API unsigned traceevent_kind(const traceevent_t* slot);
TRACEPARSER_API unsigned traceevent_header(const traceevent_t* slot);
TRACEPARSER_API unsigned traceevent_stamp(const traceevent_t* slot);
TRACEPARSER_API unsigned traceevent_data(const traceevent_t* slot, unsigned index);

#ifdef __cplusplus
}
#endif

#endif
