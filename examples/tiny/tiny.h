/* SPDX-License-Identifier: MIT */
/* A small kernel with threads, a tick that preempts, sleeping, and locks that block. */
/* clang-format off */
#ifndef TINY_H
#define TINY_H

#include <stddef.h>
#include <stdint.h>

#define KERNBASE	0xffffffff80000000
#define HZ		1000
#define TIMER_VECTOR	32
#define NTHREADS	16
#define STACK		8192

enum state { UNUSED, READY, RUNNING, ASLEEP };

struct thread {
	uint64_t sp;
	enum state state;
	uint16_t number;	/* never given twice */
	uint16_t level;
	const void *channel;	/* what it sleeps on */
	uint64_t wakeup;	/* tick at which it ends its sleep; 0: none */
	void (*run)(void);
	char stack[STACK] __attribute__((aligned(16)));
};

struct lock {
	uint16_t number;
	struct thread *owner;
};

extern struct thread *current;
extern volatile uint64_t ticks;

/* machine.c */
void machine_init(uint32_t *khz);
uint64_t irq_save(void);
void irq_restore(uint64_t flags);
void print(const char *text);
void put_debug(const void *bytes, size_t n);
void power_off(unsigned status) __attribute__((noreturn));

/* thread.c */
void threads_init(void);
void thread_create(const char *name, uint16_t level, void (*run)(void));
void schedule(void);
void tick(void);
void sleep_until(uint64_t tick);
void sleep_on(const void *channel);
void wakeup(const void *channel);
void lock(struct lock *lock);
void unlock(struct lock *lock);
void idle(void) __attribute__((noreturn));

#endif
