// SPDX-License-Identifier: MIT
// Errors of hosted operations, for lib::Result. The text is for the user: it names what is wrong and, where there is
// one, the remedy. An operation whose callers act on the cause has a small enum of its own beside it.
#pragma once

#include <string>

namespace host::trace {

// Callers only report it.
struct Refusal {
    std::string text;
};

template <typename Cause>
struct Failure {
    Cause cause{};
    std::string text;
};

} // namespace host::trace
