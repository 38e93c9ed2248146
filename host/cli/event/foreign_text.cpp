// SPDX-License-Identifier: MIT
// Events of .kev and tlog files as text and JSON: by class, number and words where our table has no row for them.
#include "host/cli/event/event_text.hpp"

#include <iterator>

namespace host::cli {

void append_foreign(fmt::memory_buffer& out, const trace::Event& event) {
    if (event.origin == trace::Origin::kev) {
        fmt::format_to(std::back_inserter(out), " class={} event={}", event.event_class, event.number);
        for (const std::uint32_t word : event.words) {
            fmt::format_to(std::back_inserter(out), " 0x{:08x}", word);
        }
        return;
    }
    fmt::format_to(std::back_inserter(out), " log_type={}", event.number);
    if (event.words.size() == 2) {
        fmt::format_to(std::back_inserter(out), " arg1={} arg2={}", event.words[0],
                       static_cast<std::int32_t>(event.words[1]));
    }
}

void add_foreign(text::JsonText& json, const trace::Event& event) {
    json.member("class", event.event_class);
    json.member("number", event.number);
    json.member("state", trace::state_name(event.state));
    json.begin_array("words");
    for (const std::uint32_t word : event.words) {
        json.value(word);
    }
    json.end_array();
}

} // namespace host::cli
