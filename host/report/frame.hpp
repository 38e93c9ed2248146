// SPDX-License-Identifier: MIT
// Has what the pages of reports share: a template with places for parts, the style, d3, and a Content-Security-Policy
// that allows the page's own scripts by their hashes and nothing else.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::report {

// Returns bytes in a script element of this class that no browser executes: base64 of raw deflate.
[[nodiscard]] std::string packed_block(std::string_view name, std::span<const std::byte> bytes);

// Holds the parts of one kind of page. `page` has @POLICY@, @STYLE@, @D3@, @DATA@ and @SCRIPT@ once each, in order.
struct Frame {
    std::string_view page;
    std::string_view style; // after the style of all pages
    std::string_view script;
};

// Returns the policy; more are further directives, each followed by a semicolon.
[[nodiscard]] std::string policy_of(const Frame& frame, std::string_view more = {});

[[nodiscard]] std::string framed(const Frame& frame, std::string_view policy, std::string_view data);

// Bytes are text in the page: raw deflate (RFC 1951), then base64 (RFC 4648). SHA-256 (FIPS 180-4) is for the page's
// Content-Security-Policy, which names scripts by their hashes.

[[nodiscard]] std::vector<std::byte> deflated(std::span<const std::byte> bytes);

[[nodiscard]] std::string base64(std::span<const std::byte> bytes);

[[nodiscard]] std::array<std::byte, 32> sha256(std::string_view text);

} // namespace host::report
