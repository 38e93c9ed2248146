// SPDX-License-Identifier: MIT
// ctf-lttng is a CTF 1.8 trace that claims to come from lttng-modules 2.11, so that Trace Compass opens it as a kernel
// trace, with its views of control flow, resources, interrupts and critical path. Beside our events, under their own
// names (those that an application or another system has named after "remora:"), it contains the Linux kernel's events
// that these views read, derived from the changes of the schedule. Stamps are nanoseconds since the start. Sources:
// lttng-modules 2.11 (instrumentation/events), Trace Compass (LttngEventLayout and its kernel state provider).
#include "convert/rows.hpp"

#include "convert/ctf/ctf_text.hpp"
#include "convert/ctf/ctf_trace.hpp"
#include "convert/schedule_words.hpp"
#include "convert/track_writer.hpp"

#include <array>
#include <bitset>

namespace host::convert::ctf {

namespace {

using trace::kCodeOf;

struct KernelEvent {
    std::string_view name;
    std::string_view fields;
};

// The events are in the order of their ids. Field names have the underscore that readers remove.
constexpr auto kKernelEvents = std::to_array<KernelEvent>({
    {"sched_switch", " string _prev_comm; int32_t _prev_tid; int32_t _prev_prio; int64_t _prev_state;"
                     " string _next_comm; int32_t _next_tid; int32_t _next_prio;"},
    {"sched_waking", " string _comm; int32_t _tid; int32_t _prio; int32_t _target_cpu;"},
    {"sched_wakeup", " string _comm; int32_t _tid; int32_t _prio; int32_t _target_cpu;"},
    {"sched_wakeup_new", " string _comm; int32_t _tid; int32_t _prio; int32_t _target_cpu;"},
    {"sched_process_fork", " string _parent_comm; int32_t _parent_tid; int32_t _parent_pid;"
                           " string _child_comm; int32_t _child_tid; int32_t _child_pid;"},
    {"sched_process_exit", " string _comm; int32_t _tid; int32_t _prio;"},
    {"sched_process_free", " string _comm; int32_t _tid; int32_t _prio;"},
    {"sched_pi_setprio", " string _comm; int32_t _tid; int32_t _oldprio; int32_t _newprio;"},
    {"irq_handler_entry", " int32_t _irq; string _name;"},
    {"irq_handler_exit", " int32_t _irq; int32_t _ret;"},
    {"timer_hrtimer_start", " hex64 _hrtimer; hex64 _function; uint64_t _expires; uint64_t _softexpires;"
                            " int32_t _mode;"},
    {"timer_hrtimer_cancel", " hex64 _hrtimer;"},
    {"timer_hrtimer_expire_entry", " hex64 _hrtimer; int64_t _now; hex64 _function;"},
    {"timer_hrtimer_expire_exit", " hex64 _hrtimer;"},
    {"lttng_statedump_start", ""},
    {"lttng_statedump_end", ""},
    {"lttng_statedump_process_state",
     " int32_t _tid; int32_t _vtid; int32_t _pid; int32_t _vpid; int32_t _ppid; int32_t _vppid; string _name;"
     " int32_t _type; int32_t _mode; int32_t _submode; int32_t _status; uint32_t _cpu;"},
});

consteval std::uint16_t id_of(std::string_view name) {
    std::size_t index = 0;
    while (kKernelEvents[index].name != name) { // an unknown name does not compile
        ++index;
    }
    return static_cast<std::uint16_t>(CtfTrace::kFirstOwnId + index);
}

// No event of the Linux kernel has a colon in its name: a typed event may be named as any of them.
constexpr std::string_view kOwnPrefix = "remora:";

constexpr std::uint8_t kTaskDead = 64;
constexpr std::int32_t kStatusUnknown = 0; // in lttng_statedump_process_state; the first switch shows the state
constexpr std::int32_t kModeSyscall = 2;
constexpr std::int32_t kTypeKernelThread = 1;

class CtfLttng final : public Writer, private ChangeHandler {
  public:
    explicit CtfLttng(Destination& destination)
        : m_trace(destination, CtfTrace::Clock::nanoseconds, kOwnPrefix) {}

    void add(const trace::Event& event) override {
        CtfStream* const stream = m_trace.stream(event.cpu);
        if (stream == nullptr) {
            return; // finish() reports it
        }
        m_event = &event;
        m_stream = stream;
        m_stamp = m_trace.stamp(event);
        if (!m_begun) {
            m_begun = true;
            dump_tasks();
        }
        const auto changes = m_schedule.take(event);
        // The end of an interrupt follows what the interrupt did; every other change follows its record.
        m_trace.add(event);
        for (const Change& change : changes) {
            apply(change);
        }
        add_timer();
    }

    lib::Result<void, Failure> finish(const trace::TraceFacts& facts) override {
        fmt::memory_buffer classes;
        for (std::size_t i = 0; i < kKernelEvents.size(); ++i) {
            append_event(classes, kKernelEvents[i].name, static_cast<std::uint32_t>(CtfTrace::kFirstOwnId + i),
                         kKernelEvents[i].fields);
        }
        constexpr std::string_view kEnvironment = "    hostname = \"remora\";\n"
                                                  "    domain = \"kernel\";\n"
                                                  "    sysname = \"Linux\";\n"
                                                  "    kernel_release = \"5.0.0\";\n"
                                                  "    tracer_name = \"lttng-modules\";\n"
                                                  "    tracer_major = 2;\n"
                                                  "    tracer_minor = 11;\n"
                                                  "    tracer_patchlevel = 0;\n";
        return m_trace.finish(facts, kEnvironment, std::string_view(classes.data(), classes.size()));
    }

  private:
    // Writes the fields of one event one after the other.
    class Fields {
      public:
        Fields(CtfStream& stream, std::uint16_t id, std::uint64_t stamp)
            : m_stream(stream)
            , m_at(stream.event(id, stamp, CtfStream::kEventBytesMax)) {}

        Fields(const Fields&) = delete;
        Fields& operator=(const Fields&) = delete;

        ~Fields() { m_stream.used(m_at); }

        template <typename T>

        requires(std::is_integral_v<T>) Fields& put(T value) {
            std::memcpy(m_at, &value, sizeof(value));
            m_at += sizeof(value);
            return *this;
        }

        Fields& put(std::string_view text) { // escaped, so that it has no zero byte
            std::memcpy(m_at, text.data(), text.size());
            m_at[text.size()] = 0;
            m_at += text.size() + 1;
            return *this;
        }

        // Writes a thread as most events have it: comm, tid, prio.
        Fields& put(const TaskLabel& task) { return put(task.name).put(tid(task)).put(priority(task)); }

        static std::int32_t tid(const TaskLabel& task) { return static_cast<std::int32_t>(task.tid); }

        static std::int32_t priority(const TaskLabel& task) { return static_cast<std::int32_t>(task.priority); }

      private:
        CtfStream& m_stream;
        char* m_at;
    };

    Fields fields(std::uint16_t id) { return {*m_stream, id, m_stamp}; }

    const TaskLabel& label(std::uint32_t context) { return m_labels.of(*m_event, context); }

    // Lists the tasks before any of them runs. Their names are in the metadata before the first chunk.
    void dump_tasks() {
        fields(id_of("lttng_statedump_start"));
        for (const auto& [context, task] : m_event->names->tasks()) {
            const TaskLabel& known = label(context);
            const std::int32_t tid = Fields::tid(known);
            fields(id_of("lttng_statedump_process_state"))
                .put(tid)
                .put(tid)
                .put(tid)
                .put(tid)
                .put(std::int32_t{0})
                .put(std::int32_t{0})
                .put(known.name)
                .put(kTypeKernelThread)
                .put(kModeSyscall)
                .put(std::int32_t{0})
                .put(kStatusUnknown)
                .put(std::uint32_t{m_event->cpu});
        }
        fields(id_of("lttng_statedump_end"));
    }

    void on_switch(const Change& change) override {
        fields(id_of("sched_switch"))
            .put(label(change.other))
            .put(std::int64_t{linux_state(change.state, kTaskDead)})
            .put(label(change.context));
    }

    void on_create(std::uint32_t context) override {
        const std::int32_t child = Fields::tid(label(context));
        if (label(context).is_idle()) {
            return;
        }
        m_new.set(context);
        const std::uint32_t parent = m_schedule.running(m_event->cpu);
        const std::int32_t parent_tid = Fields::tid(label(parent));
        fields(id_of("sched_process_fork"))
            .put(label(parent).name)
            .put(parent_tid)
            .put(parent_tid)
            .put(label(context).name)
            .put(child)
            .put(child);
    }

    void on_end(std::uint32_t context) override {
        fields(id_of("sched_process_exit")).put(label(context));
        fields(id_of("sched_process_free")).put(label(context));
    }

    void on_interrupt(std::uint32_t vector) override {
        fields(id_of("irq_handler_entry")).put(static_cast<std::int32_t>(vector)).put(m_vectors.of(*m_event, vector));
    }

    void on_interrupt_end(std::uint32_t vector) override {
        fields(id_of("irq_handler_exit")).put(static_cast<std::int32_t>(vector)).put(std::int32_t{1});
    }

    void on_wake(std::uint32_t context) override {
        if (label(context).is_idle()) {
            return;
        }
        const auto cpu = static_cast<std::int32_t>(m_event->cpu);
        fields(id_of("sched_waking")).put(label(context)).put(cpu);
        const bool is_new = context < m_new.size() && m_new.test(context);
        fields(is_new ? id_of("sched_wakeup_new") : id_of("sched_wakeup")).put(label(context)).put(cpu);
        if (is_new) {
            m_new.reset(context);
        }
    }

    void on_priority(std::uint32_t context, std::uint32_t from) override {
        const std::int32_t to = Fields::priority(label(from));
        const TaskLabel& task = label(context);
        fields(id_of("sched_pi_setprio")).put(task.name).put(Fields::tid(task)).put(Fields::priority(task)).put(to);
    }

    // Readers identify a timer by the number of its event. No record contains its expiry time.
    void add_timer() {
        if (!m_event->is_sound() || m_event->row == nullptr) {
            return;
        }
        const std::uint64_t timer = m_event->par2;
        const auto now = static_cast<std::int64_t>(m_stamp);
        switch (m_event->code) {
        case kCodeOf<"timer_post">:
            fields(id_of("timer_hrtimer_start"))
                .put(timer)
                .put(std::uint64_t{0})
                .put(std::uint64_t{0})
                .put(std::uint64_t{0})
                .put(std::int32_t{0});
            break;
        case kCodeOf<"timer_delete">:
            fields(id_of("timer_hrtimer_cancel")).put(timer);
            break;
        case kCodeOf<"timer_wakeup_start">:
            fields(id_of("timer_hrtimer_expire_entry")).put(timer).put(now).put(std::uint64_t{0});
            break;
        case kCodeOf<"timer_wakeup_end">:
            fields(id_of("timer_hrtimer_expire_exit")).put(timer);
            break;
        default:
            break;
        }
    }

    CtfTrace m_trace;
    Schedule m_schedule;
    TaskLabels m_labels;
    VectorLabels m_vectors;
    std::bitset<0x1'0000> m_new; // created and not woken yet
    const trace::Event* m_event = nullptr;
    CtfStream* m_stream = nullptr;
    std::uint64_t m_stamp = 0;
    bool m_begun = false;
};

} // namespace

const FormatRow kCtfLttngRow = {
    .name = "ctf-lttng",
    .suffix = "",
    .meaning = "the same, as an LTTng kernel trace: all kernel views of Trace Compass",
    .shape = Destination::Shape::directory,
    .needs_survey = false,
    .make = make_writer<CtfLttng>,
};

} // namespace host::convert::ctf
