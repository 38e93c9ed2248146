/* SPDX-License-Identifier: MIT
 * The least that a kernel may have of the tracer: it is linked, and never started. */
#include <remora_tracer.h>

static struct remora_config config;

void start(void) {
    remora_init(&config);
    remora_log_ipoint(1, 2);
}
