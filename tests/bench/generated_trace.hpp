// SPDX-License-Identifier: MIT
// The trace that the host tools are measured with: one processor, six tasks that go through jobs, time between events
// lognormal with a median of 2000 ticks. The same events as plain records in one file, or as the chunks of a session.
#pragma once

#include <cstdint>
#include <string>

namespace bench {

inline constexpr std::uint32_t kGeneratedKhz = 2'600'000;

// A file of records without any metadata but the rate. False if it cannot be written.
[[nodiscard]] bool generate_file(const std::string& path, std::uint64_t events);

// A session as the collector leaves it: sealed chunks of equal size with a preamble each, and a manifest.
[[nodiscard]] bool generate_session(const std::string& directory, std::uint64_t events, std::uint64_t chunks);

} // namespace bench
