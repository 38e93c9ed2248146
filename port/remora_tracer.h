/* SPDX-License-Identifier: MIT */
/* The tracer for a kernel of yours: C11 and C++, GCC and clang, x86-64. docs/porting.md is the way through it.
 *
 *     static _Alignas(4096) unsigned char memory[65536];
 *
 *     const struct remora_config config = {.memory = memory, .bytes = sizeof memory, .khz = tsc_khz,
 *                                          .kernel = "mine 1.0", .application = "test"};
 *     remora_init(&config);                     first call of main()
 *     remora_set_gs(remora_cpu_of(0));
 *     remora_start(REMORA_STOP);                from here on every hook records
 *     remora_exec_begin(thread->number, level); in the function that switches
 *
 * A record takes 12 instructions, no lock, and may be made in any context, NMI included. What this needs:
 *   - GS leads to this processor's struct remora_cpu from the first hook on, to remora_boot_cpu at first;
 *   - each interrupt entry restarts a record that it interrupted: remora_entry.inc, remora_entry.asm;
 *   - the kernel is compiled with -mno-red-zone.
 * A function without another statement returns 0, or a negative number if it has changed nothing; then
 * remora_last_error() has the reason. Calling context, where it is not stated: any but NMI, one call at a time. */
#ifndef REMORA_TRACER_H
#define REMORA_TRACER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REMORA_INTERFACE 1 /* grows when a declaration of this file changes its meaning */

/* ---- memory and processors ------------------------------------------------------------------------------------ */

/* What GS leads to: an opaque 128 bytes, aligned to 64. A kernel that has an area of its own at GS keeps them in it,
 * and its linker gets --defsym=remora_gs=OFFSET; else remora_gs is 0. As long as they are zeros nothing is recorded. */
#define REMORA_CPU_BYTES 128
#define REMORA_MEMORY_ALIGNMENT 4096

struct remora_cpu;

/* A processor has this one until it has its own: it refuses each record, and counts it. */
extern struct remora_cpu remora_boot_cpu;

/* How many entries the tables have. A table that is full refuses and counts. */
struct remora_sizes {
    uint16_t chunks;       /* 1 to 256 */
    uint16_t names;        /* 1 to 65,534: each name of a task, lock, vector or level takes one */
    uint16_t declarations; /* 1 to 65,534: of typed events */
    uint8_t no_export;     /* 1: no remora_export(), for a trace that is read in memory; saves names * 288 bytes */
    uint8_t compress;      /* 1: FTrace_compress_chunk() works; takes 45 KB */
};

#define REMORA_SIZES_SMALL                                                                                             \
    { 4, 64, 4, 1, 0 }

struct remora_config {
    void* memory; /* aligned to REMORA_MEMORY_ALIGNMENT; one piece of physical memory; stays the tracer's */
    size_t bytes; /* more than remora_bytes(&sizes): the rest is for records, 16 bytes each */
    struct remora_sizes sizes; /* all zeros: REMORA_SIZES_SMALL */
    uint64_t virt_minus_phys;  /* of all memory that is given to the tracer; 0: it is mapped one to one */
    struct remora_cpu* own;    /* of the first processor, as for remora_cpu_init(); null: it is in the memory */
    uint32_t khz;              /* of the time stamp counter: measured, or by remora_calibrate_...() */
    uint32_t error_ppm;        /* the measured error of khz; 0: not known */
    uint64_t boot_id;          /* differs from boot to boot; 0: made of the time stamp counter */
    const char* kernel;        /* name and version; null: none. Cut at 48 bytes, as all names */
    const char* application;
    const uint8_t* hooks; /* the codes of the events that the kernel records, FTrace_EVT_...: what has no hook is not */
    size_t hook_count;    /* judged, and nothing is concluded from its absence. 0: not stated */
};

/* Lists for `hooks`: static const uint8_t hooks[] = {REMORA_HOOKS_WAITS, FTrace_EVT_set_mutex_lock, ...};
 * of three hooks, and of all eight. */
#define REMORA_HOOKS_SWITCHES                                                                                          \
    FTrace_EVT_task_dispatch, FTrace_EVT_context_switch, FTrace_EVT_interrupt_start, FTrace_EVT_interrupt_end
#define REMORA_HOOKS_WAITS                                                                                             \
    REMORA_HOOKS_SWITCHES, FTrace_EVT_task_create, FTrace_EVT_task_end, FTrace_EVT_task_block,                         \
        FTrace_EVT_task_unblock, FTrace_EVT_task_epilogue

/* Returns how much of the memory the tables take. */
size_t remora_bytes(const struct remora_sizes* sizes);

/* Takes the memory; once, on the first processor, before the others. Then GS must lead to remora_cpu_of(0). */
int remora_init(const struct remora_config* config);

/* Returns what GS must lead to on this processor; null before it has its memory. */
struct remora_cpu* remora_cpu_of(unsigned cpu);

/* Takes more memory, for a further processor (1 to REMORA_CPUS - 1) whose records go there; once for each, on any
 * processor, after remora_init(). own: 128 bytes, aligned to 64, to which GS leads there already, remora_gs bytes after
 * its base; null: they are in the memory. */
#define REMORA_CPUS 32
int remora_cpu_init(unsigned cpu, void* memory, size_t bytes, struct remora_cpu* own);

/* Lets GS lead to `cpu`, in a kernel that does not use GS itself (remora_gs is 0). Context: on that processor. A later
 * write to the register GS destroys the base. */
static inline void remora_set_gs(struct remora_cpu* cpu) {
    const uint64_t base = (uintptr_t)cpu;
    __asm__ volatile("wrmsr" : : "c"(0xC0000101u), "a"((uint32_t)base), "d"((uint32_t)(base >> 32)) : "memory");
}

/* Return the rate of the time stamp counter in kHz; 0: there is no such clock. They take up to 50 ms. Context:
 * interrupts off, nothing else at the clock. pit: counter 2 of the 8253, and port 0x61. pm_timer: the port of the
 * 32-bit counter, from the FADT. hpet: its registers, mapped uncached. */
uint32_t remora_calibrate_pit(void);
uint32_t remora_calibrate_pm_timer(uint16_t port);
uint32_t remora_calibrate_hpet(const volatile void* registers);
uint32_t remora_calibrate_cpuid(void); /* leaf 15h, or 40000010h of a hypervisor */

/* ---- what the tracer calls ------------------------------------------------------------------------------------ */

/* Each is weak in the library: a kernel may define it. */
/* Ends the machine, because a condition that must hold does not. Else: the processor halts. */
void remora_port_assert(const char* condition, const char* file, int line);
/* Disables the interrupts of this processor and returns their state; restores it. Else: pushfq, cli; popfq. */
uint64_t remora_port_irq_save(void);
void remora_port_irq_restore(uint64_t state);

/* ---- records -------------------------------------------------------------------------------------------------- */

/* Makes a record, if its family is recorded. code: one of remora_events.h, which also has a function for each event.
 * Context: any. */
static inline __attribute__((always_inline)) void remora_log_code(uint8_t code, uint16_t par1, uint32_t par2) {
    __asm__ goto("testl %0, %%gs:remora_gs+40\n\tjz %l1"
                 :
                 : "ri"((uint32_t)1 << ((code & 0xF0) == 0xF0 ? 15 : code & 0x0F))
                 : "cc"
                 : disabled);
    __asm__ volatile("call tracer_record"
                     :
                     : "D"((uint64_t)(code | (uint32_t)par1 << 16)), "S"(par2)
                     : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "cc", "memory");
disabled:;
}

#include <remora_events.h>

/* ---- names ---------------------------------------------------------------------------------------------------- */
/* Records have numbers; a name makes them readable. A number that is used again gets a new entry: the later name holds
 * from there on. Context: any, NMI included. */

enum remora_name_kind {
    REMORA_NAME_INTERRUPT = 1, /* a vector */
    REMORA_NAME_LOCK = 2,
    REMORA_NAME_SEMAPHORE = 3,
    REMORA_NAME_SERVER = 4,
    REMORA_NAME_LEVEL = 5,
    REMORA_NAME_CONDITION = 6,
    REMORA_NAME_PORT = 7
};

void remora_name(enum remora_name_kind kind, uint16_t id, const char* name);

/* In which order a level runs its tasks: `remora check` judges it by that. */
enum remora_level_kind {
    REMORA_LEVEL_OTHER = 1,          /* none of these: it is not judged */
    REMORA_LEVEL_FIFO = 2,           /* until it waits; first come, first served */
    REMORA_LEVEL_ROUND_ROBIN = 3,    /* a queue; who has used its slice goes to the end */
    REMORA_LEVEL_SCAN = 4,           /* a table that is searched in a circle */
    REMORA_LEVEL_FIXED_PRIORITY = 5, /* the shortest relative deadline (deadline_ns) first */
    REMORA_LEVEL_EDF = 6,            /* the earliest absolute deadline first */
    REMORA_LEVEL_BACKGROUND = 7      /* after all others */
};

void remora_name_level(uint16_t level, const char* name, enum remora_level_kind kind);

struct remora_task {
    uint16_t context; /* what the records have: 1 to 65,535, a fresh number for each task; 0 is the boot */
    uint16_t level;
    uint32_t pid;
    const char* name;                                               /* "idle": what runs when nothing else can */
    uint64_t wcet_ns, period_ns, deadline_ns, budget_ns, offset_ns; /* 0: none */
};

/* Names a task, without a record. */
void remora_name_task(const struct remora_task* task);

/* ---- the eight hooks that each kernel has --------------------------------------------------------------------- */
/* They record the published events. Context: any, with interrupts off where the kernel has them off.
 *
 *                      +------------ exec_end(STAYS_READY) ----------------+
 *                      v                                                   |
 *   task_new --> task_ready --> ready --> exec_begin --> running ----------+
 *                      ^                                    |  |
 *                      +------- waiting <-- exec_end(wait) -+  +--> task_end, exec_end(STAYS_READY)
 *
 *   isr_enter --> isr_exit      within anything, nested; before the switch that a handler makes
 *   idle                        is exec_begin of the task that runs when nothing else can
 */

/* A task exists; it is named. It is not ready yet. */
static inline void remora_task_new(const struct remora_task* task) {
    remora_name_task(task);
    remora_log_task_create(task->context, task->pid);
}

/* A task ends. */
static inline void remora_task_end(uint16_t context, uint32_t pid) {
    remora_log_task_end(context, pid);
}

/* A task may run from now on: it was created, or what it waited for has come. */
static inline void remora_task_ready(uint16_t context) {
    remora_log_task_unblock(context, 0);
}

/* What a task waits for: a kind, and the number of the object. */
#define REMORA_WAIT(kind, object) ((uint32_t)(kind) << 16 | (uint16_t)(object))
#define REMORA_WAIT_SEMAPHORE 1u
#define REMORA_WAIT_DELAY 2u
#define REMORA_WAIT_CONDITION 3u
#define REMORA_WAIT_MUTEX 8u
#define REMORA_WAIT_CHANNEL 9u /* sleeps on an address: 16 bits of it, or a number */
#define REMORA_STAYS_READY 0u

/* The processor belongs to this task from here on. */
static inline void remora_exec_begin(uint16_t context, uint16_t level) {
    remora_log_task_dispatch(context, level);
    remora_log_context_switch(context);
}

/* The processor is about to be taken from this task. wait: REMORA_WAIT(kind, object) if it is not ready any more; else
 * REMORA_STAYS_READY, also if it has ended. */
static inline void remora_exec_end(uint16_t context, uint16_t level, uint32_t wait) {
    if (wait != REMORA_STAYS_READY) {
        remora_log_task_block(context, wait);
    }
    remora_log_task_epilogue(context, level);
}

/* The processor has nothing to do: its idle task has it from here on. */
static inline void remora_idle(uint16_t context, uint16_t level) {
    remora_exec_begin(context, level);
}

static inline void remora_isr_enter(uint8_t vector) {
    remora_log_interrupt_start(vector);
}

static inline void remora_isr_exit(uint8_t vector) {
    remora_log_interrupt_end(vector);
}

/* A spin lock belongs to a processor, not to a task: these are for it, set_mutex_... are for locks whose waiters sleep.
 * waited: ticks of the time stamp counter. */
static inline void remora_spin_acquire(uint16_t lock, uint32_t waited) {
    remora_log_spin_acquire(lock, waited);
}

static inline void remora_spin_release(uint16_t lock) {
    remora_log_spin_release(lock);
}

/* ---- the usual run -------------------------------------------------------------------------------------------- */

enum remora_mode {
    REMORA_CYCLIC = 0, /* the oldest records are replaced */
    REMORA_STOP = 8    /* when the memory is full, recording ends, and what comes is counted */
};

/* Makes all memory of this processor one chunk, and records into it from now on. */
int remora_start(enum remora_mode mode);

/* Ends recording on this processor. */
void remora_stop(void);

/* Passes the chunks of all processors, and the totals, to `put`, in pieces of at most 4,096 bytes: one after the other
 * they are a file that each tool reads. put returns 0, or another number, which ends the export and is returned.
 * Recording must have ended on every processor. Once. */
int remora_export(int (*put)(void* context, const void* bytes, size_t size), void* context);

/* The same in bounded steps, for a task: remora_export_step() returns 1 as long as there is more. */
int remora_export_begin(int (*put)(void* context, const void* bytes, size_t size), void* context);
int remora_export_step(void);

struct remora_counts {
    uint64_t committed, dropped, refused, made_by_tracer, overwritten; /* records of this processor */
};

void remora_totals(struct remora_counts* counts);

/* Returns 1 if the interrupt entry of this vector restarts records, 0 if it does NOT, -1 if there is none: it calls the
 * entry as if it had interrupted a record. The handler runs once: take a vector whose handler does no harm. If
 * recording is on, an ipoint of the vector is left. */
int remora_probe(unsigned vector);

struct remora_error {
    const char* function; /* null: no failure so far */
    const char* argument; /* null: no argument is at fault */
    long long value;
    const char* text;
};

struct remora_error remora_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
