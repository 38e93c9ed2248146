// SPDX-License-Identifier: MIT
// ASSERT: what cannot happen. It stays on in every build; a false condition ends the machine (kernel: panic with file
// and line; hosted: abort with the same text). What *can* happen is a lib::Result, never an ASSERT.
// Context: any. The handler is supplied by whoever links the program: kernel/panic.cpp or lib/assert_hosted.cpp.
#pragma once

namespace lib {

[[noreturn]] void assert_failed(const char* condition, const char* file, int line);

} // namespace lib

#define ASSERT(condition) ((condition) ? static_cast<void>(0) : ::lib::assert_failed(#condition, __FILE__, __LINE__))
