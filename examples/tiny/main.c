/* SPDX-License-Identifier: MIT */
/* Three kinds of threads for 200 ms; then the trace leaves by the debug port. */
#include "tiny.h"

#include <remora_tracer.h>

static char memory[512 * 1024] __attribute__((aligned(4096)));
static struct lock lamp = { .number = 1 };
static int full;

static void work(unsigned us)
{
	uint64_t end = __builtin_ia32_rdtsc() + us * 1000ull;

	while (__builtin_ia32_rdtsc() < end)
		;
}

static void sensor(void)
{
	uint64_t next;

	for (next = 5; next < 200; next += 5) {
		sleep_until(next);
		lock(&lamp);
		work(200);
		unlock(&lamp);
	}
}

static void producer(void)
{
	int i;

	for (i = 0; i < 40; i++) {
		uint64_t flags;

		lock(&lamp);
		work(700);
		unlock(&lamp);
		flags = irq_save();
		full++;
		wakeup(&full);
		irq_restore(flags);
		sleep_until(ticks + 3);
	}
}

static void consumer(void)
{
	int i;

	for (i = 0; i < 40; i++) {
		uint64_t flags = irq_save();

		while (!full)
			sleep_on(&full);
		full--;
		irq_restore(flags);
		work(300);
	}
}

static int put(void *context, const void *bytes, size_t n)
{
	(void)context;
	put_debug(bytes, n);
	return 0;
}

static void last(void)
{
	sleep_until(220);
	irq_save();
	remora_stop();
	print("tiny: done\n");
	power_off(remora_export(put, NULL) ? 3 : 0);
}

void kmain(void)
{
	static const uint8_t hooks[] = { REMORA_HOOKS_WAITS, FTrace_EVT_set_mutex_lock, FTrace_EVT_set_mutex_acquire,
					 FTrace_EVT_set_mutex_unlock };
	struct remora_config config = { .hooks = hooks, .hook_count = sizeof hooks, .memory = memory, .bytes = sizeof memory,
					.sizes = { .chunks = 4, .names = 64, .declarations = 4 },
					.virt_minus_phys = KERNBASE, .kernel = "tiny 1", .application = "threads" };

	remora_set_gs(&remora_boot_cpu);
	machine_init(&config.khz);
	if (remora_init(&config))
		power_off(1);
	remora_set_gs(remora_cpu_of(0));
	remora_start(REMORA_STOP);
	print(remora_probe(3) == 1 ? "tiny: entries restart records\n" : "tiny: entries do NOT restart records\n");
	remora_name(REMORA_NAME_INTERRUPT, TIMER_VECTOR, "timer");
	remora_name(REMORA_NAME_LOCK, lamp.number, "lamp");
	remora_name_level(1, "high", REMORA_LEVEL_ROUND_ROBIN);
	remora_name_level(2, "low", REMORA_LEVEL_ROUND_ROBIN);
	remora_name_level(9, "background", REMORA_LEVEL_BACKGROUND);
	threads_init();
	thread_create("sensor", 1, sensor);
	thread_create("producer", 2, producer);
	thread_create("consumer", 2, consumer);
	thread_create("last", 1, last);
	idle();
}
