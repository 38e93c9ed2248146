// SPDX-License-Identifier: MIT
// Writes CSV (RFC 4180) with fixed columns, for scripts and spreadsheets:
//
//   ticks,time_ns,cpu,family,code,event,state,words,task,parameters
//
// ticks: the stamp. time_ns: since the start of the trace; empty if the clock's rate is unknown. family, code: the low
// four bits of a record's code, and the code itself (hexadecimal; 0x8000 more if the record was logged past the
// filters); class and event of a .kev event; 0 and log_type of a tlog event. words: the payload as 32-bit hexadecimal
// words with blanks between them: par1 and par2 of a record, or the bytes of a long event's payload, four to a word,
// little-endian, filled up with zeros. task: the name of the task that a parameter of the record is, or in which an
// event of the application was logged. parameters: the parameters or fields with their names and what they mean, as in
// the other formats with text.
#include "convert/rows.hpp"
#include "host/text/format.hpp"

#include "convert/writer/event_words.hpp"
#include "host/text/digits.hpp"
#include "host/text/escape.hpp"
#include "host/trace/running_tasks.hpp"
#include "lib/assert.hpp"
#include "tracer/record/record.hpp"

#include <algorithm>
#include <string>
#include <string_view>
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
        , m_tasks(kContexts)
        , m_pieces(256) {
        for (const tracer::EventRow& row : tracer::kEvents) {
            const auto family = static_cast<unsigned>(row.family());
            const bool fits = m_pieces[row.code].set(fmt::format(",{},0x{:02x},{},ok,", family, row.code, row.name));
            ASSERT(fits);
        }
    }

    lib::Result<void, Failure> begin(const Survey* /*survey*/) override {
        m_file.append("ticks,time_ns,cpu,family,code,event,state,words,task,parameters\n");
        return {};
    }

    void add(const trace::Event& event) override {
        const std::string_view name = trace::event_name(event);
        const std::string_view task = task_of(event);
        char* const begin = m_file.room(kFixedBytesMax + 4 * name.size() + kWordBytes * word_count(event) +
                                        task.size() + EventWords::kShortMax);
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
            finish_line(begin, at, task, event);
            return;
        }
        *at++ = ',';
        const bool record = event.origin == trace::Origin::record;
        at = text::put_number(at, record ? std::uint32_t{event.code} & 0x0FU : event.event_class);
        at = put(at, ",0x");
        at = record ? text::put_hexadecimal(at, fast | event.code, fast != 0 ? 4 : 2)
                    : text::put_hexadecimal(at, event.number, event.number > 0xFF ? 4 : 2);
        *at++ = ',';
        at = put(at, text::csv_field(name));
        *at++ = ',';
        at = put(at, trace::state_name(event.state));
        *at++ = ',';
        finish_line(begin, put_words(at, event), task, event);
    }

  private:
    static constexpr std::size_t kContexts = 0x1'0000;

    // Returns the name of the task that the record is about, as a field; empty if there is none. Must be called with
    // each event.
    std::string_view task_of(const trace::Event& event) {
        if (event.row == nullptr || event.names == nullptr || !event.is_sound()) {
            return "";
        }
        const trace::OptionalTask logged_in = m_running.take(event);
        const bool is_first = event.row->par1.unit == tracer::Unit::context;
        if (!logged_in && !is_first && event.row->par2.unit != tracer::Unit::context) {
            return "";
        }
        const std::uint32_t context = logged_in ? *logged_in : is_first ? event.par1 : event.par2;
        if (context >= kContexts) {
            return "";
        }
        Task& task = m_tasks[context];
        if (task.version != event.names->version()) {
            task = {event.names->version(), text::csv_field(event.names->find(tracer::Unit::context, context))};
        }
        return task.field;
    }

    // Writes the last two fields at `at` and ends the line that began at `begin`.
    void finish_line(char* begin, char* at, std::string_view task, const trace::Event& event) {
        *at++ = ',';
        at = put(at, task);
        *at++ = ',';
        char* const end = m_words.put_short(at, event);
        const bool is_plain =
            end != nullptr && std::string_view(at, end).find_first_of(",\"\n") == std::string_view::npos;
        if (is_plain) {
            *end = '\n';
            m_file.used(static_cast<std::size_t>(end + 1 - begin));
            return;
        }
        m_file.used(static_cast<std::size_t>(at - begin));
        m_file.append(text::csv_field(m_words.of(event)) + '\n');
    }

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

    struct Task {
        std::uint64_t version = 0; // of the names
        std::string field;
    };

    OutputFile& m_file;
    EventWords m_words;
    trace::RunningTasks m_running;
    std::vector<Task> m_tasks;             // by context
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
