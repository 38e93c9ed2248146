// SPDX-License-Identifier: MIT
#include "host/convert/task_slices.hpp"

#include "host/trace/escape.hpp"

#include <fmt/format.h>

namespace host::convert {

namespace {

using trace::kCodeOf;
using enum SliceChange::Kind;

constexpr std::size_t kContexts = 0x1'0000;

tracer::Unit unit_of(TaskState state) {
    switch (state) {
    case TaskState::semaphore:
        return tracer::Unit::semaphore;
    case TaskState::condition:
        return tracer::Unit::condition;
    case TaskState::receive:
    case TaskState::send:
        return tracer::Unit::port;
    case TaskState::mutex:
        return tracer::Unit::mutex;
    case TaskState::unknown:
    case TaskState::ready:
    case TaskState::job:
    case TaskState::delay:
    case TaskState::suspended:
    case TaskState::signal:
    case TaskState::ended:
        break;
    }
    return tracer::Unit::none;
}

} // namespace

TaskSlices::TaskSlices()
    : m_jobs(kContexts)
    , m_waits(kContexts) {}

void TaskSlices::begin(std::vector<bool>& open, const SliceChange& change, SliceChange::Kind end_kind) {
    end(open, change.context, end_kind);
    open[change.context] = true;
    m_changes.push_back(change);
}

void TaskSlices::end(std::vector<bool>& open, std::uint32_t context, SliceChange::Kind kind) {
    if (open[context]) {
        open[context] = false;
        m_changes.push_back({.kind = kind, .context = context});
    }
}

std::span<const SliceChange> TaskSlices::take(const trace::Event& event, std::span<const Change> changes) {
    m_changes.clear();
    for (const Change& change : changes) {
        if (change.context >= kContexts) {
            continue;
        }
        if (change.kind == Change::Kind::waits && change.state != TaskState::job) {
            begin(m_waits,
                  {.kind = wait_began, .state = change.state, .context = change.context, .object = change.object},
                  wait_ended);
        } else if (change.kind == Change::Kind::woken || change.kind == Change::Kind::waits) {
            end(m_waits, change.context, wait_ended);
        } else if (change.kind == Change::Kind::ended) {
            end(m_waits, change.context, wait_ended);
            end(m_jobs, change.context, job_ended);
        }
    }
    if (event.is(kCodeOf<"job_release">)) {
        begin(m_jobs, {.kind = job_began, .context = event.par1}, job_ended);
    } else if (event.is(kCodeOf<"task_end_cycle">) || event.is(kCodeOf<"job_abort">)) {
        end(m_jobs, event.par1, job_ended);
    }
    return m_changes;
}

std::span<const SliceChange> TaskSlices::finish() {
    m_changes.clear();
    for (std::uint32_t context = 0; context < kContexts; ++context) {
        end(m_waits, context, wait_ended);
        end(m_jobs, context, job_ended);
    }
    return m_changes;
}

std::string wait_label(const trace::Names& names, TaskState state, std::uint32_t object) {
    const tracer::Unit unit = unit_of(state);
    if (unit == tracer::Unit::none) {
        return std::string(state_name(state));
    }
    const std::string_view name = names.find(unit, object);
    return name.empty() ? fmt::format("{} {}", state_name(state), object)
                        : fmt::format("{} {}", state_name(state), trace::escaped(name));
}

std::uint32_t task_of(const trace::Event& event, const ScheduleView& view) {
    if (event.row != nullptr && event.is_sound()) {
        if (event.row->par1.unit == tracer::Unit::context) {
            return event.par1;
        }
        const tracer::Family family = event.row->family();
        if (family == tracer::Family::interrupt || family == tracer::Family::timer) {
            return kUnknownContext;
        }
    }
    return view.interrupt_depth(event.cpu) == 0 ? view.running(event.cpu) : kUnknownContext;
}

} // namespace host::convert
