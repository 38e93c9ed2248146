// SPDX-License-Identifier: MIT
// Distinguishes tlog files from our records by their first bytes. Neither has a mark, and both are rows of 16 bytes, so
// two questions decide: could every slot be a tlog record, and could every slot be a record of ours?
#pragma once

#include "foreign/tlog/record.hpp"

#include <cstddef>
#include <optional>
#include <span>

namespace host::formats::tlog {

// begin: the first bytes of the input, several blocks. A damaged block does not hide the others. Returns nothing if it
// is no tlog file, or could be records as well.
[[nodiscard]] std::optional<Layout> detect(std::span<const std::byte> begin);

} // namespace host::formats::tlog
