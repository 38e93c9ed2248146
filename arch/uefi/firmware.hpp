// SPDX-License-Identifier: MIT
// Gives the loader the firmware's system table, lines on its console, and the one way to fail. Everything here is legal
// only until boot services are left. Source: UEFI 2.9 chapters 4 (system table), 7 (boot services) and 12.4 (simple
// text output); the declarations are GNU-EFI's. Context: one processor, before ExitBootServices.
#pragma once

extern "C" {
#include <efi.h>
}

#include <cstdint>
#include <string_view>

namespace uefi {

class Firmware {
  public:
    Firmware(EFI_HANDLE image, EFI_SYSTEM_TABLE* table)
        : m_image(image)
        , m_table(table) {}

    Firmware(const Firmware&) = delete;
    Firmware& operator=(const Firmware&) = delete;

    [[nodiscard]] EFI_HANDLE image() const { return m_image; }

    [[nodiscard]] EFI_SYSTEM_TABLE& table() const { return *m_table; }

    [[nodiscard]] EFI_BOOT_SERVICES& boot() const { return *m_table->BootServices; }

    // Prints one line of ASCII on the firmware's console, with the prefix of all of Remora's markers.
    void print(std::string_view text) const;

    // Prints such a line, followed by a memory range.
    void print_range(std::string_view text, std::uint64_t base, std::uint64_t size_bytes) const;

    // Prints what failed and the EFI status, leaves the text on the screen for a moment, and returns the status to the
    // firmware, which continues with its next boot option.
    [[noreturn]] void fail(std::string_view what, EFI_STATUS status) const;

    // Returns pages of loader memory below 4 GiB, cleared. The load fails if there are none.
    [[nodiscard]] void* allocate(std::uint64_t size_bytes) const;

  private:
    void write(std::string_view text) const;
    void write_hexadecimal(std::uint64_t value) const;

    EFI_HANDLE m_image;
    EFI_SYSTEM_TABLE* m_table;
};

} // namespace uefi
