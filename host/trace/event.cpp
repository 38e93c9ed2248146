// SPDX-License-Identifier: MIT
#include "host/trace/event.hpp"

#include "host/trace/names.hpp"
#include "lib/endian.hpp"

namespace host::trace {

std::string_view event_name(const Event& event) {
    if (event.origin != Origin::record && !event.foreign_name.empty()) {
        return event.foreign_name;
    }
    if (event.is(kCodeOf<"typed_event">) && event.payload.size() >= sizeof(std::uint16_t)) {
        const auto id = lib::load_le<std::uint16_t>(event.payload);
        if (const auto* const declaration = event.names->declaration(id); declaration != nullptr) {
            return declaration->name.view();
        }
    }
    return event.row != nullptr ? event.row->name : "unknown";
}

} // namespace host::trace
