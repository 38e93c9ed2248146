// SPDX-License-Identifier: MIT
// What numbers of events are called, kept for output through which millions of them pass. Finding a name costs a search
// and a text, and few numbers occur again and again: each text stays in the one place that its unit and value lead to,
// until another pushes it out.
#pragma once

#include "host/text/format.hpp"
#include "host/text/short_text.hpp"
#include "host/trace/event.hpp"
#include "host/trace/value_text.hpp"

#include <cstdint>
#include <vector>

namespace host::trace {

class ValueTexts {
  public:
    ValueTexts()
        : m_known(kKnown) {}

    using Text = text::TextOf<40>;

    // Digits and meaning of a value by the names of this event. Null if they are too long to be kept. Valid until the
    // next call.
    [[nodiscard]] const Text* of(const Event& event, tracer::Unit unit, std::uint32_t value) {
        return of(event, unit, value,
                  [&](fmt::memory_buffer& out) { append_digits_and_meaning(out, event, unit, value); });
    }

    // Likewise, for the text that make(fmt::memory_buffer&) writes.
    template <typename Make>
    [[nodiscard]] const Text* of(const Event& event, tracer::Unit unit, std::uint32_t value, Make make) {
        const std::uint64_t version = event.names->version();
        const auto number = static_cast<std::uint64_t>(unit);
        const std::uint64_t key = (event.image != nullptr ? kWithImage : 0) | ((number + 1) << 32) | value;
        Known& known = m_known[(value ^ (value >> 16) ^ (number << 5) ^ (version << 4)) % kKnown];
        if (known.key == key && known.version == version) [[likely]] {
            return &known.text;
        }
        return replace(known, key, version, make);
    }

  private:
    static constexpr std::size_t kKnown = 512;
    static constexpr std::uint64_t kWithImage = std::uint64_t{1} << 63; // addresses have names

    struct alignas(64) Known {     // one line of the cache
        std::uint64_t key = 0;     // 0: none
        std::uint64_t version = 0; // of the names that the text comes from
        Text text;
    };

    static_assert(sizeof(Known) == 64);

    // Apart: with it, of() would be too large to be inlined.
    template <typename Make>
    [[gnu::noinline]] static const Text* replace(Known& known, std::uint64_t key, std::uint64_t version, Make make) {
        fmt::memory_buffer text;
        make(text);
        known.key = 0;
        if (!known.text.set({text.data(), text.size()})) {
            return nullptr;
        }
        known.key = key;
        known.version = version;
        return &known.text;
    }

    std::vector<Known> m_known;
};

} // namespace host::trace
