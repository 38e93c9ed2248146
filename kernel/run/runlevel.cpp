// SPDX-License-Identifier: MIT
// Keeps the table of run-level functions. Entries are marked, never removed: it stays readable after the end.
#include "kernel/run/runlevel.hpp"

#include "arch/arch.hpp"
#include "kernel/config.hpp"
#include "kernel/section/irq_guard.hpp"

#include <array>
#include <cstddef>

namespace kernel {

namespace {

struct Entry {
    RunLevelFunction function = nullptr;
    void* argument = nullptr;
    RunLevel when = RunLevel::startup;
    AtAbort at_abort = AtAbort::run;
    bool done = false;
};

struct Table {
    std::array<Entry, kRunLevelFunctionsMax> entries{};
    std::size_t count = 0;
    RunLevel level = RunLevel::startup;
    bool completed = false; // all functions of `level` have run
    bool aborted = false;

    // Returns the next entry of this level that has not run, in the level's order, or null if there is none.
    Entry* next(RunLevel of) {
        Entry* found = nullptr;
        for (std::size_t i = 0; i < count; ++i) {
            Entry& entry = entries[i];
            if (entry.when != of || entry.done) {
                continue;
            }
            found = &entry;
            if (of == RunLevel::init) {
                break;
            }
        }
        return found;
    }
};

constinit Table s_table;

} // namespace

lib::Result<void> sys_atrunlevel(RunLevelFunction function, void* argument, RunLevel when, AtAbort at_abort) {
    if (function == nullptr || when == RunLevel::startup || when == RunLevel::running) {
        return lib::Error::invalid_argument;
    }
    const IrqGuard guard;
    if (when < s_table.level || (when == s_table.level && s_table.completed)) {
        return lib::Error::refused;
    }
    if (s_table.count == s_table.entries.size()) {
        return lib::Error::no_space;
    }
    s_table.entries[s_table.count++] = {function, argument, when, at_abort};
    return {};
}

RunLevel run_level() {
    return s_table.level;
}

void run_level_functions(RunLevel level) {
    {
        const IrqGuard guard;
        s_table.level = level;
        s_table.completed = false;
    }
    for (;;) {
        Entry* entry = nullptr;
        {
            const IrqGuard guard;
            entry = s_table.next(level);
            if (entry == nullptr) {
                s_table.completed = true;
                return;
            }
            entry->done = true;
        }
        if (!s_table.aborted || entry->at_abort == AtAbort::run) {
            entry->function(entry->argument);
        }
    }
}

void mark_aborted() {
    s_table.aborted = true;
}

bool aborted() {
    return s_table.aborted;
}

} // namespace kernel
