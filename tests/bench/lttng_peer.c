// SPDX-License-Identifier: MIT
// The event of lttng_peer.tp in a loop: C, because lttng-gen-tp generates C.
#include "lttng_peer_tp.h"

int lttng_peer_enabled(void);
void lttng_peer_run(unsigned long iterations);

int lttng_peer_enabled(void) {
    return lttng_ust_tracepoint_enabled(remora_bench, two_words) ? 1 : 0;
}

void lttng_peer_run(unsigned long iterations) {
    for (unsigned long i = 0; i < iterations; ++i) {
        lttng_ust_tracepoint(remora_bench, two_words, 1, (uint32_t)i);
    }
}
