// SPDX-License-Identifier: MIT
// Bytes as text in the page: raw deflate (RFC 1951), then base64 (RFC 4648).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace host::report {

[[nodiscard]] std::vector<std::byte> deflated(std::span<const std::byte> bytes);

[[nodiscard]] std::string base64(std::span<const std::byte> bytes);

} // namespace host::report
