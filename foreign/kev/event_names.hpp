// SPDX-License-Identifier: MIT
// How the events of a .kev file are called. The labels are those that the published printer shows; kernel calls go by
// their number, because the numbers mean different calls in different releases.
#pragma once

#include <cstdint>
#include <string_view>

namespace host::formats::kev {

// Of a class with the number that slots contain: "CONTROL", "KER_CALL", ...; empty if it is not known. The label of an
// event is finer than that of its class: KER_CALL, KER_EXIT, INT_CALL; INT_ENTR and the like; PROCESS, THREAD, VTHREAD.
[[nodiscard]] std::string_view class_label(std::uint8_t class_number, std::uint16_t event);

// Static text; empty if the event has no name. User events have none.
[[nodiscard]] std::string_view event_label(std::uint8_t class_number, std::uint16_t event);

} // namespace host::formats::kev
