// SPDX-License-Identifier: MIT
// Writes CSV (RFC 4180) with fixed columns, for scripts and spreadsheets:
//
//   ticks,time_ns,cpu,family,code,event,state,words
//
// ticks: the stamp. time_ns: since the start of the trace; empty if the clock's rate is unknown. family, code: the low
// four bits of a record's code, and the code itself (hexadecimal; 0x8000 more if the record was logged past the
// filters); class and event of a .kev event; 0 and log_type of a tlog event. words: the payload as 32-bit hexadecimal
// words with blanks between them: par1 and par2 of a record, or the bytes of a long event's payload, four to a word,
// little-endian, filled up with zeros.
#include "convert/rows.hpp"
#include "host/text/format.hpp"

#include "host/text/digits.hpp"
#include "host/text/escape.hpp"
#include "lib/assert.hpp"
#include "tracer/record/record.hpp"

#include <algorithm>
#include <vector>

namespace host::convert::table {

namespace {

using text::put;

// Room for all fields but event and words: the longest is sign and digits of 64 bits, and a comma.
constexpr std::size_t kFixedBytesMax = 224;
constexpr std::size_t kWordBytes = 11; // " 0x" and eight digits

class Csv final : public Writer {
  public:
    explicit Csv(Destination& destination)
        : m_file(destination.file())
        , m_pieces(256) {
        for (const tracer::EventRow& row : tracer::kEvents) {
            const auto family = static_cast<unsigned>(row.family());
            const bool fits = m_pieces[row.code].set(fmt::format(",{},0x{:02x},{},ok,", family, row.code, row.name));
            ASSERT(fits);
        }
    }

    lib::Result<void, Failure> begin(const Survey* /*survey*/) override {
        m_file.append("ticks,time_ns,cpu,family,code,event,state,words\n");
        return {};
    }

    void add(const trace::Event& event) override {
        const std::string_view name = trace::event_name(event);
        char* const begin = m_file.room(kFixedBytesMax + 2 * name.size() + kWordBytes * word_count(event));
        char* at = text::put_decimal(begin, event.ticks.value);
        *at++ = ',';
        if (event.timed) {
            at = text::put_number(at, event.time_ns);
        }
        *at++ = ',';
        at = text::put_decimal(at, event.cpu);
        const std::uint32_t fast = event.raw_code & std::uint32_t{tracer::kFastPathBit};
        if (event.state == trace::EventState::ok && fast == 0 && event.row != nullptr && event.payload.empty() &&
            event.origin == trace::Origin::record && event.row->shape == tracer::Shape::simple) {
            at = put_word(m_pieces[event.code].put(at), event.par1);
            at = put_word(put(at, " "), event.par2);
            *at++ = '\n';
            m_file.used(static_cast<std::size_t>(at - begin));
            return;
        }
        *at++ = ',';
        const bool record = event.origin == trace::Origin::record;
        at = text::put_number(at, record ? std::uint32_t{event.code} & 0x0FU : event.event_class);
        at = put(at, ",0x");
        at = record ? text::put_hexadecimal(at, fast | event.code, fast != 0 ? 4 : 2)
                    : text::put_hexadecimal(at, event.number, event.number > 0xFF ? 4 : 2);
        *at++ = ',';
        at = text::put_csv(at, name);
        *at++ = ',';
        at = put(at, trace::state_name(event.state));
        *at++ = ',';
        at = put_words(at, event);
        *at++ = '\n';
        m_file.used(static_cast<std::size_t>(at - begin));
    }

  private:
    static std::size_t word_count(const trace::Event& event) {
        return std::max<std::size_t>({2, event.words.size(), (event.payload.size() + 3) / 4});
    }

    static char* put_word(char* at, std::uint32_t word) { return text::put_eight_hexadecimal(put(at, "0x"), word); }

    static char* put_words(char* at, const trace::Event& event) {
        if (event.origin != trace::Origin::record) {
            for (std::size_t i = 0; i < event.words.size(); ++i) {
                at = put_word(i == 0 ? at : put(at, " "), event.words[i]);
            }
            return at;
        }
        if (event.payload.empty()) {
            return put_word(put(put_word(at, event.par1), " "), event.par2);
        }
        for (std::size_t offset = 0; offset < event.payload.size(); offset += 4) {
            at = put_word(offset == 0 ? at : put(at, " "), payload_word(event.payload.subspan(offset)));
        }
        return at;
    }

    // Returns the first four bytes, little-endian; missing ones are zero.
    static std::uint32_t payload_word(std::span<const std::byte> bytes) {
        std::uint32_t word = 0;
        for (std::size_t i = 0; i < 4 && i < bytes.size(); ++i) {
            word |= std::to_integer<std::uint32_t>(bytes[i]) << (8 * i);
        }
        return word;
    }

    OutputFile& m_file;
    std::vector<text::ShortText> m_pieces; // by code: a sound record's text from the processor to its words
};

} // namespace

const FormatRow kCsvRow = {
    .name = "csv",
    .suffix = ".csv",
    .meaning = "one line per event with fixed columns, for scripts and spreadsheets",
    .shape = Destination::Shape::file,
    .needs_survey = false,
    .make = make_writer<Csv>,
};

} // namespace host::convert::table
