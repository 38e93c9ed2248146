// SPDX-License-Identifier: MIT
// The table of applications is between two symbols of the linker script.
#include "kernel/run/app.hpp"

extern "C" {
extern const kernel::App apps_begin[]; // NOLINT(modernize-avoid-c-arrays): a linker symbol
extern const kernel::App apps_end[];   // NOLINT(modernize-avoid-c-arrays): a linker symbol
}

namespace kernel {

std::span<const App> apps() {
    return {apps_begin, apps_end};
}

const App* find_app(std::string_view name) {
    for (const App& app : apps()) {
        if (name == app.name) {
            return &app;
        }
    }
    return nullptr;
}

} // namespace kernel
