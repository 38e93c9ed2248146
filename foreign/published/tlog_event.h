/* SPDX-License-Identifier: MIT */
/* The published interface to tlog files: tlog_read_file, tlog_get_N_events, tlog_get_event. A failure is a return
 * value, and never ends the program; tlog_last_error describes it. The header is C89. The functions may be called from
 * any thread, but on one profile from one thread at a time. Source: the published description of the tlog library. */
#ifndef REMORA_TLOG_EVENT_H
#define REMORA_TLOG_EVENT_H

/* The shared library exports these declarations and hides everything else. */
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* An event as in the file, in the byte order of this machine. */
typedef struct tlog_exec_event {
    short proc_id;     /* process; negative if above 32767 */
    char log_type;     /* TLOG_TYPE */
    char arg1;         /* thread */
    int arg2;          /* defined by the application */
    double time_stamp; /* seconds since tlog_initialize; never falls within a node */
} tlog_exec_event;

typedef struct tlog_exec_profile tlog_exec_profile;

/* The greatest value of n_node. */
#define TLOG_NODES_MAX 65536

/* Reads the whole file. n_node: how many nodes it may have. Nodes without events are empty. Returns null if n_node is
 * out of range, the file cannot be opened or read, is empty, ends within a block, names a node of n_node or above, has
 * a node's records in more than one run or out of order of time, or memory runs out. */
tlog_exec_profile* tlog_read_file(char* fname, int n_node);

/* Returns the number of events of a node, without TLOG_UNDEF; -1 if there is no such node. */
int tlog_get_N_events(tlog_exec_profile* ep, int node);

/* Returns the i-th event of a node, from 0; null if there is none. The event is valid until tlog_close. */
tlog_exec_event* tlog_get_event(tlog_exec_profile* ep, int node, int i);

/* An addition of ours: frees a profile and all its events. Null is allowed. */
void tlog_close(tlog_exec_profile* ep);

/* An addition of ours: returns the reason of the last failure in this thread. It is never null; it is empty before any
 * failure, and valid until the next one in this thread. */
const char* tlog_last_error(void);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
