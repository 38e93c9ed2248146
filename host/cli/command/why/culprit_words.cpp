// SPDX-License-Identifier: MIT
// Describes tasks, mutexes, waits and culprits in words.
#include "host/cli/command/time_text.hpp"
#include "host/cli/command/why/why_view.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/trace/value_text.hpp"
#include "tracer/record/unit_words.hpp"

namespace host::cli {

namespace {

using analyse::why::JobCase;
using schedule::By;
using schedule::Culprit;
using schedule::Part;
using tracer::Unit;

constexpr std::size_t kNameBytes = 40;

std::string name_of(const trace::Names& names, Unit unit, std::uint32_t number, std::string_view kind) {
    const std::string_view name = number < schedule::kContexts ? names.find(unit, number) : std::string_view();
    return name.empty() ? fmt::format("{} {}", kind, number) : text::escaped(text::cut(name, kNameBytes));
}

} // namespace

std::string task_of(const trace::Names& names, std::uint32_t context) {
    return context == schedule::kUnknownContext ? "an unknown task" : name_of(names, Unit::context, context, "context");
}

std::string mutex_of(const trace::Names& names, std::uint32_t mutex) {
    return mutex == 0 ? "a mutex" : "the mutex " + trace::name_or_number(names, Unit::mutex, mutex);
}

std::string interrupt_of(const trace::Names& names, std::uint32_t vector) {
    if (vector == schedule::kTimerHandler) {
        return "the timer's interrupt";
    }
    const std::string_view name = names.find(Unit::vector, vector);
    return fmt::format("interrupt {}{}", vector,
                       name.empty() ? "" : fmt::format(" ({})", text::escaped(text::cut(name, kNameBytes))));
}

std::string server_of(const trace::Names& names, std::uint32_t server) {
    return "server " + trace::name_or_number(names, Unit::server, server);
}

std::string executor_of(const trace::Names& names, const schedule::Executor& executor) {
    switch (executor.by) {
    case By::task:
    case By::section:
    case By::kernel:
        return task_of(names, executor.who);
    case By::interrupt:
        return interrupt_of(names, executor.who);
    case By::unknown:
    case By::self:
    case By::throttling:
    case By::backlog:
        break;
    }
    return "an unknown task";
}

std::string wait_of(const trace::Names& names, std::uint32_t wait) {
    const auto kind = tracer::wait_kind(wait);
    const auto object = [&](std::string_view what) {
        return fmt::format("{}{}", what,
                           trace::name_or_number(names, kind ? tracer::object_of(*kind) : Unit::none, wait & 0xFFFF));
    };
    switch (kind.value_or(lib::WaitKind::suspended)) {
    case lib::WaitKind::semaphore:
        return object("waited for the semaphore ");
    case lib::WaitKind::delay:
        return "slept";
    case lib::WaitKind::condition:
        return object("waited for the condition ");
    case lib::WaitKind::receive:
        return object("waited for a message of the port ");
    case lib::WaitKind::send:
        return object("waited for space in the port ");
    case lib::WaitKind::suspended:
        return kind ? "was suspended" : "waited";
    case lib::WaitKind::signal:
        return "waited for a signal";
    case lib::WaitKind::channel:
        return object("slept on the channel ");
    case lib::WaitKind::mutex:
        return object("waited for the mutex ");
    }
    return "waited";
}

namespace {

std::string waiting(const trace::Names& names, const Culprit& culprit) {
    std::string text =
        fmt::format("waited for {} of {}", mutex_of(names, culprit.object), task_of(names, culprit.holder));
    if (culprit.end_waits != 0) {
        return text + (culprit.chain_end == culprit.holder
                           ? fmt::format(", which {}", wait_of(names, culprit.end_waits))
                           : fmt::format(", while {} {}", task_of(names, culprit.chain_end),
                                         wait_of(names, culprit.end_waits)));
    }
    if (culprit.by == By::task) {
        return culprit.who == culprit.holder ? text + ", which ran"
                                             : text + fmt::format(", while {} ran", task_of(names, culprit.who));
    }
    return text;
}

} // namespace

std::string state_at_end(const JobCase& job, std::uint32_t khz) {
    if (!job.latest) {
        return fmt::format("nothing is known of job {}", job.account.job.number);
    }
    const schedule::Piece& piece = *job.latest;
    return fmt::format("the last that is known of job {}: {}, for {}{}", job.account.job.number,
                       text_of(*job.names, piece.culprit), Times(khz).text(piece.end - piece.begin),
                       khz == 0 ? " ticks" : "");
}

std::string text_of(const trace::Names& names, const Culprit& culprit) {
    if (culprit.part == Part::blocking) {
        return waiting(names, culprit);
    }
    if (culprit.part == Part::suspension) {
        return wait_of(names, culprit.object);
    }
    const std::string late = culprit.part == Part::jitter ? "release recorded late: " : "";
    switch (culprit.by) {
    case By::self:
        return "executed";
    case By::task:
        return late + task_of(names, culprit.who) + " ran";
    case By::interrupt:
        return late + interrupt_of(names, culprit.who);
    case By::kernel:
        return late + "the kernel, in " + task_of(names, culprit.who);
    case By::section:
        return late + task_of(names, culprit.who) + " had interrupts off";
    case By::throttling:
        return server_of(names, culprit.who) + " had no budget";
    case By::backlog:
        return "the job before was not complete";
    case By::unknown:
        break;
    }
    return late + "not known what ran";
}

} // namespace host::cli
