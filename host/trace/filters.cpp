// SPDX-License-Identifier: MIT
#include "host/trace/filters.hpp"

namespace host::trace {

std::string filters_text(Families filtered) {
    std::string text;
    for (unsigned family = 0; family < tracer::kFamilies; ++family) {
        const auto* const filter = tracer::find_event(static_cast<std::uint8_t>(0xF0U | family));
        if (filter != nullptr && (filtered >> family & 1U) != 0) {
            text += text.empty() ? "filters hid records: " : ", ";
            text += filter->name;
        }
    }
    return text;
}

} // namespace host::trace
