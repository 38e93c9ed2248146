// SPDX-License-Identifier: MIT
#include "kernel/run/command_line.hpp"

#include "kernel/time/phase_shift.hpp"
#include "lib/text.hpp"

#include <array>
#include <limits>
#include <type_traits>

namespace kernel {

namespace {

template <typename Choice>
struct Word {
    std::string_view text;
    Choice choice;
};

constexpr auto kSinks = std::to_array<Word<SinkChoice>>({{"none", SinkChoice::none},
                                                         {"udp", SinkChoice::udp},
                                                         {"disk", SinkChoice::disk},
                                                         {"both", SinkChoice::both},
                                                         {"auto", SinkChoice::automatic}});
constexpr auto kExits = std::to_array<Word<ExitChoice>>({{"acpi", ExitChoice::acpi}, {"debug", ExitChoice::debug}});
constexpr auto kClocks = std::to_array<Word<ClockChoice>>(
    {{"tcg", ClockChoice::tcg}, {"icount", ClockChoice::icount}, {"kvm", ClockChoice::kvm}});
constexpr auto kInterrupts =
    std::to_array<Word<InterruptChoice>>({{"apic", InterruptChoice::apic}, {"pic", InterruptChoice::pic}});
constexpr auto kNics =
    std::to_array<Word<NicChoice>>({{"none", NicChoice::none}, {"pci", NicChoice::pci}, {"isa", NicChoice::isa}});

constexpr auto kProtocols = std::to_array<Word<ProtocolChoice>>(
    {{"auto", ProtocolChoice::automatic}, {"v1", ProtocolChoice::v1}, {"v2", ProtocolChoice::v2}});

constexpr auto kSteps = std::to_array<Word<StepChoice>>(
    {{"none", StepChoice::none}, {"instructions", StepChoice::instructions}, {"blocks", StepChoice::blocks}});

constexpr auto kDetails = std::to_array<Word<InterruptDetail>>(
    {{"full", InterruptDetail::span}, {"light", InterruptDetail::hit}, {"count", InterruptDetail::count}});
constexpr auto kSwitch = std::to_array<Word<bool>>({{"off", false}, {"on", true}});
constexpr auto kCompact = std::to_array<Word<CompactChoice>>({{"OFF", CompactChoice::off},
                                                              {"AUTO", CompactChoice::automatic},
                                                              {"A", CompactChoice::a},
                                                              {"B", CompactChoice::b},
                                                              {"C", CompactChoice::c},
                                                              {"D", CompactChoice::d},
                                                              {"plan12", CompactChoice::plan12},
                                                              {"A2", CompactChoice::a2},
                                                              {"B2", CompactChoice::b2},
                                                              {"C2", CompactChoice::c2},
                                                              {"D2", CompactChoice::d2},
                                                              {"large64", CompactChoice::large64},
                                                              {"large96", CompactChoice::large96}});

template <auto Member, const auto& Words>
bool choice(Options& options, std::string_view value) {
    for (const auto& word : Words) {
        if (word.text == value) {
            options.*Member = word.choice;
            return true;
        }
    }
    return false;
}

// Parses a number of the options, to which `Members` lead.
template <std::uint64_t Minimum, auto... Members>
bool number(Options& options, std::string_view value) {
    auto& out = (options.*....*Members);
    using Number = std::remove_reference_t<decltype(out)>;
    const auto parsed = lib::number_of(value, std::numeric_limits<Number>::max());
    if (!parsed || *parsed < Minimum) {
        return false;
    }
    out = static_cast<Number>(*parsed);
    return true;
}

template <auto Member>
bool text(Options& options, std::string_view value) {
    options.*Member = value;
    return !value.empty();
}

bool width(Options& options, std::string_view value) {
    return number<1, &Options::width_bits>(options, value) &&
           (options.width_bits == 8 || options.width_bits == 16 || options.width_bits == 32);
}

bool shifts(Options& options, std::string_view value) {
    options.shifts = value;
    return phase_shifts_valid(value);
}

struct Key {
    std::string_view name;
    std::string_view expected;
    bool (*set)(Options& options, std::string_view value);
};

constexpr std::array kKeys = {
    Key{"app", "app=NAME (app=list names them)", &text<&Options::app>},
    Key{"sink", "sink=none|udp|disk|both|auto", &choice<&Options::sink, kSinks>},
    Key{"exit", "exit=acpi|debug", &choice<&Options::exit, kExits>},
    Key{"clock", "clock=tcg|icount|kvm", &choice<&Options::clock, kClocks>},
    Key{"nic", "nic=none|pci|isa", &choice<&Options::nic, kNics>},
    Key{"irq", "irq=apic|pic", &choice<&Options::interrupts, kInterrupts>},
    Key{"local", "local=A.B.C.D", &text<&Options::local_address>},
    Key{"target", "target=A.B.C.D", &text<&Options::target_address>},
    Key{"port", "port=1..65535", &number<1, &Options::port>},
    Key{"seed", "seed=0..18446744073709551615", &number<0, &Options::seed>},
    Key{"duration_ms", "duration_ms=0..4294967295", &number<0, &Options::duration_ms>},
    Key{"itrace", "itrace=none|instructions|blocks", &choice<&Options::steps, kSteps>},
    Key{"clock_step", "clock_step=0..18446744073709551615", &number<0, &Options::compensation, &ClockWords::step>},
    Key{"clock_trigger", "clock_trigger=0..4294967295", &number<0, &Options::compensation, &ClockWords::trigger>},
    Key{"clock_max_delta", "clock_max_delta=1..18446744073709551615",
        &number<1, &Options::compensation, &ClockWords::max_delta>},
    Key{"clock_near_zero", "clock_near_zero=1..18446744073709551615",
        &number<1, &Options::compensation, &ClockWords::near_zero>},
    Key{"width", "width=8|16|32", &width},
    Key{"interrupts", "interrupts=full|light|count", &choice<&Options::interrupt_detail, kDetails>},
    Key{"cli_sti", "cli_sti=off|on", &choice<&Options::cli_sti, kSwitch>},
    Key{"watchdog_ms", "watchdog_ms=0..4294967295", &number<0, &Options::watchdog_ms>},
    Key{"compact", "compact=OFF|AUTO|A|B|C|D|plan12|A2|B2|C2|D2|large64|large96", &choice<&Options::compact, kCompact>},
    Key{"protocol", "protocol=auto|v1|v2", &choice<&Options::protocol, kProtocols>},
    Key{"clock_records", "clock_records=off|on", &choice<&Options::clock_records, kSwitch>},
    Key{"stream", "stream=off|on", &choice<&Options::stream, kSwitch>},
    Key{"shift", "shift=TASK:TICKS[,TASK:TICKS...]", &shifts},
    Key{"event_shift", "event_shift=0..4294967295", &number<0, &Options::event_shift>},
    Key{"limit_ms", "limit_ms=0..4294967295", &number<0, &Options::limit_ms>},
};

constexpr std::string_view kKnownKeys = "app sink exit clock nic irq local target port seed duration_ms itrace "
                                        "clock_step clock_trigger clock_max_delta clock_near_zero width "
                                        "interrupts cli_sti watchdog_ms compact "
                                        "protocol clock_records stream shift event_shift limit_ms";

bool blank(char character) {
    return character == ' ' || character == '\t' || character == '\r' || character == '\n';
}

// Cuts the next word off the front. It is empty at the end.
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

// Returns nothing if the word was understood, else what was expected.
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
