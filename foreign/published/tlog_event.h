/* SPDX-License-Identifier: MIT */
/* The published interface to tlog files: tlog_read_file, tlog_get_N_events, tlog_get_event. A failure is a return value
 * here, never the end of the program; tlog_last_error describes it. C89; the functions may be called from any
 * thread, on one profile from one thread at a time. Source: the published description of the tlog library. */
#ifndef REMORA_TLOG_EVENT_H
#define REMORA_TLOG_EVENT_H

/* What the shared library shows; all else in it is hidden. */
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/* As in the file, in the byte order of this machine. */
typedef struct tlog_exec_event {
    short proc_id;     /* process; above 32767 it comes out negative */
    char log_type;     /* TLOG_TYPE */
    char arg1;         /* thread */
    int arg2;          /* of the application */
    double time_stamp; /* seconds since tlog_initialize; never falls within a node */
} tlog_exec_event;

typedef struct tlog_exec_profile tlog_exec_profile;

/* Nodes that n_node may name: 1 to this. */
#define TLOG_NODES_MAX 65536

/* Reads the whole file; n_node is how many nodes it may have. Nodes without events are empty. Null if n_node is out of
 * range, the file cannot be opened or read, is empty, ends within a block, names a node of n_node or above, has a
 * node's records in more than one run or out of order of time, or memory runs out. */
tlog_exec_profile* tlog_read_file(char* fname, int n_node);

/* Events of a node, TLOG_UNDEF left out; -1 if there is no such node. */
int tlog_get_N_events(tlog_exec_profile* ep, int node);

/* The i-th event of a node, from 0; null if there is none. Valid until tlog_close. */
tlog_exec_event* tlog_get_event(tlog_exec_profile* ep, int node, int i);

/* Ours: frees a profile and all its events. Null is allowed. */
void tlog_close(tlog_exec_profile* ep);

/* Ours: what the last call of this thread that failed has to say. Never null; empty before any failure. Valid until the
 * next call of this thread that fails. */
const char* tlog_last_error(void);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
