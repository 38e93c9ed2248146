// SPDX-License-Identifier: MIT
#include "kernel/panic/console.hpp"

namespace kernel {

namespace {

constinit Console g_console{};

} // namespace

Console& console() {
    return g_console;
}

} // namespace kernel
