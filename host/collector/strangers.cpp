// SPDX-License-Identifier: MIT
#include "host/collector/strangers.hpp"

#include "host/formats/dat/chunk_begin.hpp"
#include "tracer/record/event_table.hpp"
#include "tracer/record/record.hpp"

#include <algorithm>
#include <utility>

namespace host::collector {

namespace {

constexpr std::size_t kPlausibleMin = 2; // packets
constexpr std::uint16_t kReservedBits = 0x4F00;

} // namespace

bool plausible_records(std::span<const std::byte> records_untrusted) {
    std::uint64_t last = 0;
    int falls = 0;
    bool any = false;
    for (; records_untrusted.size() >= tracer::kRecordBytes;
         records_untrusted = records_untrusted.subspan(tracer::kRecordBytes)) {
        const tracer::Record record = tracer::decode_record(records_untrusted);
        const std::uint64_t stamp = record.stamp().value;
        falls += stamp < last ? 1 : 0;
        last = stamp;
        if (record.empty() || (record.code & kReservedBits) != 0 || stamp == 0 || falls > 1 ||
            formats::dat::is_metadata_family(record.code) || tracer::find_event(record.event_code()) == nullptr) {
            return false;
        }
        any = true;
    }
    return any;
}

std::optional<Strangers::Packets> Strangers::take(const Address& sender, std::uint32_t number,
                                                  std::span<const std::byte> records, bool begins) {
    const auto known = std::ranges::find(m_strangers, sender, &Stranger::sender);
    if (known != m_strangers.end()) {
        m_strangers.splice(m_strangers.end(), m_strangers, known);
    } else {
        if (m_strangers.size() == kSendersMax) {
            m_strangers.pop_front();
        }
        m_strangers.push_back({.sender = sender, .packets = {}});
    }
    Stranger& stranger = m_strangers.back();
    auto& held = stranger.packets[number];
    stranger.plausible += held.empty() && plausible_records(records) ? 1U : 0U;
    if (held.empty() || begins) {
        held.assign(records.begin(), records.end());
    }
    if (!begins && stranger.plausible < kPlausibleMin) {
        if (stranger.packets.size() > kHeldMax) {
            stranger.packets.erase(stranger.packets.begin());
        }
        return std::nullopt;
    }
    Packets packets = std::move(stranger.packets);
    m_strangers.pop_back();
    return packets;
}

std::optional<Strangers::Stranger> Strangers::take_plausible() {
    const auto found =
        std::ranges::find_if(m_strangers, [](const Stranger& stranger) { return stranger.plausible != 0; });
    if (found == m_strangers.end()) {
        return std::nullopt;
    }
    Stranger stranger = std::move(*found);
    m_strangers.erase(found);
    return stranger;
}

} // namespace host::collector
