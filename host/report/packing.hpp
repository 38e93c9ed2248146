// SPDX-License-Identifier: MIT
// Bytes as text in the page: raw deflate (RFC 1951), then base64 (RFC 4648). SHA-256 (FIPS 180-4) is for the page's
// Content-Security-Policy, which names its scripts by their hashes.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::report {

[[nodiscard]] std::vector<std::byte> deflated(std::span<const std::byte> bytes);

[[nodiscard]] std::string base64(std::span<const std::byte> bytes);

[[nodiscard]] std::array<std::byte, 32> sha256(std::string_view text);

} // namespace host::report
