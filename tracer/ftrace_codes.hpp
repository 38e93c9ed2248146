// SPDX-License-Identifier: MIT
// Declares events by their published codes: FTrace_EVT_* and the implementation of TRACER_LOGEVENT, and FTrace_filter_*
// for FTrace_set_filter. The values come from the event table by name. Family C (metadata) is omitted, because only the
// exporter writes it.
#pragma once

#include "tracer/log.hpp"
#include "tracer/record/event_table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

using BYTE = std::uint8_t;
using WORD = std::uint16_t;
using DWORD = std::uint32_t;

inline constexpr WORD FTrace_EVT_empty = tracer::event_code("empty");
inline constexpr WORD FTrace_EVT_cycles_per_msec = tracer::event_code("cycles_per_msec");
inline constexpr WORD FTrace_EVT_trace_start = tracer::event_code("trace_start");
inline constexpr WORD FTrace_EVT_trace_stop = tracer::event_code("trace_stop");
inline constexpr WORD FTrace_EVT_blackout_start = tracer::event_code("blackout_start");
inline constexpr WORD FTrace_EVT_blackout_end = tracer::event_code("blackout_end");
inline constexpr WORD FTrace_EVT_id = tracer::event_code("id");
inline constexpr WORD FTrace_EVT_numevents = tracer::event_code("numevents");
inline constexpr WORD FTrace_EVT_ipoint = tracer::event_code("ipoint");
inline constexpr WORD FTrace_EVT_task_create = tracer::event_code("task_create");
inline constexpr WORD FTrace_EVT_task_activate = tracer::event_code("task_activate");
inline constexpr WORD FTrace_EVT_task_dispatch = tracer::event_code("task_dispatch");
inline constexpr WORD FTrace_EVT_task_epilogue = tracer::event_code("task_epilogue");
inline constexpr WORD FTrace_EVT_task_end = tracer::event_code("task_end");
inline constexpr WORD FTrace_EVT_task_begin_cycle = tracer::event_code("task_begin_cycle");
inline constexpr WORD FTrace_EVT_task_end_cycle = tracer::event_code("task_end_cycle");
inline constexpr WORD FTrace_EVT_task_sleep = tracer::event_code("task_sleep");
inline constexpr WORD FTrace_EVT_task_schedule = tracer::event_code("task_schedule");
inline constexpr WORD FTrace_EVT_task_timer = tracer::event_code("task_timer");
inline constexpr WORD FTrace_EVT_task_disable = tracer::event_code("task_disable");
inline constexpr WORD FTrace_EVT_task_deadline_miss = tracer::event_code("task_deadline_miss");
inline constexpr WORD FTrace_EVT_task_wcet_violation = tracer::event_code("task_wcet_violation");
inline constexpr WORD FTrace_EVT_task_block = tracer::event_code("task_block");
inline constexpr WORD FTrace_EVT_task_unblock = tracer::event_code("task_unblock");
inline constexpr WORD FTrace_EVT_interrupt_start = tracer::event_code("interrupt_start");
inline constexpr WORD FTrace_EVT_interrupt_end = tracer::event_code("interrupt_end");
inline constexpr WORD FTrace_EVT_interrupt_hit = tracer::event_code("interrupt_hit");
inline constexpr WORD FTrace_EVT_interrupt_count = tracer::event_code("interrupt_count");
inline constexpr WORD FTrace_EVT_interrupt_masked = tracer::event_code("interrupt_masked");
inline constexpr WORD FTrace_EVT_interrupt_unmasked = tracer::event_code("interrupt_unmasked");
inline constexpr WORD FTrace_EVT_to_real_mode = tracer::event_code("to_real_mode");
inline constexpr WORD FTrace_EVT_to_protected_mode = tracer::event_code("to_protected_mode");
inline constexpr WORD FTrace_EVT_CLI = tracer::event_code("CLI");
inline constexpr WORD FTrace_EVT_STI = tracer::event_code("STI");
inline constexpr WORD FTrace_EVT_set_priority = tracer::event_code("set_priority");
inline constexpr WORD FTrace_EVT_context_switch = tracer::event_code("context_switch");
inline constexpr WORD FTrace_EVT_inheritance = tracer::event_code("inheritance");
inline constexpr WORD FTrace_EVT_set_mutex_create = tracer::event_code("set_mutex_create");
inline constexpr WORD FTrace_EVT_set_mutex_lock = tracer::event_code("set_mutex_lock");
inline constexpr WORD FTrace_EVT_set_mutex_inherit = tracer::event_code("set_mutex_inherit");
inline constexpr WORD FTrace_EVT_set_mutex_unlock = tracer::event_code("set_mutex_unlock");
inline constexpr WORD FTrace_EVT_set_mutex_wait = tracer::event_code("set_mutex_wait");
inline constexpr WORD FTrace_EVT_set_mutex_post = tracer::event_code("set_mutex_post");
inline constexpr WORD FTrace_EVT_set_mutex_protocol = tracer::event_code("set_mutex_protocol");
inline constexpr WORD FTrace_EVT_set_mutex_ceiling = tracer::event_code("set_mutex_ceiling");
inline constexpr WORD FTrace_EVT_set_mutex_acquire = tracer::event_code("set_mutex_acquire");
inline constexpr WORD FTrace_EVT_set_mutex_deadlock = tracer::event_code("set_mutex_deadlock");
inline constexpr WORD FTrace_EVT_set_mutex_timeout = tracer::event_code("set_mutex_timeout");
inline constexpr WORD FTrace_EVT_set_mutex_owner_died = tracer::event_code("set_mutex_owner_died");
inline constexpr WORD FTrace_EVT_set_mutex_block = tracer::event_code("set_mutex_block");
inline constexpr WORD FTrace_EVT_set_semaphore_create = tracer::event_code("set_semaphore_create");
inline constexpr WORD FTrace_EVT_set_mutex_unwait = tracer::event_code("set_mutex_unwait");
inline constexpr WORD FTrace_EVT_signal = tracer::event_code("signal");
inline constexpr WORD FTrace_EVT_signal_raise = tracer::event_code("signal_raise");
inline constexpr WORD FTrace_EVT_server_create = tracer::event_code("server_create");
inline constexpr WORD FTrace_EVT_server_replenish = tracer::event_code("server_replenish");
inline constexpr WORD FTrace_EVT_server_exhaust = tracer::event_code("server_exhaust");
inline constexpr WORD FTrace_EVT_server_reclaiming = tracer::event_code("server_reclaiming");
inline constexpr WORD FTrace_EVT_server_remove = tracer::event_code("server_remove");
inline constexpr WORD FTrace_EVT_server_active = tracer::event_code("server_active");
inline constexpr WORD FTrace_EVT_server_using_rec = tracer::event_code("server_using_rec");
inline constexpr WORD FTrace_EVT_server_budget = tracer::event_code("server_budget");
inline constexpr WORD FTrace_EVT_server_deadline = tracer::event_code("server_deadline");
inline constexpr WORD FTrace_EVT_server_attach = tracer::event_code("server_attach");
inline constexpr WORD FTrace_EVT_server_kind = tracer::event_code("server_kind");
inline constexpr WORD FTrace_EVT_server_capacity = tracer::event_code("server_capacity");
inline constexpr WORD FTrace_EVT_server_period = tracer::event_code("server_period");
inline constexpr WORD FTrace_EVT_server_bandwidth = tracer::event_code("server_bandwidth");
inline constexpr WORD FTrace_EVT_user_event_0 = tracer::event_code("user_event_0");
inline constexpr WORD FTrace_EVT_user_event_1 = tracer::event_code("user_event_1");
inline constexpr WORD FTrace_EVT_user_event_2 = tracer::event_code("user_event_2");
inline constexpr WORD FTrace_EVT_user_event_3 = tracer::event_code("user_event_3");
inline constexpr WORD FTrace_EVT_user_event_4 = tracer::event_code("user_event_4");
inline constexpr WORD FTrace_EVT_user_event_5 = tracer::event_code("user_event_5");
inline constexpr WORD FTrace_EVT_user_event_6 = tracer::event_code("user_event_6");
inline constexpr WORD FTrace_EVT_user_event_7 = tracer::event_code("user_event_7");
inline constexpr WORD FTrace_EVT_user_event_8 = tracer::event_code("user_event_8");
inline constexpr WORD FTrace_EVT_user_event_9 = tracer::event_code("user_event_9");
inline constexpr WORD FTrace_EVT_user_event_10 = tracer::event_code("user_event_10");
inline constexpr WORD FTrace_EVT_user_event_11 = tracer::event_code("user_event_11");
inline constexpr WORD FTrace_EVT_user_event_12 = tracer::event_code("user_event_12");
inline constexpr WORD FTrace_EVT_user_event_13 = tracer::event_code("user_event_13");
inline constexpr WORD FTrace_EVT_user_event_14 = tracer::event_code("user_event_14");
inline constexpr WORD FTrace_EVT_data_pointer = tracer::event_code("data_pointer");
inline constexpr WORD FTrace_EVT_timer_post = tracer::event_code("timer_post");
inline constexpr WORD FTrace_EVT_timer_delete = tracer::event_code("timer_delete");
inline constexpr WORD FTrace_EVT_timer_wakeup_start = tracer::event_code("timer_wakeup_start");
inline constexpr WORD FTrace_EVT_timer_wakeup_end = tracer::event_code("timer_wakeup_end");
inline constexpr WORD FTrace_EVT_job_release = tracer::event_code("job_release");
inline constexpr WORD FTrace_EVT_job_deadline = tracer::event_code("job_deadline");
inline constexpr WORD FTrace_EVT_job_abort = tracer::event_code("job_abort");
inline constexpr WORD FTrace_EVT_activation_violation = tracer::event_code("activation_violation");
inline constexpr WORD FTrace_EVT_job_skipped = tracer::event_code("job_skipped");
inline constexpr WORD FTrace_EVT_job_queued = tracer::event_code("job_queued");
inline constexpr WORD FTrace_EVT_task_exception = tracer::event_code("task_exception");
inline constexpr WORD FTrace_EVT_slice_end = tracer::event_code("slice_end");
inline constexpr WORD FTrace_EVT_condition_signal = tracer::event_code("condition_signal");
inline constexpr WORD FTrace_EVT_condition_broadcast = tracer::event_code("condition_broadcast");
inline constexpr WORD FTrace_EVT_port_send = tracer::event_code("port_send");
inline constexpr WORD FTrace_EVT_port_receive = tracer::event_code("port_receive");
inline constexpr WORD FTrace_EVT_wait_timeout = tracer::event_code("wait_timeout");
inline constexpr WORD FTrace_EVT_deadline_change = tracer::event_code("deadline_change");
inline constexpr WORD FTrace_EVT_filter_job = tracer::event_code("filter_job");
inline constexpr WORD FTrace_EVT_panic = tracer::event_code("panic");
inline constexpr WORD FTrace_EVT_task_fault = tracer::event_code("task_fault");
inline constexpr WORD FTrace_EVT_fault_instruction = tracer::event_code("fault_instruction");
inline constexpr WORD FTrace_EVT_fault_address = tracer::event_code("fault_address");
inline constexpr WORD FTrace_EVT_instruction = tracer::event_code("instruction");
inline constexpr WORD FTrace_EVT_block = tracer::event_code("block");
inline constexpr WORD FTrace_EVT_instruction_trace_begin = tracer::event_code("instruction_trace_begin");
inline constexpr WORD FTrace_EVT_instruction_trace_end = tracer::event_code("instruction_trace_end");
inline constexpr WORD FTrace_EVT_clock_compensated = tracer::event_code("clock_compensated");
inline constexpr WORD FTrace_EVT_compensation_count = tracer::event_code("compensation_count");
inline constexpr WORD FTrace_EVT_next_chunk = tracer::event_code("next_chunk");

inline constexpr BYTE FTrace_filter_trace_Events = tracer::event_code("filter_general");
inline constexpr BYTE FTrace_filter_ipoint = tracer::event_code("filter_ipoint");
inline constexpr BYTE FTrace_filter_task = tracer::event_code("filter_task");
inline constexpr BYTE FTrace_filter_interrupt = tracer::event_code("filter_interrupt");
inline constexpr BYTE FTrace_filter_CPU = tracer::event_code("filter_CPU");
inline constexpr BYTE FTrace_filter_priority = tracer::event_code("filter_priority");
inline constexpr BYTE FTrace_filter_mutex = tracer::event_code("filter_mutex");
inline constexpr BYTE FTrace_filter_signal = tracer::event_code("filter_signal");
inline constexpr BYTE FTrace_filter_server = tracer::event_code("filter_server");
inline constexpr BYTE FTrace_filter_user = tracer::event_code("filter_user");
inline constexpr BYTE FTrace_filter_data = tracer::event_code("filter_data");
inline constexpr BYTE FTrace_filter_timer = tracer::event_code("filter_timer");
inline constexpr BYTE FTrace_filter_job = tracer::event_code("filter_job");
inline constexpr BYTE FTrace_filter_typed = tracer::event_code("filter_typed");

// par1 of FTrace_EVT_data_pointer states what par2 points to.
inline constexpr WORD FTrace_DATA_int = tracer::kDataInt;
inline constexpr WORD FTrace_DATA_char = tracer::kDataChar;

inline constexpr BYTE FTrace_family_mask = 0x0F;

// TRACER_LOGEVENT and FAST_TRACER_LOGEVENT log by code instead of by name. A constant code is checked at compile time;
// any other is checked at run time, and a code that may not be recorded is counted as refused. Context: any.

namespace tracer {

inline constexpr std::uint8_t kNextChunkCode = event_code("next_chunk");

// Holds by code the bit of CpuTrace::mask that must be set for an event to be recorded, or 0 if no single record of the
// event table has the code.
inline constexpr auto kLoggableBits = [] {
    std::array<std::uint32_t, kCodeMask + 1> bits{};
    for (const EventRow& row : kEvents) {
        bits[row.code] = is_loggable(row) ? mask_bit(row.code) : 0;
    }
    return bits;
}();

namespace detail {

// Is never defined, because only a constant that log_published() may not take reaches it.
[[gnu::error("TRACER_LOGEVENT: no loggable event has this code; use an FTrace_EVT_* or FTrace_filter_* constant")]] void
event_code_is_not_loggable();

// Count one refused record, and close the active chunk (Control::close_active).
void refuse_record();
void request_next_chunk();

// Returns the bit of a code, 0 if it is not loggable; for a constant it needs no look-up.
[[nodiscard, gnu::always_inline]] inline std::uint32_t loggable_bit(std::uint16_t type) {
    const auto code = static_cast<std::uint8_t>(type);
    return code == type ? kLoggableBits[code] : 0;
}

// Takes a code that is not loggable: an instruction, or a mistake.
[[gnu::always_inline]] inline void take_other(std::uint16_t type) {
    if (type == kNextChunkCode) {
        request_next_chunk();
    } else if (__builtin_constant_p(type)) {
        event_code_is_not_loggable();
    } else {
        refuse_record();
    }
}

// The published macros take any integers; values that do not fit are cut, as in C.
template <typename To, typename From>
[[nodiscard, gnu::always_inline]] constexpr To cut_to(From value) {
    if constexpr (std::is_same_v<To, From>) {
        return value;
    } else {
        return static_cast<To>(value);
    }
}

} // namespace detail

[[gnu::always_inline]] inline void log_published(std::uint16_t type, std::uint16_t par1, std::uint32_t par2) {
    if (const std::uint32_t bit = detail::loggable_bit(type); bit != 0) [[likely]] {
        if (detail::family_enabled(bit)) {
            detail::record(type, par1, par2);
        }
    } else if (detail::family_enabled(mask_bit(type))) {
        detail::take_other(type);
    }
}

[[gnu::always_inline]] inline void log_published_fast(std::uint16_t type, std::uint16_t par1, std::uint32_t par2) {
    if (detail::loggable_bit(type) != 0) [[likely]] {
        detail::record(static_cast<std::uint16_t>(type | kFastPathBit), par1, par2);
    } else {
        detail::take_other(type);
    }
}

} // namespace tracer
