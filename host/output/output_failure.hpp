// SPDX-License-Identifier: MIT
// Why there is no output: what callers act on, and a text for the user.
#pragma once

#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <string>

namespace host::output {

enum class Fault : std::uint8_t {
    unusable, // the trace does not fit the format, or the output cannot be written
    no_space, // for the output or for a temporary file
    closed,   // the reader of the stream has gone
};

using Failure = trace::Failure<Fault>;

// Of an operation whose errors have no text but their names.
[[nodiscard]] inline Failure failure_of(lib::Error error) {
    return {error == lib::Error::no_space ? Fault::no_space
            : error == lib::Error::closed ? Fault::closed
                                          : Fault::unusable,
            std::string(error_name(error))};
}

[[nodiscard]] constexpr trace::ExitStatus status_of(Fault fault) {
    return fault == Fault::no_space ? trace::ExitStatus::no_space : trace::ExitStatus::usage;
}

} // namespace host::output
