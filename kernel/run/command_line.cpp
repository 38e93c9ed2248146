// SPDX-License-Identifier: MIT
#include "kernel/run/command_line.hpp"

#include <array>
#include <charconv>
#include <concepts>
#include <span>

namespace kernel {

namespace {

template <typename Choice>
struct Word {
    std::string_view text;
    Choice choice;
};

constexpr auto kSinks = std::to_array<Word<SinkChoice>>(
    {{"none", SinkChoice::none}, {"udp", SinkChoice::udp}, {"disk", SinkChoice::disk}, {"both", SinkChoice::both}});
constexpr auto kExits = std::to_array<Word<ExitChoice>>({{"acpi", ExitChoice::acpi}, {"debug", ExitChoice::debug}});
constexpr auto kClocks = std::to_array<Word<ClockChoice>>(
    {{"tcg", ClockChoice::tcg}, {"icount", ClockChoice::icount}, {"kvm", ClockChoice::kvm}});
constexpr auto kInterrupts =
    std::to_array<Word<InterruptChoice>>({{"apic", InterruptChoice::apic}, {"pic", InterruptChoice::pic}});
constexpr auto kNics =
    std::to_array<Word<NicChoice>>({{"none", NicChoice::none}, {"pci", NicChoice::pci}, {"isa", NicChoice::isa}});

constexpr auto kSteps = std::to_array<Word<StepChoice>>(
    {{"none", StepChoice::none}, {"instructions", StepChoice::instructions}, {"blocks", StepChoice::blocks}});

template <typename Choice>
bool choose(std::string_view value, std::span<const Word<Choice>> words, Choice& out) {
    for (const Word<Choice>& word : words) {
        if (word.text == value) {
            out = word.choice;
            return true;
        }
    }
    return false;
}

template <std::unsigned_integral T>
bool number(std::string_view value, T minimum, T& out) {
    T parsed = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
    if (error != std::errc{} || end != value.data() + value.size() || parsed < minimum) {
        return false;
    }
    out = parsed;
    return true;
}

bool text(std::string_view value, std::string_view& out) {
    out = value;
    return !value.empty();
}

bool width(std::string_view value, std::uint8_t& out) {
    return number<std::uint8_t>(value, 1, out) && (out == 16 || out == 32);
}

struct Key {
    std::string_view name;
    std::string_view expected;
    bool (*set)(Options& options, std::string_view value);
};

constexpr std::array kKeys = {
    Key{"app", "app=NAME (app=list names them)", [](Options& o, std::string_view v) { return text(v, o.app); }},
    Key{"sink", "sink=none|udp|disk|both",
        [](Options& o, std::string_view v) { return choose<SinkChoice>(v, kSinks, o.sink); }},
    Key{"exit", "exit=acpi|debug",
        [](Options& o, std::string_view v) { return choose<ExitChoice>(v, kExits, o.exit); }},
    Key{"clock", "clock=tcg|icount|kvm",
        [](Options& o, std::string_view v) { return choose<ClockChoice>(v, kClocks, o.clock); }},
    Key{"nic", "nic=none|pci|isa", [](Options& o, std::string_view v) { return choose<NicChoice>(v, kNics, o.nic); }},
    Key{"irq", "irq=apic|pic",
        [](Options& o, std::string_view v) { return choose<InterruptChoice>(v, kInterrupts, o.interrupts); }},
    Key{"local", "local=A.B.C.D", [](Options& o, std::string_view v) { return text(v, o.local_address); }},
    Key{"target", "target=A.B.C.D", [](Options& o, std::string_view v) { return text(v, o.target_address); }},
    Key{"port", "port=1..65535", [](Options& o, std::string_view v) { return number<std::uint16_t>(v, 1, o.port); }},
    Key{"seed", "seed=0..18446744073709551615",
        [](Options& o, std::string_view v) { return number<std::uint64_t>(v, 0, o.seed); }},
    Key{"duration_ms", "duration_ms=0..4294967295",
        [](Options& o, std::string_view v) { return number<std::uint32_t>(v, 0, o.duration_ms); }},
    Key{"itrace", "itrace=none|instructions|blocks",
        [](Options& o, std::string_view v) { return choose<StepChoice>(v, kSteps, o.steps); }},
    Key{"clock_step", "clock_step=0..18446744073709551615",
        [](Options& o, std::string_view v) { return number<std::uint64_t>(v, 0, o.compensation.step); }},
    Key{"clock_trigger", "clock_trigger=0..4294967295",
        [](Options& o, std::string_view v) { return number<std::uint32_t>(v, 0, o.compensation.trigger); }},
    Key{"clock_max_delta", "clock_max_delta=1..18446744073709551615",
        [](Options& o, std::string_view v) { return number<std::uint64_t>(v, 1, o.compensation.max_delta); }},
    Key{"clock_near_zero", "clock_near_zero=1..18446744073709551615",
        [](Options& o, std::string_view v) { return number<std::uint64_t>(v, 1, o.compensation.near_zero); }},
    Key{"width", "width=16|32", [](Options& o, std::string_view v) { return width(v, o.width_bits); }},
};

constexpr std::string_view kKnownKeys = "app sink exit clock nic irq local target port seed duration_ms itrace "
                                        "clock_step clock_trigger clock_max_delta clock_near_zero width";

bool blank(char character) {
    return character == ' ' || character == '\t' || character == '\r' || character == '\n';
}

// Cuts the next word off the front; empty at the end.
std::string_view next_word(std::string_view& rest) {
    while (!rest.empty() && blank(rest.front())) {
        rest.remove_prefix(1);
    }
    std::size_t length = 0;
    while (length < rest.size() && !blank(rest[length])) {
        ++length;
    }
    const std::string_view word(rest.data(), length);
    rest.remove_prefix(length);
    return word;
}

// Empty if the word was understood, else what was expected.
std::string_view apply(Options& options, std::string_view word) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
        return "KEY=VALUE";
    }
    const std::string_view name(word.data(), equals);
    const std::string_view value(word.data() + equals + 1, word.size() - equals - 1);
    for (const Key& key : kKeys) {
        if (key.name == name) {
            return key.set(options, value) ? std::string_view{} : key.expected;
        }
    }
    return kKnownKeys;
}

} // namespace

ParsedCommandLine parse_command_line(std::string_view text) {
    ParsedCommandLine parsed;
    for (std::string_view word = next_word(text); !word.empty(); word = next_word(text)) {
        const std::string_view expected = apply(parsed.options, word);
        if (!expected.empty()) {
            parsed.bad_word = word;
            parsed.expected = expected;
            return parsed;
        }
    }
    return parsed;
}

std::string_view sink_name(SinkChoice sink) {
    for (const auto& word : kSinks) {
        if (word.choice == sink) {
            return word.text;
        }
    }
    return "none";
}

} // namespace kernel
