// SPDX-License-Identifier: MIT
// What tlog_last_error() returns: the last failure of each thread, in words.
#pragma once

namespace host::compat {

// Replaces this thread's text; at most 511 characters of it.
[[gnu::format(printf, 1, 2)]] void fail(const char* format, ...);

} // namespace host::compat
