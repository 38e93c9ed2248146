// SPDX-License-Identifier: MIT
// The sources are hw/intc/apic.c, hw/intc/trace-events and target/i386/tcg/seg_helper.c of QEMU 7.2 and 10.0, and Intel
// SDM volume 3, chapter 11 (registers of the local APIC).
#include "host/observer/request_log.hpp"

#include <charconv>
#include <utility>

namespace host::observer {

namespace {

constexpr std::uint64_t kRegCommand = 0x300;
constexpr std::uint64_t kRegLocalLines = 0x320; // six registers, 16 bytes apart
constexpr std::uint32_t kLineMasked = 1U << 16;
constexpr std::uint64_t kOthersOnly = 3; // shorthand of the command register: all processors but this one
constexpr std::uint64_t kDeliverFixed = 0;
constexpr std::uint64_t kDeliverLowest = 1;
constexpr std::uint64_t kDeliverNmi = 4;
constexpr std::uint8_t kNmi = 2;
constexpr std::uint64_t kFirstVector = 32; // lower vectors are the processor's own exceptions

constexpr std::uint64_t delivery_of(std::uint64_t line) {
    return (line >> 8) & 7;
}

// Returns the number after the first occurrence of `key`.
std::optional<std::uint64_t> number(std::string_view line, std::string_view key, int base) {
    const std::size_t at = line.find(key);
    if (at == std::string_view::npos) {
        return std::nullopt;
    }
    const char* const begin = line.data() + at + key.size();
    const char* const end = line.data() + line.size();
    std::uint64_t value = 0;
    if (std::from_chars(begin, end, value, base).ptr == begin) {
        return std::nullopt;
    }
    return value;
}

} // namespace

void RequestLog::take(std::string_view line, std::uint64_t executed) {
    const bool by_number = line.starts_with("apic_register_write ");
    if (by_number || line.starts_with("apic_mem_writel ")) {
        const auto address = number(line, " 0x", 16);
        const auto value = number(line, "= 0x", 16);
        if (address && value) {
            write(by_number ? *address * 16 : *address, *value, executed);
        }
    } else if (line.starts_with("apic_local_deliver ")) {
        const auto index = number(line, " vector ", 10);
        if (index && *index < m_local_lines.size() && (m_local_lines[*index] & kLineMasked) == 0) {
            request(delivery_of(m_local_lines[*index]), m_local_lines[*index] & 0xFF, executed);
        }
    } else if (line.starts_with("apic_deliver_irq ")) {
        const auto delivery = number(line, " delivery_mode ", 10);
        const auto vector = number(line, " vector ", 10);
        if (delivery && vector) {
            request(*delivery, *vector, executed);
        }
    } else {
        const auto vector = number(line, ": v=", 16);
        const auto by_instruction = number(line, " i=", 10);
        if (vector && by_instruction) {
            interrupt(*vector, *by_instruction != 0, executed);
        }
    }
}

void RequestLog::write(std::uint64_t address, std::uint64_t value, std::uint64_t executed) {
    if (address == kRegCommand) {
        if (((value >> 18) & 3) != kOthersOnly) {
            request(delivery_of(value), value & 0xFF, executed);
        }
    } else if (address >= kRegLocalLines && (address - kRegLocalLines) / 16 < m_local_lines.size()) {
        m_local_lines[(address - kRegLocalLines) / 16] = static_cast<std::uint32_t>(value);
    }
}

void RequestLog::request(std::uint64_t delivery, std::uint64_t vector, std::uint64_t executed) {
    if (delivery == kDeliverNmi) {
        vector = kNmi;
    } else if ((delivery != kDeliverFixed && delivery != kDeliverLowest) || vector < kFirstVector || vector > 0xFF) {
        return; // an interrupt of the 8259, whose vector the log does not show, or no interrupt
    }
    if (!m_pending[vector]) {
        m_pending[vector] = executed;
    }
}

void RequestLog::interrupt(std::uint64_t vector, bool by_instruction, std::uint64_t executed) {
    if (vector > 0xFF || (vector < kFirstVector && vector != kNmi)) {
        return;
    }
    finish();
    m_taken = Interrupt{.vector = static_cast<std::uint8_t>(vector),
                        .raised = by_instruction ? std::nullopt : std::exchange(m_pending[vector], std::nullopt),
                        .taken = executed,
                        .stamped = std::nullopt};
}

void RequestLog::read_stamp(std::uint64_t executed) {
    if (m_taken) {
        m_taken->stamped = executed;
        finish();
    }
}

void RequestLog::finish() {
    if (m_taken) {
        m_sink(*std::exchange(m_taken, std::nullopt));
    }
}

} // namespace host::observer
