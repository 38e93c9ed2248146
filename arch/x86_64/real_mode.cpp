// SPDX-License-Identifier: MIT
// Prepares the environment of the switch: which interrupts may occur meanwhile, which pages are visible, and which
// values are passed.
//
// Interrupts during a call: the flag is off. If the BIOS sets it, no interrupt arrives: the local APIC blocks
// everything and the 8259 pair is masked (neither loses a request). A non-maskable interrupt from outside is masked at
// the local APIC and at the chip set (port 70h, if the machine has that switch), and lost. An NMI that another
// processor sends cannot be masked: the switch in both directions tolerates it (real_mode.S), the BIOS may not.
#include "arch/x86_64/real_mode.hpp"

#include "arch/arch.hpp"
#include "arch/real_mode.hpp"
#include "arch/x86_64/interrupts.hpp"
#include "arch/x86_64/local_apic.hpp"
#include "arch/x86_64/paging.hpp"
#include "arch/x86_64/pic.hpp"
#include "arch/x86_64/port_io.hpp"
#include "arch/x86_64/watchdog.hpp"

#include <array>

extern "C" {
extern const std::byte arch_real_mode_begin[];
extern const std::byte arch_real_mode_end[];
extern const std::byte arch_real_mode_vector[];
extern const std::byte arch_real_mode_nmi[];
extern const std::byte arch_real_mode_nmi_gate[];
void arch_real_mode_switch();
}

namespace arch {

namespace x86_64 {

namespace {

// The registers are in the order in which real_mode.S pops and pushes them, the lowest first, at the end of the stack
// page.
struct [[gnu::packed]] RegisterBlock {
    std::uint16_t ds, es;
    std::uint32_t edi, esi, ebp, unused, ebx, edx, ecx, eax;
    std::uint16_t flags;
};

static_assert(sizeof(RegisterBlock) == 38); // kBlockBytes in real_mode.S
static_assert(kRealModeBuffer == std::uint64_t{kBiosBufferSegment} << 4 &&
              kRealModeEnd - kRealModeBuffer == kBiosBufferBytes);

constexpr std::uint64_t kBlock = kRealModeBuffer - sizeof(RegisterBlock);
constexpr std::uint16_t kFlagsAlwaysOne = 1U << 1;
constexpr std::uint16_t kFlagCarry = 1U << 0;
constexpr std::uint8_t kVectorSystem = 0x15;
constexpr std::uint8_t kVectorFirst = 0x10;
constexpr std::size_t kBiosVectors = 256;
constexpr std::uint16_t kPortClockIndex = 0x70;
constexpr std::uint16_t kPortClockData = 0x71;
constexpr std::uint8_t kClockStatusD = 0x0D; // reading it changes nothing
constexpr std::uint8_t kNmiOff = 0x80;

constinit RealMode g_real_mode = RealMode::not_started;

template <typename T>
T* at(std::uint64_t address) {
    asm volatile("" : "+r"(address)); // the compiler assumes no objects there
    return reinterpret_cast<T*>(address);
}

// Makes page 0 visible during its lifetime.
class BiosVectors {
  public:
    BiosVectors() { set_page(0, PageUse::constants); }

    ~BiosVectors() { set_page(0, PageUse::absent); }

    BiosVectors(const BiosVectors&) = delete;
    BiosVectors& operator=(const BiosVectors&) = delete;

    [[nodiscard]] static bool in_rom(std::uint8_t vector) {
        return is_in_rom(*at<const volatile std::uint32_t>(vector * sizeof(std::uint32_t)));
    }
};

// Blocks all interrupts that can be masked during its lifetime.
class InterruptsBlocked {
  public:
    InterruptsBlocked()
        : m_lines(pic_mask_all())
        , m_local(local_apic_hold()) {
        watchdog_hold();
        PortIo::out8(kPortClockIndex, kNmiOff | kClockStatusD);
        static_cast<void>(PortIo::in8(kPortClockData)); // the clock requires a read after each index
    }

    ~InterruptsBlocked() {
        PortIo::out8(kPortClockIndex, kClockStatusD);
        static_cast<void>(PortIo::in8(kPortClockData));
        watchdog_resume();
        local_apic_resume(m_local);
        pic_restore(m_lines);
    }

    InterruptsBlocked(const InterruptsBlocked&) = delete;
    InterruptsBlocked& operator=(const InterruptsBlocked&) = delete;

  private:
    PicMasks m_lines;
    LocalApicHold m_local;
};

// Places the code of the switch, with the vector to call and the kernel's gate for NMI; never writable while
// executable.
void place_code(std::uint8_t vector) {
    const auto size = static_cast<std::size_t>(arch_real_mode_end - arch_real_mode_begin);
    ASSERT(size <= kRealModeVectors - kRealModeCode);
    auto* const code = at<std::byte>(kRealModeCode);
    __builtin_memcpy(code, arch_real_mode_begin, size);
    code[arch_real_mode_vector - arch_real_mode_begin] = std::byte{vector};
    const BiosVectors visible;
    auto* const vectors = at<std::uint32_t>(kRealModeVectors);
    for (std::size_t i = 0; i < kBiosVectors; ++i) {
        vectors[i] = *at<const volatile std::uint32_t>(i * sizeof(std::uint32_t));
    }
    vectors[kVectorNmi] =
        far_address(kRealModeCode, static_cast<std::uint32_t>(arch_real_mode_nmi - arch_real_mode_begin));
    copy_gate(kVectorNmi, code + (arch_real_mode_nmi_gate - arch_real_mode_begin));
}

bool is_usable(const BootInfo& boot, std::uint64_t begin, std::uint64_t end) {
    for (std::uint32_t i = 0; i < boot.range_count && i < BootInfo::kRangesMax; ++i) {
        const MemoryRange& range = boot.ranges[i];
        if (range.kind == MemoryKind::usable && range.base <= begin && end - range.base <= range.size_bytes) {
            return true;
        }
    }
    return false;
}

RealMode find_out(const BootInfo& boot) {
    if (boot.path == BootPath::uefi) {
        return RealMode::uefi;
    }
    if (!is_usable(boot, kRealModeCode, kRealModeEnd)) {
        return RealMode::no_memory;
    }
    const BiosVectors vectors;
    return BiosVectors::in_rom(kVectorSystem) ? RealMode::available : RealMode::no_bios;
}

} // namespace

void real_mode_start(const BootInfo& boot) {
    g_real_mode = find_out(boot);
}

} // namespace x86_64

RealMode real_mode() {
    return x86_64::g_real_mode;
}

std::span<std::byte> bios_buffer() {
    return {x86_64::at<std::byte>(x86_64::kRealModeBuffer), kBiosBufferBytes};
}

lib::Result<void> bios_offers(std::uint8_t vector) {
    using namespace x86_64;
    ASSERT(interrupts_disabled());
    if (g_real_mode != RealMode::available) {
        return lib::Error::unsupported;
    }
    const BiosVectors vectors;
    if (vector < kVectorFirst || !BiosVectors::in_rom(vector)) {
        return lib::Error::invalid_argument;
    }
    return {};
}

void bios_call(std::uint8_t vector, BiosRegisters& registers) {
    using namespace x86_64;
    ASSERT(bios_offers(vector).ok());
    auto* const block = at<RegisterBlock>(kBlock);
    *block = {.ds = registers.ds,
              .es = registers.es,
              .edi = registers.edi,
              .esi = registers.esi,
              .ebp = registers.ebp,
              .unused = 0,
              .ebx = registers.ebx,
              .edx = registers.edx,
              .ecx = registers.ecx,
              .eax = registers.eax,
              .flags = static_cast<std::uint16_t>(kFlagsAlwaysOne | (registers.carry ? kFlagCarry : 0))};
    {
        const InterruptsBlocked silence;
        place_code(vector);
        set_page(kRealModeCode, PageUse::code);
        arch_real_mode_switch();
        set_page(kRealModeCode, PageUse::data);
    }
    registers = {.eax = block->eax,
                 .ebx = block->ebx,
                 .ecx = block->ecx,
                 .edx = block->edx,
                 .esi = block->esi,
                 .edi = block->edi,
                 .ebp = block->ebp,
                 .ds = block->ds,
                 .es = block->es,
                 .carry = (block->flags & kFlagCarry) != 0};
}

} // namespace arch
