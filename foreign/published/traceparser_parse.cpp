// SPDX-License-Identifier: MIT
// Parses a file and calls the callbacks. The input may be any trace: a .kev file is read unchanged, any other one is
// first converted into a file without a name.
#include "convert/kev/kev.hpp"
#include "convert/writer/writer.hpp"
#include "foreign/kev/codes.hpp"
#include "foreign/kev/event_names.hpp"
#include "foreign/kev/header.hpp"
#include "foreign/kev/reader.hpp"
#include "foreign/published/traceparser_state.hpp"
#include "host/formats/input_kind.hpp"
#include "host/formats/trace.hpp"
#include "host/text/escape.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace host::compat {

namespace {

using Open = std::function<lib::Result<std::unique_ptr<formats::Trace>>(trace::Diagnostics&)>;

bool is_directory(const std::string& path) {
    struct stat status {};

    return path != "-" && ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// Makes two passes over the trace: the first gathers what the header and the names need.
lib::Result<trace::NamedSource> converted(const std::string& name, const Open& open, trace::Diagnostics& diagnostics) {
    trace::Diagnostics silent([](std::string_view) {});
    const auto first = open(silent);
    const auto survey = first ? convert::survey_of(*first.value()) : convert::Survey{};
    const auto second = open(diagnostics);
    if (!second) { // a file of no known format is no trace, which is not a failed read
        return second.error() == lib::Error::unsupported ? lib::Error::corrupt : second.error();
    }
    if (survey.facts.usable_events == 0) {
        diagnostics.report("E-NOTHING", {.file = name}, "neither a .kev file nor a trace of known events");
        return lib::Error::corrupt;
    }
    const auto opened = trace::open_nameless_file();
    if (!opened) {
        return opened.error();
    }
    const int descriptor = opened.value();
    auto source = std::make_shared<trace::ByteSource>(descriptor, true, std::uint64_t{0}); // owns the descriptor from
                                                                                           // here on
    output::OutputFile file(descriptor, false);
    convert::records::KevWriter writer(file);
    if (const auto begun = writer.begin(&survey); !begun) {
        diagnostics.report("E-CPU", {.file = name}, begun.error().text);
        return lib::Error::unsupported;
    }
    for (auto batch = second.value()->next_batch(); !batch.empty() && file.error_number() == 0;
         batch = second.value()->next_batch()) {
        for (const trace::Event& event : batch) {
            if (!event.metadata) {
                writer.add(event);
            }
        }
    }
    static_cast<void>(writer.finish(second.value()->facts())); // never fails; the file has any error
    const std::uint64_t size_bytes = file.position_bytes();
    if (const auto closed = file.close(); !closed) {
        return closed.error();
    }
    const int kept = ::dup(descriptor);
    if (kept < 0) {
        return lib::Error::io;
    }
    source = std::make_shared<trace::ByteSource>(kept, true, size_bytes);
    return trace::NamedSource{.name = name, .bytes = std::move(source), .keep_open = true};
}

// path: a file of any kind that the reader library knows, a session directory, or "-". What is wrong goes to
// diagnostics. corrupt: there is no usable event in it; else the errors of opening and of the temporary file.
lib::Result<trace::NamedSource> open_as_kev(const std::string& path, trace::Diagnostics& diagnostics) {
    if (is_directory(path)) {
        return converted(
            path, [&](trace::Diagnostics& to) { return formats::Trace::open(path, {}, to); }, diagnostics);
    }
    const std::string name = path == "-" ? "<stdin>" : path;
    auto source = trace::ByteSource::open(path);
    if (!source) {
        diagnostics.report("E-IO", {.file = name}, error_name(source.error()));
        return source.error();
    }
    if (formats::kind_of(*source.value()) == trace::InputKind::kev) {
        return trace::NamedSource{.name = name, .bytes = source.value(), .keep_open = true};
    }
    auto positioned = trace::ByteSource::positioned(source.value());
    if (!positioned) {
        diagnostics.report("E-IO", {.file = name}, error_name(positioned.error()));
        return positioned.error();
    }
    const trace::NamedSource input{.name = name, .bytes = positioned.value(), .keep_open = true};
    return converted(
        name, [&](trace::Diagnostics& to) { return formats::Trace::open(input, {}, to); }, diagnostics);
}

using formats::kev::HeaderError;
using formats::kev::RawEvent;
using formats::kev::Slot;
using trace::EventState;

traceparser_error_t error_of(HeaderError error) {
    switch (error) {
    case HeaderError::no_begin:
    case HeaderError::no_end:
    case HeaderError::number:
    case HeaderError::syspage_size:
        return _TRACEPARSER_WRONG_H_KEYWORD;
    case HeaderError::missing_key:
        return _TRACEPARSER_MISSING_FIELD;
    case HeaderError::version:
    case HeaderError::encoding:
        return _TRACEPARSER_WRONG_FILE_VERSION;
    case HeaderError::byte_order:
        return _TRACEPARSER_WRONG_ENDIAN_TYPE;
    case HeaderError::cannot_read:
        return _TRACEPARSER_CANNOT_READ_IN_FILE;
    }
    return _TRACEPARSER_UNKNOWN_ERROR;
}

// Both lists have the same order.
static_assert(TRACEPARSER_STATE_OK == static_cast<int>(EventState::ok));
static_assert(TRACEPARSER_STATE_MALFORMED == static_cast<int>(EventState::malformed));
static_assert(TRACEPARSER_STATE_LATE == static_cast<int>(EventState::late));

class Parsing {
  public:
    Parsing(traceparser_state& handle, State& state, void* user, formats::kev::Reader& reader)
        : m_handle(handle)
        , m_state(state)
        , m_user(user)
        , m_reader(reader)
        , m_ours(reader.header().is_ours())
        , m_hertz(formats::kev::believed_hertz(reader.header().cycles_per_second)) {}

    void run() {
        for (const Registration& row : copy_of(_NTO_TRACE_EMPTY)) {
            call(_NTO_TRACE_EMPTY, 0, [&] {
                return row.published != nullptr ? row.published(&m_handle, user_of(row), 0, 0, nullptr, 0)
                                                : row.detailed(&m_handle, user_of(row), &m_event);
            });
        }
        formats::kev::Window window(m_reader);
        RawEvent event;
        while (m_state.sort == _TRACEPARSER_SORT ? window.next(event) : m_reader.next(event)) {
            deliver(event);
        }
        m_state.ticks = 0;
    }

  private:
    void deliver(RawEvent& raw) {
        const Slot slot{.header = raw.header, .stamp = raw.stamp};
        const auto words = raw.words();
        const External external = external_of(slot.class_number(), slot.event(), words);
        if (m_state.debugs(_TRACEPARSER_DEBUG_EVENTS)) {
            std::fprintf(m_state.debug_stream, "h:0x%08x t:0x%08x", raw.header, raw.stamp);
            for (const std::uint32_t word : words) {
                std::fprintf(m_state.debug_stream, " 0x%08x", word);
            }
            std::fputc('\n', m_state.debug_stream);
        }
        if (!m_start && slot.class_number() != static_cast<std::uint8_t>(formats::kev::Class::control)) {
            m_start = raw.ticks;
        }
        m_state.ticks = raw.ticks;
        m_event = {};
        m_event.ticks = raw.ticks;
        m_event.time_ns = m_hertz != 0
                              ? formats::kev::nanoseconds_since(m_start.value_or(raw.ticks), raw.ticks, m_hertz)
                              : std::numeric_limits<std::int64_t>::min();
        m_event.header = raw.header;
        m_event.cpu = slot.cpu();
        m_event.class_ = external.class_number;
        m_event.event = external.event;
        m_event.state = static_cast<std::uint32_t>(raw.state);
        m_event.word_count = static_cast<std::uint32_t>(true_count(slot, raw));
        m_event.words = words.data();
        const auto class_label = formats::kev::class_label(slot.class_number(), slot.event());
        const auto event_label = formats::kev::event_label(slot.class_number(), slot.event());
        m_event.class_label = class_label.empty() ? "UNKNOWN" : class_label.data(); // the labels are literals, which
                                                                                    // end in a zero
        m_event.event_label = event_label.empty() ? "" : event_label.data();
        const bool sound = raw.state == EventState::ok || raw.state == EventState::late;
        m_data.assign(words.begin(), words.end());
        for (const Registration& row : copy_of(external.class_number)) {
            const bool wanted =
                external.class_number == kClassUnknown || (external.event >= row.first && external.event <= row.last);
            if (!wanted) {
                continue;
            }
            if (row.detailed != nullptr) {
                call(external.class_number, external.event,
                     [&] { return row.detailed(&m_handle, user_of(row), &m_event); });
            } else if (sound || m_state.deliver_damaged) {
                call(external.class_number, external.event, [&] {
                    return row.published(&m_handle, user_of(row), raw.header, raw.stamp, m_data.data(),
                                         static_cast<unsigned>(m_data.size()));
                });
            }
        }
    }

    [[nodiscard]] std::size_t true_count(const Slot& slot, const RawEvent& raw) const {
        const auto words = raw.words();
        if (!m_ours || (raw.state != EventState::ok && raw.state != EventState::late)) {
            return words.size();
        }
        const auto native = formats::kev::native_of(slot.class_number(), slot.event(), words);
        return native ? native->words : words.size();
    }

    // A callback may register others, which are called from the next event on.
    const std::vector<Registration>& copy_of(unsigned class_number) {
        m_rows = m_state.registrations[class_number];
        return m_rows;
    }

    [[nodiscard]] void* user_of(const Registration& row) const { return row.user != nullptr ? row.user : m_user; }

    template <typename Function>
    void call(unsigned class_number, unsigned event, const Function& function) {
        m_state.now_class = class_number;
        m_state.now_event = event;
        m_state.previous_return = function();
        m_state.previous_class = class_number;
        m_state.previous_event = event;
    }

    traceparser_state& m_handle;
    State& m_state;
    void* m_user;
    formats::kev::Reader& m_reader;
    bool m_ours;
    std::uint64_t m_hertz;
    std::optional<std::uint64_t> m_start;
    traceparser_event m_event{};
    std::vector<std::uint32_t> m_data; // for published callbacks, which may write to it
    std::vector<Registration> m_rows;
};

} // namespace

bool parse(traceparser_state& handle, State& state, void* user, const char* file) {
    state.header = {};
    state.syspage.clear();
    state.damage = 0;
    state.now_class = state.now_event = state.previous_class = state.previous_event = 0;
    state.previous_return = 0;
    std::string first_line;
    trace::Diagnostics diagnostics([&](std::string_view line) {
        if (first_line.empty()) {
            first_line = line;
        }
        if (state.debugs(_TRACEPARSER_DEBUG_ERRORS)) {
            std::fprintf(state.debug_stream, "%.*s\n", static_cast<int>(line.size()), line.data());
        }
    });
    const auto input = open_as_kev(file, diagnostics);
    if (!input) {
        state.fail(input.error() == lib::Error::corrupt ? _TRACEPARSER_WRONG_H_KEYWORD
                                                        : _TRACEPARSER_CANNOT_READ_IN_FILE,
                   first_line.empty() ? error_name(input.error()) : std::string_view(first_line));
        return false;
    }
    const auto reader = formats::kev::Reader::open(input.value(), diagnostics);
    if (!reader) {
        state.fail(error_of(reader.error()), first_line);
        return false;
    }
    state.header = reader.value()->header();
    state.syspage.assign(reader.value()->syspage().begin(), reader.value()->syspage().end());
    state.endian_conversion = state.header.byte_order == formats::kev::ByteOrder::big ? 1 : 0;
    if (state.debugs(_TRACEPARSER_DEBUG_HEADER)) {
        for (const auto& [key, value] : state.header.entries) {
            std::fprintf(state.debug_stream, "TRACE_%s::%s\n", key.c_str(), text::escaped(value).c_str());
        }
    }
    if (state.debugs(_TRACEPARSER_DEBUG_SYSPAGE)) {
        std::fprintf(state.debug_stream, "syspage: %zu bytes\n", state.syspage.size());
    }
    Parsing(handle, state, user, *reader.value()).run();
    diagnostics.finish();
    state.damage = diagnostics.damages();
    return true;
}

} // namespace host::compat
