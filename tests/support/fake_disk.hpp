// SPDX-License-Identifier: MIT
// This disk in memory keeps a journal of sector writes and can fail. Its invariants: a request is whole sectors inside
// the disk (as BlockDevice requires), a sector is written whole or not at all, and replaying the journal gives the
// contents.
#pragma once

#include "drivers/block_device.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <vector>

namespace test {

class FakeDisk final : public drivers::BlockDevice {
  public:
    struct SectorWrite {
        std::uint64_t sector;
        std::array<std::byte, drivers::kSectorBytes> bytes;
    };

    enum class Failure {
        once,       // one request fails, the next ones succeed
        permanently // the medium is gone
    };

    explicit FakeDisk(std::uint64_t sectors)
        : m_bytes(sectors * drivers::kSectorBytes) {}

    explicit FakeDisk(std::vector<std::byte> image)
        : m_bytes(std::move(image)) {}

    // Lets the index-th sector write from now on (from 0) fail, before anything of that sector is changed.
    void fail_write(std::uint64_t index, Failure failure) {
        m_write_fault = index;
        m_failure = failure;
    }

    // Does the same for reads, counted in requests.
    void fail_read(std::uint64_t index, Failure failure) {
        m_read_fault = index;
        m_failure = failure;
    }

    // Lets the index-th flush from now on fail, once.
    void fail_flush(std::uint64_t index) {
        m_flush_fault = index;
        m_failure = Failure::once;
    }

    void heal() {
        m_write_fault.reset();
        m_read_fault.reset();
        m_flush_fault.reset();
    }

    [[nodiscard]] bool fault_pending() const { return m_write_fault || m_read_fault || m_flush_fault; }

    void record_journal() {
        m_journal.clear();
        m_former.clear();
        m_flushes.clear();
        m_recording = true;
    }

    // Restores the contents at record_journal().
    void rewind() {
        for (auto former = m_former.rbegin(); former != m_former.rend(); ++former) {
            apply(*former, m_bytes);
        }
        record_journal();
    }

    [[nodiscard]] const std::vector<SectorWrite>& journal() const { return m_journal; }

    // Returns for each flush how many of the journal's writes were before it.
    [[nodiscard]] const std::vector<std::size_t>& flushes() const { return m_flushes; }

    [[nodiscard]] std::vector<std::byte>& image() { return m_bytes; }

    [[nodiscard]] const std::vector<std::byte>& image() const { return m_bytes; }

    // --- BlockDevice ---

    [[nodiscard]] std::uint64_t sector_count() const override { return m_bytes.size() / drivers::kSectorBytes; }

    [[nodiscard]] lib::Result<void> read(std::uint64_t first_sector, std::span<std::byte> out) override {
        if (!fits(first_sector, out.size())) {
            return lib::Error::invalid_argument;
        }
        if (strikes(m_read_fault)) {
            return lib::Error::io;
        }
        std::memcpy(out.data(), &m_bytes[first_sector * drivers::kSectorBytes], out.size());
        return {};
    }

    [[nodiscard]] lib::Result<void> write(std::uint64_t first_sector, std::span<const std::byte> bytes) override {
        if (!fits(first_sector, bytes.size())) {
            return lib::Error::invalid_argument;
        }
        for (std::size_t offset = 0; offset < bytes.size(); offset += drivers::kSectorBytes) {
            if (strikes(m_write_fault)) {
                return lib::Error::io;
            }
            SectorWrite entry;
            entry.sector = first_sector + offset / drivers::kSectorBytes;
            std::memcpy(entry.bytes.data(), &bytes[offset], drivers::kSectorBytes);
            if (m_recording) {
                m_journal.push_back(entry);
                std::memcpy(m_former.emplace_back(SectorWrite{entry.sector, {}}).bytes.data(),
                            &m_bytes[entry.sector * drivers::kSectorBytes], drivers::kSectorBytes);
            }
            apply(entry, m_bytes);
        }
        return {};
    }

    [[nodiscard]] lib::Result<void> flush() override {
        if (strikes(m_flush_fault)) {
            return lib::Error::io;
        }
        m_flushes.push_back(m_journal.size());
        return {};
    }

    static void apply(const SectorWrite& entry, std::vector<std::byte>& image) {
        std::memcpy(&image[entry.sector * drivers::kSectorBytes], entry.bytes.data(), drivers::kSectorBytes);
    }

  private:
    [[nodiscard]] bool fits(std::uint64_t first_sector, std::size_t size_bytes) const {
        const std::uint64_t count = size_bytes / drivers::kSectorBytes;
        return size_bytes != 0 && size_bytes % drivers::kSectorBytes == 0 && first_sector < sector_count() &&
               count <= sector_count() - first_sector;
    }

    bool strikes(std::optional<std::uint64_t>& fault) {
        if (!fault.has_value()) {
            return false;
        }
        if (*fault > 0) {
            --*fault;
            return false;
        }
        if (m_failure == Failure::once) {
            fault.reset();
        }
        return true;
    }

    std::vector<std::byte> m_bytes;
    std::vector<SectorWrite> m_journal;
    std::vector<SectorWrite> m_former; // the previous contents of each
    std::vector<std::size_t> m_flushes;
    std::optional<std::uint64_t> m_write_fault;
    std::optional<std::uint64_t> m_read_fault;
    std::optional<std::uint64_t> m_flush_fault;
    Failure m_failure = Failure::once;
    bool m_recording = false;
};

} // namespace test
