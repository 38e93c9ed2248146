// SPDX-License-Identifier: MIT
// Tests the application's own events in the running kernel: typed and formatted ones from a task, from an interrupt
// handler and from a debug exception that cuts into the record path itself; filtered; without room; of one slot and of
// 64. (That an event of 65 slots does not compile is asserted here.)
#include "arch/x86_64/interrupts.hpp"
#include "kernel/time/timer.hpp"
#include "tests/kernel/recording.hpp"
#include "tracer/record/record_path.hpp"
#include "tracer/trace_printf.hpp"
#include "tracer/typed_event.hpp"

namespace {

namespace user_cases {

using namespace guest;

constexpr std::uint8_t kTyped = tracer::event_code("typed_event");
constexpr std::uint8_t kFormatted = tracer::event_code("formatted_event");

constinit tracer::TypedEvent<> s_tick{"tick"};
constinit tracer::TypedEvent<std::uint16_t> s_one{"one_slot", {{"value"}}};
constinit tracer::TypedEvent<std::int32_t, std::uint8_t> s_two{"two_slots", {{"error", "mrad"}, {"where"}}};
using Longest = tracer::TypedEvent<tracer::Text<254>, tracer::Text<124>>;
constinit Longest s_longest{"longest", {{"a"}, {"b"}}};
static_assert(Longest::kPayloadBytesMax == tracer::kLongEventBytesMax);
static_assert(tracer::combine_slots(Longest::kPayloadBytesMax) == tracer::kCombineSlotsMax);

constinit Recording recording;
constinit volatile int g_served = 0;

int begin(int slots, FTrace_flags mode) {
    const int number = FTrace_chunk_create(slots * kRecordBytes, 4 * kRecordBytes,
                                           static_cast<FTrace_flags>(FTRACE_CHUNK_FLAG_FREE | mode));
    ASSERT(number >= 0);
    filter_the_kernel();
    ASSERT(FTrace_actual_chunk_select(number) == 0 && enable_bare());
    return number;
}

// Is the payload of the first event with this code, after its length word, and its slots; checks that it is whole.
struct Found {
    std::array<std::byte, tracer::kLongEventBytesMax> bytes{};
    std::size_t slots = 0;
    std::size_t length = 0;
};

constinit Found g_found;

const Found& find(std::uint8_t code, std::size_t skip = 0) {
    g_found = {};
    for (const tracer::Record& record : recording.records()) {
        const bool begins = record.combine() == tracer::Combine::simple || record.combine() == tracer::Combine::first;
        if (record.event_code() != code) {
            check(g_found.slots == 0 || g_found.slots == tracer::combine_slots(g_found.length), "slots are together");
            continue;
        }
        if (begins && (g_found.slots != 0 || skip-- != 0)) {
            if (g_found.slots != 0) {
                break;
            }
            continue;
        }
        if (g_found.slots == 0 && !begins) {
            continue; // of one that is skipped
        }
        const auto piece = tracer::slot_payload(record);
        for (std::size_t i = 0; i < piece.size(); ++i) {
            g_found.bytes[g_found.slots * piece.size() + i] = piece[i];
        }
        ++g_found.slots;
        g_found.length = lib::load_le<std::uint16_t>(g_found.bytes);
    }
    return g_found;
}

void check_two(std::size_t skip, std::int32_t error, std::uint8_t where) {
    const Found& found = find(kTyped, skip);
    check(found.slots == 2 && found.length == 9, "two slots, nine bytes");
    const std::span bytes(found.bytes);
    check(lib::load_le<std::uint16_t>(bytes.subspan(2)) == s_two.id(), "the number of its declaration");
    check(static_cast<std::int32_t>(lib::load_le<std::uint32_t>(bytes.subspan(4))) == error, "the first field");
    check(lib::load_le<std::uint8_t>(bytes.subspan(8)) == where, "the second field");
}

void on_timer(void*) {
    s_two.log(-20, 2);
    tracer::trace_printf<"interrupt %d">(-20);
    g_served = g_served + 1;
}

// Serves #DB on top of the interrupted record path, like an NMI.
void on_breakpoint(arch::x86_64::InterruptFrame&) {
    asm volatile("movq %0, %%dr7" : : "r"(std::uint64_t{0}));
    s_two.log(-30, 3);
    tracer::trace_printf<"exception %d">(-30);
    g_served = g_served + 1;
}

int contexts(const kernel::AppArguments&) {
    const int number = begin(64, FTRACE_CHUNK_FLAG_STOP);
    s_two.log(-10, 1);
    tracer::trace_printf<"task %d">(-10);
    must(kernel::kern_event_post(kernel::after(lib::milliseconds(1)), &on_timer, nullptr));
    spin_until([] { return g_served == 1; });
    // This is the very first instruction of the long record path: the exception's events come before those of the task.
    arch::x86_64::set_debug_hook(&on_breakpoint);
    asm volatile("movq %0, %%dr0" : : "r"(reinterpret_cast<std::uint64_t>(&tracer_record_long)));
    asm volatile("movq %0, %%dr7" : : "r"(std::uint64_t{1}));
    s_two.log(-40, 4);
    check(g_served == 2, "the exception came");
    FTrace_disable();
    recording.read(number);
    check_two(0, -10, 1);
    check_two(1, -20, 2);
    check_two(2, -30, 3);
    check_two(3, -40, 4);
    check(find(kFormatted, 2).slots == 2 && g_found.length == 11, "length, number, type and value: eleven bytes");
    return failures;
}

int filtered(const kernel::AppArguments&) {
    const int number = begin(16, FTRACE_CHUNK_FLAG_STOP);
    FTrace_set_filter(FTrace_filter_typed, 1);
    const std::uint64_t before = tracer::totals(0).committed;
    s_two.log(1, 1);
    tracer::trace_printf<"hidden">();
    check(tracer::totals(0).committed == before, "nothing is recorded");
    FTrace_set_filter(FTrace_filter_typed, 0);
    s_two.log(2, 2);
    FTrace_disable();
    recording.read(number);
    check(recording.count(kTyped) == 2 && recording.count(kFormatted) == 0, "only what came later");
    return failures;
}

int sizes(const kernel::AppArguments&) {
    const int number = begin(128, FTRACE_CHUNK_FLAG_STOP);
    s_tick.log();
    s_one.log(7);
    constexpr std::string_view kLong = "0123456789";
    lib::Text<400> text;
    for (int i = 0; i < 39; ++i) {
        text.add(kLong);
    }
    s_longest.log(text.view(), text.view());
    FTrace_disable();
    recording.read(number);
    check(find(kTyped, 0).slots == 1 && g_found.length == 4, "an event without fields takes one slot");
    check(find(kTyped, 1).slots == 1 && g_found.length == 6, "so does one with six bytes");
    check(find(kTyped, 2).slots == 64 && g_found.length == 384, "the longest takes 64");
    check(g_found.bytes[4] == std::byte{254} && g_found.bytes[4 + 254] == std::byte{'~'}, "a cut text shows its cut");
    check(g_found.bytes[383] == std::byte{'~'}, "at the very end, too");
    return failures;
}

int no_room(const kernel::AppArguments&) {
    const int number = begin(8, FTRACE_CHUNK_FLAG_STOP);
    const tracer::Totals before = tracer::totals(0);
    s_longest.log("short", "text"); // 15 bytes: three slots
    s_longest.log("a text that needs more than there is: 51 bytes", "");
    s_one.log(1);
    FTrace_disable();
    const tracer::Totals after = tracer::totals(0);
    check(after.dropped - before.dropped >= 9, "what has no room is dropped whole, and counted in slots");
    recording.read(number);
    std::size_t slots = 0;
    for (const tracer::Record& record : recording.records()) {
        slots += record.event_code() == kTyped ? 1U : 0U;
    }
    check(slots == 3, "nothing is recorded in part");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_user_contexts", "typed and formatted events from task, interrupt and exception", &checked<&contexts>, true},
    {"t_user_filter", "the filter of the family typed", &checked<&filtered>, true},
    {"t_user_sizes", "events of 1 and of 64 slots; cut texts show", &checked<&sizes>, true},
    {"t_user_room", "an event without room is dropped whole", &checked<&no_room>, true},
};

} // namespace user_cases

} // namespace
