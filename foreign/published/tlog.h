/* SPDX-License-Identifier: MIT */
/* The types of tlog records, and the calls that record them, by the names that programs written for the tlog library of
 * the Omni compiler use, in C89. tlog_event.h has the calls that read logs. Source: the published description of the
 * library.
 *
 *   tlog_initialize();
 *   tlog_log(TLOG_EVENT_1_IN);
 *   ...
 *   tlog_log(TLOG_EVENT_1_OUT);
 *   tlog_finalize();
 *
 * A program is one process, node 0, unless its environment says otherwise. With TLOG_NODES=n, n processes on one
 * machine or several form one recording: TLOG_NODE is the number of each, from 0, and TLOG_ROOT (HOST:PORT) is where
 * node 0 listens. tlog_initialize and tlog_finalize wait for all of them. Node 0 writes the file: TLOG_FILE, or
 * trace.log.
 */
#ifndef REMORA_TLOG_H
#define REMORA_TLOG_H

/* The shared library exports these declarations and hides everything else. */
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

#define TLOG_BLOCK_SIZE 1024

typedef enum tlog_type {
    TLOG_UNDEF = 0, /* an unused slot */
    TLOG_START = 1,
    TLOG_END = 2,

    TLOG_EVENT_1_IN = 10,
    TLOG_EVENT_1_OUT = 11,
    TLOG_EVENT_2_IN = 12,
    TLOG_EVENT_2_OUT = 13,
    TLOG_EVENT_3_IN = 14,
    TLOG_EVENT_3_OUT = 15,
    TLOG_EVENT_4_IN = 16,
    TLOG_EVENT_4_OUT = 17,
    TLOG_EVENT_5_IN = 18,
    TLOG_EVENT_5_OUT = 19,
    TLOG_EVENT_6_IN = 20,
    TLOG_EVENT_6_OUT = 21,
    TLOG_EVENT_7_IN = 22,
    TLOG_EVENT_7_OUT = 23,
    TLOG_EVENT_8_IN = 24,
    TLOG_EVENT_8_OUT = 25,
    TLOG_EVENT_9_IN = 26,
    TLOG_EVENT_9_OUT = 27,

    TLOG_EVENT_1 = 31,
    TLOG_EVENT_2 = 32,
    TLOG_EVENT_3 = 33,
    TLOG_EVENT_4 = 34,
    TLOG_EVENT_5 = 35,
    TLOG_EVENT_6 = 36,
    TLOG_EVENT_7 = 37,
    TLOG_EVENT_8 = 38,
    TLOG_EVENT_9 = 39
} TLOG_TYPE;

/* Each of these returns 0, or -1 if it fails; tlog_last_error() (tlog_event.h) then states the reason, and the
 * program continues. They may be called from any thread. Pairs nest by process, so two threads that log pairs at the
 * same time need locks. */

/* Begins to record. Time 0 is this call at node 0; the clocks of the other nodes are adjusted to that of node 0. -1: it
 * was called before; a variable above is missing or invalid; a node did not connect within 30 s, or ended. */
int tlog_initialize(void);

/* Records an event of this type at this time, in 16 bytes of memory. type: TLOG_EVENT_..., 10 to 39. -1: the type is
 * another one, the call is not between tlog_initialize and tlog_finalize, or there is no memory. */
int tlog_log(int type);

/* Does the same, and records an argument, which arg2 of the event is. */
int tlog_log2(int type, int arg2);

/* Names the file that tlog_finalize and tlog_flush of node 0 write: it may be called at any time before, and counts
 * instead of TLOG_FILE. -1: name is null or empty, or there is no memory. */
int tlog_log_filename(char* name);

/* Writes the file with what node 0 has recorded so far, so that a program that does not reach tlog_finalize leaves it;
 * tlog_finalize writes it anew. On other nodes it has no effect. -1: the call is not between tlog_initialize and
 * tlog_finalize, or the file cannot be written. */
int tlog_flush(void);

/* Ends the recording and writes the file. -1: the file cannot be written to its end, a node has ended before (its last
 * events are not in the file), or events were lost. */
int tlog_finalize(void);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
