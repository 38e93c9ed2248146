// SPDX-License-Identifier: MIT
// Defines `struct traceparser_state`, and translates between external and internal numbers of classes and events:
// callbacks are registered with the external ones, slots contain the internal ones.
#pragma once

#include "foreign/kev/header.hpp"
#include "foreign/published/traceparser.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::compat {

// There are this many external classes, with one more for events without an external class.
inline constexpr unsigned kClasses = _NTO_TRACE_INT_HANDLER_EXIT + 2;
inline constexpr unsigned kClassUnknown = kClasses - 1;

struct External {
    unsigned class_number = kClassUnknown;
    unsigned event = 0;
};

// words: the event's data, at least two.
[[nodiscard]] External external_of(unsigned internal_class, unsigned internal_event,
                                   std::span<const std::uint32_t> words);

// Returns the error of registering for these events, or nothing if any of them exists: a program may name a range that
// is as wide as an event's number can be.
[[nodiscard]] std::optional<traceparser_error_t> registration_error(unsigned class_number, unsigned event1,
                                                                    unsigned event2);

// Returns the classes that a class comprises: itself, or those of the pseudo-classes KERCALL and INT.
[[nodiscard]] std::span<const unsigned> members_of(const unsigned& class_number);

// A registration is a callback of either kind.
struct Registration {
    unsigned first = 0; // external events
    unsigned last = 0;
    void* user = nullptr;
    tracep_callb_func_t published = nullptr;
    traceparser_event_function detailed = nullptr; // used instead of `published` if set
};

struct State {
    std::array<std::vector<Registration>, kClasses> registrations; // by external class
    FILE* debug_stream = nullptr;
    unsigned debug_flags = _TRACEPARSER_DEBUG_NONE;
    unsigned sort = _TRACEPARSER_NOSORT;
    bool deliver_damaged = false;
    bool parsing = false;

    // These are about the file that is being parsed, or was parsed last.
    formats::kev::Header header;
    std::vector<std::byte> syspage;
    std::uint64_t ticks = 0;
    std::uint64_t damage = 0;

    // traceparser_get_info() returns pointers to these.
    unsigned endian_conversion = 0;
    unsigned now_class = 0;
    unsigned now_event = 0;
    unsigned previous_class = 0;
    unsigned previous_event = 0;
    int previous_return = 0;
    unsigned error = _TRACEPARSER_UNKNOWN_ERROR;
    std::string error_text;

    void fail(traceparser_error_t code, std::string_view text) {
        error = code;
        error_text = text;
    }

    [[nodiscard]] bool debugs(unsigned flag) const { return debug_stream != nullptr && (debug_flags & flag) != 0; }
};

// Parses the whole file. Returns false if nothing of it could be read; the state has the reason. May throw what an
// allocation or a callback throws.
[[nodiscard]] bool parse(traceparser_state& handle, State& state, void* user, const char* file);

} // namespace host::compat

struct traceparser_state {
    host::compat::State state;
};
