// SPDX-License-Identifier: MIT
// Sets the text that tlog_last_error() returns: the last failure of each thread.
#pragma once

namespace host::compat {

// Replaces this thread's text, of which at most 511 characters are kept.
[[gnu::format(printf, 1, 2)]] void fail(const char* format, ...);

} // namespace host::compat
