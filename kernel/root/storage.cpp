// SPDX-License-Identifier: MIT
// Mounts the volume on the ramdisk, and keeps the one sink of the disk.
#include "kernel/root/sinks.hpp"

#include "arch/x86_64/paging.hpp"
#include "drivers/fat/format.hpp"
#include "drivers/fat/volume.hpp"
#include "drivers/ramdisk.hpp"
#include "kernel/panic/console.hpp"

#include <cstddef>
#include <new>

namespace kernel::root {

namespace {

namespace fat = drivers::fat;

// This is the disk of a machine without persistent memory; it is lost at power-off. It is beside the trace arena, where
// nothing is loaded or cleared (the section's flags are spelled out, because the compiler would ask for stored zeros).
constexpr std::size_t kRamBytes = std::size_t{8} << 20;

[[gnu::section(".arena,\"aw\",@nobits#")]] alignas(4096) std::byte g_ram[kRamBytes]; // NOLINT(modernize-avoid-c-arrays)

class FatVolume final : public tracer::FileVolume {
  public:
    constexpr explicit FatVolume(fat::Volume& volume)
        : m_volume(volume)
        , m_writer(volume) {}

    [[nodiscard]] lib::Result<void> check_name(std::string_view name) const override {
        const auto made = fat::make_short_name(name);
        return made.ok() ? lib::Result<void>() : made.error();
    }

    [[nodiscard]] lib::Result<void> check_free(std::string_view name) override {
        const auto found = m_volume.find(name);
        if (found) {
            return lib::Error::exists;
        }
        return found.error() == lib::Error::not_found ? lib::Result<void>() : found.error();
    }

    [[nodiscard]] lib::Result<void> create(std::string_view name, std::size_t size_bytes) override {
        return m_writer.create({.name = name, .size_hint_bytes = size_bytes, .modified = {}});
    }

    [[nodiscard]] lib::Result<void> append(std::span<const std::byte> bytes) override { return m_writer.append(bytes); }

    [[nodiscard]] lib::Result<void> close() override { return m_writer.close(); }

  private:
    fat::Volume& m_volume;
    fat::FileWriter m_writer;
};

constinit drivers::RamDisk g_disk{};
constinit fat::Volume g_volume{};
constinit FatVolume g_files{g_volume};
constinit tracer::DiskSink g_disk_sink{g_files};

lib::Error report_disk(std::string_view what, lib::Error error) {
    console().line("disk: ", what, ": ", lib::error_name(error));
    return error;
}

lib::Result<void> use_persistent(const drivers::acpi::PersistentRange& range) {
    if (const auto defect = drivers::acpi::persistence_defect(range); !defect.empty()) {
        console().line("disk: the NVDIMM ", defect, ": what is written would be lost at power-off");
        return lib::Error::refused;
    }
    const auto mapped = arch::x86_64::map_physical(range.address, range.size_bytes);
    if (!mapped.ok()) {
        return report_disk("the persistent memory cannot be mapped", mapped.error());
    }
    g_disk.attach(std::span(reinterpret_cast<std::byte*>(range.address), range.size_bytes),
                  drivers::Medium::persistent_memory);
    return {};
}

lib::Result<void> use_ram() {
    console().line("disk: no persistent memory (NFIT); the files stay in RAM and are lost at power-off");
    g_disk.attach(g_ram, drivers::Medium::volatile_memory);
    const auto made = fat::format(g_disk, {.overwrite = fat::Overwrite::anything, .created = {}});
    return made.ok() ? made : report_disk("formatting", made.error());
}

} // namespace

lib::Result<tracer::DiskSink*> open_storage(const std::optional<drivers::acpi::PersistentRange>& persistent) {
    if (!g_volume.mounted()) {
        if (const auto used = persistent ? use_persistent(*persistent) : use_ram(); !used.ok()) {
            return used.error();
        }
        if (const auto mounted = g_volume.mount(g_disk); !mounted.ok()) {
            if (g_volume.defect() != fat::Defect::none) {
                console().line("disk: the volume is refused: ", fat::defect_text(g_volume.defect()));
            }
            return report_disk("no FAT16 or FAT32 volume on the ramdisk (make one with mkfs.fat)", mounted.error());
        }
    }
    return &g_disk_sink;
}

bool storage_has(std::string_view name) {
    return g_volume.find(name).ok();
}

void renew_storage_sink() {
    ::new (&g_disk_sink) tracer::DiskSink(g_files);
}

} // namespace kernel::root
