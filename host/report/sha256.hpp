// SPDX-License-Identifier: MIT
// SHA-256 of a text, for the page's Content-Security-Policy, which names its scripts by their hashes.
// Source: FIPS 180-4.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace host::report {

[[nodiscard]] std::array<std::byte, 32> sha256(std::string_view text);

} // namespace host::report
