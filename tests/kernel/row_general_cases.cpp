// SPDX-License-Identifier: MIT
// Covers rows of the families general, ipoint, user, data and filter: what the tracer and its users record.
#include "kernel/root/tracing.hpp"
#include "kernel/section/irq_guard.hpp"
#include "tests/kernel/row_cases.hpp"

namespace {

namespace row_general_cases {

using namespace guest;
using namespace guest::rows;

// 10 20 30 60: by the helpers that switch tracing on and off
int on_and_off(const kernel::AppArguments&) {
    const int number = FTrace_chunk_create(100 * kRecordBytes, 0, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_STOP);
    ASSERT(number >= 0 && FTrace_actual_chunk_select(number) == 0);
    const kernel::Pid sleeping = create("sleeping", kernel::NrtModel{}, [](void*) {});
    const kernel::Pid ended = create("ended", kernel::NrtModel{}, [](void*) {});
    const auto gone = context_of(ended);
    must(kernel::task_kill(ended));
    kernel::root::tracing_enable();
    FTrace_disable();
    FTrace_set_filter(FTrace_filter_user, 1);
    check(FTrace_enable() == 0, "recording continues");
    kernel::root::tracing_end();
    recording.read(number);
    const auto main = context_of(kernel::task_self());
    const std::uint32_t khz = arch::tick_rate().khz;
    expect(FTrace_EVT_cycles_per_msec, 0, khz);
    check(count(FTrace_EVT_trace_start, main, khz) == 2, "trace_start states the beginning and the pause");
    expect(FTrace_filter_user, 1, 0);
    expect(FTrace_EVT_trace_stop, main, khz);
    expect(FTrace_EVT_id, main, kernel::task_self().value);
    expect(FTrace_EVT_id, context_of({0}), 0); // the idle task
    expect(FTrace_EVT_id, context_of(sleeping), sleeping.value);
    check(count(FTrace_EVT_id, gone, ended.value) == 0, "live tasks only");
    check(recording.records().back().event_code() == FTrace_EVT_trace_stop, "trace_stop is the last");
    return failures;
}

// 40 50
int blackout(const kernel::AppArguments&) {
    filter_the_kernel();
    const int full = begin(4);
    const int next = FTrace_chunk_create(8 * kRecordBytes, 0, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_STOP);
    for (std::uint32_t i = 0; i < 11; ++i) {
        TRACER_LOGEVENT(FTrace_EVT_user_event_0, 0, i);
    }
    check(FTrace_actual_chunk_select(next) == 0, "another chunk takes over");
    TRACER_LOGEVENT(FTrace_EVT_user_event_0, 0, 11);
    FTrace_disable();
    recording.read(full);
    const std::size_t kept = recording.count(FTrace_EVT_user_event_0);
    expect(FTrace_EVT_blackout_start, 0, 0);
    recording.read(next);
    expect(FTrace_EVT_blackout_end, 0, static_cast<std::uint32_t>(11 - kept));
    check(recording.records().front().event_code() == FTrace_EVT_blackout_end, "before what is kept again");
    return failures;
}

// 70 10 60: what goes in front of every chunk that leaves. The sink keeps the preamble.
class PreambleSink final : public tracer::ChunkSink {
  public:
    constexpr PreambleSink() = default;

    [[nodiscard]] std::string_view name() const override { return "preamble"; }

    [[nodiscard]] lib::Result<void> submit(const tracer::ChunkImage& image) override {
        std::array<std::byte, tracer::kRecordBytes> bytes{};
        for (std::size_t at = 0; at < image.parts[0].size(); at += bytes.size()) {
            ASSERT(image.read(at, bytes) == bytes.size());
            const tracer::Record record = tracer::decode_record(bytes);
            m_numevents = record.event_code() == FTrace_EVT_numevents ? record.par2 : m_numevents;
            m_khz = record.event_code() == FTrace_EVT_cycles_per_msec ? record.par2 : m_khz;
            m_main_is_named = m_main_is_named || (record.event_code() == FTrace_EVT_id && record.par1 == m_main);
        }
        return {};
    }

    tracer::SinkState step() override { return tracer::SinkState::idle; }

    [[nodiscard]] lib::Result<void> finish(const tracer::ExportEnd&) override { return {}; }

    [[nodiscard]] tracer::SinkState state() const override { return tracer::SinkState::idle; }

    [[nodiscard]] lib::Error last_error() const override { return lib::Error::io; }

    std::uint32_t m_numevents = 0;
    std::uint32_t m_khz = 0;
    std::uint16_t m_main = 0;
    bool m_main_is_named = false;
};

constinit PreambleSink g_sink;

int preamble(const kernel::AppArguments&) {
    filter_the_kernel();
    const int chunk = begin();
    for (std::uint32_t i = 0; i < 7; ++i) {
        TRACER_LOGEVENT(FTrace_EVT_user_event_0, 0, i);
    }
    FTrace_disable();
    g_sink.m_main = context_of(kernel::task_self());
    must(tracer::instance().exporter.attach(g_sink, tracer::SinkTime::at_once));
    check(FTrace_send_chunk(chunk, 0, FTRACE_CHUNK_FLAG_STOP) == 0, "the chunk was carried");
    recording.read(chunk);
    check(g_sink.m_numevents == recording.records().size(), "numevents counts the chunk's records");
    check(g_sink.m_khz == arch::tick_rate().khz, "cycles_per_msec states the rate");
    check(g_sink.m_main_is_named, "id states which task has which context");
    return failures;
}

// 01 8001 09..E9 1A
int user(const kernel::AppArguments&) {
    static constinit int number = 4711;
    static constexpr char kText[] = "text";
    filter_the_kernel();
    const int chunk = begin();
    TRACER_LOGEVENT(FTrace_EVT_ipoint, 6000, 7);
    FAST_TRACER_LOGEVENT(FTrace_EVT_ipoint, 6001, 8);
    constexpr std::uint16_t kLast = FTrace_EVT_user_event_14;
    for (std::uint16_t code = FTrace_EVT_user_event_0; code <= kLast; code = static_cast<std::uint16_t>(code + 0x10)) {
        TRACER_LOGEVENT(code, code + 1, code * 65'537U);
    }
    {
        const kernel::IrqGuard guard; // the second record of a pair directly follows the first
        TRACER_LOGEVENT(FTrace_EVT_user_event_0, 1, 1);
        TRACER_LOGEVENT(FTrace_EVT_data_pointer, FTrace_DATA_int, reinterpret_cast<std::uintptr_t>(&number));
        TRACER_LOGEVENT(FTrace_EVT_user_event_1, 2, 2);
        TRACER_LOGEVENT(FTrace_EVT_data_pointer, FTrace_DATA_char, reinterpret_cast<std::uintptr_t>(&kText[0]));
    }
    end(chunk);
    expect(FTrace_EVT_ipoint, 6000, 7);
    expect(FTrace_EVT_ipoint, 6001, 8);
    std::uint16_t fast = 0;
    for (const tracer::Record& record : recording.records()) {
        fast = record.par1 == 6001 ? record.code : fast;
    }
    check(fast == 0x8001, "the fast path marks its records");
    for (std::uint32_t code = FTrace_EVT_user_event_0; code <= kLast; code += 0x10) {
        expect(static_cast<std::uint16_t>(code), code + 1, code * 65'537U);
    }
    expect(FTrace_EVT_data_pointer, FTrace_DATA_int,
           static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(&number)));
    expect(FTrace_EVT_data_pointer, FTrace_DATA_char,
           static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(&kText[0])));
    return failures;
}

// Returns an event of the family that any caller may record, or null. For the general family it is trace_stop: a reader
// would believe a made-up rate, count or identity.
const tracer::EventRow* event_of_family(unsigned family) {
    if (family == 0) {
        return tracer::find_event(std::uint8_t{FTrace_EVT_trace_stop});
    }
    for (const tracer::EventRow& row : tracer::kEvents) {
        if ((row.code & FTrace_family_mask) == family && (row.code & 0xF0) != 0xF0 && tracer::is_loggable(row)) {
            return &row;
        }
    }
    return nullptr;
}

// F0..FB, FD, FE: each hides its family, leaves the interrupt flag alone, and is recorded itself
int filters(const kernel::AppArguments&) {
    filter_the_kernel();
    const int chunk = begin();
    int families = 0;
    for (const tracer::EventRow& filter : tracer::kEvents) {
        if ((filter.code & 0xF0) != 0xF0 || !tracer::is_loggable(filter)) {
            continue;
        }
        ++families;
        const tracer::EventRow* const event = event_of_family(filter.code & FTrace_family_mask);
        FTrace_set_filter(filter.code, 1);
        if (event != nullptr) { // families that are not recorded yet have none
            const WORD code = event->code;
            TRACER_LOGEVENT(code, 0x1111, 0);
            check(!arch::interrupts_disabled(), "a filtered call leaves interrupts on");
            const kernel::IrqGuard guard;
            TRACER_LOGEVENT(code, 0x1111, 0);
            check(arch::interrupts_disabled(), "and off where they were off");
            FTrace_set_filter(filter.code, 0);
            TRACER_LOGEVENT(code, 0x2222, filter.code);
            FTrace_set_filter(filter.code, 1); // the kernel's own records stay out
        } else {
            FTrace_set_filter(filter.code, 0);
        }
    }
    for (const BYTE wrong : {BYTE{0x02}, BYTE{0xFC}, BYTE{0xFF}}) {
        FTrace_set_filter(wrong, 1);
        check(FTrace_last_error().value == wrong, "what is no family is refused");
    }
    end(chunk);
    check(families == 14, "F0 to FB, FD and FE");
    for (const tracer::Record& record : recording.records()) {
        check(record.par1 != 0x1111, "a filtered event is absent");
        check((record.code & 0xF0) != 0xF0 || (record.event_code() != 0xFC && record.event_code() != 0xFF),
              "a refused filter leaves no record");
    }
    for (const tracer::EventRow& filter : tracer::kEvents) {
        if ((filter.code & 0xF0) != 0xF0 || !tracer::is_loggable(filter)) {
            continue;
        }
        expect(filter.code, 1, 0);
        expect(filter.code, 0, 0);
        std::size_t passed = 0;
        for (const tracer::Record& record : recording.records()) {
            passed += record.par1 == 0x2222 && record.par2 == filter.code ? 1U : 0U;
        }
        const bool recorded = event_of_family(filter.code & FTrace_family_mask) != nullptr;
        check(passed == (recorded ? 1U : 0U), "what is no longer filtered is present");
    }
    return failures;
}

// FF: consumed, never stored
int next_chunk(const kernel::AppArguments&) {
    filter_the_kernel();
    const int a = FTrace_chunk_create(32 * kRecordBytes, 0, FTRACE_CHUNK_FLAG_FREE);
    const int b = FTrace_chunk_create(32 * kRecordBytes, 0, FTRACE_CHUNK_FLAG_FREE);
    ASSERT(FTrace_chunk_link(a, b) == 0 && FTrace_actual_chunk_select(a) == 0 && FTrace_enable() == 0);
    TRACER_LOGEVENT(FTrace_EVT_user_event_0, 0, 1);
    TRACER_LOGEVENT(FTrace_EVT_next_chunk, 0, 0);
    TRACER_LOGEVENT(FTrace_EVT_user_event_0, 0, 2);
    FTrace_disable();
    recording.read(a);
    check(recording.count(FTrace_EVT_next_chunk) == 0, "the request is not stored");
    expect(FTrace_EVT_user_event_0, 0, 1);
    recording.read(b);
    check(recording.count(FTrace_EVT_next_chunk) == 0, "nor here");
    expect(FTrace_EVT_user_event_0, 0, 2);
    check(recording.records().front().par2 == 2, "what follows is first in the next chunk");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_row_on_and_off", "rows of switching tracing on and off", &checked<&on_and_off>, true},
    {"t_row_blackout", "rows of a gap", &checked<&blackout>, true},
    {"t_row_preamble", "rows in front of a chunk", &checked<&preamble>, true},
    {"t_row_user", "rows of the application's own events", &checked<&user>, true},
    {"t_row_filters", "rows of the filters, all families", &checked<&filters>, true},
    {"t_row_next_chunk", "row of the next chunk, consumed", &checked<&next_chunk>, true},
};

} // namespace row_general_cases

} // namespace
