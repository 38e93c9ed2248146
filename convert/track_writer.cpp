// SPDX-License-Identifier: MIT
#include "convert/track_writer.hpp"

namespace host::convert {

void ChangeHandler::apply(const Change& change) {
    switch (change.kind) {
    case Change::Kind::switched:
        return on_switch(change);
    case Change::Kind::woken:
        return on_wake(change.context);
    case Change::Kind::created:
        return on_create(change.context);
    case Change::Kind::ended:
        return on_end(change.context);
    case Change::Kind::interrupt_began:
        return on_interrupt(change.object);
    case Change::Kind::interrupt_ended:
        return on_interrupt_end(change.object);
    case Change::Kind::inherits:
        return on_priority(change.context, change.other);
    case Change::Kind::returns:
        return on_priority(change.context, change.context);
    case Change::Kind::gap:
        return on_gap();
    case Change::Kind::lost:
        return on_loss(change.object);
    case Change::Kind::waits: // other changes show its begin and its end
    case Change::Kind::forgotten:
    case Change::Kind::job_began:
    case Change::Kind::job_ended:
        return;
    }
}

lib::Result<void, Failure> TrackWriter::begin(const Survey* survey) {
    m_time.emplace(*survey);
    begin_tracks(*survey);
    return {};
}

void TrackWriter::add(const trace::Event& event) {
    m_event = &event;
    static_cast<void>(m_time->of(event));
    const auto changes = m_schedule.take(event);
    if (!changes.empty()) {
        select_processor(event.cpu);
    }
    for (const Change& change : changes) {
        apply(change);
    }
    for (const Change& change : changes) {
        draw_slice(change);
    }
    if (event.is(trace::kCodeOf<"server_budget">)) {
        add_budget(m_time->nanoseconds(event.par2));
    } else if (changes.empty() || !is_shown(event, changes)) {
        add_instant();
    }
}

lib::Result<void, Failure> TrackWriter::finish(const trace::TraceFacts& facts) {
    for (const Change& change : m_schedule.finish()) {
        end_slices(change);
    }
    end_tracks(facts);
    return {};
}

void TrackWriter::draw_slice(const Change& change) {
    end_slices(change);
    if (change.kind == Change::Kind::job_began) {
        begin_slice(Slice::job, change.context, "job");
    } else if (change.begins_wait()) {
        begin_slice(Slice::wait, change.context, wait_label(*m_event->names, change.state, change.object));
    }
}

void TrackWriter::end_slices(const Change& change) {
    if (change.kind == Change::Kind::job_ended) {
        end_slice(Slice::job, change.context);
    } else if (change.ends_wait()) {
        end_slice(Slice::wait, change.context);
    }
}

} // namespace host::convert
