// SPDX-License-Identifier: MIT
// The writer of .kev files; see kev.cpp. Others than `remora convert` use it too: the traceparser library reads a trace
// of any kind through it.
#pragma once

#include "convert/kev/kev_slots.hpp"
#include "convert/writer/event_words.hpp"
#include "convert/writer/writer.hpp"
#include "foreign/kev/codes.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace host::convert::records {

class KevWriter final : public Writer {
  public:
    // The file outlives the writer.
    explicit KevWriter(OutputFile& file);

    // survey: not null. Unusable: a processor has a number that the format has no room for.
    [[nodiscard]] lib::Result<void, Failure> begin(const Survey* survey) override;
    void add(const trace::Event& event) override;

    [[nodiscard]] lib::Result<void, Failure> finish(const trace::TraceFacts& facts) override;

  private:
    static constexpr std::size_t kNamesRoom = 4096; // ticks in front of the first event for names other than tasks'

    void write_header(const Survey& survey);
    void write_metadata(const Survey& survey);
    template <typename Payload>
    void write_payload(std::uint8_t code, const Payload& payload, std::string_view text = {});
    void write_name(std::uint16_t context, std::uint16_t cpu, std::uint64_t ticks, std::string_view name);
    void add_ours(const trace::Event& event);
    void add_foreign(const trace::Event& event);
    void add_object(const trace::Event& event);
    void add_switch(const trace::Event& event);
    [[nodiscard]] std::string_view text_of(const trace::Event& event);
    void put(std::uint16_t cpu, std::uint64_t ticks, const formats::kev::Foreign& foreign);

    OutputFile& m_file;
    KevSlots m_slots;
    std::vector<std::uint32_t> m_pids; // by context
    std::vector<std::uint32_t> m_words;
    std::uint64_t m_metadata_ticks = 0;
    bool m_ours = true;
    std::array<std::uint64_t, formats::kev::kProcessorsMax> m_newest{}; // ticks of the newest event of ours
    std::map<std::uint16_t, std::uint16_t> m_running;                   // of another system: contexts by processor
    EventWords m_event_words;
    std::string m_text;
};

} // namespace host::convert::records
