// SPDX-License-Identifier: MIT
// Maps our events to events of a .kev file and back. The few events with a counterpart are listed by name in codes.cpp;
// every other one is a user event whose number is our code. The mapping is invertible: native_of() of the words that
// foreign_of() wrote is the same event.
//
//   event                        class       event              data words
//   interrupt_start, _end        interrupt   1, 2               vector, par2
//   context_switch               thread      RUNNING            pid, tid
//   task_activate                thread      READY              pid, tid
//   task_block                   thread      SEM, MUTEX, ...    pid, tid, priority, policy
//   ... its object, if not 0     user        code of task_block par1, par2; in front of the thread's event
//   task_create, task_end        thread      create, destroy    pid, tid
//   task_name                    process     thread name        pid, tid, characters up to a zero byte
//   other events of one record   user        code               par1, par2
//   other long events            user        code               text, length in bytes, bytes (little-endian)
//   damaged events               user        code + 256 * n     par1, par2, or text, par1, par2, length in bytes, bytes
//
// tid is the context plus 1, because thread numbers start at 1 there; n is 1 for incomplete, 2 for orphan, 3 for
// malformed. An event whose parameters do not fit its counterpart (a context_switch whose par2 is not 0) becomes a user
// event. A text is for the published printer, which shows a longer user event as the text at its beginning: printable
// characters, a zero, and zeros up to a whole word. Files of earlier versions have neither texts nor priorities, and
// the object as the third word of a wait; they are read, too.
#pragma once

#include "foreign/kev/event_names.hpp"
#include "host/trace/event.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace host::formats::kev {

inline constexpr std::uint32_t kNoPid = 0xFFFF'FFFF;
inline constexpr std::size_t kTextBytesMax = 1024; // of the text of a long event; the rest is cut

struct Foreign {
    std::uint8_t class_number = 0;
    std::uint16_t event = 0;
};

// What only other tools need; native_of() ignores it.
struct ForOthers {
    std::uint32_t pid = kNoPid; // of the task that the event is about
    std::uint32_t priority = 0; // of that task; a greater one is more urgent; 0 if unknown
    SchedulingPolicy policy{};  // of that task
    std::string_view text{};    // for a long event; characters that are not printable become '?'
};

// Returns the event for a .kev file. Replaces `words`.
[[nodiscard]] Foreign foreign_of(const trace::Event& event, const ForOthers& others, std::vector<std::uint32_t>& words);

// Returns the event that precedes a wait and names its object, or nothing if the event is no wait for an object.
// Replaces `words`.
[[nodiscard]] std::optional<Foreign> foreign_object_of(const trace::Event& event, std::vector<std::uint32_t>& words);

// Returns a metadata event of the table, from its code and the bytes after its length word.
[[nodiscard]] Foreign foreign_of_metadata(std::uint8_t code, std::string_view text, std::span<const std::byte> payload,
                                          std::vector<std::uint32_t>& words);

// Returns the name of a task. Precondition: the name has no zero byte.
[[nodiscard]] Foreign foreign_of_task_name(std::uint16_t context, std::uint32_t pid, std::string_view name,
                                           std::vector<std::uint32_t>& words);

struct Native {
    std::uint8_t code = 0;
    std::uint16_t par1 = 0;
    std::uint32_t par2 = 0;
    trace::EventState state = trace::EventState::ok;
    bool names_object = false;     // it names the object of the next wait on this processor; code, par1 and par2 are
                                   // those of the wait
    std::size_t words = 0;         // number of data words; the rest is padding
    std::size_t payload_word = 0;  // word at which the bytes of a long event begin; 0 if it is none
    std::size_t payload_bytes = 0; // number of these bytes
};

// Maps a complete event of one of our files. Returns nothing if our writer does not write such an event.
[[nodiscard]] std::optional<Native> native_of(std::uint8_t class_number, std::uint16_t event,
                                              std::span<const std::uint32_t> words);

} // namespace host::formats::kev
