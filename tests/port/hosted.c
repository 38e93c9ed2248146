/* SPDX-License-Identifier: MIT */
/* A process as a machine of two processors, each a thread with a GS base of its own, that is traced through the library.
 * Arguments: the file of the exported trace, and that of the memory. With OFFSET the CpuTrace is so far in an area of
 * the process's own, as the linker has it (remora_gs). */
#include <remora_ftrace.h>

#include <asm/prctl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef OFFSET
#define OFFSET 0
#endif

enum { BYTES = 131072, ROUNDS = 200 };

/* Memory of the two processors, the areas to which GS leads, and what is before them, in one piece: as mapped. */
static struct {
    unsigned char before[4096];
    unsigned char memory[2][BYTES];
    unsigned char area[2][4096];
} machine __attribute__((aligned(4096)));

uint64_t remora_port_irq_save(void) { return 0; }

void remora_port_irq_restore(uint64_t state) { (void)state; }

void remora_port_assert(const char* condition, const char* file, int line) {
    fprintf(stderr, "%s %s:%d\n", condition, file, line);
    _exit(3);
}

static void set_gs(void* base) { syscall(SYS_arch_prctl, ARCH_SET_GS, base); }

static struct remora_cpu* own(unsigned cpu) {
    return OFFSET != 0 ? (struct remora_cpu*)(void*)(machine.area[cpu] + OFFSET) : NULL;
}

static void lead_to(unsigned cpu) { set_gs(OFFSET != 0 ? (void*)machine.area[cpu] : (void*)remora_cpu_of(cpu)); }

/* Ends the process unless a call failed for this reason. */
static void refused(int result, const char* function, const char* text) {
    const struct remora_error error = remora_last_error();
    if (result != -1 || strcmp(error.function, function) != 0 || strstr(error.text, text) == NULL) {
        fprintf(stderr, "%s: %d, %s: %s\n", function, result, error.function, error.text);
        exit(4);
    }
}

static void done(int result) {
    if (result != 0) {
        fprintf(stderr, "%s: %s\n", remora_last_error().function, remora_last_error().text);
        exit(5);
    }
}

static void run(unsigned cpu) {
    lead_to(cpu);
    done(remora_start(REMORA_STOP));
    refused(remora_start(REMORA_STOP), "remora_start", "has a chunk already");
    for (int i = 0; i < ROUNDS; ++i) {
        const uint16_t context = (uint16_t)(10 * cpu + 1 + i % 3);
        remora_exec_begin(context, 1);
        remora_isr_enter(32);
        remora_isr_exit(32);
        remora_exec_end(context, 1, REMORA_STAYS_READY);
    }
    FTrace_set_filter(0xF1, 1);
    remora_log_ipoint(1, 1);
    TRACER_LOGEVENT(FTrace_EVT_user_event_0, cpu, 7);
    remora_stop();
    remora_log_ipoint(2, 2);
}

static void* second(void* nothing) {
    run(1);
    return nothing;
}

static int put(void* file, const void* bytes, size_t size) { return fwrite(bytes, 1, size, (FILE*)file) == size ? 0 : 9; }

static int refuse(void* nothing, const void* bytes, size_t size) {
    (void)nothing;
    (void)bytes;
    return size <= 4096 ? 77 : 0;
}

static void initialise(void) {
    struct remora_config config;
    memset(&config, 0, sizeof config);
    config.memory = machine.memory[0];
    config.bytes = 4096;
    config.sizes.chunks = 4;
    config.sizes.names = 64;
    config.sizes.declarations = 4;
    config.virt_minus_phys = (uintptr_t)&machine;
    config.own = own(0);
    config.kernel = "hosted 1";
    config.application = "test";
    set_gs(OFFSET != 0 ? (void*)machine.area[0] : (void*)&remora_boot_cpu);
    remora_stop();
    refused(remora_start(REMORA_STOP), "remora_start", "remora_init()");
    refused(FTrace_chunk_create(4096, 0, FTRACE_CHUNK_FLAG_FREE), "FTrace_chunk_create", "");
    refused(remora_init(&config), "remora_init", "rate of the time stamp counter");
    config.khz = 2000000;
    refused(remora_init(&config), "remora_init", "smaller than the tables");
    config.bytes = BYTES;
    config.memory = machine.memory[0] + 16;
    refused(remora_init(&config), "remora_init", "aligned");
    config.sizes.chunks = 257;
    refused(remora_init(&config), "remora_init", "1 to 256");
    refused(remora_cpu_init(1, machine.memory[1], BYTES, NULL), "remora_cpu_init", "remora_init() comes first");
    remora_log_ipoint(1, 1);
    remora_log_ipoint(1, 2);
    config.khz = 2000000;
    config.bytes = BYTES;
    config.memory = machine.memory[0];
    config.sizes.chunks = 4;
    if (remora_bytes(&config.sizes) >= BYTES || remora_init(&config) != 0) {
        exit(6);
    }
    lead_to(0);
    refused(remora_init(&config), "remora_init", "already");
    refused(remora_cpu_init(0, machine.memory[1], BYTES, NULL), "remora_cpu_init", "1 to 31");
    done(remora_cpu_init(1, machine.memory[1], BYTES, own(1)));
    refused(remora_cpu_init(1, machine.memory[1], BYTES, own(1)), "remora_cpu_init", "already");
}

static void name_all(void) {
    static const char* const names[] = {"idle", "a", "b"};
    remora_name(REMORA_NAME_LEVEL, 1, "mine");
    remora_name(REMORA_NAME_INTERRUPT, 32, "timer");
    for (unsigned cpu = 0; cpu < 2; ++cpu) {
        for (unsigned i = 0; i < 3; ++i) {
            struct remora_task task;
            memset(&task, 0, sizeof task);
            task.context = (uint16_t)(10 * cpu + 1 + i);
            task.level = 1;
            task.pid = 10 * cpu + 1 + i;
            task.name = names[i];
            remora_task_new(&task);
            remora_task_ready(task.context);
        }
    }
}

int main(int argc, char** argv) {
    pthread_t other;
    FILE* file;
    struct remora_counts counts;
    int result;
    if (argc != 3) {
        return 2;
    }
    initialise();
    name_all();
    pthread_create(&other, NULL, second, NULL);
    run(0);
    pthread_join(other, NULL);
    remora_totals(&counts);
    printf("%llu %llu %llu\n", (unsigned long long)counts.committed, (unsigned long long)counts.dropped,
           (unsigned long long)counts.refused);
    file = fopen(argv[2], "wb");
    fwrite(&machine, 1, sizeof machine, file);
    fclose(file);
    if (strcmp(argv[1], "refuse") == 0) {
        return remora_export(refuse, NULL) == 77 ? 0 : 7;
    }
    file = fopen(argv[1], "wb");
    result = remora_export(put, file);
    fclose(file);
    refused(remora_export(put, NULL), "remora_export_begin", "already");
    return result;
}
