// SPDX-License-Identifier: MIT
// Implements the C interface. No exception leaves it: lack of memory, and whatever a callback throws, becomes an error
// code.
#include "foreign/published/traceparser.h"

#include "foreign/published/traceparser_state.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

namespace {

using host::compat::kClasses;
using host::compat::members_of;
using host::compat::Registration;
using host::compat::State;

// These are the keys of the header by info_modes_t.
constexpr auto kHeaderKeys = std::to_array<const char*>(
    {"HEADER_BEGIN", "FILE_NAME", "DATE", "VER_MAJOR", "VER_MINOR", "LITTLE_ENDIAN", "BIG_ENDIAN", "MIDDLE_ENDIAN",
     "ENCODING", "BOOT_DATE", "CYCLES_PER_SEC", "CPU_NUM", "SYSNAME", "NODENAME", "SYS_RELEASE", "SYS_VERSION",
     "MACHINE", "SYSPAGE_LEN", "HEADER_END"});

static_assert(kHeaderKeys.size() == _TRACEPARSER_INFO_HEADER_END + 1);
static_assert(sizeof(traceevent_t) == 16);

int invalid() {
    errno = EINVAL;
    return -1;
}

// Returns the value of `function`, or -1 with the state's error set if it throws.
template <typename Function>
int guarded(traceparser_state& handle, const Function& function) noexcept {
    try {
        return function();
    } catch (const std::bad_alloc&) {
        handle.state.error = _TRACEPARSER_NO_MORE_MEMORY;
        errno = ENOMEM;
    } catch (...) {
        handle.state.error = _TRACEPARSER_UNKNOWN_ERROR;
        errno = EIO;
    }
    handle.state.parsing = false;
    return -1;
}

int register_callback(traceparser_state* handle, const Registration& row, unsigned class_number) {
    if (handle == nullptr || (row.published == nullptr && row.detailed == nullptr)) {
        return invalid();
    }
    return guarded(*handle, [&] {
        State& state = handle->state;
        if (const auto error = host::compat::registration_error(class_number, row.first, row.last)) {
            state.fail(*error, *error == _TRACEPARSER_UNKNOWN_CLASS
                                   ? "unknown class: register with an external one, _NTO_TRACE_..."
                                   : "no such event in this class, or the first is greater than the last");
            return invalid();
        }
        for (const unsigned member : members_of(class_number)) {
            state.registrations[member].push_back(row);
        }
        return 0;
    });
}

void* answer(unsigned* length, unsigned size, const void* value) {
    if (length != nullptr) {
        *length = size;
    }
    return const_cast<void*>(value); // the published signature is not const
}

template <typename T>
void* answer(unsigned* length, const T& value) {
    return answer(length, sizeof(T), &value);
}

} // namespace

extern "C" {

struct traceparser_state* traceparser_init(struct traceparser_state* state) {
    if (state == nullptr) {
        return new (std::nothrow) traceparser_state();
    }
    if (state->state.parsing) {
        errno = EBUSY;
        return nullptr;
    }
    return guarded(*state,
                   [&] {
                       state->state = State();
                       return 0;
                   }) == 0
               ? state
               : nullptr;
}

void traceparser_destroy(struct traceparser_state** state) {
    if (state != nullptr && *state != nullptr) {
        if ((*state)->state.parsing) {
            errno = EBUSY; // called from a callback of this state
            return;
        }
        delete std::exchange(*state, nullptr);
    }
}

int traceparser_debug(struct traceparser_state* state, FILE* stream, unsigned flags) {
    if (state == nullptr || stream == nullptr) {
        return invalid();
    }
    state->state.debug_stream = stream;
    state->state.debug_flags = flags;
    return 0;
}

int traceparser_cs(struct traceparser_state* state, void* user, tracep_callb_func_t f, unsigned class_number,
                   unsigned event) {
    return traceparser_cs_range(state, user, f, class_number, event, event);
}

int traceparser_cs_range(struct traceparser_state* state, void* user, tracep_callb_func_t f, unsigned class_number,
                         unsigned event1, unsigned event2) {
    return register_callback(
        state, {.first = event1, .last = event2, .user = user, .published = f, .detailed = nullptr}, class_number);
}

int traceparser_on_event(struct traceparser_state* state, void* user, traceparser_event_function f,
                         unsigned class_number, unsigned event1, unsigned event2) {
    return register_callback(
        state, {.first = event1, .last = event2, .user = user, .published = nullptr, .detailed = f}, class_number);
}

int traceparser_on_every_event(struct traceparser_state* state, void* user, traceparser_event_function f) {
    if (state == nullptr || f == nullptr) {
        return invalid();
    }
    return guarded(*state, [&] {
        for (unsigned class_number = _NTO_TRACE_CONTROL; class_number < kClasses; ++class_number) {
            state->state.registrations[class_number].push_back(
                {.first = 0, .last = UINT32_MAX, .user = user, .published = nullptr, .detailed = f});
        }
        return 0;
    });
}

void traceparser_deliver_damaged(struct traceparser_state* state, int yes) {
    if (state != nullptr) {
        state->state.deliver_damaged = yes != 0;
    }
}

void traceparser_sort(struct traceparser_state* state, unsigned order) {
    if (state != nullptr && !state->state.parsing) {
        state->state.sort = order;
    }
}

int traceparser(struct traceparser_state* state, void* user, const char* file) {
    if (state == nullptr || file == nullptr) {
        return invalid();
    }
    if (state->state.parsing) {
        errno = EBUSY;
        return -1;
    }
    return guarded(*state, [&] {
        state->state.parsing = true;
        state->state.error = _TRACEPARSER_UNKNOWN_ERROR;
        state->state.error_text.clear();
        const bool parsed = host::compat::parse(*state, state->state, user, file);
        state->state.parsing = false;
        return parsed ? 0 : -1;
    });
}

void* traceparser_get_info(struct traceparser_state* state, info_modes_t mode, unsigned* len) {
    const State* const known = state != nullptr ? &state->state : nullptr;
    if (known != nullptr && mode >= 0 && static_cast<std::size_t>(mode) < kHeaderKeys.size()) {
        if (const std::string* const text = known->header.find(kHeaderKeys[static_cast<std::size_t>(mode)])) {
            return answer(len, static_cast<unsigned>(text->size()), text->c_str());
        }
    } else if (known != nullptr) {
        switch (static_cast<int>(mode)) {
        case _TRACEPARSER_INFO_SYSPAGE:
            if (!known->syspage.empty()) {
                return answer(len, static_cast<unsigned>(known->syspage.size()), known->syspage.data());
            }
            break;
        case _TRACEPARSER_INFO_ENDIAN_CONV:
            return answer(len, known->endian_conversion);
        case _TRACEPARSER_INFO_NOW_CALLBACK_CLASS:
            return answer(len, known->now_class);
        case _TRACEPARSER_INFO_NOW_CALLBACK_EVENT:
            return answer(len, known->now_event);
        case _TRACEPARSER_INFO_PREV_CALLBACK_CLASS:
            return answer(len, known->previous_class);
        case _TRACEPARSER_INFO_PREV_CALLBACK_EVENT:
            return answer(len, known->previous_event);
        case _TRACEPARSER_INFO_PREV_CALLBACK_RETURN:
            return answer(len, known->previous_return);
        case _TRACEPARSER_INFO_DEBUG:
            return answer(len, known->debug_flags);
        case _TRACEPARSER_INFO_ERROR:
            return answer(len, known->error);
        default:
            break;
        }
    }
    errno = EINVAL;
    return nullptr;
}

uint64_t traceparser_get_ticks(const struct traceparser_state* state) {
    return state != nullptr ? state->state.ticks : 0;
}

const char* traceparser_get_text(const struct traceparser_state* state, const char* key) {
    const std::string* const text = state != nullptr && key != nullptr ? state->state.header.find(key) : nullptr;
    return text != nullptr ? text->c_str() : nullptr;
}

int traceparser_get_u64(const struct traceparser_state* state, const char* key, uint64_t* value) {
    const char* const text = traceparser_get_text(state, key);
    if (text == nullptr || value == nullptr) {
        return invalid();
    }
    const char* const last = text + std::strlen(text);
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(text, last, number);
    if (error != std::errc{} || end != last) {
        return invalid();
    }
    *value = number;
    return 0;
}

const char* traceparser_error_text(const struct traceparser_state* state) {
    return state != nullptr ? state->state.error_text.c_str() : "the state is a null pointer";
}

uint64_t traceparser_damage(const struct traceparser_state* state) {
    return state != nullptr ? state->state.damage : 0;
}

unsigned traceevent_kind(const traceevent_t* slot) {
    return slot->opaque[0] >> 30;
}

unsigned traceevent_header(const traceevent_t* slot) {
    return slot->opaque[0] & 0x3FFF'FFFF;
}

unsigned traceevent_stamp(const traceevent_t* slot) {
    return slot->opaque[1];
}

unsigned traceevent_data(const traceevent_t* slot, unsigned index) {
    return index < 2 ? slot->opaque[2 + index] : 0;
}

} // extern "C"
