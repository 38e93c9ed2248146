// SPDX-License-Identifier: MIT
// Our events as events of a .kev file and back. The event table names every event; the few that have a counterpart over
// there are listed by name in codes.cpp, everything else is a user event whose number is our code. The mapping is
// invertible: native_of() of the words that foreign_of() wrote is the same event.
//
//   event                        class       event              data words
//   interrupt_start, _end        interrupt   1, 2               vector, par2
//   context_switch               thread      RUNNING            pid, tid
//   task_activate                thread      READY              pid, tid
//   task_block                   thread      SEM, MUTEX, ...    pid, tid, and the object if it is not 0
//   task_create, task_end        thread      create, destroy    pid, tid
//   task_name                    process     thread name        pid, tid, characters up to a zero byte
//   other events of one record   user        code               par1, par2
//   other long events            user        code               length in bytes, bytes (little-endian)
//   damaged events               user        code + 256 * n     par1, par2 [, length in bytes, bytes]
//
// tid is the context plus 1, because thread numbers start at 1 there; n is 1 incomplete, 2 orphan, 3 malformed. An
// event whose parameters do not fit its counterpart (a context_switch whose par2 is not 0) goes as a user event.
#pragma once

#include "host/trace/event.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace host::formats::kev {

struct Foreign {
    std::uint8_t class_number = 0;
    std::uint16_t event = 0;
};

// Replaces `words`. pid: of the task that the event is about; it is only for other tools, and native_of() ignores it.
[[nodiscard]] Foreign foreign_of(const trace::Event& event, std::uint32_t pid, std::vector<std::uint32_t>& words);

// A metadata event of the table, by its code and the bytes after its length word.
[[nodiscard]] Foreign foreign_of_metadata(std::uint8_t code, std::span<const std::byte> payload,
                                          std::vector<std::uint32_t>& words);

// A task's name. Precondition: the name holds no zero byte.
[[nodiscard]] Foreign foreign_of_task_name(std::uint16_t context, std::uint32_t pid, std::string_view name,
                                           std::vector<std::uint32_t>& words);

struct Native {
    std::uint8_t code = 0;
    std::uint16_t par1 = 0;
    std::uint32_t par2 = 0;
    trace::EventState state = trace::EventState::ok;
    std::size_t words = 0;         // how many of the event's words are data; the rest is padding
    std::size_t payload_word = 0;  // where the bytes of a long event begin; 0: it is none
    std::size_t payload_bytes = 0; // how many
};

// Of a complete event of one of our files. None if our writer does not write such an event.
[[nodiscard]] std::optional<Native> native_of(std::uint8_t class_number, std::uint16_t event,
                                              std::span<const std::uint32_t> words);

} // namespace host::formats::kev
