/* SPDX-License-Identifier: MIT */
/* Threads: the lowest level first, in turn within a level; a tick ends a turn. Everything here runs with interrupts off. */
#include "tiny.h"

#include <remora_tracer.h>

static struct thread threads[NTHREADS];
static struct thread *queue[NTHREADS];	/* those that are ready, the first one first */
static unsigned nready;
static uint16_t next_number = 1;
struct thread *current;
volatile uint64_t ticks;

void swtch(uint64_t *save, uint64_t restore);

static void enqueue(struct thread *t)
{
	unsigned i = nready++;

	for (; i > 0 && queue[i - 1]->level > t->level; i--)
		queue[i] = queue[i - 1];
	queue[i] = t;
	t->state = READY;
}

static void make_ready(struct thread *t)
{
	t->channel = NULL;
	t->wakeup = 0;
	remora_task_ready(t->number);
	enqueue(t);
}

static void begin(void)
{
	irq_restore(0x202);
	current->run();
	irq_save();
	remora_task_end(current->number, current->number);
	current->state = UNUSED;
	schedule();
}

void thread_create(const char *name, uint16_t level, void (*run)(void))
{
	uint64_t flags = irq_save();
	struct thread *t = threads;
	struct remora_task task;
	uint64_t *sp;
	int i;

	while (t->state != UNUSED)
		t++;
	t->number = next_number++;
	t->level = level;
	t->run = run;
	sp = (uint64_t *)(t->stack + STACK);
	*--sp = 0;
	*--sp = (uint64_t)begin;
	for (i = 0; i < 6; i++)
		*--sp = 0;
	t->sp = (uint64_t)sp;
	task = (struct remora_task){ .context = t->number, .level = level, .pid = t->number, .name = name };
	remora_task_new(&task);
	make_ready(t);
	irq_restore(flags);
}

/* Leaves the processor to the first thread that is ready; the running one is in the queue, or its state says why not. */
void schedule(void)
{
	struct thread *from = current;
	unsigned i;

	remora_exec_end(from->number, from->level,
			from->state != ASLEEP ? REMORA_STAYS_READY :
			from->wakeup ? REMORA_WAIT(REMORA_WAIT_DELAY, 0) :
			REMORA_WAIT(REMORA_WAIT_CHANNEL, (uintptr_t)from->channel >> 2));
	current = queue[0];
	nready--;
	for (i = 0; i < nready; i++)
		queue[i] = queue[i + 1];
	current->state = RUNNING;
	remora_exec_begin(current->number, current->level);
	if (current != from)
		swtch(&from->sp, current->sp);
}

static void yield(void)
{
	enqueue(current);
	schedule();
}

void tick(void)
{
	struct thread *t;

	ticks++;
	for (t = threads; t < threads + NTHREADS; t++)
		if (t->state == ASLEEP && t->wakeup && t->wakeup <= ticks)
			make_ready(t);
	if (nready && queue[0]->level <= current->level)
		yield();
}

static void fall_asleep(const void *channel, uint64_t until)
{
	current->state = ASLEEP;
	current->channel = channel;
	current->wakeup = until;
	schedule();
}

void sleep_until(uint64_t tick)
{
	uint64_t flags = irq_save();

	if (ticks < tick)
		fall_asleep(NULL, tick);
	irq_restore(flags);
}

void sleep_on(const void *channel)
{
	fall_asleep(channel, 0);
}

void wakeup(const void *channel)
{
	struct thread *t;

	for (t = threads; t < threads + NTHREADS; t++)
		if (t->state == ASLEEP && t->channel == channel)
			make_ready(t);
}

void lock(struct lock *lock)
{
	uint64_t flags = irq_save();

	remora_log_set_mutex_lock(current->number, lock->number);
	while (lock->owner)
		sleep_on(lock);
	lock->owner = current;
	remora_log_set_mutex_acquire(current->number, lock->number);
	irq_restore(flags);
}

void unlock(struct lock *lock)
{
	uint64_t flags = irq_save();

	remora_log_set_mutex_unlock(current->number, lock->number);
	lock->owner = NULL;
	wakeup(lock);
	if (nready && queue[0]->level < current->level)
		yield();
	irq_restore(flags);
}

/* The thread that was there first: it runs when no other one can. */
void threads_init(void)
{
	const struct remora_task task = { .context = next_number, .level = 9, .pid = next_number, .name = "idle" };

	current = threads;
	current->number = next_number++;
	current->level = 9;
	current->state = RUNNING;
	remora_task_new(&task);
	remora_task_ready(current->number);
	remora_exec_begin(current->number, current->level);
}

void idle(void)
{
	for (;;) {
		irq_save();
		if (nready)
			yield();
		__asm__ volatile("sti; hlt");
	}
}
