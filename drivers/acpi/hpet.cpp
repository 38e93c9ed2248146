// SPDX-License-Identifier: MIT
// See hpet.hpp.
#include "drivers/acpi/hpet.hpp"

#include "drivers/acpi/generic_address.hpp"

namespace drivers::acpi {

lib::Result<Hpet> parse_hpet(const Table& table) {
    if (table.signature != kHpetSignature) {
        return lib::Error::corrupt;
    }
    lib::ByteReader reader(table.bytes.subspan(kTableHeaderBytes));
    reader.take(4); // event timer block id, which the registers repeat
    const GenericAddress base = read_generic_address(reader);
    Hpet hpet;
    hpet.address = base.address;
    hpet.number = reader.le<std::uint8_t>();
    hpet.minimum_tick = reader.le<std::uint16_t>();
    if (reader.failed() || base.address == 0) {
        return lib::Error::corrupt;
    }
    if (base.space != AddressSpace::memory) {
        return lib::Error::unsupported;
    }
    return hpet;
}

} // namespace drivers::acpi
