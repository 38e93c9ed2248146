// SPDX-License-Identifier: MIT
// Implements console lines, failure and memory with boot services. The text is written one character at a time, without
// a buffer, because it is only a few lines. Source: UEFI 2.9 sections 7.2, 7.4 and 12.4.
#include "arch/uefi/firmware.hpp"

#include "lib/assert.hpp"

namespace uefi {
namespace {

constexpr UINTN kReadingTime_us = 2'000'000;

// A failed ASSERT ends here, where there is no Firmware object. The kernel has not started, so only the watchdog or the
// user can continue.
[[noreturn]] void stop() {
    while (true) {
        asm volatile("cli; hlt");
    }
}

} // namespace

void Firmware::write(std::string_view text) const {
    for (const char character : text) {
        CHAR16 cell[2] = {static_cast<CHAR16>(character), 0};
        m_table->ConOut->OutputString(m_table->ConOut, cell);
    }
}

void Firmware::write_hexadecimal(std::uint64_t value) const {
    for (int shift = 60; shift >= 0; shift -= 4) {
        const char digit = "0123456789abcdef"[(value >> shift) & 0xF];
        write(std::string_view(&digit, 1));
    }
}

void Firmware::print(std::string_view text) const {
    write("REMORA: ");
    write(text);
    write("\r\n");
}

void Firmware::print_range(std::string_view text, std::uint64_t base, std::uint64_t size_bytes) const {
    write("REMORA: ");
    write(text);
    write(": 0x");
    write_hexadecimal(base);
    write(" + 0x");
    write_hexadecimal(size_bytes);
    write("\r\n");
}

void Firmware::fail(std::string_view what, EFI_STATUS status) const {
    write("REMORA: loader failed: ");
    write(what);
    write(" (EFI status 0x");
    write_hexadecimal(status);
    write(")\r\n");
    boot().Stall(kReadingTime_us);
    boot().Exit(m_image, status, 0, nullptr);
    stop(); // Exit does not return
}

void* Firmware::allocate(std::uint64_t size_bytes) const {
    EFI_PHYSICAL_ADDRESS address = 0xFFFF'FFFF;
    const UINTN pages = (size_bytes + EFI_PAGE_SIZE - 1) / EFI_PAGE_SIZE;
    const EFI_STATUS status = boot().AllocatePages(AllocateMaxAddress, EfiLoaderData, pages, &address);
    if (EFI_ERROR(status)) {
        fail("no memory below 4 GiB", status);
    }
    void* memory = reinterpret_cast<void*>(address);
    boot().SetMem(memory, pages * EFI_PAGE_SIZE, 0);
    return memory;
}

} // namespace uefi

namespace lib {

void assert_failed(const char*, const char*, int) {
    uefi::stop();
}

} // namespace lib
