// SPDX-License-Identifier: MIT
// Ring buffer pages are kept in a file without a name until all sizes are known. libtraceevent parses format texts, so
// names that could end a string or a line are made plain here.
#include "convert/linux/trace_dat.hpp"

#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/trace/names.hpp"
#include "host/trace/value_text.hpp"
#include "lib/assert.hpp"
#include "tracer/record/unit_words.hpp"

#include <algorithm>
#include <string_view>

namespace host::convert::linux {

namespace {

constexpr std::uint32_t kTypeTimeExtend = 30;
constexpr std::uint64_t kMissedEvents = std::uint64_t{1} << 31;
constexpr std::uint64_t kMissedStored = std::uint64_t{1} << 30; // the number of missing records follows the data

} // namespace

char* RingPages::any_event(std::uint64_t time_ns, std::size_t bytes) {
    ASSERT(bytes <= kDataBytesMax);
    if (time_ns < m_time) {
        time_ns = m_time;
        ++m_raised;
    }
    constexpr std::uint64_t kExtendedMax = (std::uint64_t{1} << (kDeltaBits + 32)) - 1; // a page states its full time
    const bool is_long = bytes > kShortMax;
    const std::size_t head = is_long ? 8 : kShortHeadBytes;
    if (m_filled != 0 && (!fits(head + bytes) || time_ns - m_time > kExtendedMax)) {
        close_page();
    }
    if (m_filled == 0) {
        open_page(time_ns);
    }
    std::uint64_t delta = time_ns - m_time;
    m_time = time_ns;
    char* at = page() + m_filled;
    if (delta > kDeltaMax) {
        store(at, static_cast<std::uint32_t>(kTypeTimeExtend | (delta & kDeltaMax) << kTypeBits));
        store(at + 4, static_cast<std::uint32_t>(delta >> kDeltaBits));
        at += kExtendBytes;
        m_filled += kExtendBytes;
        delta = 0;
    }
    const std::uint32_t type = is_long ? 0 : static_cast<std::uint32_t>(bytes / 4);
    store(at, static_cast<std::uint32_t>(type | delta << kTypeBits));
    if (is_long) {
        store(at + 4, static_cast<std::uint32_t>(bytes + 4)); // includes this word
    }
    m_filled += head + bytes;
    return at + head;
}

void RingPages::lost(std::uint64_t records) {
    if (records == 0) {
        return;
    }
    close_page();
    m_lost += records;
    m_lost_total += std::min(records, ~std::uint64_t{0} - m_lost_total);
}

void RingPages::open_page(std::uint64_t time_ns) {
    m_time = time_ns;
    store(page(), time_ns);
    m_filled = kHeadBytes;
}

void RingPages::close_page() {
    if (m_filled == 0) {
        return;
    }
    char* const begin = page();
    std::uint64_t commit = m_filled - kHeadBytes;
    std::memset(begin + m_filled, 0, kPageBytes - m_filled);
    if (m_lost != 0) {
        commit |= kMissedEvents | kMissedStored;
        store(begin + m_filled, m_lost);
        m_lost = 0;
    }
    store(begin + sizeof(std::uint64_t), commit);
    m_filled = 0;
    if (++m_page == kPagesPerWrite) {
        write_out();
    }
}

void RingPages::write_out() {
    if (!m_spooled) {
        auto spool = trace::Spool::create();
        if (!spool) {
            m_written = spool.error();
        } else {
            m_spool = std::move(spool.value());
        }
        m_spooled = true;
    }
    if (m_written) {
        m_written = m_spool.append(std::as_bytes(std::span(m_buffer).first(m_page * kPageBytes)));
    }
    m_page = 0;
}

lib::Result<std::shared_ptr<trace::ByteSource>> RingPages::finish(std::uint64_t& bytes) {
    close_page();
    if (m_page != 0) {
        write_out();
    }
    if (!m_written) {
        return m_written.error();
    }
    bytes = m_spool.size_bytes();
    return m_spool.take();
}

} // namespace host::convert::linux

namespace host::convert::linux::tracefs {

namespace {

using tracer::Unit;

// Appends one parameter for printing: the value, and its meaning if there are names.
void append_parameter(std::string& text, std::string& arguments, const tracer::Parameter& parameter,
                      std::string_view names) {
    if (parameter.unit == Unit::none) {
        return;
    }
    if (!text.empty()) {
        text += ' ';
    }
    const unsigned low_bits = tracer::words_of(parameter.unit).low_bits;
    const std::string low = low_bits != 0 ? fmt::format(" & {:#x}", (1U << low_bits) - 1) : "";
    const std::string high = low_bits != 0 ? fmt::format(" >> {}", low_bits) : "";
    text += fmt::format("{}={}", parameter.name, trace::is_hexadecimal(parameter.unit) ? "0x%x" : "%u");
    arguments += fmt::format(", REC->{}{}", parameter.name, low);
    if (!names.empty()) {
        text += " (%s)";
        arguments += fmt::format(", __print_symbolic(REC->{}{}, {})", parameter.name, high, names);
    }
}

} // namespace

const std::string_view kHeaderPage = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                                     "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                                     "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                                     "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";

const std::string_view kHeaderEvent = "# compressed entry header\n"
                                      "\ttype_len    :    5 bits\n"
                                      "\ttime_delta  :   27 bits\n"
                                      "\tarray       :   32 bits\n"
                                      "\n"
                                      "\tpadding     : type == 29\n"
                                      "\ttime_extend : type == 30\n"
                                      "\ttime_stamp : type == 31\n"
                                      "\tdata max type_len  == 28\n";

std::string format(std::string_view name, std::uint32_t id, const std::vector<Field>& fields, std::string_view print) {
    std::string out = fmt::format("name: {}\nID: {}\nformat:\n", name, id);
    std::size_t offset = 0;
    const auto add = [&](const Field& field) {
        out += fmt::format("\tfield:{};\toffset:{};\tsize:{};\tsigned:{};\n", field.declaration, offset, field.bytes,
                           field.is_signed ? 1 : 0);
        offset += field.bytes;
    };
    add({"unsigned short common_type", 2, false});
    add({"unsigned char common_flags", 1, false});
    add({"unsigned char common_preempt_count", 1, false});
    add({"int common_pid", 4, true});
    out += '\n';
    for (const Field& field : fields) {
        add(field);
    }
    return out + fmt::format("\nprint fmt: {}\n", print);
}

std::string record_format(const tracer::EventRow& row, std::uint32_t id, std::string_view par1_names,
                          std::string_view par2_names) {
    std::vector<Field> fields;
    const std::string par1 = fmt::format("unsigned int {}", row.par1.name);
    const std::string par2 = fmt::format("unsigned int {}", row.par2.name);
    if (row.par1.unit != Unit::none) {
        fields.push_back({par1, sizeof(std::uint32_t), false});
    }
    if (row.par2.unit != Unit::none) {
        fields.push_back({par2, sizeof(std::uint32_t), false});
    }
    std::string text;
    std::string arguments;
    append_parameter(text, arguments, row.par1, par1_names);
    append_parameter(text, arguments, row.par2, par2_names);
    return format(plain_name(row.name), id, fields, fmt::format("\"{}\"{}", text, arguments));
}

std::string plain_name(std::string_view text_untrusted) {
    std::string out;
    for (const char character : text_untrusted) {
        const bool plain = (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
                           (character >= '0' && character <= '9') || character == '_';
        out += plain ? character : '_';
    }
    return out.empty() ? "_" : out;
}

} // namespace host::convert::linux::tracefs

namespace host::convert::linux::kernelshark {

// The following functions return the format texts of the scheduler's, the interrupts' and our events, with the meaning
// of numbers.

namespace {

// Returns the names of a unit for __print_symbolic; empty if there are none.
std::string symbols(const trace::Names& names, tracer::Unit unit) {
    std::string out;
    const auto add = [&out](std::uint32_t value, std::string_view name) {
        std::string plain = text::escaped(name);
        std::ranges::replace_if(
            plain, [](char character) { return character == '"' || character == '\\'; }, '_');
        out += fmt::format("{}{{ {}, \"{}\" }}", out.empty() ? "" : ", ", value, plain);
    };
    const auto words = tracer::words_of(unit).words;
    for (std::uint32_t value = 0; value < words.size(); ++value) {
        add(value, words[value].empty() ? "none" : words[value]);
    }
    if (!words.empty()) {
        return out;
    }
    for (const auto& [value, name] : trace::sorted_names(names, unit)) {
        if (!name.empty()) {
            add(value, name);
        }
    }
    return out;
}

std::string text_format(std::string_view name, std::uint32_t id) {
    return tracefs::format(tracefs::plain_name(name), id, {{"__data_loc char[] text", 4, false}},
                           "\"%s\", __get_str(text)");
}

} // namespace

std::vector<std::string> scheduler_formats() {
    return {
        tracefs::format("sched_switch", kSwitchId,
                        {{"char prev_comm[16]", kCommBytes, true},
                         {"pid_t prev_pid", 4, true},
                         {"int prev_prio", 4, true},
                         {"long prev_state", 8, true},
                         {"char next_comm[16]", kCommBytes, true},
                         {"pid_t next_pid", 4, true},
                         {"int next_prio", 4, true}},
                        "\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s ==> next_comm=%s next_pid=%d "
                        "next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->prev_prio, "
                        "__print_symbolic(REC->prev_state, { 0, \"R\" }, { 1, \"S\" }, { 2, \"D\" }, { 16, \"X\" }), "
                        "REC->next_comm, REC->next_pid, REC->next_prio"),
        tracefs::format("sched_waking", kWakingId,
                        {{"char comm[16]", kCommBytes, true},
                         {"pid_t pid", 4, true},
                         {"int prio", 4, true},
                         {"int success", 4, true},
                         {"int target_cpu", 4, true}},
                        "\"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, REC->prio, "
                        "REC->target_cpu"),
        tracefs::format("sched_pi_setprio", kPrioId,
                        {{"char comm[16]", kCommBytes, true},
                         {"pid_t pid", 4, true},
                         {"int oldprio", 4, true},
                         {"int newprio", 4, true}},
                        "\"comm=%s pid=%d oldprio=%d newprio=%d\", REC->comm, REC->pid, REC->oldprio, REC->newprio"),
    };
}

std::vector<std::string> interrupt_formats() {
    return {
        tracefs::format("irq_handler_entry", kIrqEntryId, {{"int irq", 4, true}, {"__data_loc char[] name", 4, false}},
                        "\"irq=%d name=%s\", REC->irq, __get_str(name)"),
        tracefs::format("irq_handler_exit", kIrqExitId, {{"int irq", 4, true}, {"int ret", 4, true}},
                        "\"irq=%d ret=%s\", REC->irq, REC->ret ? \"handled\" : \"unhandled\""),
    };
}

std::vector<std::string> own_formats(const trace::Names& names, const std::map<std::string, std::uint32_t>& found) {
    std::map<tracer::Unit, std::string> known;
    const auto of = [&](tracer::Unit unit) -> std::string_view {
        if (const auto place = known.find(unit); place != known.end()) {
            return place->second;
        }
        return known.emplace(unit, symbols(names, unit)).first->second;
    };
    std::vector<std::string> formats;
    for (const tracer::EventRow& row : tracer::kEvents) {
        const std::uint32_t id = kRecordId + row.code;
        formats.push_back(row.shape == tracer::Shape::simple
                              ? tracefs::record_format(row, id, of(row.par1.unit), of(row.par2.unit))
                              : text_format(row.name, id));
    }
    formats.push_back(text_format("damaged", kDamagedId));
    formats.push_back(text_format("lost", kLostId));
    formats.push_back(text_format("other", kOtherId));
    for (const auto& [name, id] : found) {
        formats.push_back(text_format(name, id));
    }
    return formats;
}

} // namespace host::convert::linux::kernelshark
