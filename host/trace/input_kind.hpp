// SPDX-License-Identifier: MIT
// What kind of input a file is, told by its first bytes.
#pragma once

#include "host/trace/open_options.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::trace {

// So many bytes of the beginning are enough to tell.
inline constexpr std::size_t kKindBytes = 4096;

// begin: the first bytes of the input, at most kKindBytes; size_bytes: of the whole, if it is known. What has no mark
// of its own is taken for records.
[[nodiscard]] InputKind kind_of(std::span<const std::byte> begin, std::optional<std::uint64_t> size_bytes);

// The names that the command line takes: detect, records, kev, tlog, tlog-old, capture, fat, packed.
[[nodiscard]] std::string_view kind_name(InputKind kind);
[[nodiscard]] std::optional<InputKind> find_kind(std::string_view name);
[[nodiscard]] std::vector<std::string> kind_names();

} // namespace host::trace
