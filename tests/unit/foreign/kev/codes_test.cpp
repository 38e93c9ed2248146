// SPDX-License-Identifier: MIT
// Tests our events as events of .kev files, word by word, and which of their events are ours again: what the writer
// never writes is none.
#include "foreign/kev/codes.hpp"

#include "tests/support/host_trace_builder.hpp"

#include <gtest/gtest.h>

#include <ostream>

namespace host::formats::kev {

namespace {

using trace::EventState;
using trace::kCodeOf;
using Words = std::vector<std::uint32_t>;

constexpr std::uint8_t kInterruptClass = 3;
constexpr std::uint8_t kThreadClass = 4;
constexpr std::uint8_t kUserClass = 6;

struct Written {
    unsigned class_number = 0;
    unsigned event = 0;
    Words words{};

    friend bool operator==(const Written&, const Written&) = default;

    friend std::ostream& operator<<(std::ostream& out, const Written& written) {
        out << written.class_number << '/' << written.event << std::hex;
        for (const std::uint32_t word : written.words) {
            out << " 0x" << word;
        }
        return out << std::dec;
    }
};

Written written(const trace::Event& event, const ForOthers& others = {}) {
    Words words{1, 2, 3, 4, 5};
    const Foreign foreign = foreign_of(event, others, words);
    return {foreign.class_number, foreign.event, words};
}

trace::Event event_of(std::uint8_t code, std::uint16_t par1, std::uint32_t par2, EventState state = EventState::ok) {
    trace::Event event;
    event.code = code;
    event.row = tracer::find_event(code);
    event.par1 = par1;
    event.par2 = par2;
    event.state = state;
    return event;
}

struct Read {
    unsigned code = 0;
    unsigned par1 = 0;
    std::uint32_t par2 = 0;
    EventState state = EventState::ok;
    std::size_t words = 0;
    std::size_t payload_word = 0;
    std::size_t payload_bytes = 0;
    bool names_object = false;

    friend bool operator==(const Read&, const Read&) = default;

    friend std::ostream& operator<<(std::ostream& out, const Read& read) {
        return out << std::hex << "code 0x" << read.code << " par1 0x" << read.par1 << " par2 0x" << read.par2 << " "
                   << trace::state_name(read.state) << std::dec << " words " << read.words << " payload "
                   << read.payload_word << "+" << read.payload_bytes << (read.names_object ? " object" : "");
    }
};

std::optional<Read> read(std::uint8_t class_number, std::uint16_t event, const Words& words) {
    const auto native = native_of(class_number, event, words);
    return native ? std::optional(Read{native->code, native->par1, native->par2, native->state, native->words,
                                       native->payload_word, native->payload_bytes, native->names_object})
                  : std::nullopt;
}

TEST(KevCodes, StatesOfTasksAreThoseOfThreads) {
    const ForOthers others{.pid = 70, .priority = 9, .policy = SchedulingPolicy::round_robin};
    EXPECT_EQ(written(event_of(kCodeOf<"context_switch">, 5, 0), others), (Written{4, 1, {70, 6}}));
    EXPECT_EQ(written(event_of(kCodeOf<"task_activate">, 0xFFFF, 0), others), (Written{4, 2, {70, 0x10000}}));
    EXPECT_EQ(written(event_of(kCodeOf<"context_switch">, 5, 1), others), (Written{6, 0x15, {5, 1}})) << "a word more";
    EXPECT_EQ(written(event_of(kCodeOf<"task_create">, 5, 71), others), (Written{4, 24, {71, 6}}));
    EXPECT_EQ(written(event_of(kCodeOf<"task_end">, 5, 71), others), (Written{4, 25, {71, 6}}));
    EXPECT_EQ(written(event_of(kCodeOf<"interrupt_start">, 32, 3)), (Written{3, 1, {32, 3}}));
    EXPECT_EQ(written(event_of(kCodeOf<"interrupt_end">, 32, 0)), (Written{3, 2, {32, 0}}));
    EXPECT_EQ(written(event_of(kCodeOf<"ipoint">, 7, 8)), (Written{6, 1, {7, 8}}));
}

TEST(KevCodes, EachKindOfWaitHasItsState) {
    const ForOthers others{.pid = 70, .priority = 9, .policy = SchedulingPolicy::sporadic};
    const std::vector<std::uint16_t> states = {17, 12, 14, 5, 4, 3, 11, 13, 8};
    for (std::uint32_t kind = 1; kind <= states.size(); ++kind) {
        const std::uint16_t state = states[kind - 1];
        EXPECT_EQ(written(event_of(kCodeOf<"task_block">, 5, kind << 16), others), (Written{4, state, {70, 6, 9, 4}}))
            << kind;
        EXPECT_EQ(read(4, state, {70, 6, 9, 4}), (Read{0xD2, 5, kind << 16, EventState::ok, 4}));
        EXPECT_EQ(read(4, state, {70, 6}), (Read{0xD2, 5, kind << 16, EventState::ok, 2}));
        EXPECT_EQ(read(4, state, {70, 6, 7, 0}), (Read{0xD2, 5, kind << 16 | 7, EventState::ok, 3})) << "earlier";
    }
    EXPECT_EQ(written(event_of(kCodeOf<"task_block">, 5, 1U << 16)), (Written{4, 17, {kNoPid, 6, 0, 1}}))
        << "a policy is always stated";
    EXPECT_EQ(written(event_of(kCodeOf<"task_block">, 5, 10U << 16)), (Written{6, 0xD2, {5, 10U << 16}}));
    EXPECT_EQ(written(event_of(kCodeOf<"task_block">, 5, 7)), (Written{6, 0xD2, {5, 7}}));
    EXPECT_EQ(written(event_of(kCodeOf<"task_unblock">, 5, 1U << 16)), (Written{6, 0xE2, {5, 1U << 16}}));
}

TEST(KevCodes, TheObjectOfAWaitIsAnEventInFrontOfIt) {
    Words words{1, 2, 3};
    const auto object = foreign_object_of(event_of(kCodeOf<"task_block">, 5, 1U << 16 | 2), words);
    ASSERT_TRUE(object.has_value());
    EXPECT_EQ((Written{object->class_number, object->event, words}), (Written{6, 0xD2, {5, 1U << 16 | 2}}));
    EXPECT_EQ(read(6, 0xD2, words), (Read{0xD2, 5, 1U << 16 | 2, EventState::ok, 2, 0, 0, true}));
    EXPECT_FALSE(foreign_object_of(event_of(kCodeOf<"task_block">, 5, 1U << 16), words).has_value());
    EXPECT_FALSE(foreign_object_of(event_of(kCodeOf<"task_block">, 5, 10U << 16 | 2), words).has_value());
    EXPECT_FALSE(foreign_object_of(event_of(kCodeOf<"task_unblock">, 5, 1U << 16 | 2), words).has_value());
    EXPECT_FALSE(
        foreign_object_of(event_of(kCodeOf<"task_block">, 5, 1U << 16 | 2, EventState::orphan), words).has_value());
}

TEST(KevCodes, ThreadsOfNoTaskAreNotOurs) {
    EXPECT_EQ(read(kThreadClass, 1, {70, 6}), (Read{0x15, 5, 0, EventState::ok, 2}));
    EXPECT_EQ(read(kThreadClass, 2, {70, 0x10000}), (Read{0x12, 0xFFFF, 0, EventState::ok, 2}));
    EXPECT_EQ(read(kThreadClass, 24, {70, 6}), (Read{0x02, 5, 70, EventState::ok, 2}));
    EXPECT_EQ(read(kThreadClass, 25, {70, 6}), (Read{0x42, 5, 70, EventState::ok, 2}));
    EXPECT_EQ(read(kThreadClass, 1, {70}), std::nullopt);
    EXPECT_EQ(read(kThreadClass, 1, {70, 0}), std::nullopt);
    EXPECT_EQ(read(kThreadClass, 1, {70, 0x10001}), std::nullopt);
    EXPECT_EQ(read(kThreadClass, 1, {70, 6, 0}), std::nullopt);
    EXPECT_EQ(read(kThreadClass, 24, {70, 6, 0, 0}), std::nullopt);
    EXPECT_EQ(read(kThreadClass, 0, {70, 6}), std::nullopt) << "dead";
    EXPECT_EQ(read(kThreadClass, 17, {70, 6, 7}), std::nullopt);
    EXPECT_EQ(read(kThreadClass, 17, {70, 6, 0x10000, 0}), std::nullopt);
    EXPECT_EQ(read(kThreadClass, 17, {70, 6, 0xFFFF, 0}), (Read{0xD2, 5, 0x1FFFF, EventState::ok, 3}));
    EXPECT_EQ(read(kThreadClass, 17, {70, 6, 0, 0}), std::nullopt);
    EXPECT_EQ(read(kThreadClass, 17, {70, 6, kPriorityMax, 1}), (Read{0xD2, 5, 0x10000, EventState::ok, 4}));
    EXPECT_EQ(read(kThreadClass, 17, {70, 6, kPriorityMax + 1, 1}), std::nullopt);
    EXPECT_EQ(read(kThreadClass, 17, {70, 6, 9, 1, 0, 0}), std::nullopt);
    EXPECT_EQ(read(kInterruptClass, 1, {0xFFFF, 3}), (Read{0x03, 0xFFFF, 3, EventState::ok, 2}));
    EXPECT_EQ(read(kInterruptClass, 2, {32, 0}), (Read{0x13, 32, 0, EventState::ok, 2}));
    EXPECT_EQ(read(kInterruptClass, 3, {32, 0}), std::nullopt);
    EXPECT_EQ(read(kInterruptClass, 1, {0x10000, 0}), std::nullopt);
    EXPECT_EQ(read(kInterruptClass, 1, {32}), std::nullopt);
    EXPECT_EQ(read(kInterruptClass, 1, {32, 0, 0}), std::nullopt);
    EXPECT_EQ(read(5, 1, {32, 0}), std::nullopt);
}

TEST(KevCodes, ATasksNameHasItsContextAndItsZero) {
    Words words{1};
    const Foreign foreign = foreign_of_task_name(5, 70, "abcd", words);
    EXPECT_EQ((Written{foreign.class_number, foreign.event, words}), (Written{4, 320, {70, 6, 0x64636261, 0}}));
    EXPECT_EQ(read(4, 320, {70, 6, 0x64636261, 0}), (Read{0x1C, 5, 0, EventState::ok, 4}));
    static_cast<void>(foreign_of_task_name(5, 70, "abc", words));
    EXPECT_EQ(words, (Words{70, 6, 0x00636261}));
}

std::vector<std::byte> bytes_of(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i) {
        bytes[i] = static_cast<std::byte>(i + 1);
    }
    return bytes;
}

TEST(KevCodes, ALongEventIsATextThenItsLengthThenItsBytes) {
    trace::Event event = event_of(kCodeOf<"typed_event">, 0, 0);
    const auto payload = bytes_of(5);
    event.payload = payload;
    EXPECT_EQ(written(event, {.text = "a\x01~b"}), (Written{6, 0x1E, {0x627E3F61, 0, 5, 0x04030201, 5}}));
    EXPECT_EQ(written(event, {.text = "abc"}), (Written{6, 0x1E, {0x00636261, 5, 0x04030201, 5}}));
    EXPECT_EQ(written(event, {.text = ""}), (Written{6, 0x1E, {0x00202020, 5, 0x04030201, 5}})) << "three at least";
    const std::string longer(kTextBytesMax + 1, 'x');
    EXPECT_EQ(written(event, {.text = longer}).words.size(), kTextBytesMax / 4 + 1 + 3) << "is cut";
    EXPECT_EQ(read(6, 0x1E, {0x627E3F61, 0, 5, 0x04030201, 5, 0}), (Read{0x1E, 0, 0, EventState::ok, 5, 3, 5}));
    EXPECT_EQ(read(6, 0x1E, {0x00636261, 5, 0x04030201, 5}), (Read{0x1E, 0, 0, EventState::ok, 4, 2, 5}));
    EXPECT_EQ(read(6, 0x1E, {5, 0x04030201, 5, 0}), (Read{0x1E, 0, 0, EventState::ok, 3, 1, 5})) << "without a text";
}

TEST(KevCodes, ADamagedEventHasItsParametersAndItsState) {
    trace::Event event = event_of(kCodeOf<"typed_event">, 7, 8, EventState::malformed);
    EXPECT_EQ(written(event), (Written{6, 0x31E, {7, 8}}));
    const auto payload = bytes_of(4);
    event.payload = payload;
    EXPECT_EQ(written(event, {.text = "abc"}), (Written{6, 0x31E, {0x00636261, 7, 8, 4, 0x04030201}}));
    event.state = EventState::incomplete;
    EXPECT_EQ(written(event, {.text = "abc"}).event, 0x11EU);
    event.state = EventState::orphan;
    EXPECT_EQ(written(event, {.text = "abc"}).event, 0x21EU);
    EXPECT_EQ(written(event_of(kCodeOf<"context_switch">, 5, 0, EventState::orphan)), (Written{6, 0x215, {5, 0}}));
    EXPECT_EQ(read(6, 0x31E, {7, 8}), (Read{0x1E, 7, 8, EventState::malformed, 2}));
    EXPECT_EQ(read(6, 0x11E, {0x00636261, 7, 8, 4, 0x04030201, 0}),
              (Read{0x1E, 7, 8, EventState::incomplete, 5, 4, 4}));
    EXPECT_EQ(read(6, 0x21E, {7, 8, 4, 0x04030201}), (Read{0x1E, 7, 8, EventState::orphan, 4, 3, 4}));
}

TEST(KevCodes, UserEventsThatDoNotFitTheirLengthAreNotOurs) {
    EXPECT_EQ(read(kUserClass, 1, {0xFFFF, 8}), (Read{1, 0xFFFF, 8, EventState::ok, 2}));
    EXPECT_EQ(read(kUserClass, 1, {0x10000, 8}), std::nullopt);
    EXPECT_EQ(read(kUserClass, 1, {7}), std::nullopt);
    EXPECT_EQ(read(kUserClass, 1, {7, 8, 0, 0}), std::nullopt);
    EXPECT_EQ(read(kUserClass, 0x1C, {7, 8}), std::nullopt) << "a task's name is a thread's";
    EXPECT_EQ(read(kUserClass, 0x11C, {7, 8}), (Read{0x1C, 7, 8, EventState::incomplete, 2}));
    EXPECT_EQ(read(kUserClass, 0x1E, {8, 1, 2, 0}), (Read{0x1E, 0, 0, EventState::ok, 3, 1, 8}));
    EXPECT_EQ(read(kUserClass, 0x1E, {8, 1}), std::nullopt) << "cut";
    EXPECT_EQ(read(kUserClass, 0x1E, {4, 1, 0, 0}), std::nullopt) << "more than padding";
    EXPECT_EQ(read(kUserClass, 0x1E, {0, 0}), (Read{0x1E, 0, 0, EventState::ok, 1, 1, 0}));
    EXPECT_EQ(read(kUserClass, 0x1E, {0x01010101, 0x01010101}), std::nullopt) << "a text without an end";
    EXPECT_EQ(read(kUserClass, 0x11E, {7, 8, 4}), std::nullopt);
    Words greatest(1 + (tracer::kCombinePayloadMax + 3) / 4);
    greatest[0] = tracer::kCombinePayloadMax;
    EXPECT_TRUE(read(kUserClass, 0x1E, greatest).has_value());
    ++greatest[0];
    greatest.resize(2 + (tracer::kCombinePayloadMax + 3) / 4);
    EXPECT_EQ(read(kUserClass, 0x1E, greatest), std::nullopt);
}

} // namespace

} // namespace host::formats::kev
