// SPDX-License-Identifier: MIT
#include "host/analyse/narrator.hpp"

#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/trace/event.hpp"
#include "host/trace/names.hpp"
#include "host/trace/value_text.hpp"
#include "lib/wire_numbers.hpp"
#include "tracer/record/unit_words.hpp"

#include <algorithm>
#include <array>

namespace host::analyse {

namespace {

constexpr std::int64_t kNsPerUs = 1'000;

// A line of fixed words about the task in the first parameter; {} is the second parameter.
struct Sentence {
    std::uint8_t code;
    std::string_view text;
    tracer::Unit unit = tracer::Unit::none; // the unit of {}; none if it is a number
};

constexpr auto kSentences = std::to_array<Sentence>({
    {trace::kCodeOf<"task_create">, "is created"},
    {trace::kCodeOf<"task_end">, "ends"},
    {trace::kCodeOf<"job_release">, "is released"},
    {trace::kCodeOf<"task_end_cycle">, "completes its job"},
    {trace::kCodeOf<"task_disable">, "sleeps until it is activated"},
    {trace::kCodeOf<"task_deadline_miss">, "MISSES ITS DEADLINE"},
    {trace::kCodeOf<"task_wcet_violation">, "exceeds its worst-case execution time"},
    {trace::kCodeOf<"job_abort">, "has its job aborted"},
    {trace::kCodeOf<"job_skipped">, "is busy: the activation is dropped"},
    {trace::kCodeOf<"job_queued">, "is busy: the activation waits"},
    {trace::kCodeOf<"deadline_change">, "gets a relative deadline of {} us"},
    {trace::kCodeOf<"activation_violation">, "is activated too early"},
    {trace::kCodeOf<"slice_end">, "has used up its slice"},
    {trace::kCodeOf<"task_unblock">, "is ready again"},
    {trace::kCodeOf<"set_mutex_acquire">, "locks {}", tracer::Unit::mutex},
    {trace::kCodeOf<"set_mutex_unlock">, "unlocks {}", tracer::Unit::mutex},
    {trace::kCodeOf<"set_mutex_block">, "is held up by {}", tracer::Unit::mutex},
    {trace::kCodeOf<"set_mutex_deadlock">, "is refused {}: a deadlock", tracer::Unit::mutex},
    {trace::kCodeOf<"set_mutex_timeout">, "gives up waiting for {}", tracer::Unit::mutex},
    {trace::kCodeOf<"set_mutex_owner_died">, "ends as the owner of {}", tracer::Unit::mutex},
    {trace::kCodeOf<"signal">, "takes signal {}"},
});

std::string name(const trace::Event& event, tracer::Unit unit, std::uint32_t value) {
    return trace::name_or_number(*event.names, unit, value);
}

} // namespace

void Narrator::line(const trace::Event& event, std::uint32_t context, std::string_view text) {
    const std::string who = context == 0 ? std::string("-") : name(event, tracer::Unit::context, context);
    m_sink({.event = event, .context = context, .text = fmt::format("{:<12} {}", who, text)});
}

void Narrator::add_dispatch(const trace::Event& event) {
    const schedule::Schedule::Processor& here = m_schedule.processor(event.cpu);
    Processor& written = m_processors[event.cpu];
    if (written.running == here.dispatched && written.place == here.place) {
        return; // the task returns after an interrupt, or was chosen again
    }
    written = {.running = here.dispatched, .place = here.place};
    line(event, event.par1,
         here.place == here.dispatched
             ? std::string("runs")
             : fmt::format("runs in the place of {}", name(event, tracer::Unit::context, here.place)));
}

void Narrator::add_wait(const trace::Event& event) {
    const std::uint32_t id = event.par2 & 0xFFFF;
    const std::string_view word = tracer::word_for(lib::kWords<lib::WaitKind>, event.par2 >> 16);
    if (id != 0 && (word == "semaphore" || word == "mutex")) {
        const auto unit = word == "mutex" ? tracer::Unit::mutex : tracer::Unit::semaphore;
        line(event, event.par1, fmt::format("waits for {} {}", word, name(event, unit, id)));
    } else {
        line(event, event.par1, fmt::format("waits: {}{}", word, id != 0 ? fmt::format(" {}", id) : ""));
    }
}

// Writes a line about the task that the server serves.
void Narrator::add_server(const trace::Event& event, std::string_view text) {
    const auto served = m_served.find(event.par2);
    const std::string_view known = event.names->find(tracer::Unit::server, event.par2);
    const std::string server = "server " + (known.empty() ? std::to_string(event.par2) : text::escaped(known));
    line(event, served != m_served.end() ? served->second : 0, fmt::format(fmt::runtime(text), server));
}

void Narrator::add_special(const trace::Event& event) {
    switch (event.code) {
    case trace::kCodeOf<"task_dispatch">:
        add_dispatch(event);
        break;
    case trace::kCodeOf<"task_block">:
        add_wait(event);
        break;
    case trace::kCodeOf<"server_exhaust">:
        add_server(event, "has exhausted {}");
        break;
    case trace::kCodeOf<"server_replenish">:
        add_server(event, "has a new budget in {}");
        break;
    case trace::kCodeOf<"server_reclaiming">:
        add_server(event, "leaves the bandwidth of {} to others");
        break;
    case trace::kCodeOf<"server_attach">:
        m_served[event.par1] = event.par2;
        break;
    default:
        break;
    }
}

// Traces of other systems have no event of a dispatch.
void Narrator::add_foreign(const trace::Event& event, const schedule::Change& change) {
    if (event.code == trace::kCodeOf<"context_switch"> && change.kind != schedule::Change::Kind::woken) {
        line(event, change.context, change.kind == schedule::Change::Kind::switched ? "runs" : "rests");
    }
}

void Narrator::add(const trace::Event& event) {
    if (!event.is_sound()) {
        return;
    }
    for (const schedule::Change& change : m_schedule.take(event)) {
        if (change.kind == schedule::Change::Kind::gap) {
            m_processors.erase(event.cpu);
        }
        if (trace::is_foreign(event)) {
            add_foreign(event, change);
        }
    }
    const auto* const sentence = std::ranges::find(kSentences, event.code, &Sentence::code);
    if (sentence == kSentences.end()) {
        add_special(event);
    } else {
        const std::string second =
            sentence->unit == tracer::Unit::none ? std::to_string(event.par2) : name(event, sentence->unit, event.par2);
        line(event, event.par1, fmt::format(fmt::runtime(sentence->text), second));
    }
}

std::string schedule_line(std::int64_t time_ns, std::int64_t resolution_ns, std::string_view decision) {
    const std::int64_t cut_us = time_ns / resolution_ns * resolution_ns / kNsPerUs;
    return fmt::format("{:>8}.{:03} ms  {}", cut_us / 1'000, cut_us % 1'000, decision);
}

} // namespace host::analyse
