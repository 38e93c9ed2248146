// SPDX-License-Identifier: MIT
// Reads the word shift=.
#include "kernel/time/phase_shift.hpp"

#include "lib/assert.hpp"
#include "lib/text.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

namespace kernel {

namespace {

struct PhaseShift {
    std::string_view name;
    lib::Ticks ticks;
    bool used = false;
};

struct PhaseShifts {
    std::array<PhaseShift, kPhaseShiftsMax> tasks{};
    std::size_t count = 0;
    lib::Ticks events;
};

constinit PhaseShifts s_shifts;

std::optional<PhaseShift> parse_one(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) {
        return std::nullopt;
    }
    const std::string_view digits(text.data() + colon + 1, text.size() - colon - 1);
    const auto ticks = lib::number_of(digits, std::numeric_limits<std::uint32_t>::max());
    if (!ticks) {
        return std::nullopt;
    }
    return PhaseShift{.name = std::string_view(text.data(), colon), .ticks = lib::Ticks{*ticks}};
}

// Calls each(shift) in order; returns false if the text is not valid.
template <typename Each>
bool parse(std::string_view text, Each each) {
    for (std::size_t count = 0; count < kPhaseShiftsMax; ++count) {
        const std::size_t comma = text.find(',');
        const auto one = parse_one(std::string_view(text.data(), comma < text.size() ? comma : text.size()));
        if (!one) {
            return false;
        }
        each(*one);
        if (comma == std::string_view::npos) {
            return true;
        }
        text.remove_prefix(comma + 1);
    }
    return false;
}

} // namespace

constinit bool detail::g_tasks_shifted = false;

bool phase_shifts_valid(std::string_view tasks) {
    return parse(tasks, [](const PhaseShift&) {});
}

void set_phase_shifts(std::string_view tasks, lib::Ticks events, IrqOff /*off*/) {
    s_shifts.count = 0;
    s_shifts.events = events;
    const bool valid =
        tasks.empty() || parse(tasks, [](const PhaseShift& shift) { s_shifts.tasks[s_shifts.count++] = shift; });
    ASSERT(valid);
    detail::g_tasks_shifted = s_shifts.count != 0;
}

lib::Ticks detail::shift_of_task(std::string_view name) {
    for (std::size_t i = 0; i < s_shifts.count; ++i) {
        if (s_shifts.tasks[i].name == name) {
            s_shifts.tasks[i].used = true;
            return s_shifts.tasks[i].ticks;
        }
    }
    return {};
}

lib::Ticks event_shift() {
    return s_shifts.events;
}

std::string_view unused_phase_shift() {
    for (std::size_t i = 0; i < s_shifts.count; ++i) {
        if (!s_shifts.tasks[i].used) {
            return s_shifts.tasks[i].name;
        }
    }
    return {};
}

} // namespace kernel
