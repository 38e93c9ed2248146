/* SPDX-License-Identifier: MIT */
/* Your kernel: two tasks that take turns, traced. What is marked is all that the tracer needs. */
#include <remora_tracer.h>

static char memory[64 * 1024] __attribute__((aligned(REMORA_MEMORY_ALIGNMENT)));	/* tracer */
static const uint8_t hooks[] = { REMORA_HOOKS_WAITS };					/* tracer */

enum { IDLE = 1, PING, PONG, LEVEL = 1 };

static void work(unsigned loops)
{
	while (loops--)
		__asm__ volatile("pause");
}

static int put(void *context, const void *bytes, size_t n)				/* tracer: to port 0xe9 */
{
	(void)context;
	__asm__ volatile("rep outsb" : "+S"(bytes), "+c"(n) : "d"(0xe9) : "memory");
	return 0;
}

static void power_off(unsigned status)
{
	__asm__ volatile("outl %0, %1" : : "a"(status), "Nd"((uint16_t)0xf4));
	for (;;)
		__asm__ volatile("hlt");
}

static void create(uint16_t number, const char *name)
{
	const struct remora_task task = { .context = number, .level = LEVEL, .pid = number, .name = name };

	remora_task_new(&task);								/* tracer */
	remora_task_ready(number);							/* tracer */
}

static void run(uint16_t number, unsigned loops)
{
	remora_exec_begin(number, LEVEL);						/* tracer */
	work(loops);
	remora_exec_end(number, LEVEL, REMORA_STAYS_READY);				/* tracer */
}

void kmain(void)
{
	const struct remora_config config = {						/* tracer */
		.memory = memory, .bytes = sizeof memory, .sizes = { 1, 16, 1, 0, 0 },
		.khz = remora_calibrate_pit(), .kernel = "template", .application = "ping pong",
		.hooks = hooks, .hook_count = sizeof hooks,
	};
	int i;

	remora_set_gs(&remora_boot_cpu);						/* tracer */
	if (remora_init(&config))							/* tracer */
		power_off(1);
	remora_set_gs(remora_cpu_of(0));						/* tracer */
	remora_start(REMORA_STOP);							/* tracer */
	remora_name_level(LEVEL, "turns", REMORA_LEVEL_ROUND_ROBIN);			/* tracer */
	create(IDLE, "idle");
	create(PING, "ping");
	create(PONG, "pong");
	for (i = 0; i < 100; i++) {
		run(PING, 2000);
		run(PONG, 1000);
	}
	run(IDLE, 1000);
	remora_stop();									/* tracer */
	power_off(remora_export(put, NULL) ? 3 : 0);					/* tracer */
}
