// SPDX-License-Identifier: MIT
// The published constants: FTrace_EVT_* for TRACER_LOGEVENT and FTrace_filter_* for FTrace_set_filter. The values are
// not typed here, they come from the event table by name; family C (metadata) is left out, for only the exporter
// writes it.
#pragma once

#include "tracer/event_table.hpp"

#include <cstdint>
#include <string_view>

using BYTE = std::uint8_t;
using WORD = std::uint16_t;
using DWORD = std::uint32_t;

namespace tracer::detail {

consteval WORD published_code(std::string_view name) {
    return find_event(name)->code; // an unknown name dereferences null, which does not compile
}

consteval BYTE published_filter(std::string_view name) {
    return find_event(name)->code;
}

} // namespace tracer::detail

inline constexpr WORD FTrace_EVT_empty = tracer::detail::published_code("empty");
inline constexpr WORD FTrace_EVT_cycles_per_msec = tracer::detail::published_code("cycles_per_msec");
inline constexpr WORD FTrace_EVT_trace_start = tracer::detail::published_code("trace_start");
inline constexpr WORD FTrace_EVT_trace_stop = tracer::detail::published_code("trace_stop");
inline constexpr WORD FTrace_EVT_blackout_start = tracer::detail::published_code("blackout_start");
inline constexpr WORD FTrace_EVT_blackout_end = tracer::detail::published_code("blackout_end");
inline constexpr WORD FTrace_EVT_id = tracer::detail::published_code("id");
inline constexpr WORD FTrace_EVT_numevents = tracer::detail::published_code("numevents");
inline constexpr WORD FTrace_EVT_ipoint = tracer::detail::published_code("ipoint");
inline constexpr WORD FTrace_EVT_task_create = tracer::detail::published_code("task_create");
inline constexpr WORD FTrace_EVT_task_activate = tracer::detail::published_code("task_activate");
inline constexpr WORD FTrace_EVT_task_dispatch = tracer::detail::published_code("task_dispatch");
inline constexpr WORD FTrace_EVT_task_epilogue = tracer::detail::published_code("task_epilogue");
inline constexpr WORD FTrace_EVT_task_end = tracer::detail::published_code("task_end");
inline constexpr WORD FTrace_EVT_task_begin_cycle = tracer::detail::published_code("task_begin_cycle");
inline constexpr WORD FTrace_EVT_task_end_cycle = tracer::detail::published_code("task_end_cycle");
inline constexpr WORD FTrace_EVT_task_sleep = tracer::detail::published_code("task_sleep");
inline constexpr WORD FTrace_EVT_task_schedule = tracer::detail::published_code("task_schedule");
inline constexpr WORD FTrace_EVT_task_timer = tracer::detail::published_code("task_timer");
inline constexpr WORD FTrace_EVT_task_disable = tracer::detail::published_code("task_disable");
inline constexpr WORD FTrace_EVT_task_deadline_miss = tracer::detail::published_code("task_deadline_miss");
inline constexpr WORD FTrace_EVT_task_wcet_violation = tracer::detail::published_code("task_wcet_violation");
inline constexpr WORD FTrace_EVT_interrupt_start = tracer::detail::published_code("interrupt_start");
inline constexpr WORD FTrace_EVT_interrupt_end = tracer::detail::published_code("interrupt_end");
inline constexpr WORD FTrace_EVT_interrupt_hit = tracer::detail::published_code("interrupt_hit");
inline constexpr WORD FTrace_EVT_interrupt_count = tracer::detail::published_code("interrupt_count");
inline constexpr WORD FTrace_EVT_to_real_mode = tracer::detail::published_code("to_real_mode");
inline constexpr WORD FTrace_EVT_to_protected_mode = tracer::detail::published_code("to_protected_mode");
inline constexpr WORD FTrace_EVT_CLI = tracer::detail::published_code("CLI");
inline constexpr WORD FTrace_EVT_STI = tracer::detail::published_code("STI");
inline constexpr WORD FTrace_EVT_set_priority = tracer::detail::published_code("set_priority");
inline constexpr WORD FTrace_EVT_context_switch = tracer::detail::published_code("context_switch");
inline constexpr WORD FTrace_EVT_inheritance = tracer::detail::published_code("inheritance");
inline constexpr WORD FTrace_EVT_set_mutex_create = tracer::detail::published_code("set_mutex_create");
inline constexpr WORD FTrace_EVT_set_mutex_lock = tracer::detail::published_code("set_mutex_lock");
inline constexpr WORD FTrace_EVT_set_mutex_inherit = tracer::detail::published_code("set_mutex_inherit");
inline constexpr WORD FTrace_EVT_set_mutex_unlock = tracer::detail::published_code("set_mutex_unlock");
inline constexpr WORD FTrace_EVT_set_mutex_wait = tracer::detail::published_code("set_mutex_wait");
inline constexpr WORD FTrace_EVT_set_mutex_post = tracer::detail::published_code("set_mutex_post");
inline constexpr WORD FTrace_EVT_signal = tracer::detail::published_code("signal");
inline constexpr WORD FTrace_EVT_server_create = tracer::detail::published_code("server_create");
inline constexpr WORD FTrace_EVT_server_replenish = tracer::detail::published_code("server_replenish");
inline constexpr WORD FTrace_EVT_server_exhaust = tracer::detail::published_code("server_exhaust");
inline constexpr WORD FTrace_EVT_server_reclaiming = tracer::detail::published_code("server_reclaiming");
inline constexpr WORD FTrace_EVT_server_remove = tracer::detail::published_code("server_remove");
inline constexpr WORD FTrace_EVT_server_active = tracer::detail::published_code("server_active");
inline constexpr WORD FTrace_EVT_server_using_rec = tracer::detail::published_code("server_using_rec");
inline constexpr WORD FTrace_EVT_user_event_0 = tracer::detail::published_code("user_event_0");
inline constexpr WORD FTrace_EVT_user_event_1 = tracer::detail::published_code("user_event_1");
inline constexpr WORD FTrace_EVT_user_event_2 = tracer::detail::published_code("user_event_2");
inline constexpr WORD FTrace_EVT_user_event_3 = tracer::detail::published_code("user_event_3");
inline constexpr WORD FTrace_EVT_user_event_4 = tracer::detail::published_code("user_event_4");
inline constexpr WORD FTrace_EVT_user_event_5 = tracer::detail::published_code("user_event_5");
inline constexpr WORD FTrace_EVT_user_event_6 = tracer::detail::published_code("user_event_6");
inline constexpr WORD FTrace_EVT_user_event_7 = tracer::detail::published_code("user_event_7");
inline constexpr WORD FTrace_EVT_user_event_8 = tracer::detail::published_code("user_event_8");
inline constexpr WORD FTrace_EVT_user_event_9 = tracer::detail::published_code("user_event_9");
inline constexpr WORD FTrace_EVT_user_event_10 = tracer::detail::published_code("user_event_10");
inline constexpr WORD FTrace_EVT_user_event_11 = tracer::detail::published_code("user_event_11");
inline constexpr WORD FTrace_EVT_user_event_12 = tracer::detail::published_code("user_event_12");
inline constexpr WORD FTrace_EVT_user_event_13 = tracer::detail::published_code("user_event_13");
inline constexpr WORD FTrace_EVT_user_event_14 = tracer::detail::published_code("user_event_14");
inline constexpr WORD FTrace_EVT_data_pointer = tracer::detail::published_code("data_pointer");
inline constexpr WORD FTrace_EVT_timer_post = tracer::detail::published_code("timer_post");
inline constexpr WORD FTrace_EVT_timer_delete = tracer::detail::published_code("timer_delete");
inline constexpr WORD FTrace_EVT_timer_wakeup_start = tracer::detail::published_code("timer_wakeup_start");
inline constexpr WORD FTrace_EVT_timer_wakeup_end = tracer::detail::published_code("timer_wakeup_end");
inline constexpr WORD FTrace_EVT_panic = tracer::detail::published_code("panic");
inline constexpr WORD FTrace_EVT_next_chunk = tracer::detail::published_code("next_chunk");

inline constexpr BYTE FTrace_filter_trace_Events = tracer::detail::published_filter("filter_general");
inline constexpr BYTE FTrace_filter_ipoint = tracer::detail::published_filter("filter_ipoint");
inline constexpr BYTE FTrace_filter_task = tracer::detail::published_filter("filter_task");
inline constexpr BYTE FTrace_filter_interrupt = tracer::detail::published_filter("filter_interrupt");
inline constexpr BYTE FTrace_filter_CPU = tracer::detail::published_filter("filter_CPU");
inline constexpr BYTE FTrace_filter_priority = tracer::detail::published_filter("filter_priority");
inline constexpr BYTE FTrace_filter_mutex = tracer::detail::published_filter("filter_mutex");
inline constexpr BYTE FTrace_filter_signal = tracer::detail::published_filter("filter_signal");
inline constexpr BYTE FTrace_filter_server = tracer::detail::published_filter("filter_server");
inline constexpr BYTE FTrace_filter_user = tracer::detail::published_filter("filter_user");
inline constexpr BYTE FTrace_filter_data = tracer::detail::published_filter("filter_data");
inline constexpr BYTE FTrace_filter_timer = tracer::detail::published_filter("filter_timer");
inline constexpr BYTE FTrace_filter_job = tracer::detail::published_filter("filter_job");
inline constexpr BYTE FTrace_filter_typed = tracer::detail::published_filter("filter_typed");

inline constexpr BYTE FTrace_family_mask = 0x0F;
