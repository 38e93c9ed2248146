/* SPDX-License-Identifier: MIT */
/* The machine: interrupt table, 8259, 8253, serial port, and the ports of QEMU that end a run. */
#include "tiny.h"

#include <remora_tracer.h>

static void outb(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

static uint8_t inb(uint16_t port)
{
	uint8_t value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
	return value;
}

uint64_t irq_save(void)
{
	uint64_t flags;

	__asm__ volatile("pushfq; popq %0; cli" : "=r"(flags) : : "memory");
	return flags;
}

void irq_restore(uint64_t flags)
{
	__asm__ volatile("pushq %0; popfq" : : "r"(flags) : "memory", "cc");
}

void print(const char *text)
{
	while (*text) {
		while (!(inb(0x3fd) & 0x20))
			;
		outb(0x3f8, *text++);
	}
}

void put_debug(const void *bytes, size_t n)
{
	__asm__ volatile("rep outsb" : "+S"(bytes), "+c"(n) : "d"(0xe9) : "memory");
}

void power_off(unsigned status)
{
	__asm__ volatile("outl %0, %1" : : "a"(status), "Nd"((uint16_t)0xf4));
	for (;;)
		__asm__ volatile("cli; hlt");
}

struct gate {
	uint16_t low, selector, flags, middle;
	uint32_t high, zero;
} idt[256];

extern char stubs[];

static void idt_init(void)
{
	struct { uint16_t limit; uint64_t base; } __attribute__((packed)) table = { sizeof idt - 1, (uint64_t)idt };
	uint64_t stub = (uint64_t)stubs;
	unsigned i;

	for (i = 0; i < 256; i++, stub += 16) {
		idt[i].low = stub;
		idt[i].selector = 8;
		idt[i].flags = 0x8e00;
		idt[i].middle = stub >> 16;
		idt[i].high = stub >> 32;
	}
	__asm__ volatile("lidt %0" : : "m"(table));
}

/* Counts time stamps in 50 ms of counter 2. */
static uint32_t calibrate(void)
{
	uint64_t begin;

	outb(0x61, (inb(0x61) & ~2) | 1);
	outb(0x43, 0xb0);
	outb(0x42, 59659 & 0xff);
	outb(0x42, 59659 >> 8);
	begin = __builtin_ia32_rdtsc();
	while (!(inb(0x61) & 0x20))
		;
	return (__builtin_ia32_rdtsc() - begin) / 50;
}

void machine_init(uint32_t *khz)
{
	static const uint8_t init[][2] = {
		{ 0x20, 0x11 }, { 0xa0, 0x11 }, { 0x21, 32 }, { 0xa1, 40 }, { 0x21, 4 }, { 0xa1, 2 },
		{ 0x21, 1 }, { 0xa1, 1 }, { 0x21, 0xfe }, { 0xa1, 0xff },
	};
	unsigned i;

	*khz = calibrate();
	for (i = 0; i < sizeof init / sizeof init[0]; i++)
		outb(init[i][0], init[i][1]);
	outb(0x43, 0x34);
	outb(0x40, (1193182 / HZ) & 0xff);
	outb(0x40, (1193182 / HZ) >> 8);
	idt_init();
}

void trap(uint64_t vector, uint64_t error, uint64_t rip)
{
	(void)error;
	(void)rip;
	remora_isr_enter(vector);
	if (vector < 32 && vector != 3) {
		print("tiny: exception\n");
		power_off(2);
	}
	if (vector == TIMER_VECTOR) {
		outb(0x20, 0x20);
		remora_isr_exit(vector);
		tick();
		return;
	}
	remora_isr_exit(vector);
}
