// SPDX-License-Identifier: MIT
// Logs many records one after the other, for programs in the guest that measure a record. Reading the clock is taken
// off; the call of a row and the loop over the rows, a few instructions for each row, are not.
#pragma once

#include "arch/arch.hpp"
#include "tracer/log.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace tests {

namespace detail {

template <std::size_t... Index>
[[gnu::noinline]] void log_in_a_row(std::index_sequence<Index...> /*numbers*/) {
    (tracer::log<"user_event_0">(1, static_cast<std::uint32_t>(Index)), ...);
}

template <typename Row>
std::uint64_t ticks_of(std::size_t rows, Row row) {
    const arch::IrqGuard guard;
    const lib::Ticks begin = arch::timestamp();
    for (std::size_t i = 0; i < rows; ++i) {
        row();
    }
    return (arch::timestamp() - begin).value;
}

} // namespace detail

// Returns the ticks of this many rows of Count records each, less those of no row.
template <std::size_t Count>
std::uint64_t ticks_of_records(std::size_t rows) {
    constexpr std::make_index_sequence<Count> kNumbers;
    const std::uint64_t empty = detail::ticks_of(0, [] {});
    return detail::ticks_of(rows, [=] { detail::log_in_a_row(kNumbers); }) - empty;
}

} // namespace tests
