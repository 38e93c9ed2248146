// SPDX-License-Identifier: MIT
// Source: ACPI specification 6.4, section 15.1 (INT 15h, E820h: query system address map).
#include "kernel/run/real_mode.hpp"

#include "kernel/panic/console.hpp"
#include "kernel/section/irq_guard.hpp"
#include "kernel/trace/machine.hpp"

namespace kernel {

namespace {

constexpr std::uint8_t kSystemServices = 0x15;
constexpr std::uint32_t kQueryMap = 0xE820;
constexpr std::uint32_t kSignature = 0x534D'4150; // "SMAP"

// Is an entry as the BIOS writes it.
struct MapEntry {
    std::uint64_t base;
    std::uint64_t size_bytes;
    std::uint32_t kind;
    std::uint32_t reserved; // the query does not ask for it
};

constexpr std::uint32_t kEntryBytes = 20;
constexpr std::size_t kEntriesMax = 1'024; // a longer map is taken for one that does not end

void say_why_not(std::uint8_t vector) {
    switch (arch::real_mode()) {
    case arch::RealMode::available:
        console().line("real mode: int ", Hex{vector},
                       " refused: no service of the BIOS; remedy: a vector from 0x10 "
                       "on whose handler is in the ROM");
        break;
    case arch::RealMode::not_started:
        console().line("real mode: refused, because the machine is still being started; remedy: call from a run level");
        break;
    case arch::RealMode::uefi:
        console().line("real mode: refused, because UEFI firmware started this machine and left no BIOS to call; "
                       "remedy: boot it by a BIOS (BOOT=pvh)");
        break;
    case arch::RealMode::no_bios:
        console().line("real mode: refused, because interrupt vector 15h does not point into a ROM: this machine has "
                       "no BIOS; remedy: boot it by a BIOS");
        break;
    case arch::RealMode::no_memory:
        console().line("real mode: refused, because the memory from 0x8000 to 0xb000, which the way there needs, is "
                       "not free in the boot path's map; remedy: boot it by a BIOS");
        break;
    }
}

// Holds one entry and the continuation for the next question. It is read in the same section as the call, because other
// code may use the buffer afterwards.
struct Answer {
    MapEntry entry{};
    std::uint32_t next = 0; // 0: this entry was the last
    bool end = false;       // there is no entry left
};

lib::Result<Answer> ask(std::uint32_t continuation) {
    const IrqGuard guard;
    arch::BiosRegisters registers{
        .eax = kQueryMap, .ebx = continuation, .ecx = kEntryBytes, .edx = kSignature, .es = arch::kBiosBufferSegment};
    if (const auto called = real_mode_call(kSystemServices, registers); !called.ok()) {
        return called.error();
    }
    if (registers.carry) {
        // Some BIOSes end their map with the carry; a question that is not known is answered in the same way.
        return continuation == 0 ? lib::Result<Answer>(lib::Error::unsupported) : Answer{.end = true};
    }
    if (registers.eax != kSignature || registers.ecx < kEntryBytes) {
        return lib::Error::corrupt;
    }
    Answer answer;
    __builtin_memcpy(&answer.entry, arch::bios_buffer().data(), kEntryBytes);
    answer.next = registers.ebx;
    return answer;
}

} // namespace

lib::Result<void> real_mode_call(std::uint8_t vector, arch::BiosRegisters& registers) {
    const IrqGuard guard;
    if (const auto offered = arch::bios_offers(vector); !offered.ok()) {
        say_why_not(vector);
        return offered;
    }
    trace_points::real_mode_entered();
    arch::bios_call(vector, registers);
    trace_points::real_mode_left();
    return {};
}

lib::Result<std::size_t> bios_memory_map(std::span<arch::MemoryRange> into) {
    std::uint32_t continuation = 0;
    for (std::size_t count = 0; count < kEntriesMax; ++count) {
        const auto answer = ask(continuation);
        if (!answer.ok()) {
            return answer.error();
        }
        if (answer.value().end) {
            return count;
        }
        if (count == into.size()) {
            return lib::Error::no_space;
        }
        const MapEntry& entry = answer.value().entry;
        into[count] = {entry.base, entry.size_bytes, arch::memory_kind(entry.kind), 0};
        continuation = answer.value().next;
        if (continuation == 0) {
            return count + 1;
        }
    }
    return lib::Error::corrupt;
}

} // namespace kernel
