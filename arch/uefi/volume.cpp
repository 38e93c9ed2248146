// SPDX-License-Identifier: MIT
// Reads whole files through the simple file system protocol. Source: UEFI 2.9 sections 9.1, 13.4 and 13.5.
#include "arch/uefi/volume.hpp"

#include "lib/assert.hpp"

#include <array>

namespace uefi {
namespace {

constexpr std::size_t kPathMax = 60;
// EFI_FILE_PROTOCOL.SetPosition takes this as the end of the file: GetPosition then yields the size.
constexpr UINT64 kEndOfFile = 0xFFFF'FFFF'FFFF'FFFF;
// Bounds the reads even if they make no progress: the largest kernel in the smallest pieces that a firmware was
// observed to return.
constexpr int kReadsMax = 4096;

} // namespace

Volume::Volume(const Firmware& firmware)
    : m_firmware(firmware) {
    EFI_GUID image_guid = EFI_LOADED_IMAGE_PROTOCOL_GUID;
    EFI_GUID file_system_guid = EFI_SIMPLE_FILE_SYSTEM_PROTOCOL_GUID;
    EFI_LOADED_IMAGE* image = nullptr;
    EFI_FILE_IO_INTERFACE* file_system = nullptr;

    EFI_STATUS status = firmware.boot().HandleProtocol(firmware.image(), &image_guid, reinterpret_cast<void**>(&image));
    if (EFI_ERROR(status)) {
        firmware.fail("the firmware does not identify the loader's volume", status);
    }
    status =
        firmware.boot().HandleProtocol(image->DeviceHandle, &file_system_guid, reinterpret_cast<void**>(&file_system));
    if (EFI_ERROR(status)) {
        firmware.fail("the loader's volume has no file system", status);
    }
    status = file_system->OpenVolume(file_system, &m_root);
    if (EFI_ERROR(status)) {
        firmware.fail("the loader's volume cannot be opened", status);
    }
}

Volume::~Volume() {
    m_root->Close(m_root);
}

Volume::File Volume::read(std::string_view path, std::size_t size_bytes_max) const {
    ASSERT(path.size() <= kPathMax);
    std::array<CHAR16, kPathMax + 1> name{};
    for (std::size_t i = 0; i < path.size(); ++i) {
        name[i] = static_cast<CHAR16>(path[i]);
    }
    EFI_FILE* file = nullptr;
    const EFI_STATUS status = m_root->Open(m_root, &file, name.data(), EFI_FILE_MODE_READ, 0);
    if (EFI_ERROR(status)) {
        return {{}, status};
    }
    const File content = read(*file, size_bytes_max);
    file->Close(file);
    return content;
}

Volume::File Volume::read(EFI_FILE& file, std::size_t size_bytes_max) const {
    UINT64 size_bytes = 0;
    EFI_STATUS status = file.SetPosition(&file, kEndOfFile);
    if (!EFI_ERROR(status)) {
        status = file.GetPosition(&file, &size_bytes);
    }
    if (!EFI_ERROR(status)) {
        status = file.SetPosition(&file, 0);
    }
    if (EFI_ERROR(status)) {
        return {{}, status};
    }
    if (size_bytes > size_bytes_max) {
        return {{}, EFI_BAD_BUFFER_SIZE};
    }
    auto* memory = static_cast<std::byte*>(m_firmware.allocate(size_bytes == 0 ? 1 : size_bytes));
    UINTN done = 0;
    for (int reads = 0; done < size_bytes; ++reads) {
        UINTN piece = size_bytes - done;
        status = file.Read(&file, &piece, memory + done);
        if (EFI_ERROR(status)) {
            return {{}, status};
        }
        if (piece == 0 || reads == kReadsMax) {
            return {{}, EFI_DEVICE_ERROR};
        }
        done += piece;
    }
    return {{memory, size_bytes}, EFI_SUCCESS};
}

} // namespace uefi
