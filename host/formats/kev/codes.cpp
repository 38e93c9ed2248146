// SPDX-License-Identifier: MIT
// The mapping; see the header. Event numbers are never typed: they come from the table by name.
#include "host/formats/kev/codes.hpp"

#include "host/formats/kev/slot.hpp"
#include "lib/wire_numbers.hpp"
#include "tracer/metadata.hpp"
#include "tracer/unit_words.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace host::formats::kev {

namespace {

constexpr auto kThreadClass = static_cast<std::uint8_t>(Class::thread);
constexpr auto kUserClass = static_cast<std::uint8_t>(Class::user);
constexpr auto kInterruptClass = static_cast<std::uint8_t>(Class::interrupt);
constexpr std::uint32_t kContexts = 0x1'0000;
constexpr std::size_t kTextBytesMin = 3; // so that its first word is 2^16 or more

// The state of a thread that waits, by number of the kind of wait; 0: none has the number.
constexpr auto kStateOfWait = [] {
    std::array<std::uint16_t, lib::kWords<lib::WaitKind>.size()> states{};
    const auto set = [&](lib::WaitKind kind, ThreadState state) {
        states[static_cast<std::size_t>(kind)] = static_cast<std::uint16_t>(state);
    };
    set(lib::WaitKind::semaphore, ThreadState::semaphore);
    set(lib::WaitKind::delay, ThreadState::nanosleep);
    set(lib::WaitKind::condition, ThreadState::condition);
    set(lib::WaitKind::receive, ThreadState::receive);
    set(lib::WaitKind::send, ThreadState::send);
    set(lib::WaitKind::suspended, ThreadState::stopped);
    set(lib::WaitKind::signal, ThreadState::signal_wait_info);
    set(lib::WaitKind::mutex, ThreadState::mutex);
    return states;
}();
static_assert(std::ranges::count(kStateOfWait, 0) == 1, "each kind of wait has its state");

// Our events that say no more than that a thread is in a state now.
struct StateEvent {
    std::uint8_t code;
    ThreadState state;
};

constexpr auto kStateEvents = std::to_array<StateEvent>({
    {trace::kCodeOf<"context_switch">, ThreadState::running},
    {trace::kCodeOf<"task_activate">, ThreadState::ready},
});

struct LifeEvent {
    std::uint8_t code;
    std::uint16_t event;
};

constexpr auto kLifeEvents = std::to_array<LifeEvent>({
    {trace::kCodeOf<"task_create">, kThreadCreate},
    {trace::kCodeOf<"task_end">, kThreadDestroy},
});

constexpr auto kInterruptEvents = std::to_array<LifeEvent>({
    {trace::kCodeOf<"interrupt_start">, kInterruptEntry},
    {trace::kCodeOf<"interrupt_end">, kInterruptExit},
});

constexpr auto kCodeOfBlock = trace::kCodeOf<"task_block">;

bool is_long(std::uint8_t code) {
    const tracer::EventRow* const row = tracer::find_event(code);
    return row != nullptr && row->shape == tracer::Shape::combined;
}

// In whole words, the last one padded with zeros.
void append_words(std::span<const std::byte> bytes, std::vector<std::uint32_t>& words) {
    for (std::size_t at = 0; at < bytes.size(); at += 4) {
        std::uint32_t word = 0;
        for (std::size_t i = 0; i < 4 && at + i < bytes.size(); ++i) {
            word |= std::to_integer<std::uint32_t>(bytes[at + i]) << (8 * i);
        }
        words.push_back(word);
    }
}

void append_bytes(std::span<const std::byte> bytes, std::vector<std::uint32_t>& words) {
    words.push_back(static_cast<std::uint32_t>(bytes.size()));
    append_words(bytes, words);
}

// With its zero. The published printer shows nothing of a text in which anything is not printable.
void append_text(std::string_view text, std::vector<std::uint32_t>& words) {
    std::string printable(text.substr(0, kTextBytesMax));
    std::ranges::replace_if(
        printable, [](char character) { return character < ' ' || character > '~'; }, '?');
    printable.resize(std::max(printable.size(), kTextBytesMin), ' ');
    append_words(std::as_bytes(std::span(printable.c_str(), printable.size() + 1)), words);
}

// What is damaged has its code and 256 times its place here as its number; 0: it is sound.
constexpr auto kStates = std::to_array<trace::EventState>(
    {trace::EventState::ok, trace::EventState::incomplete, trace::EventState::orphan, trace::EventState::malformed});

// The kind of wait of a task_block that has a state over there; else 0.
std::uint32_t wait_of(std::uint8_t code, std::uint32_t par2) {
    const std::uint32_t kind = par2 >> 16;
    return code == kCodeOfBlock && kind < kStateOfWait.size() ? kind : 0;
}

std::optional<std::uint16_t> thread_event_of(const trace::Event& event, const ForOthers& others,
                                             std::vector<std::uint32_t>& words) {
    const std::uint32_t tid = std::uint32_t{event.par1} + 1;
    for (const StateEvent& row : kStateEvents) {
        if (row.code == event.code && event.par2 == 0) {
            words = {others.pid, tid};
            return static_cast<std::uint16_t>(row.state);
        }
    }
    for (const LifeEvent& row : kLifeEvents) {
        if (row.code == event.code) {
            words = {event.par2, tid};
            return row.event;
        }
    }
    if (const std::uint32_t kind = wait_of(event.code, event.par2); kind != 0) {
        const auto policy = std::max(others.policy, SchedulingPolicy::fifo); // 0 there: a file of an earlier version
        words = {others.pid, tid, others.priority, static_cast<std::uint32_t>(policy)};
        return kStateOfWait[kind];
    }
    return std::nullopt;
}

std::optional<Native> thread_native_of(std::uint16_t event, std::span<const std::uint32_t> words) {
    if (words.size() < 2 || words[1] == 0 || words[1] > kContexts) {
        return std::nullopt;
    }
    Native native{.par1 = static_cast<std::uint16_t>(words[1] - 1), .words = 2};
    if (event == kThreadName) {
        native.code = trace::kCodeOf<"task_name">;
        native.words = words.size();
        return native;
    }
    for (const StateEvent& row : kStateEvents) {
        if (static_cast<std::uint16_t>(row.state) == event && words.size() == 2) {
            native.code = row.code;
            return native;
        }
    }
    for (const LifeEvent& row : kLifeEvents) {
        if (row.event == event && words.size() == 2) {
            native.code = row.code;
            native.par2 = words[0];
            return native;
        }
    }
    const auto kind = std::ranges::find(kStateOfWait.begin() + 1, kStateOfWait.end(), event);
    const bool earlier = words.size() == 4 && words[2] != 0 && words[2] <= 0xFFFF && words[3] == 0;
    const bool has_policy = words.size() == 4 && words[2] <= kPriorityMax && words[3] != 0;
    if (kind == kStateOfWait.end() || (words.size() != 2 && !earlier && !has_policy)) {
        return std::nullopt;
    }
    native.code = kCodeOfBlock;
    native.par2 = static_cast<std::uint32_t>(kind - kStateOfWait.begin()) << 16 | (earlier ? words[2] : 0);
    native.words = earlier ? 3 : words.size();
    return native;
}

// How many words the text at the beginning takes: 0 if there is an earlier version's length or par1, below 2^16.
std::size_t words_of_text(std::span<const std::uint32_t> words) {
    if (words[0] <= 0xFFFF) {
        return 0;
    }
    const auto last = std::ranges::find_if(words, [](std::uint32_t word) { return word >> 24 == 0; });
    return static_cast<std::size_t>(last - words.begin()) + 1;
}

// Whether `length` bytes after word `at` are a payload of ours and fill the words as the writer does: padded to an even
// number with zeros.
bool fits(std::uint32_t length, std::size_t at, std::span<const std::uint32_t> words) {
    if (length > tracer::kCombinePayloadMax) {
        return false;
    }
    const std::size_t used = at + 1 + (static_cast<std::size_t>(length) + 3) / 4;
    return used <= words.size() && words.size() - used < kWordsPerSlot;
}

std::optional<Native> user_native_of(std::uint16_t event, std::span<const std::uint32_t> words) {
    Native native{.code = static_cast<std::uint8_t>(event), .state = kStates[(event >> 8) & 3], .words = 2};
    if (words.size() < 2) {
        return std::nullopt;
    }
    const bool sound = native.state == trace::EventState::ok;
    if (sound && native.code == trace::kCodeOf<"task_name">) {
        return std::nullopt; // a thread's event: its words are others
    }
    const bool has_payload = sound ? is_long(native.code) : words.size() > 2;
    if (!has_payload) {
        native.par1 = static_cast<std::uint16_t>(words[0]);
        native.par2 = words[1];
        native.names_object = sound && wait_of(native.code, native.par2) != 0 && (native.par2 & 0xFFFF) != 0;
        return words.size() == 2 && words[0] <= 0xFFFF ? std::optional(native) : std::nullopt;
    }
    const std::size_t after_text = words_of_text(words);
    const std::size_t length_at = after_text + (sound ? 0 : 2);
    if (length_at >= words.size() || !fits(words[length_at], length_at, words)) {
        return std::nullopt;
    }
    if (!sound) {
        native.par1 = static_cast<std::uint16_t>(words[after_text]);
        native.par2 = words[after_text + 1];
    }
    native.payload_word = length_at + 1;
    native.payload_bytes = words[length_at];
    native.words = native.payload_word + (native.payload_bytes + 3) / 4;
    return native;
}

} // namespace

Foreign foreign_of(const trace::Event& event, const ForOthers& others, std::vector<std::uint32_t>& words) {
    if (event.is_sound()) {
        if (const auto number = thread_event_of(event, others, words)) {
            return {kThreadClass, *number};
        }
        const auto* const interrupt = std::ranges::find(kInterruptEvents, event.code, &LifeEvent::code);
        if (interrupt != kInterruptEvents.end()) {
            words = {event.par1, event.par2};
            return {kInterruptClass, interrupt->event};
        }
        if (is_long(event.code)) {
            return foreign_of_metadata(event.code, others.text, event.payload, words);
        }
    }
    words.clear();
    const bool has_payload = !event.is_sound() && !event.payload.empty();
    if (has_payload) {
        append_text(others.text, words);
    }
    words.insert(words.end(), {event.par1, event.par2});
    if (has_payload) {
        append_bytes(event.payload, words);
    }
    const auto* const state = std::ranges::find(kStates, event.state);
    const auto damage = state != kStates.end() ? static_cast<std::uint16_t>(state - kStates.begin()) : 0;
    return {kUserClass, static_cast<std::uint16_t>(event.code + 0x100 * damage)};
}

std::optional<Foreign> foreign_object_of(const trace::Event& event, std::vector<std::uint32_t>& words) {
    if (!event.is_sound() || wait_of(event.code, event.par2) == 0 || (event.par2 & 0xFFFF) == 0) {
        return std::nullopt;
    }
    words = {event.par1, event.par2};
    return Foreign{kUserClass, event.code};
}

Foreign foreign_of_metadata(std::uint8_t code, std::string_view text, std::span<const std::byte> payload,
                            std::vector<std::uint32_t>& words) {
    words.clear();
    append_text(text, words);
    append_bytes(payload, words);
    return {kUserClass, code};
}

Foreign foreign_of_task_name(std::uint16_t context, std::uint32_t pid, std::string_view name,
                             std::vector<std::uint32_t>& words) {
    words = {pid, std::uint32_t{context} + 1};
    append_words(std::as_bytes(std::span(std::string(name).c_str(), name.size() + 1)), words);
    return {kThreadClass, kThreadName};
}

std::optional<Native> native_of(std::uint8_t class_number, std::uint16_t event, std::span<const std::uint32_t> words) {
    if (class_number == kThreadClass) {
        return thread_native_of(event, words);
    }
    if (class_number == kUserClass) {
        return user_native_of(event, words);
    }
    const auto* const interrupt = std::ranges::find(kInterruptEvents, event, &LifeEvent::event);
    if (class_number != kInterruptClass || interrupt == kInterruptEvents.end() || words.size() != 2 ||
        words[0] > 0xFFFF) {
        return std::nullopt;
    }
    return Native{.code = interrupt->code, .par1 = static_cast<std::uint16_t>(words[0]), .par2 = words[1], .words = 2};
}

} // namespace host::formats::kev
