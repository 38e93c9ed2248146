// SPDX-License-Identifier: MIT
// The published calls that record: one recorder for the process, which a lock protects: any thread may log.
#include "foreign/published/tlog.h"

#include "foreign/published/tlog_error.hpp"
#include "foreign/published/tlog_recorder.hpp"

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

namespace {

using host::compat::fail;
using host::compat::TlogRecorder;

std::mutex g_lock;
std::optional<TlogRecorder> g_recorder; // between tlog_initialize and tlog_finalize

double steady_seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// 0 or -1, as the published calls return it.
int result_of(bool success) {
    return success ? 0 : -1;
}

} // namespace

int tlog_initialize(void) {
    const std::lock_guard guard(g_lock);
    if (g_recorder) {
        fail("tlog_initialize was called before");
        return -1;
    }
    try {
        const auto meeting = host::compat::meeting_from_environment();
        auto peers = meeting ? host::compat::meet(*meeting) : std::nullopt;
        if (!peers) {
            return -1;
        }
        g_recorder.emplace(steady_seconds, std::move(*peers));
    } catch (const std::bad_alloc&) {
        fail("memory has run out");
        return -1;
    }
    if (!g_recorder->start()) {
        g_recorder.reset();
        return -1;
    }
    return 0;
}

int tlog_log(int type) {
    const std::lock_guard guard(g_lock);
    if (!g_recorder) {
        fail("tlog_log without tlog_initialize");
        return -1;
    }
    return result_of(g_recorder->log(type));
}

int tlog_finalize(void) {
    const std::lock_guard guard(g_lock);
    if (!g_recorder) {
        fail("tlog_finalize without tlog_initialize");
        return -1;
    }
    const char* const name = std::getenv("TLOG_FILE"); // NOLINT(concurrency-mt-unsafe): read only
    const bool done = g_recorder->finish(name != nullptr ? name : "trace.log");
    g_recorder.reset();
    return result_of(done);
}
