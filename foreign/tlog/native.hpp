// SPDX-License-Identifier: MIT
// Defines the tlog types of our events. The handlers of interrupts and timers are the first two pairs, the time in
// which a task runs is the third; every other event is a single event of its family. The numbers of events come from
// the event table; the lists here name the exceptions.
#pragma once

#include "foreign/tlog/kinds.hpp"
#include "host/trace/event.hpp"
#include "tracer/record/event_table.hpp"

#include <array>
#include <cstdint>

namespace host::formats::tlog {

// The end of a pair has the same key as its begin.
enum class PairKey : std::uint8_t {
    none, // only one of a kind is open at a time
    par1,
};

struct NativePair {
    std::uint8_t enter; // codes
    std::uint8_t leave;
    PairKey key;
};

// These are pairs 1 and 2 of tlog.
inline constexpr auto kNativePairs = std::to_array<NativePair>({
    {trace::kCodeOf<"interrupt_start">, trace::kCodeOf<"interrupt_end">, PairKey::par1},
    {trace::kCodeOf<"timer_wakeup_start">, trace::kCodeOf<"timer_wakeup_end">, PairKey::none},
});

// The task runs in pair 3.
inline constexpr std::uint8_t kRunningIn = kFirstPair + 4;
inline constexpr std::uint8_t kRunningOut = kRunningIn + 1;

inline constexpr std::uint8_t kSingleTask = 31;      // tasks and jobs
inline constexpr std::uint8_t kSingleAttribute = 32; // context switches, priorities, inheritance
inline constexpr std::uint8_t kSingleInterrupt = 33; // interrupts and the processor
inline constexpr std::uint8_t kSingleMutex = 34;     // mutexes, semaphores, conditions, ports
inline constexpr std::uint8_t kSingleServer = 35;
inline constexpr std::uint8_t kSingleUser = 36; // instrumentation points, user, data, typed and formatted events
inline constexpr std::uint8_t kSingleTimer = 37;
inline constexpr std::uint8_t kSingleOther = 38; // general, signals, filters, panic, faults; unknown codes
inline constexpr std::uint8_t kSingleLoss = 39;  // blackouts: arg2 of their end is the number of records lost

// The types are in the order of tracer::Family.
inline constexpr std::array<std::uint8_t, tracer::kFamilies> kFamilySingles = {
    kSingleOther, kSingleUser,  kSingleTask,   kSingleInterrupt, kSingleInterrupt, kSingleAttribute,
    kSingleMutex, kSingleOther, kSingleServer, kSingleUser,      kSingleUser,      kSingleTimer,
    kSingleOther, kSingleTask,  kSingleOther,  kSingleOther};

struct SingleException {
    std::uint8_t code;
    std::uint8_t type;
};

inline constexpr auto kSingleExceptions = std::to_array<SingleException>({
    {trace::kCodeOf<"blackout_start">, kSingleLoss},
    {trace::kCodeOf<"blackout_end">, kSingleLoss},
    {trace::kCodeOf<"condition_signal">, kSingleMutex},
    {trace::kCodeOf<"condition_broadcast">, kSingleMutex},
    {trace::kCodeOf<"port_send">, kSingleMutex},
    {trace::kCodeOf<"port_receive">, kSingleMutex},
    {trace::kCodeOf<"wait_timeout">, kSingleMutex},
    {trace::kCodeOf<"typed_event">, kSingleUser},
    {trace::kCodeOf<"formatted_event">, kSingleUser},
});

// Returns the single type of a code, also for one half of a pair without the other.
[[nodiscard]] constexpr std::uint8_t single_type(std::uint8_t code) {
    for (const SingleException& exception : kSingleExceptions) {
        if (exception.code == code) {
            return exception.type;
        }
    }
    return kFamilySingles[code & 0x0F];
}

} // namespace host::formats::tlog
