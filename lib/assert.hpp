// SPDX-License-Identifier: MIT
// ASSERT states a condition that must hold. A false condition ends the machine (kernel: panic with file and line;
// hosted: abort with the same text). An error that can occur at run time is a lib::Result, never an ASSERT. A condition
// has no side effect. Context: any. The handler is in kernel/panic/panic.cpp or lib/assert_hosted.cpp.
//
// An ASSERT is checked in every build. Where that would cost too much (a walk through a queue, or anything on the path
// of a record or of a dispatch), it is compiled into checked builds only (-DREMORA_CHECKED=1): the test kernel, the
// unit tests and the fuzzers. A released kernel or tool then has no instruction of it.
//
//     ASSERT(chunk.state == State::full);                  // one comparison, off the fast path: every build
//     ASSERT(!lib::kChecked || m_queue.is_sorted());       // walks the queue: checked builds
#pragma once

namespace lib {

#ifdef REMORA_CHECKED
inline constexpr bool kChecked = true;
#else
inline constexpr bool kChecked = false;
#endif

[[noreturn]] void assert_failed(const char* condition, const char* file, int line);

} // namespace lib

#define ASSERT(condition) ((condition) ? static_cast<void>(0) : ::lib::assert_failed(#condition, __FILE__, __LINE__))
