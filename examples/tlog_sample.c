/* SPDX-License-Identifier: MIT */
/* Dumps a tlog file through libtlog, in the style of the programs that the published description of the library shows:
 * no prototype for main, and the only result that is checked is the null pointer.
 *
 *   gcc -std=gnu89 tlog_sample.c $(pkg-config --cflags --libs libtlog) -o tlog_sample
 *   ./tlog_sample trace.log 4 */
#include "tlog.h"
#include "tlog_event.h"

#include <stdio.h>
#include <stdlib.h>

main(argc, argv) int argc;
char** argv;
{
    tlog_exec_profile* profile;
    tlog_exec_event* event;
    int node, nodes, events, i;

    nodes = argc > 2 ? atoi(argv[2]) : 64;
    profile = tlog_read_file(argc > 1 ? argv[1] : "trace.log", nodes);
    if (profile == NULL) {
        fprintf(stderr, "tlog_sample: %s\n", tlog_last_error());
        exit(1);
    }
    for (node = 0; node < nodes; node++) {
        events = tlog_get_N_events(profile, node);
        printf("--- Tlog exec profile dump: proc=%d, #data=%d\n", node, events);
        for (i = 0; i < events; i++) {
            event = tlog_get_event(profile, node, i);
            printf("%d:proc_id=%d, log_type=%d, time=%g\n", i, event->proc_id, event->log_type, event->time_stamp);
        }
    }
    exit(0);
}
