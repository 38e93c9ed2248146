// SPDX-License-Identifier: MIT
// Reads whole files from the volume that the loader was started from. Source: UEFI 2.9 sections 9.1 (loaded image),
// 13.4 (simple file system) and 13.5 (file protocol). Context: before ExitBootServices.
#pragma once

#include "arch/uefi/firmware.hpp"

#include <cstddef>
#include <span>
#include <string_view>

namespace uefi {

class Volume {
  public:
    // Opens the loader's own volume; fails the load if the firmware does not offer it as a file system.
    explicit Volume(const Firmware& firmware);
    ~Volume();

    Volume(const Volume&) = delete;
    Volume& operator=(const Volume&) = delete;

    struct File {
        std::span<const std::byte> bytes; // valid until the kernel uses the memory
        EFI_STATUS status = EFI_SUCCESS;  // that of the first call that failed
    };

    // Reads the whole file `path` (ASCII, backslashes, at most 60 characters), of at most size_bytes_max bytes: the
    // status is EFI_BAD_BUFFER_SIZE if it is longer.
    [[nodiscard]] File read(std::string_view path, std::size_t size_bytes_max) const;

  private:
    [[nodiscard]] File read(EFI_FILE& file, std::size_t size_bytes_max) const;

    const Firmware& m_firmware;
    EFI_FILE* m_root = nullptr;
};

} // namespace uefi
