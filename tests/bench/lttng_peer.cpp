// SPDX-License-Identifier: MIT
#include "tests/bench/lttng_peer.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>
#include <thread>

namespace bench {

namespace {

void (*g_run)(unsigned long iterations) = nullptr;

} // namespace

bool load_lttng_peer(const char* library) {
    void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        fmt::print("NOTE LTTng-UST: {}\n", dlerror());
        return false;
    }
    const auto enabled = reinterpret_cast<int (*)()>(dlsym(handle, "lttng_peer_enabled"));
    g_run = reinterpret_cast<void (*)(unsigned long)>(dlsym(handle, "lttng_peer_run"));
    if (enabled == nullptr || g_run == nullptr) {
        fmt::print("NOTE LTTng-UST: {}: {}\n", library, dlerror());
        return false;
    }
    constexpr int kLooksMax = 100;
    for (int look = 0; look < kLooksMax; ++look) {
        if (enabled() != 0) {
            return true;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    fmt::print("NOTE LTTng-UST: no session has enabled the event within 10 s\n");
    return false;
}

void run_lttng_peer(std::uint64_t iterations) {
    g_run(iterations);
}

} // namespace bench
