// SPDX-License-Identifier: MIT
// Measures how long interrupts stay off, by the place in the source that switched them off. It is compiled in for
// measurements alone (REMORA_SECTIONS=1, `make bench-kernel`); in every other kernel it does nothing and costs nothing.
//
//   a section begins where the first guard switches interrupts off, or where an interrupt is taken;
//   it ends where they come on again, perhaps in another task: then the time counts for the place where it began.
#pragma once

#include "arch/arch.hpp"
#include "lib/units.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace kernel {

#ifdef REMORA_SECTIONS
inline constexpr bool kSectionsMeasured = true;
#else
inline constexpr bool kSectionsMeasured = false;
#endif

// Names the place where interrupts were switched off: `SectionPlace place = {}` as a parameter is the caller's place.
// The texts live as long as the image.
struct SectionPlace {
    const char* file = __builtin_FILE();
    const char* function = __builtin_FUNCTION();
    unsigned line = __builtin_LINE();
};

struct MeasuredSection {
    SectionPlace place;
    lib::Ticks longest;
    lib::Ticks total;
    std::uint64_t count = 0;
};

// All functions need interrupts off.
class SectionMeter {
  public:
    static constexpr std::size_t kPlacesMax = 96;

    constexpr SectionMeter() = default;

    void begin(const SectionPlace& place) {
        m_place = place;
        m_begun = arch::timestamp();
        m_open = true;
    }

    void end() {
        if (!m_open) {
            return;
        }
        const lib::Ticks length = arch::timestamp() - m_begun;
        m_open = false;
        MeasuredSection* const section = find();
        if (section != nullptr) {
            ++section->count;
            section->total = section->total + length;
            section->longest = length > section->longest ? length : section->longest;
        }
    }

    [[nodiscard]] std::span<const MeasuredSection> sections() const { return std::span(m_sections).first(m_count); }

    // Returns how many sections are missing, because places beyond kPlacesMax are not distinguished.
    [[nodiscard]] std::uint64_t lost() const { return m_lost; }

  private:
    // Finds the section of the current place. The line distinguishes several guards of one function.
    MeasuredSection* find() {
        for (std::size_t i = 0; i < m_count; ++i) {
            const SectionPlace& known = m_sections[i].place;
            if (known.line == m_place.line && known.file == m_place.file) {
                return &m_sections[i];
            }
        }
        if (m_count == kPlacesMax) {
            ++m_lost;
            return nullptr;
        }
        m_sections[m_count].place = m_place;
        return &m_sections[m_count++];
    }

    std::array<MeasuredSection, kPlacesMax> m_sections{};
    std::size_t m_count = 0;
    std::uint64_t m_lost = 0;
    SectionPlace m_place;
    lib::Ticks m_begun;
    bool m_open = false;
};

namespace detail {

inline constinit SectionMeter section_meter{};

} // namespace detail

// Must be called when interrupts have just been switched off, and were on. Context: irq-off.
[[gnu::always_inline]] inline void section_begins([[maybe_unused]] SectionPlace place = {}) {
    if constexpr (kSectionsMeasured) {
        detail::section_meter.begin(place);
    }
}

// Must be called when interrupts are about to be switched on. Context: irq-off.
[[gnu::always_inline]] inline void section_ends() {
    if constexpr (kSectionsMeasured) {
        detail::section_meter.end();
    }
}

} // namespace kernel
