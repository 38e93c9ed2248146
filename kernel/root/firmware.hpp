// SPDX-License-Identifier: MIT
// Reduces the firmware's ACPI tables to what the rest of the start-up needs. A table that is missing or damaged is
// named on the console and replaced by what every PC has, so that a machine without ACPI still boots. Context: boot,
// irq-off.
#pragma once

#include "arch/boot_info.hpp"
#include "arch/x86_64/machine.hpp"
#include "drivers/acpi/contents.hpp"

#include <cstdint>
#include <optional>

namespace kernel::root {

struct PowerOff {
    std::uint16_t control_port = 0;
    std::uint8_t sleep_type = 0;
};

struct Firmware {
    arch::x86_64::MachineDescription machine;
    std::optional<PowerOff> power_off;                               // none: the machine halts instead
    std::optional<drivers::acpi::PersistentRange> persistent_memory; // the first range of the NFIT
};

// Reads the tables into a static object, once.
[[nodiscard]] const Firmware& read_firmware(const arch::BootInfo& boot);

} // namespace kernel::root
