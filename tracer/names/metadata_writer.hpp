// SPDX-License-Identifier: MIT
// Writes metadata records: those before an exported chunk (metadata.hpp shows their order) and the one that ends an
// export. It only writes: the values are passed in. Context: any.
#pragma once

#include "tracer/names/metadata.hpp"
#include "tracer/names/names.hpp"
#include "tracer/record/event_table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tracer {

class MetadataWriter {
  public:
    // Records get this stamp, and the n-th long event n ticks more: slots of different events never agree in code and
    // stamp, so that a reader never joins two events when the slots between them are lost.
    constexpr MetadataWriter(std::span<std::byte> out, lib::Ticks stamp)
        : m_out(out)
        , m_stamp(stamp) {}

    MetadataWriter(const MetadataWriter&) = delete;
    MetadataWriter& operator=(const MetadataWriter&) = delete;

    // Writes a single record. Precondition: `out` has room (its size is a compile-time bound at every user).
    void simple(std::uint8_t code, std::uint16_t par1, std::uint32_t par2) {
        put(make_record(code, par1, par2, m_stamp));
    }

    // Writes a long event. It is not inline, so that its buffers are on the stack once, not for each kind of payload.
    template <typename Payload>
    [[gnu::noinline]] void combined(std::uint8_t code, const Payload& payload) {
        std::array<std::byte, kSlotsMax * kPayloadBytesPerSlot> bytes{};
        const auto size = encode_payload(payload, bytes);
        ASSERT(size.ok());
        encoded(code, std::span(bytes).first(size.value()));
    }

    // Writes a payload that was encoded earlier.
    [[gnu::noinline]] void encoded(std::uint8_t code, std::span<const std::byte> payload) {
        if constexpr (lib::kChecked) {
            const EventRow* const row = find_event(code);
            ASSERT(row != nullptr && row->shape == Shape::combined && row->family() == Family::metadata);
        }
        std::array<Record, kSlotsMax> slots{};
        const auto count = encode_combined(code, {m_stamp.value + m_events++}, payload, slots);
        ASSERT(count.ok());
        for (std::size_t i = 0; i < count.value(); ++i) {
            put(slots[i]);
        }
    }

    void build(Build of, std::uint32_t names_lost) {
        of.names_lost = names_lost;
        combined(event_code(Build::kEvent), of);
    }

    void name(const NameEntry& entry) {
        if (entry.kind == NameKind::task) {
            simple(event_code("id"), entry.id, entry.pid);
        }
        const bool level = entry.kind == NameKind::level;
        combined(
            name_code(entry.kind),
            NameOf{entry.id, entry.name, level ? static_cast<std::uint8_t>(entry.parameters.level) : std::uint8_t{0}});
        if (entry.kind == NameKind::task) {
            combined(event_code(TaskParameters::kEvent), entry.parameters);
        }
    }

    void declaration(const EncodedDeclaration& declaration) {
        encoded(event_code(EventDeclaration::kEvent), declaration.view());
    }

    [[nodiscard]] std::size_t slots() const { return m_used / kRecordBytes; }

    [[nodiscard]] std::size_t free_slots() const { return (m_out.size() - m_used) / kRecordBytes; }

    [[nodiscard]] std::span<const std::byte> written() const { return m_out.first(m_used); }

  private:
    [[nodiscard]] static constexpr std::uint8_t name_code(NameKind kind) {
        switch (kind) {
        case NameKind::task:
            return event_code("task_name");
        case NameKind::interrupt:
            return event_code("interrupt_name");
        case NameKind::mutex:
            return event_code("mutex_name");
        case NameKind::semaphore:
            return event_code("semaphore_name");
        case NameKind::server:
            return event_code("server_name");
        case NameKind::level:
            return event_code("level_name");
        case NameKind::condition:
            return event_code("condition_name");
        case NameKind::port:
            return event_code("port_name");
        }
        return event_code("empty");
    }

    void put(const Record& record) {
        ASSERT(m_out.size() - m_used >= kRecordBytes);
        encode_record(record, m_out.subspan(m_used));
        m_used += kRecordBytes;
    }

    static constexpr std::size_t kSlotsMax = EncodedDeclaration::kSlotsMax; // of the longest long event here
    static_assert(FormatText::kTextBytesMax + sizeof(std::uint16_t) + sizeof(std::uint32_t) <=
                  kSlotsMax * kPayloadBytesPerSlot);

    std::span<std::byte> m_out;
    lib::Ticks m_stamp;
    std::size_t m_used = 0;
    std::uint64_t m_events = 0;
};

} // namespace tracer
