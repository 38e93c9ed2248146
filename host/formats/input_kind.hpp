// SPDX-License-Identifier: MIT
// Finds the kind of an input file from its first bytes.
#pragma once

#include "host/trace/byte_source.hpp"
#include "host/trace/event_stream.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::formats {

// So many bytes from the beginning are enough to find the kind.
inline constexpr std::size_t kKindBytes = 4096;

// Returns the kind of an input; begin is its first bytes, at most kKindBytes. Input without a mark and input that
// cannot be read is taken for records; why_unknown() then examines it.
[[nodiscard]] trace::InputKind kind_of(std::span<const std::byte> begin);
[[nodiscard]] trace::InputKind kind_of(trace::ByteSource& source);
[[nodiscard]] std::string why_unknown(trace::ByteSource& source);

// Returns the kind of an input that is to be followed. Input that has no mark and does not begin as a chunk is the
// memory of a machine that has not started its kernel yet.
[[nodiscard]] trace::InputKind kind_to_follow(trace::ByteSource& source);

// Returns why no reader knows an input that kind_of() takes for records: it begins as files of another tool do, or most
// of its records have codes without an event. Empty if the input may be records, even damaged ones.
[[nodiscard]] std::string why_unknown(std::span<const std::byte> begin);

// Returns the names that the command line accepts: detect, records, kev, tlog, tlog-old, capture, fat, packed, memory.
[[nodiscard]] std::string_view kind_name(trace::InputKind kind);
[[nodiscard]] std::optional<trace::InputKind> find_kind(std::string_view name);
[[nodiscard]] std::vector<std::string> kind_names();

} // namespace host::formats
