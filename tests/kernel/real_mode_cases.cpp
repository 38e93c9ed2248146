// SPDX-License-Identifier: MIT
// The BIOS is asked from the running kernel: what it states about the memory is what the boot path handed over, the
// machine is afterwards as it was, and the trace shows where it was away. s_real_mode_refused is for others.
#include "kernel/run/real_mode.hpp"

#include "arch/x86_64/interrupts.hpp"
#include "arch/x86_64/paging.hpp"
#include "arch/x86_64/pvh.hpp"
#include "arch/x86_64/real_mode.hpp"
#include "kernel/interrupt/interrupt.hpp"
#include "kernel/time/timer.hpp"
#include "tests/kernel/row_cases.hpp"

namespace {

namespace real_mode_cases {

using namespace guest;
using namespace guest::rows;

constexpr std::size_t kBiosBytes = 0x500; // interrupt vectors and data area

// Copies page 0, which is absent otherwise; the compiler must not know that this is null.
void copy_page_0(std::span<std::uint8_t, kBiosBytes> into) {
    const arch::IrqGuard guard;
    arch::x86_64::set_page(0, arch::x86_64::PageUse::constants);
    std::uint64_t source = 0;
    void* target = into.data();
    std::size_t count = into.size();
    asm volatile("rep movsb" : "+S"(source), "+D"(target), "+c"(count) : : "memory");
    arch::x86_64::set_page(0, arch::x86_64::PageUse::absent);
}

bool same(const arch::MemoryRange& one, const arch::MemoryRange& other) {
    return one.base == other.base && one.size_bytes == other.size_bytes && one.kind == other.kind;
}

// 04 14: around each question, and nothing in between
int map(const kernel::AppArguments&) {
    static constinit std::array<arch::MemoryRange, arch::BootInfo::kRangesMax> ranges{};
    static constinit std::array<std::uint8_t, kBiosBytes> before{};
    static constinit std::array<std::uint8_t, kBiosBytes> after{};
    const arch::BootInfo& boot = arch::x86_64::pvh_start_information();
    check(boot.magic == arch::BootInfo::kMagic && boot.range_count > 2, "this machine came up by PVH");
    copy_page_0(before);
    const int chunk = begin();
    const std::size_t count = must(kernel::bios_memory_map(ranges));
    end(chunk);
    copy_page_0(after);
    check(before == after, "the BIOS's vectors and data are as they were");
    check(count == boot.range_count, "as many ranges as PVH handed over");
    for (std::size_t i = 0; i < count && i < boot.range_count; ++i) {
        if (!same(ranges[i], boot.ranges[i])) {
            ++failures;
            kernel::console().line("failed: range ", i, " is ", kernel::Hex{ranges[i].base}, " + ",
                                   kernel::Hex{ranges[i].size_bytes}, ", but PVH said ",
                                   kernel::Hex{boot.ranges[i].base}, " + ", kernel::Hex{boot.ranges[i].size_bytes});
        }
    }
    check(rows::count(FTrace_EVT_to_real_mode, 0, 0) == count, "away once for each range");
    std::uint8_t previous = FTrace_EVT_to_protected_mode;
    for (const tracer::Record& record : recording.records()) {
        check((previous == FTrace_EVT_to_real_mode) == (record.event_code() == FTrace_EVT_to_protected_mode),
              "nothing is recorded while the BIOS runs, and it comes back");
        previous = record.event_code();
    }
    check(kernel::bios_memory_map(std::span(ranges).first(1)).error() == lib::Error::no_space, "one range has room");
    return failures;
}

// What the kernel lives on is as it was: tables, stack, clock and timer, lines, page 0.
int round_trips(const kernel::AppArguments&) {
    static constinit volatile int ticks = 0;
    const auto id = must(kernel::kern_event_post_periodic(
        kernel::after(lib::microseconds(200)), lib::microseconds(200), [](void*) { ticks = ticks + 1; }, nullptr));
    const lib::Ticks begin = arch::timestamp();
    for (int i = 0; i < 200; ++i) {
        arch::BiosRegisters registers{
            .eax = 0x8800, .ebx = 0x1234'5678, .ecx = 0x9ABC'DEF0, .esi = 7, .edi = 8, .ebp = 9, .carry = true};
        must(kernel::real_mode_call(0x15, registers)); // memory above 1 MiB, in KiB
        check(!registers.carry && (registers.eax & 0xFFFF) > 0x3C00, "the BIOS knows of 15 MiB and more");
        check(registers.ebx == 0x1234'5678 && registers.ecx == 0x9ABC'DEF0 && registers.esi == 7 &&
                  registers.edi == 8 && registers.ebp == 9,
              "registers go there and come back");
    }
    check(arch::timestamp() > begin, "the clock continued");
    const int counted = ticks;
    spin_until([counted] { return ticks > counted + 2; }); // the timer still interrupts
    must(kernel::kern_event_delete(id));
    check(!arch::readable(0), "page 0 is absent");
    asm volatile("int $0x81" : : : "memory"); // the kernel's table and segments serve
    std::uint64_t gs_base_low = 0;
    asm volatile("movq %%gs:0, %0" : "=r"(gs_base_low)); // faults if the base is lost
    arch::BiosRegisters registers{};
    check_error(kernel::real_mode_call(0x08, registers), lib::Error::invalid_argument, "a vector of the processor");
    return failures;
}

int refused(const kernel::AppArguments&) {
    static constinit std::array<arch::MemoryRange, 4> ranges{};
    arch::BiosRegisters registers{.eax = 0x8800};
    check_error(kernel::real_mode_call(0x15, registers), lib::Error::unsupported, "there is no BIOS");
    check(registers.eax == 0x8800, "a refused call changes nothing");
    check(kernel::bios_memory_map(ranges).error() == lib::Error::unsupported, "no BIOS to ask");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_row_real_mode", "the BIOS's memory map is the one that PVH hands over", &checked<&map>, true},
    {"t_real_mode_round_trips", "a BIOS call leaves the machine as it was", &checked<&round_trips>, false},
    {"s_real_mode_refused", "UEFI leaves no BIOS to call", &checked<&refused>, false},
};

} // namespace real_mode_cases

} // namespace
