// SPDX-License-Identifier: MIT
// Source of the numbers: the published lists of classes and events (event_names.hpp).
#include "foreign/kev/thread_schedule.hpp"

#include "foreign/kev/event_names.hpp"
#include "foreign/kev/slot.hpp"
#include "host/text/format.hpp"
#include "lib/wire_numbers.hpp"

#include <algorithm>
#include <array>

namespace host::formats::kev {

namespace {

using lib::WaitKind;
using trace::kCodeOf;

constexpr std::uint32_t kKernelPid = 1;                    // its first threads, one for each processor, are the idle
                                                           // threads
constexpr std::uint16_t kNameOfProcess = 3 * kProcessStep; // data: parent's pid, pid, characters up to a zero

// These are the kinds of wait by state. RUNNING and READY are no waits; other states without a kind of their own are
// `suspended`.
constexpr auto kWaits = [] {
    std::array<WaitKind, static_cast<std::size_t>(ThreadState::net_reply) + 1> waits{};
    waits.fill(WaitKind::suspended);
    const auto set = [&](WaitKind kind, auto... states) { ((waits[static_cast<std::size_t>(states)] = kind), ...); };
    set(WaitKind::send, ThreadState::send, ThreadState::reply, ThreadState::net_send, ThreadState::net_reply);
    set(WaitKind::receive, ThreadState::receive);
    set(WaitKind::signal, ThreadState::signal_suspend, ThreadState::signal_wait_info);
    set(WaitKind::delay, ThreadState::nanosleep);
    set(WaitKind::mutex, ThreadState::mutex);
    set(WaitKind::condition, ThreadState::condition);
    set(WaitKind::semaphore, ThreadState::semaphore);
    return waits;
}();

constexpr std::string_view kIdle = "idle"; // the name by which everything that reads a trace knows an idle task

constexpr std::uint64_t key_of(std::uint32_t pid, std::uint32_t tid) {
    return std::uint64_t{pid} << 32 | tid;
}

} // namespace

std::optional<trace::Meaning> ThreadSchedule::take(const trace::Event& event, trace::Names& names) {
    if (event.words.size() < 2) {
        return std::nullopt;
    }
    const bool entry = event.number == kInterruptEntry;
    if (event.event_class == static_cast<std::uint16_t>(Class::interrupt) &&
        (entry || event.number == kInterruptExit)) {
        const auto vector = vector_of(event.words[0], names);
        m_overfull = m_overfull || !vector;
        return vector ? std::optional(trace::Meaning{
                            .code = entry ? kCodeOf<"interrupt_start"> : kCodeOf<"interrupt_end">, .par1 = *vector})
                      : std::nullopt;
    }
    if (event.event_class != static_cast<std::uint16_t>(Class::thread)) {
        return std::nullopt;
    }
    if (event.number == kNameOfProcess) {
        name_process(event.words[1], text_of(event.words.subspan(2)), names);
        return std::nullopt;
    }
    return take_thread(event, names);
}

std::optional<trace::Meaning> ThreadSchedule::take_thread(const trace::Event& event, trace::Names& names) {
    const bool is_state = event.number < kWaits.size();
    if (!is_state && event.number != kThreadCreate && event.number != kThreadDestroy && event.number != kThreadName) {
        return std::nullopt;
    }
    const std::uint32_t pid = event.words[0];
    const auto context = context_of(pid, event.words[1], names);
    if (!context) {
        return std::nullopt;
    }
    switch (event.number) {
    case kThreadName:
        if (!is_idle(pid, event.words[1])) {
            const std::string name = text_of(event.words.subspan(2));
            // No other thread is taken for an idle one by its name.
            names.set(tracer::Unit::context, *context,
                      name == kIdle ? fmt::format("{}:{}", name, event.words[1]) : name);
            m_named.insert(*context);
        }
        return std::nullopt;
    case kThreadCreate:
        return trace::Meaning{.code = kCodeOf<"task_create">, .par1 = *context, .par2 = pid};
    case kThreadDestroy:
        return trace::Meaning{.code = kCodeOf<"task_end">, .par1 = *context, .par2 = pid};
    case static_cast<std::uint16_t>(ThreadState::running):
        m_running[event.cpu] = *context;
        return trace::Meaning{.code = kCodeOf<"context_switch">, .par1 = *context};
    case static_cast<std::uint16_t>(ThreadState::ready):
        // A running thread that becomes READY is preempted, which the next RUNNING shows.
        return std::ranges::any_of(m_running, [&](const auto& entry) { return entry.second == *context; })
                   ? std::nullopt
                   : std::optional(trace::Meaning{.code = kCodeOf<"task_unblock">, .par1 = *context});
    default:
        std::erase_if(m_running, [&](const auto& entry) { return entry.second == *context; });
        return trace::Meaning{.code = kCodeOf<"task_block">,
                              .par1 = *context,
                              .par2 = static_cast<std::uint32_t>(kWaits[event.number]) << 16};
    }
}

std::optional<std::uint16_t> ThreadSchedule::context_of(std::uint32_t pid, std::uint32_t tid, trace::Names& names) {
    const auto found = m_contexts.of(key_of(pid, tid));
    if (!found) {
        m_overfull = true;
        return std::nullopt;
    }
    if (found->is_new) {
        name_thread(pid, tid, found->context, names);
        names.set_pid(found->context, pid);
    }
    return found->context;
}

bool ThreadSchedule::is_idle(std::uint32_t pid, std::uint32_t tid) const {
    return pid == kKernelPid && tid >= 1 && tid <= m_processors;
}

void ThreadSchedule::name_thread(std::uint32_t pid, std::uint32_t tid, std::uint16_t context,
                                 trace::Names& names) const {
    const auto process = m_processes.find(pid);
    const std::string text = is_idle(pid, tid)              ? std::string(kIdle)
                             : process != m_processes.end() ? fmt::format("{}:{}", process->second, tid)
                                                            : fmt::format("pid {}:{}", pid, tid);
    names.set(tracer::Unit::context, context, text);
}

// Also names threads that had events before and have no name of their own.
void ThreadSchedule::name_process(std::uint32_t pid, std::string name, trace::Names& names) {
    m_processes[pid] = std::move(name);
    const auto [first, end] = m_contexts.between(key_of(pid, 0), key_of(pid, ~std::uint32_t{0}));
    for (auto thread = first; thread != end; ++thread) {
        if (!m_named.contains(thread->second)) {
            name_thread(pid, static_cast<std::uint32_t>(thread->first), thread->second, names);
        }
    }
}

// Returns the vector of an interrupt. Vectors have 16 bits: the lower half is for interrupts with such numbers; others
// get numbers from the end, and names.
std::optional<std::uint16_t> ThreadSchedule::vector_of(std::uint32_t interrupt, trace::Names& names) {
    constexpr std::uint32_t kHalf = 0x8000;
    if (interrupt < kHalf) {
        return static_cast<std::uint16_t>(interrupt);
    }
    if (m_vectors.size() == kHalf && !m_vectors.contains(interrupt)) {
        return std::nullopt;
    }
    const auto [place, is_new] =
        m_vectors.try_emplace(interrupt, static_cast<std::uint16_t>(0xFFFF - m_vectors.size()));
    if (is_new) {
        names.set(tracer::Unit::vector, place->second, fmt::format("interrupt 0x{:x}", interrupt));
    }
    return place->second;
}

// Returns the text in the byte order of the file, because the words have been swapped into that of this machine.
std::string ThreadSchedule::text_of(std::span<const std::uint32_t> words) const {
    std::string text;
    for (const std::uint32_t word : words) {
        for (unsigned i = 0; i < 4; ++i) {
            const auto character = static_cast<char>(word >> (m_byte_order == ByteOrder::little ? 8 * i : 24 - 8 * i));
            if (character == '\0') {
                return text;
            }
            text.push_back(character);
        }
    }
    return text;
}

} // namespace host::formats::kev
