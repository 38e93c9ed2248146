/* SPDX-License-Identifier: MIT */
/*
* How to use libtraceparser: callbacks for the events of interest, then one call that parses the file. This example counts
 * how often each thread became running, prints every interrupt with its time, and prints values of the header.
 *
 *   gcc -std=c11 traceparser_sample.c $(pkg-config --cflags --libs libtraceparser) -o traceparser_sample
 *   ./traceparser_sample trace.kev          also: a session directory, a Ntrace.dat file, or - for standard input
 */
#include "traceparser.h"

#include <inttypes.h>
#include <stdio.h>

enum { THREADS = 4096 };

struct counts {
    unsigned long running[THREADS];
    unsigned long interrupts;
};

/* The published kind of callback: the header of the event, the low half of the clock, the data. */
static int on_running(struct traceparser_state *state, void *user, unsigned header, unsigned time, unsigned *words,
                      unsigned n) {
    struct counts *counts = user;
    (void)state;
    (void)header;
    (void)time;
    if (n >= 2 && words[1] < THREADS) {
        counts->running[words[1]]++;
    }
    return 0;
}

/* Our addition: it gets all values, the 64-bit clock included. */
static int on_interrupt(struct traceparser_state *state, void *user, const struct traceparser_event *event) {
    struct counts *counts = user;
    (void)state;
    counts->interrupts++;
    printf("%12" PRIu64 " CPU %u %s %u\n", event->ticks, event->cpu, event->class_label, event->event);
    return 0;
}

static int fail(struct traceparser_state **state, const char *what) {
    fprintf(stderr, "%s: %s\n", what, traceparser_error_text(*state));
    traceparser_destroy(state);
    return 1;
}

int main(int argc, char **argv) {
    static struct counts counts;
    struct traceparser_state *state = traceparser_init(NULL);
    uint64_t rate = 0;
    const char *system;

    if (argc != 2 || state == NULL) {
        fprintf(stderr, "usage: %s TRACE\n", argv[0]);
        traceparser_destroy(&state);
        return 1;
    }
    traceparser_debug(state, stderr, _TRACEPARSER_DEBUG_ERRORS);
    if (traceparser_cs(state, &counts, on_running, _NTO_TRACE_THREAD, _NTO_TRACE_THRUNNING) != 0 ||
        traceparser_on_event(state, &counts, on_interrupt, _NTO_TRACE_INTENTER, _NTO_TRACE_INTFIRST,
                             _NTO_TRACE_INTLAST) != 0) {
        return fail(&state, "registering");
    }
    if (traceparser(state, NULL, argv[1]) != 0) {
        return fail(&state, argv[1]);
    }
    system = traceparser_get_text(state, "SYSNAME");
    if (traceparser_get_u64(state, "CYCLES_PER_SEC", &rate) == 0) {
        printf("system %s, %" PRIu64 " cycles per second\n", system != NULL ? system : "?", rate);
    }
    for (unsigned thread = 0; thread < THREADS; thread++) {
        if (counts.running[thread] != 0) {
            printf("thread %u became running %lu times\n", thread, counts.running[thread]);
        }
    }
    printf("%lu interrupts\n", counts.interrupts);
    traceparser_destroy(&state);
    return 0;
}
