// SPDX-License-Identifier: MIT
// Has the tables of labels. Source: the published lists of traceprinter's labels.
#include "foreign/kev/event_names.hpp"

#include "foreign/kev/event_names.hpp"
#include "foreign/kev/slot.hpp"

#include <array>
#include <cstddef>

namespace host::formats::kev {

namespace {

// These are the labels of virtual threads by state; those of threads are the same without the V.
constexpr auto kThreadNames = std::to_array<std::string_view>(
    {"VTHDEAD",    "VTHRUNNING",    "VTHREADY",    "VTHSTOPPED",    "VTHSEND",        "VTHRECEIVE",   "VTHREPLY",
     "VTHSTACK",   "VTHWAITTHREAD", "VTHWAITPAGE", "VTHSIGSUSPEND", "VTHSIGWAITINFO", "VTHNANOSLEEP", "VTHMUTEX",
     "VTHCONDVAR", "VTHJOIN",       "VTHINTR",     "VTHSEM",        "VTHWAITCTX",     "VTHNET_SEND",  "VTHNET_REPLY"});

constexpr auto kProcessNames = std::to_array<std::string_view>(
    {"", "PROCCREATE", "PROCDESTROY", "PROCCREATE_NAME", "PROCDESTROY_NAME", "PROCTHREAD_NAME"});

constexpr auto kControlNames = std::to_array<std::string_view>({"", "TIME", "BUFFER"});

constexpr auto kInterruptNames =
    std::to_array<std::string_view>({"", "INT_ENTR", "INT_EXIT", "INT_HANDLER_ENTR", "INT_HANDLER_EXIT"});

constexpr auto kSystemNames =
    std::to_array<std::string_view>({"", "RESERVED", "PATHMGR_OPEN", "APS_NAME", "APS_BUDGETS", "APS_BANKRUPTCY",
                                     "MMAP", "MUNMAP", "MAPNAME", "ADDRESS", "FUNC_ENTER", "FUNC_EXIT", "SLOG"});

constexpr auto kCommNames = std::to_array<std::string_view>(
    {"SND_MESSAGE", "SND_PULSE", "REC_MESSAGE", "REC_PULSE", "SND_PULSE_EXE", "SND_PULSE_DIS", "SND_PULSE_DEA",
     "SND_PULSE_UN", "SND_PULSE_QUN", "SIGNAL", "REPLY_MESSAGE", "MSG_ERROR"});

// The names "KER_CALL 0" to "INT_CALL 127" are made while compiling.
struct CallName {
    std::array<char, 12> characters{};
    std::size_t size = 0;
};

constexpr auto kCallPrefixes = std::to_array<std::string_view>({"KER_CALL", "KER_EXIT", "INT_CALL"});

constexpr auto kCallNames = [] {
    std::array<CallName, 3 * kCalls> names{};
    for (std::size_t i = 0; i < names.size(); ++i) {
        CallName& name = names[i];
        const auto add = [&name](char character) { name.characters[name.size++] = character; };
        for (const char character : kCallPrefixes[i / kCalls]) {
            add(character);
        }
        add(' ');
        const std::size_t number = i % kCalls;
        if (number >= 100) {
            add(static_cast<char>('0' + number / 100));
        }
        if (number >= 10) {
            add(static_cast<char>('0' + number / 10 % 10));
        }
        add(static_cast<char>('0' + number % 10));
    }
    return names;
}();

template <std::size_t N>
std::string_view at(const std::array<std::string_view, N>& names, std::size_t index) {
    return index < N ? names[index] : std::string_view();
}

std::string_view thread_label(std::uint16_t event) {
    if (event >= kProcessStep) {
        return event % kProcessStep == 0 ? at(kProcessNames, event / kProcessStep) : std::string_view();
    }
    const bool is_virtual = event >= kVirtualThreads;
    const unsigned number = is_virtual ? event - kVirtualThreads : event;
    const std::string_view name = number == kThreadCreate    ? "VTHCREATE"
                                  : number == kThreadDestroy ? "VTHDESTROY"
                                                             : at(kThreadNames, number);
    return is_virtual || name.empty() ? name : name.substr(1);
}

} // namespace

std::string_view class_label(std::uint8_t class_number, std::uint16_t event) {
    switch (static_cast<Class>(class_number)) {
    case Class::empty:
        return "EMPTY";
    case Class::control:
        return "CONTROL";
    case Class::kernel_call:
        return at(kCallPrefixes, (event & ~unsigned{kCall64}) / kCalls);
    case Class::interrupt:
        return at(kInterruptNames, event);
    case Class::thread:
        return event >= kProcessStep ? "PROCESS" : event >= kVirtualThreads ? "VTHREAD" : "THREAD";
    case Class::system:
        return "SYSTEM";
    case Class::user:
        return "USREVENT";
    case Class::comm:
        return "COMM";
    }
    return {};
}

std::string_view event_label(std::uint8_t class_number, std::uint16_t event) {
    switch (static_cast<Class>(class_number)) {
    case Class::empty:
    case Class::user:
        return {};
    case Class::control:
        return at(kControlNames, event);
    case Class::kernel_call: {
        const std::size_t index = event & ~unsigned{kCall64};
        return index < kCallNames.size() ? std::string_view(kCallNames[index].characters.data(), kCallNames[index].size)
                                         : std::string_view();
    }
    case Class::interrupt:
        return at(kInterruptNames, event);
    case Class::thread:
        return thread_label(event);
    case Class::system:
        return at(kSystemNames, event);
    case Class::comm:
        return at(kCommNames, event);
    }
    return {};
}

} // namespace host::formats::kev
