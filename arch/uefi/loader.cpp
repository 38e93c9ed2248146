// SPDX-License-Identifier: MIT
// BOOTX64.EFI: reads \kernel.elf, \cmdline.txt and \remora.key from the volume that it was started from, places the
// kernel as its program headers require, leaves boot services and jumps to the entry point with a BootInfo. It decides
// nothing else: options and key are interpreted by the kernel. Every failure before the point of no return is printed
// on the console and returned to the firmware. Source: UEFI 2.9 chapters 4 and 7; the entry contract is
// arch/boot_info.hpp.
#include "arch/boot_info.hpp"
#include "arch/uefi/elf_image.hpp"
#include "arch/uefi/firmware.hpp"
#include "arch/uefi/range_list.hpp"
#include "arch/uefi/volume.hpp"

#include <cpuid.h>

#include <new>

namespace uefi {
namespace {

constexpr std::string_view kKernelPath = "\\kernel.elf";
constexpr std::string_view kCommandLinePath = "\\cmdline.txt";
constexpr std::string_view kKeyPath = "\\remora.key";
constexpr std::size_t kKernelBytesMax = 64 << 20;
// ExitBootServices may fail because the map has changed; more than a few failures mean a broken firmware.
constexpr int kExitAttemptsMax = 8;
// The map grows by its own allocation and by what event handlers allocate between two calls.
constexpr UINTN kMapSlackBytes = 4096;

struct MemoryMap {
    std::byte* descriptors = nullptr;
    UINTN capacity_bytes = 0;
    UINTN size_bytes = 0;
    UINTN key = 0;
    UINTN descriptor_bytes = 0; // stated by the firmware, not sizeof: descriptors may grow
};

EFI_STATUS read_map(const Firmware& firmware, MemoryMap& map) {
    UINT32 version = 0;
    map.size_bytes = map.capacity_bytes;
    return firmware.boot().GetMemoryMap(&map.size_bytes, reinterpret_cast<EFI_MEMORY_DESCRIPTOR*>(map.descriptors),
                                        &map.key, &map.descriptor_bytes, &version);
}

// Reads the map into memory of its own, with space for later allocations.
MemoryMap take_map(const Firmware& firmware) {
    MemoryMap map;
    if (const EFI_STATUS status = read_map(firmware, map); status != EFI_BUFFER_TOO_SMALL) {
        firmware.fail("the firmware gives no memory map", status);
    }
    map.capacity_bytes = map.size_bytes + kMapSlackBytes;
    map.descriptors = static_cast<std::byte*>(firmware.allocate(map.capacity_bytes));
    if (const EFI_STATUS status = read_map(firmware, map); EFI_ERROR(status)) {
        firmware.fail("the firmware's memory map cannot be read", status);
    }
    return map;
}

// Calls visit(base, size_bytes, type) for each descriptor.
void for_each_descriptor(const MemoryMap& map, auto visit) {
    for (UINTN offset = 0; offset + map.descriptor_bytes <= map.size_bytes; offset += map.descriptor_bytes) {
        EFI_MEMORY_DESCRIPTOR descriptor;
        __builtin_memcpy(&descriptor, map.descriptors + offset, sizeof descriptor);
        visit(std::uint64_t{descriptor.PhysicalStart}, std::uint64_t{descriptor.NumberOfPages} * kPageBytes,
              std::uint32_t{descriptor.Type});
    }
}

// Prints the ranges that conflict with a segment, so that linker.ld or the machine's memory size can be corrected.
void print_conflict(const Firmware& firmware, const Segment& segment) {
    const std::uint64_t end = segment.address + segment.pages() * kPageBytes;
    firmware.print_range("the kernel wants", segment.address, end - segment.address);
    for_each_descriptor(take_map(firmware), [&](std::uint64_t base, std::uint64_t size_bytes, std::uint32_t type) {
        if (type != EfiConventionalMemory && base < end && segment.address < base + size_bytes) {
            firmware.print_range("the firmware has", base, size_bytes);
        }
    });
}

ElfImage load_kernel(const Firmware& firmware, const Volume& volume) {
    const Volume::File file = volume.read(kKernelPath, kKernelBytesMax);
    if (EFI_ERROR(file.status)) {
        firmware.fail("\\kernel.elf cannot be read", file.status);
    }
    const ElfImage image = parse_elf(file.bytes);
    if (!image.fault.empty()) {
        firmware.print("\\kernel.elf is no kernel image:");
        firmware.fail(image.fault, EFI_LOAD_ERROR);
    }
    for (const Segment& segment : image.loadable()) {
        EFI_PHYSICAL_ADDRESS address = segment.address;
        const EFI_MEMORY_TYPE type = segment.executable ? EfiLoaderCode : EfiLoaderData;
        const EFI_STATUS status = firmware.boot().AllocatePages(AllocateAddress, type, segment.pages(), &address);
        if (EFI_ERROR(status)) {
            print_conflict(firmware, segment);
            firmware.fail("the memory that the kernel is linked for is taken or absent", status);
        }
        if (segment.keeps_its_memory()) {
            continue;
        }
        auto* memory = reinterpret_cast<std::byte*>(segment.address);
        auto* content = const_cast<std::byte*>(file.bytes.data() + segment.file_offset);
        firmware.boot().CopyMem(memory, content, segment.file_bytes);
        firmware.boot().SetMem(memory + segment.file_bytes, segment.pages() * kPageBytes - segment.file_bytes, 0);
    }
    return image;
}

// Reads the file next to the loader, without the line end that editors add. It returns 0 without a file: the kernel
// then uses its defaults.
std::uint64_t load_command_line(const Firmware& firmware, const Volume& volume) {
    const Volume::File file = volume.read(kCommandLinePath, arch::kCommandLineMax + 1);
    if (file.status == EFI_NOT_FOUND) {
        return 0;
    }
    if (EFI_ERROR(file.status)) {
        firmware.fail("\\cmdline.txt cannot be read or is too long", file.status);
    }
    std::size_t size = file.bytes.size();
    while (size > 0 && (file.bytes[size - 1] == std::byte{'\n'} || file.bytes[size - 1] == std::byte{'\r'})) {
        --size;
    }
    if (size >= arch::kCommandLineMax) {
        firmware.fail("\\cmdline.txt is longer than 1023 characters", EFI_BAD_BUFFER_SIZE);
    }
    auto* text = static_cast<char*>(firmware.allocate(arch::kCommandLineMax));
    for (std::size_t i = 0; i < size; ++i) {
        const auto character = static_cast<char>(file.bytes[i]);
        if (character < ' ' || character > '~') {
            firmware.fail("\\cmdline.txt holds a character that is not printable ASCII", EFI_LOAD_ERROR);
        }
        text[i] = character;
    }
    return reinterpret_cast<std::uint64_t>(text);
}

// Reads the key of the acknowledged export, if the volume has one. A file that is too long yields no byte, which is no
// key. The loader keeps no copy.
void load_key(const Firmware& firmware, const Volume& volume, arch::BootInfo& info) {
    const Volume::File file = volume.read(kKeyPath, info.key.size());
    if (file.status == EFI_NOT_FOUND) {
        return;
    }
    if (EFI_ERROR(file.status) && file.status != EFI_BAD_BUFFER_SIZE) {
        firmware.fail("\\remora.key cannot be read", file.status);
    }
    info.has_key = 1;
    info.key_bytes = static_cast<std::uint32_t>(file.bytes.size());
    if (!file.bytes.empty()) {
        auto* text = const_cast<std::byte*>(file.bytes.data());
        firmware.boot().CopyMem(info.key.data(), text, file.bytes.size());
        firmware.boot().SetMem(text, file.bytes.size(), 0);
    }
}

std::uint64_t find_rsdp(const Firmware& firmware) {
    const auto find = [&firmware](EFI_GUID wanted) -> std::uint64_t {
        for (UINTN i = 0; i < firmware.table().NumberOfTableEntries; ++i) {
            const EFI_CONFIGURATION_TABLE& entry = firmware.table().ConfigurationTable[i];
            if (__builtin_memcmp(&entry.VendorGuid, &wanted, sizeof wanted) == 0) {
                return reinterpret_cast<std::uint64_t>(entry.VendorTable);
            }
        }
        return 0;
    };
    const std::uint64_t acpi_2 = find(ACPI_20_TABLE_GUID);
    return acpi_2 != 0 ? acpi_2 : find(ACPI_TABLE_GUID);
}

// After the first ExitBootServices, only GetMemoryMap and ExitBootServices are legal. So the buffer must be large
// enough beforehand, and a failure there is printed on a console that may no longer exist.
MemoryMap leave_boot_services(const Firmware& firmware) {
    MemoryMap map = take_map(firmware);
    EFI_STATUS status = EFI_SUCCESS;
    for (int attempt = 0; attempt < kExitAttemptsMax; ++attempt) {
        status = read_map(firmware, map);
        if (EFI_ERROR(status)) {
            break;
        }
        status = firmware.boot().ExitBootServices(firmware.image(), map.key);
        if (!EFI_ERROR(status)) {
            return map;
        }
    }
    firmware.fail("the firmware does not leave boot services", status);
}

void copy_ranges(const MemoryMap& map, arch::BootInfo& info) {
    RangeList ranges(info);
    for_each_descriptor(map, [&ranges](std::uint64_t base, std::uint64_t size_bytes, std::uint32_t type) {
        ranges.add(base, size_bytes, memory_kind(type));
    });
}

[[noreturn]] void enter_kernel(std::uint64_t entry, const arch::BootInfo& info) {
    asm volatile("cli\n\t"
                 "cld\n\t"
                 "xorl %%ebp, %%ebp\n\t"
                 "jmpq *%0"
                 :
                 : "a"(entry), "D"(&info)
                 : "memory");
    __builtin_unreachable();
}

// The kernel maps its data as no-execute: on a processor without that bit, its first page table would reset the
// machine. Long mode needs no check, because the loader runs in it.
void require_no_execute(const Firmware& firmware) {
    constexpr unsigned kNoExecute = 1U << 20;
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    if (__get_cpuid(0x8000'0001, &eax, &ebx, &ecx, &edx) == 0 || (edx & kNoExecute) == 0) {
        firmware.fail("the processor has no no-execute pages (NX): enable them, in QEMU with -cpu max",
                      EFI_UNSUPPORTED);
    }
}

[[noreturn]] void load_and_enter(const Firmware& firmware) {
    require_no_execute(firmware);
    // The firmware resets the machine after five minutes unless the watchdog is disabled.
    firmware.boot().SetWatchdogTimer(0, 0, 0, nullptr);

    auto* info = new (firmware.allocate(sizeof(arch::BootInfo))) arch::BootInfo{};
    info->magic = arch::BootInfo::kMagic;
    info->version = arch::BootInfo::kVersion;
    info->path = arch::BootPath::uefi;
    info->rsdp_address = find_rsdp(firmware);

    std::uint64_t entry = 0;
    {
        const Volume volume(firmware);
        firmware.print("loading \\kernel.elf");
        entry = load_kernel(firmware, volume).entry;
        info->command_line_address = load_command_line(firmware, volume);
        load_key(firmware, volume, *info);
    }
    copy_ranges(leave_boot_services(firmware), *info);
    enter_kernel(entry, *info);
}

} // namespace
} // namespace uefi

// Is called by GNU-EFI's start-up code, with the System V calling convention.
extern "C" EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE* table);

extern "C" EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE* table) {
    const uefi::Firmware firmware(image, table);
    uefi::load_and_enter(firmware);
}
