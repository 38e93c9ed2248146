// SPDX-License-Identifier: MIT
#include "convert/change_handler.hpp"

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
    case Change::Kind::waits: // its begin and end show in other changes
    case Change::Kind::forgotten:
    case Change::Kind::job_began:
    case Change::Kind::job_ended:
        return;
    }
}

} // namespace host::convert
