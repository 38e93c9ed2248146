// SPDX-License-Identifier: MIT
// Applications register themselves by a constant in the linker section .apps; the command line chooses one by name.
//
//   namespace { int start(const kernel::AppArguments& arguments); }
//   [[gnu::used, gnu::section(".apps")]] constinit const kernel::App kOne{"one", "what it shows", &start, false};
#pragma once

#include "lib/units.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace kernel {

// Holds the arguments that a run passes to its application. The texts live as long as the system.
struct AppArguments {
    std::uint64_t seed = 1;
    lib::Nanoseconds duration;           // 0: the application decides how long it runs
    std::string_view sink;               // "udp", "disk", "both", "auto" or "none"
    const char* local_address = nullptr; // dotted, as FTrace_OSD_init_udp takes them; null if not given
    const char* target_address = nullptr;
    bool icount = false; // the clock counts instructions: times are exact and repeatable
    int steps = -1;      // grain, as FTrace_itrace_begin takes it, of an application that can run in steps; -1: freely
};

struct App {
    const char* name;
    const char* description;
    // It runs as the main task (NRT). Its value is the result of the run; 0 means that all went well.
    int (*start)(const AppArguments& arguments);
    // If it is false, the composition root switches tracing on before start() and exports the trace afterwards.
    bool traces_itself;
};

// Returns all applications of this image.
// Context: any.
[[nodiscard]] std::span<const App> apps();

// Returns the application of that name, or null if there is none.
// Context: any.
[[nodiscard]] const App* find_app(std::string_view name);

} // namespace kernel
