// SPDX-License-Identifier: MIT
// kernelshark is a trace.dat file, version 6, for KernelShark and trace-cmd. Source: the manual page trace-cmd.dat(5),
// v6. Beside our events (system "remora") it contains those of the scheduler and of interrupts, derived from the
// changes of the schedule; KernelShark draws processors and tasks from them. Times are nanoseconds since the start of
// the trace.
//
// The pages of each processor are stored separately until the end, because the file states their offsets before them,
// and because names and event formats are complete only then.
#include "convert/rows.hpp"
#include "host/text/format.hpp"

#include "convert/linux/trace_dat.hpp"
#include "convert/losses.hpp"
#include "convert/schedule_words.hpp"
#include "convert/track_writer.hpp"
#include "convert/writer/event_words.hpp"
#include "host/trace/event.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

namespace host::convert::linux {

namespace {

using namespace kernelshark; // NOLINT(google-build-using-namespace): the other half of this file
using trace::kCodeOf;

constexpr std::size_t kProcessorsMax = 512;
constexpr std::size_t kTextBytesMax = 1024;

class Data {
  public:
    // bytes: size of the fields after the common ones.
    Data(RingPages& pages, std::uint64_t time_ns, std::size_t bytes, std::uint32_t id, std::uint8_t flags,
         std::uint32_t tid)
        : m_at(pages.event(time_ns, whole_words(bytes)))
        , m_rest(whole_words(bytes)) {
        put(static_cast<std::uint16_t>(id)).put(flags).put(std::uint8_t{0}).put(tid);
    }

    Data(const Data&) = delete;
    Data& operator=(const Data&) = delete;

    ~Data() {
        if (m_rest != 0) {
            std::memset(m_at, 0, m_rest);
        }
    }

    template <typename T>
    Data& put(T value) {
        std::memcpy(m_at, &value, sizeof(value));
        return passed(sizeof(value));
    }

    // Writes a text into a field of `bytes` bytes; it is cut between two characters and ends in a zero.
    Data& text(std::string_view text, std::size_t bytes) {
        const std::size_t size = text::cut(text, bytes - 1).size();
        std::memcpy(m_at, text.data(), size);
        std::memset(m_at + size, 0, bytes - size);
        return passed(bytes);
    }

  private:
    static constexpr std::size_t whole_words(std::size_t bytes) { return (tracefs::kCommonBytes + bytes + 3) / 4 * 4; }

    Data& passed(std::size_t bytes) {
        m_at += bytes;
        m_rest -= bytes;
        return *this;
    }

    char* m_at;
    std::size_t m_rest;
};

constexpr std::uint8_t kExitDead = 16;

// States how the parameters of a record of one slot are written.
struct Parameters {
    bool simple = false; // it is a record of one slot
    bool has_first = false;
    std::uint8_t bytes = 0; // size of both
};

constexpr auto kParameters = [] {
    std::array<Parameters, 256> all{};
    all.fill({}); // g++ 12 sets only the first ones to their defaults
    for (const tracer::EventRow& row : tracer::kEvents) {
        const bool first = row.par1.unit != tracer::Unit::none;
        const bool second = row.par2.unit != tracer::Unit::none;
        all[row.code] = {.simple = row.shape == tracer::Shape::simple,
                         .has_first = first,
                         .bytes = static_cast<std::uint8_t>((first ? 4 : 0) + (second ? 4 : 0))};
    }
    return all;
}();

class KernelShark final : public Writer, private ChangeHandler {
  public:
    explicit KernelShark(Destination& destination)
        : m_file(destination.file()) {}

    void add(const trace::Event& event) override {
        m_pages = pages_of(event.cpu);
        if (m_pages == nullptr) {
            return; // finish() reports it
        }
        m_event = &event;
        m_time_ns =
            !event.timed ? event.ticks.value : static_cast<std::uint64_t>(std::max<std::int64_t>(event.time_ns, 0));
        const std::uint32_t before = m_schedule.running(event.cpu);
        std::uint32_t depth = m_schedule.interrupt_depth(event.cpu);
        const auto changes = m_schedule.take(event);
        depth = changes.empty() ? depth : std::max(depth, m_schedule.interrupt_depth(event.cpu));
        m_tid = label(event.is(kCodeOf<"task_epilogue">) ? m_schedule.running(event.cpu) : before).tid;
        m_flags = depth != 0 ? tracefs::kFlagHardInterrupt : 0;
        if (event.is(kCodeOf<"blackout_end">)) {
            m_pages->lost(event.par2);
        }
        add_own();
        for (const Change& change : changes) {
            apply(change);
        }
    }

    lib::Result<void, Failure> finish(const trace::TraceFacts& facts) override;

  private:
    RingPages* pages_of(std::uint16_t cpu) {
        return cpu < m_processors.size() && m_processors[cpu] != nullptr ? m_processors[cpu].get() : add_pages(cpu);
    }

    RingPages* add_pages(std::uint16_t cpu) {
        if (m_open == kProcessorsMax) {
            m_too_many = true;
            return nullptr;
        }
        ++m_open;
        m_processors.resize(std::max<std::size_t>(m_processors.size(), cpu + 1U));
        m_processors[cpu] = std::make_unique<RingPages>();
        return m_processors[cpu].get();
    }

    const TaskLabel& label(std::uint32_t context) { return m_labels.of(*m_event, context); }

    Data data(std::uint32_t id, std::size_t bytes) { return {*m_pages, m_time_ns, bytes, id, m_flags, m_tid}; }

    // Returns the location of a text after `offset` bytes of fields, which include this one.
    static std::uint32_t location(std::size_t offset, std::string_view text) {
        return static_cast<std::uint32_t>((tracefs::kCommonBytes + offset) | (text.size() + 1) << 16);
    }

    void add_text(std::uint32_t id, std::string_view text) {
        text = text::cut(text, kTextBytesMax);
        data(id, 4 + text.size() + 1).put(location(4, text)).text(text, text.size() + 1);
    }

    // Writes two words; the second may be longer than the event.
    void add_simple(const trace::Event& event, const Parameters& parameters) {
        static_assert(tracefs::kCommonBytes == sizeof(std::uint64_t) &&
                      RingPages::kSlackBytes >= sizeof(std::uint64_t));
        char* const at = m_pages->event(m_time_ns, tracefs::kCommonBytes + parameters.bytes);
        const std::uint64_t common =
            (kRecordId + event.code) | std::uint64_t{m_flags} << 16 | std::uint64_t{m_tid} << 32;
        const std::uint64_t values =
            parameters.has_first ? std::uint64_t{event.par2} << 32 | event.par1 : std::uint64_t{event.par2};
        std::memcpy(at, &common, sizeof common);
        std::memcpy(at + sizeof common, &values, sizeof values);
    }

    void add_own() {
        const trace::Event& event = *m_event;
        if (event.is_sound() && kParameters[event.code].simple && !trace::is_foreign(event)) {
            add_simple(event, kParameters[event.code]);
            return;
        }
        const std::string_view text = m_event_words.of(event);
        if (!event.is_sound()) {
            add_text(kDamagedId, text);
        } else if (event.row == nullptr || trace::is_foreign(event) || event.is(kCodeOf<"typed_event">)) {
            const std::string name = event.origin == trace::Origin::record && event.row == nullptr
                                         ? fmt::format("unknown_{:02x}", event.code)
                                         : tracefs::plain_name(trace::event_name(event));
            add_text(text_id(name), text);
        } else {
            add_text(kRecordId + event.code, text);
        }
    }

    // Returns the id of an event that is not in the table, by its name. Events beyond the last free id share one.
    std::uint32_t text_id(const std::string& name) {
        if (const auto known = m_texts.find(name); known != m_texts.end()) {
            return known->second;
        }
        const std::size_t id = kFirstTextId + m_texts.size();
        return id > kIdMax ? kOtherId : m_texts.emplace(name, static_cast<std::uint32_t>(id)).first->second;
    }

    void on_switch(const Change& change) override {
        const TaskLabel& from = label(change.other);
        const TaskLabel& to = label(change.context);
        data(kSwitchId, 56)
            .text(from.name, kCommBytes)
            .put(from.tid)
            .put(from.priority)
            .put(std::int64_t{linux_state(change.state, kExitDead)})
            .text(to.name, kCommBytes)
            .put(to.tid)
            .put(to.priority);
    }

    void on_wake(std::uint32_t context) override {
        const TaskLabel& task = label(context);
        if (task.is_idle()) {
            return;
        }
        data(kWakingId, 32)
            .text(task.name, kCommBytes)
            .put(task.tid)
            .put(task.priority)
            .put(std::uint32_t{1})
            .put(std::uint32_t{m_event->cpu});
    }

    void on_interrupt(std::uint32_t vector) override {
        const std::string& name = m_vectors.of(*m_event, vector);
        data(kIrqEntryId, 8 + name.size() + 1).put(vector).put(location(8, name)).text(name, name.size() + 1);
    }

    void on_interrupt_end(std::uint32_t vector) override { data(kIrqExitId, 8).put(vector).put(std::uint32_t{1}); }

    void on_priority(std::uint32_t context, std::uint32_t from) override {
        const std::uint32_t to = label(from).priority;
        const TaskLabel& task = label(context);
        data(kPrioId, 28).text(task.name, kCommBytes).put(task.tid).put(task.priority).put(to);
    }

    void append(std::string_view text) { m_file.append(text); }

    template <typename T>
    void append_number(T value) {
        m_file.append(std::as_bytes(std::span(&value, 1)));
    }

    // Appends a text after its length.
    void append_counted(std::string_view text) {
        append_number(std::uint64_t{text.size()});
        append(text);
    }

    void append_system(std::string_view name, const std::vector<std::string>& formats) {
        append(name);
        append_number(std::uint8_t{0});
        append_number(static_cast<std::uint32_t>(formats.size()));
        for (const std::string& format : formats) {
            append_counted(format);
        }
    }

    void add_losses(const trace::TraceFacts& facts);
    void append_head(const trace::TraceFacts& facts);
    [[nodiscard]] lib::Result<void, Failure> append_processors();

    OutputFile& m_file;
    std::vector<std::unique_ptr<RingPages>> m_processors; // by number
    std::size_t m_open = 0;
    bool m_too_many = false;
    std::map<std::string, std::uint32_t> m_texts;
    Schedule m_schedule;
    TaskLabels m_labels;
    VectorLabels m_vectors;
    EventWords m_event_words;
    const trace::Event* m_event = nullptr;
    RingPages* m_pages = nullptr;
    std::uint64_t m_time_ns = 0;
    std::uint32_t m_tid = 0;
    std::uint8_t m_flags = 0;
};

void KernelShark::append_head(const trace::TraceFacts& facts) {
    constexpr std::string_view kMagic("\x17\x08\x44tracing6\0", 12);
    append(kMagic);
    append_number(std::uint8_t{0}); // little-endian
    append_number(std::uint8_t{8}); // bytes of a long
    append_number(static_cast<std::uint32_t>(RingPages::kPageBytes));
    append(std::string_view("header_page\0", 12));
    append_counted(tracefs::kHeaderPage);
    append(std::string_view("header_event\0", 13));
    append_counted(tracefs::kHeaderEvent);
    append_number(std::uint32_t{0}); // events of the function tracer
    append_number(std::uint32_t{3});
    append_system("irq", kernelshark::interrupt_formats());
    append_system("remora", kernelshark::own_formats(facts.names, m_texts));
    append_system("sched", kernelshark::scheduler_formats());
    append_number(std::uint32_t{0}); // kernel symbols
    append_number(std::uint32_t{0}); // formats of printk
    std::string commands;
    for (const auto& [context, task] : facts.names.tasks()) {
        commands +=
            fmt::format("{} {}\n", tid_of(facts.names, context), text::escaped(task_label(facts.names, context)));
    }
    commands += fmt::format("{} context-0\n{} unknown\n", kContextZeroTid, kUnknownTid);
    append_counted(commands);
}

// Losses at an unknown place are shown as a gap in front of an additional event.
void KernelShark::add_losses(const trace::TraceFacts& facts) {
    for (const auto& [cpu, losses] : unseen_losses(facts)) {
        m_pages = pages_of(cpu);
        const std::uint64_t lost = m_pages != nullptr ? losses.without(m_pages->lost_records()) : 0;
        if (lost != 0) {
            m_time_ns = m_pages->time_ns();
            m_tid = tid_of(facts.names, m_schedule.running(cpu));
            m_flags = 0;
            m_pages->lost(lost);
            add_text(kLostId, losses.text(lost));
        }
    }
}

// Writes offset and size of each processor's pages, then the pages themselves, on a page boundary.
lib::Result<void, Failure> KernelShark::append_processors() {
    struct Part {
        std::shared_ptr<trace::ByteSource> bytes;
        std::uint64_t size = 0;
    };

    std::vector<Part> parts(m_processors.size());
    std::uint64_t at = m_file.position_bytes() + parts.size() * 2 * sizeof(std::uint64_t);
    const std::uint64_t padding = (RingPages::kPageBytes - at % RingPages::kPageBytes) % RingPages::kPageBytes;
    at += padding;
    for (std::size_t cpu = 0; cpu < parts.size(); ++cpu) {
        if (m_processors[cpu] != nullptr) {
            auto pages = m_processors[cpu]->finish(parts[cpu].size);
            if (!pages) {
                const Failure failure = failure_of(pages.error());
                return Failure{failure.cause,
                               fmt::format("pages of processor {}: {} (TMPDIR holds them)", cpu, failure.text)};
            }
            parts[cpu].bytes = pages.value();
        }
        append_number(parts[cpu].size != 0 ? at : std::uint64_t{0});
        append_number(parts[cpu].size);
        at += parts[cpu].size;
    }
    m_file.append(std::vector<std::byte>(padding));
    for (const Part& part : parts) {
        if (part.size != 0 && !m_file.append(*part.bytes, 0, part.size)) {
            return Failure{Fault::unusable, "a temporary file cannot be read again"};
        }
    }
    return {};
}

lib::Result<void, Failure> KernelShark::finish(const trace::TraceFacts& facts) {
    if (m_too_many) {
        return Failure{Fault::unusable, fmt::format("events of more than {} processors", kProcessorsMax)};
    }
    add_losses(facts);
    if (m_processors.empty()) {
        m_processors.emplace_back();
    }
    append_head(facts);
    append_number(static_cast<std::uint32_t>(m_processors.size()));
    append(std::string_view("options  \0", 10));
    append_number(std::uint16_t{0});
    append(std::string_view("flyrecord\0", 10));
    return append_processors();
}

} // namespace

const FormatRow kKernelSharkRow = {
    .name = "kernelshark",
    .suffix = ".dat",
    .meaning = "trace.dat, version 6: KernelShark, trace-cmd report",
    .shape = Destination::Shape::file,
    .needs_survey = false,
    .make = make_writer<KernelShark>,
};

} // namespace host::convert::linux
