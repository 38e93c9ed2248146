// SPDX-License-Identifier: MIT
// Station 6 shows records of the application itself, and its control of the tracer. The blackout comes last: a chunk of
// a few records, without a successor, is full before all are written; the next chunk begins with the number lost.
#include "apps/tour.hpp"
#include "kernel/section/irq_guard.hpp"
#include "tracer/trace_printf.hpp"
#include "tracer/typed_event.hpp"

namespace apps::tour {

namespace {

constexpr int kSmallBytes = 8 * 16;
constexpr int kLastBytes = 100'000;
constexpr std::uint32_t kTooMany = 12;

constinit tracer::TypedEvent<std::int32_t, std::uint16_t> s_sample{"tour_sample",
                                                                   {{"position", "mrad"}, {"drive", "mV"}}};

void speak() {
    static constinit int answer = 42;
    static constexpr char kText[] = "forty-two";
    for (WORD code = FTrace_EVT_user_event_0; code <= FTrace_EVT_user_event_14; code = static_cast<WORD>(code + 0x10)) {
        TRACER_LOGEVENT(code, 6, 0);
    }
    {
        const kernel::IrqGuard guard; // a data pointer directly follows the record that it explains
        TRACER_LOGEVENT(FTrace_EVT_user_event_0, 6, answer);
        TRACER_LOGEVENT(FTrace_EVT_data_pointer, FTrace_DATA_int, reinterpret_cast<std::uintptr_t>(&answer));
        TRACER_LOGEVENT(FTrace_EVT_user_event_1, 6, 0);
        TRACER_LOGEVENT(FTrace_EVT_data_pointer, FTrace_DATA_char, reinterpret_cast<std::uintptr_t>(&kText[0]));
    }
    s_sample.log(-250, 1'750);
    tracer::trace_printf<"the answer is %d, %s">(answer, &kText[0]);
}

// Each family is hidden and shown again; nothing of the kernel falls in between.
void filter() {
    const kernel::IrqGuard guard;
    for (unsigned family = FTrace_filter_trace_Events; family <= FTrace_filter_typed; ++family) {
        if (family != (0xF0U | static_cast<unsigned>(tracer::Family::metadata))) {
            FTrace_set_filter(static_cast<BYTE>(family), 1);
            FTrace_set_filter(static_cast<BYTE>(family), 0);
        }
    }
}

[[gnu::noinline]] std::uint32_t sum(std::uint32_t last) {
    std::uint32_t total = 0;
    for (std::uint32_t i = 1; i <= last; ++i) {
        asm volatile("" : "+r"(total)); // keeps the loop
        total += i;
    }
    return total;
}

void step(int grain) {
    expect_traced(FTrace_itrace_begin(grain), "FTrace_itrace_begin");
    static_cast<void>(sum(4));
    expect_traced(FTrace_itrace_end(), "FTrace_itrace_end");
}

void lose_some() {
    const int small = FTrace_chunk_create(kSmallBytes, kSmallBytes, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_STOP);
    const int last = FTrace_chunk_create(kLastBytes, kSmallBytes, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_STOP);
    expect_traced(small, "FTrace_chunk_create");
    expect_traced(last, "FTrace_chunk_create");
    const kernel::IrqGuard guard; // only these records are lost
    expect_traced(FTrace_actual_chunk_select(small), "FTrace_actual_chunk_select");
    for (std::uint32_t i = 0; i < kTooMany; ++i) {
        TRACER_LOGEVENT(FTrace_EVT_user_event_2, 6, i);
    }
    expect_traced(FTrace_actual_chunk_select(last), "FTrace_actual_chunk_select");
}

} // namespace

void visit_tracer() {
    speak();
    filter();
    step(FTRACE_ITRACE_INSTRUCTIONS);
    step(FTRACE_ITRACE_BLOCKS);
    TRACER_LOGEVENT(FTrace_EVT_next_chunk, 0, 0); // consumed: what follows is in the next chunk
    lose_some();
}

} // namespace apps::tour
