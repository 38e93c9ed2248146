// SPDX-License-Identifier: MIT
// Names of C++ functions as the source has them. A name that could become too long stays mangled, and so does every
// name once all of them together have cost too much: a mangled name may refer back to parts of itself, so each few
// letters can double its length, and the library cannot be stopped once it has begun.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace host::trace {

// How long the name may become, in letters of which each means a word at most; saturates.
[[nodiscard]] std::uint64_t demangled_estimate(std::string_view mangled_untrusted);

class Demangler {
  public:
    // As it is if it is no mangled name, or one that is refused.
    [[nodiscard]] std::string name(std::string_view mangled_untrusted);

  private:
    static constexpr std::uint64_t kBudget = 16 * 1024 * 1024; // of estimates; this kernel's names take 1.2 million

    std::uint64_t m_left = kBudget;
};

} // namespace host::trace
