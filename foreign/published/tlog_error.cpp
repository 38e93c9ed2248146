// SPDX-License-Identifier: MIT
#include "foreign/published/tlog_error.hpp"

#include "foreign/published/tlog_event.h"

#include <array>
#include <cstdarg>
#include <cstdio>

namespace {

constexpr std::size_t kErrorBytes = 512;
thread_local std::array<char, kErrorBytes> g_error{};

} // namespace

namespace host::compat {

void fail(const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    static_cast<void>(std::vsnprintf(g_error.data(), g_error.size(), format, arguments));
    va_end(arguments);
}

} // namespace host::compat

const char* tlog_last_error(void) {
    return g_error.data();
}
