// SPDX-License-Identifier: MIT
#include "arch/x86_64/pvh.hpp"

#include "arch/x86_64/pvh_start_info.hpp"

extern "C" const arch::BootInfo* pvh_boot_info(std::uint64_t start_info_address);

namespace arch::x86_64 {

namespace {

constinit BootInfo g_boot_info{};

} // namespace

const BootInfo& pvh_start_information() {
    return g_boot_info;
}

} // namespace arch::x86_64

const arch::BootInfo* pvh_boot_info(std::uint64_t start_info_address) {
    using namespace arch::x86_64;
    take_start_info(*reinterpret_cast<const PvhStartInfo*>(start_info_address), g_boot_info);
    return &g_boot_info;
}
