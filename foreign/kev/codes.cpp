// SPDX-License-Identifier: MIT
// Implements the mapping that the header describes. Event numbers come from the table by name.
#include "foreign/kev/codes.hpp"

#include "foreign/kev/slot.hpp"
#include "lib/wire_numbers.hpp"
#include "tracer/names/metadata.hpp"
#include "tracer/record/unit_words.hpp"

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

// The state of a waiting thread, by the number of the kind of wait; 0 if no kind has the number.
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
    set(lib::WaitKind::channel, ThreadState::wait_thread);
    return states;
}();
static_assert(std::ranges::count(kStateOfWait, 0) == 1, "each kind of wait has its state");

// These events of ours only state that a thread is in a state now.
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

// A sound event of ours is written in one of these forms.
enum class Form : std::uint8_t { user, state, life, wait, interrupt, long_event };

struct Counterpart {
    Form form = Form::user;
    std::uint16_t event = 0; // unused for a wait, whose kind determines it
};

// The counterparts are indexed by our code.
constexpr auto kCounterparts = [] {
    std::array<Counterpart, 256> all{};
    all.fill({}); // g++ 12 sets only the first ones to their defaults
    for (const tracer::EventRow& row : tracer::kEvents) {
        all[row.code].form = row.shape == tracer::Shape::combined ? Form::long_event : Form::user;
    }
    for (const StateEvent& row : kStateEvents) {
        all[row.code] = {Form::state, static_cast<std::uint16_t>(row.state)};
    }
    for (const LifeEvent& row : kLifeEvents) {
        all[row.code] = {Form::life, row.event};
    }
    for (const LifeEvent& row : kInterruptEvents) {
        all[row.code] = {Form::interrupt, row.event};
    }
    all[kCodeOfBlock] = {Form::wait, 0};
    return all;
}();

bool is_long(std::uint8_t code) {
    return kCounterparts[code].form == Form::long_event;
}

// Sets the words one by one, because assigning a list copies it by a call.
void set(std::vector<std::uint32_t>& words, std::uint32_t first, std::uint32_t second) {
    words.resize(2);
    words[0] = first;
    words[1] = second;
}

// Appends the bytes as whole words, the last one padded with zeros.
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

// Appends a text with its zero. The published printer does not show a text with any character that is not printable.
void append_text(std::string_view text, std::vector<std::uint32_t>& words) {
    std::string printable(text.substr(0, kTextBytesMax));
    std::ranges::replace_if(
        printable, [](char character) { return character < ' ' || character > '~'; }, '?');
    printable.resize(std::max(printable.size(), kTextBytesMin), ' ');
    append_words(std::as_bytes(std::span(printable.c_str(), printable.size() + 1)), words);
}

// The number of a damaged event is its code plus 256 times the index of its state here; index 0 means sound.
constexpr auto kStates = std::to_array<trace::EventState>(
    {trace::EventState::ok, trace::EventState::incomplete, trace::EventState::orphan, trace::EventState::malformed});

// Returns the kind of wait of a task_block if it has a state in the .kev format; else 0.
std::uint32_t wait_of(std::uint8_t code, std::uint32_t par2) {
    const std::uint32_t kind = par2 >> 16;
    return code == kCodeOfBlock && kind < kStateOfWait.size() ? kind : 0;
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

// Returns how many words the text at the beginning takes, or 0 if the first word is below 2^16: then it is a length or
// par1, as in earlier versions.
std::size_t words_of_text(std::span<const std::uint32_t> words) {
    if (words[0] <= 0xFFFF) {
        return 0;
    }
    const auto last = std::ranges::find_if(words, [](std::uint32_t word) { return word >> 24 == 0; });
    return static_cast<std::size_t>(last - words.begin()) + 1;
}

// Returns whether `length` bytes after word `at` are a payload of ours and fill the words as the writer does, padded to
// an even number with zeros.
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
        return std::nullopt; // an event of a thread has other words
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
    const std::uint32_t tid = std::uint32_t{event.par1} + 1;
    const Counterpart there = event.is_sound() ? kCounterparts[event.code] : Counterpart{};
    switch (there.form) {
    case Form::state:
        if (event.par2 == 0) {
            set(words, others.pid, tid);
            return {kThreadClass, there.event};
        }
        break;
    case Form::life:
        set(words, event.par2, tid);
        return {kThreadClass, there.event};
    case Form::wait:
        if (const std::uint32_t kind = wait_of(event.code, event.par2); kind != 0) {
            // In a file of an earlier version the policy is 0.
            const auto policy = std::max(others.policy, SchedulingPolicy::fifo);
            words = {others.pid, tid, others.priority, static_cast<std::uint32_t>(policy)};
            return {kThreadClass, kStateOfWait[kind]};
        }
        break;
    case Form::interrupt:
        set(words, event.par1, event.par2);
        return {kInterruptClass, there.event};
    case Form::long_event:
        return foreign_of_metadata(event.code, others.text, event.payload, words);
    case Form::user:
        break;
    }
    if (event.is_sound()) {
        set(words, event.par1, event.par2);
        return {kUserClass, event.code};
    }
    words.clear();
    if (!event.payload.empty()) {
        append_text(others.text, words);
    }
    words.insert(words.end(), {event.par1, event.par2});
    if (!event.payload.empty()) {
        append_bytes(event.payload, words);
    }
    const auto damage = std::ranges::find(kStates, event.state) - kStates.begin();
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
