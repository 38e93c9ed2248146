// SPDX-License-Identifier: MIT
// Tests what the readers make of one small input of each format: whole, field for field, as the texts in
// tests/unit/host/formats/readings/ have it; and cut and with changed bytes, as properties. Every byte of a header that
// an input has once is changed; a long input is cut and changed in steps elsewhere, and EVERY_PLACE=1 takes each byte
// everywhere (`make soak-readings`). No damage crashes a reader or makes it grow. What differs from the sound reading
// is reported, with a place; exceptions.txt has the fields of which no format promises that. Events in front of the
// damage stay as they are. --strict refuses what --salvage reports. REMORA_UPDATE_DOCS=1 rewrites the texts, and the
// sums that show that any of these readings changed. Runs in the root of the checkout, as `make test-unit` does.
#include "tests/support/reading_inputs.hpp"
#include "tests/support/reading_text.hpp"

#include "lib/crc32c.hpp"
#include "tests/support/allocated_bytes.hpp"
#include "tests/support/memory_source.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>

namespace host::formats::readings_test {

namespace {

using support::Bytes;
using support::Lines;
using support::Reading;
using trace::InputKind;
namespace inputs = support::inputs;

constexpr const char* kFolder = "tests/unit/host/formats/readings/";
constexpr std::size_t kEnd = ~std::size_t{0};

struct Range {
    std::size_t begin = 0;
    std::size_t end = kEnd;
    std::size_t step = 1; // from one place of a change to the next; an odd one visits each place of a slot
    unsigned bits = 1;    // of each byte that is changed: all of them, or one

    [[nodiscard]] bool has(std::size_t at) const { return at >= begin && at < end; }
};

struct Input {
    std::string name;
    InputKind kind;
    Bytes (*bytes)();
    std::vector<Range> places{{}}; // that are changed
    std::size_t cut_step = 1;      // from one length to the next
    Range summed{0, 0};            // a checksum covers these bytes: each change is reported
    bool is_withheld = false;      // and none of the events that it covers is shown if it is wrong
};

std::ostream& operator<<(std::ostream& out, const Input& input) {
    return out << input.name;
}

const auto kInputs = std::to_array<Input>({
    {"machine", InputKind::records, inputs::machine, {{0, 1808, 5}, {1808, kEnd}}},
    {"sealed", InputKind::records, inputs::sealed, {{0, kEnd, 3, 8}, {0, 240}}},
    {"shifted", InputKind::records, inputs::shifted, {{0, kEnd, 3}}, 3},
    {"plain", InputKind::records, inputs::plain, {{0, kEnd, 1, 8}}},
    {"compact", InputKind::records, inputs::compact, {{0, kEnd, 1, 8}}, 1, {272, 388}, true},
    {"packed", InputKind::packed, inputs::packed, {{0, 64}, {64, kEnd, 3}}, 5, {}, true},
    {"kev_foreign", InputKind::kev, inputs::kev_foreign},
    {"kev_big", InputKind::kev, inputs::kev_big},
    {"kev_ours", InputKind::kev, inputs::kev_ours},
    {"tlog", InputKind::tlog, inputs::tlog, {{0, 130}, {1024, 1120}, {2048, kEnd}}},
    {"tlog_old", InputKind::tlog_old, inputs::tlog_old, {{0, 70}, {1024, kEnd}}},
    {"pcap", InputKind::capture, inputs::pcap, {{0, 40}, {40, kEnd, 3}}, 5},
    {"pcapng", InputKind::capture, inputs::pcapng, {{0, 88}, {88, kEnd, 3}}, 5},
    {"fat", InputKind::fat, inputs::fat, {{0, 64}, {510, 522}, {1024, 1034}, {1536, 1664}}, 32},
    {"memory",
     InputKind::memory,
     inputs::memory,
     {{0, 432}, {432, 592, 3}, {1024, 1696, 3}, {2048, 2080, 3}, {3200, 3400, 3}},
     16},
});

// An exception: so many events can differ without a report if this field is "changed", or if the input is "cut" there;
// or so many in "front" of a change, with a report.
struct Exception {
    std::string input;
    std::string damage;
    Range bytes;
    Range of_slot;
    std::size_t events_max = 0;
    bool is_used = false;
};

constexpr std::size_t kSlot = 16;

// The rows of exceptions.txt for an input.
std::vector<Exception> exceptions_of(const std::string& input) {
    std::vector<Exception> rows;
    std::istringstream text(support::read_text(std::string(kFolder) + "exceptions.txt"));
    for (std::string line; std::getline(text, line);) {
        std::istringstream words(line);
        Exception row;
        words >> row.input >> row.damage >> row.bytes.begin >> row.bytes.end >> row.of_slot.begin >> row.of_slot.end >>
            row.events_max;
        if (row.input == input) {
            EXPECT_TRUE(words >> std::ws && !words.eof()) << "a reason is missing: " << line;
            rows.push_back(row);
        }
    }
    return rows;
}

// --- a reading and its events ----------------------------------------------------------------------------------------

enum class Mode : std::uint8_t { usual, strict, salvage, piped };

constexpr std::array<std::string_view, 4> kModeNames{"as usual", "with --strict", "with --salvage", "from a pipe"};

Reading read(const Input& input, std::span<const std::byte> bytes, Mode mode, bool events = false) {
    constexpr std::size_t kMemoryMax = std::size_t{64} << 20;
    const trace::OpenOptions options{
        .kind = input.kind, .strict = mode == Mode::strict, .salvage = mode == Mode::salvage};
    Reading reading = support::read_by(
        [&](trace::Diagnostics& diagnostics) {
            auto trace = Trace::open(
                {.name = "f",
                 .bytes = mode == Mode::piped ? support::memory_stream(bytes) : support::memory_source(bytes),
                 .keep_open = true},
                options, diagnostics);
            EXPECT_LT(allocated_bytes(), kMemoryMax);
            return trace;
        },
        events);
    EXPECT_LE(reading.own.size(), bytes.size() / 4 + 1);
    return reading;
}

Lines without(const Lines& lines, const Lines& others) {
    std::multiset<std::string_view> rest(others.begin(), others.end());
    Lines found;
    for (const std::string& line : lines) {
        if (const auto at = rest.find(line); at != rest.end()) {
            rest.erase(at);
        } else {
            found.push_back(line);
        }
    }
    return found;
}

// file:0xoffset ...
bool names_place(const std::string& report) {
    const std::size_t colon = report.find(":0x");
    return colon != std::string::npos && report.find(' ') > colon;
}

Lines sound_ones(Lines own) {
    std::erase_if(own, [](const std::string& event) { return !event.starts_with("ok "); });
    return own;
}

void write(const std::string& text, const std::string& name) {
    std::FILE* const file = std::fopen((kFolder + name).c_str(), "w");
    std::fputs(text.c_str(), file);
    std::fclose(file);
}

bool is_update() {
    return std::getenv("REMORA_UPDATE_DOCS") != nullptr;
}

// Returns the step, or 1 if every place is asked for.
std::size_t step_of(std::size_t step) {
    return std::getenv("EVERY_PLACE") != nullptr ? 1 : step;
}

// The number and a sum of readings.
class Sum {
  public:
    void add(const Reading& reading) {
        ++m_count;
        for (const Lines* const lines : {&reading.own, &reading.facts, &reading.reports}) {
            for (const std::string& line : *lines) {
                m_sum = lib::crc32c(std::as_bytes(std::span(line)), m_sum);
            }
        }
    }

    [[nodiscard]] std::string text() const { return fmt::format("{} {:08x}", m_count, m_sum); }

  private:
    std::size_t m_count = 0;
    std::uint32_t m_sum = 0;
};

// --- their properties ------------------------------------------------------------------------------------------------

class Readings : public testing::TestWithParam<Input> {
  protected:
    Readings()
        : m_bytes(GetParam().bytes())
        , m_exceptions(exceptions_of(GetParam().name)) {
        for (std::size_t mode = 0; mode < m_sound.size(); ++mode) {
            m_sound.at(mode) = read(GetParam(), m_bytes, static_cast<Mode>(mode), mode == 0);
        }
    }

    // What the tests below do to the input: "cut" or "changed".
    void begin(const std::string& damage) { m_damage = damage; }

    void check(std::span<const std::byte> bytes, std::size_t at, bool in_all_modes) {
        const Reading usual = checked(bytes, at, Mode::usual);
        if (!in_all_modes) {
            return;
        }
        const Reading strict = checked(bytes, at, Mode::strict);
        const Reading salvage = checked(bytes, at, Mode::salvage);
        checked(bytes, at, Mode::piped);
        if (usual.is_damaged != salvage.is_damaged) {
            wrong(at, Mode::salvage, "there is damage in one reading, and none in the usual or this one");
        }
        if (salvage.is_damaged && strict.status == trace::ExitStatus::clean) {
            wrong(at, Mode::strict, "accepted, although --salvage reports damage");
        }
        if (const Lines more = without(strict.own, usual.own); !more.empty()) {
            wrong(at, Mode::strict, "an event that the usual reading lacks: " + more.front());
        }
        if (!usual.is_damaged && strict.own != usual.own) {
            wrong(at, Mode::strict, "other events than usually, although nothing is damaged");
        }
    }

    // Judges what check() found and summed up.
    void end() {
        const bool has_steps =
            std::ranges::any_of(GetParam().places, [](const Range& range) { return step_of(range.step) > 1; });
        for (const Exception& row : m_exceptions) {
            EXPECT_TRUE(row.is_used || has_steps || (row.damage == "cut") != (m_damage == "cut"))
                << row.input << ' ' << row.damage << ' ' << row.bytes.begin << ": not needed";
        }
        EXPECT_TRUE(m_wrong.empty()) << m_wrong.size() << " readings are wrong:\n"
                                     << fmt::format("{}", fmt::join(m_wrong, "\n")).substr(0, 20'000);
        if (std::getenv("EVERY_PLACE") == nullptr) {
            compare_sum();
        }
    }

    Bytes m_bytes;
    std::vector<Exception> m_exceptions;
    std::array<Reading, kModeNames.size()> m_sound; // by modes

  private:
    void compare_sum() {
        // sums.txt has a line for each input and kind of damage.
        std::istringstream lines(support::read_text(std::string(kFolder) + "sums.txt"));
        std::map<std::string, std::string> sums;
        for (std::string input, damage, sum; lines >> input >> damage && std::getline(lines >> std::ws, sum);) {
            sums[input + ' ' + damage] = sum;
        }
        std::string& sum = sums[GetParam().name + ' ' + m_damage];
        if (is_update()) {
            sum = m_sum.text();
            std::string text;
            for (const auto& [name, value] : sums) {
                text += fmt::format("{} {}\n", name, value);
            }
            write(text, "sums.txt");
        }
        EXPECT_EQ(sum, m_sum.text()) << "what is read or reported changed; REMORA_UPDATE_DOCS=1 rewrites the sum";
    }

    void wrong(std::size_t at, Mode mode, const std::string& text) {
        m_wrong.push_back(fmt::format("{} {} at {}, read {}: {}", GetParam().name, m_damage, at,
                                      kModeNames.at(static_cast<std::size_t>(mode)), text));
    }

    Reading checked(std::span<const std::byte> bytes, std::size_t at, Mode mode) {
        Reading now = read(GetParam(), bytes, mode);
        m_sum.add(now);
        check_reports(now, at, mode);
        if (mode == Mode::usual && m_damage == "changed" && !without(m_sound.front().own, now.own).empty()) {
            check_front(now, at);
        }
        if (GetParam().is_withheld && GetParam().summed.has(at) && (mode == Mode::usual || mode == Mode::strict)) {
            const Lines shown = sound_ones(now.own);
            if (const Lines more = without(shown, m_sound.front().own); !more.empty()) {
                wrong(at, mode, "an event that never was: " + more.front());
            }
        }
        return now;
    }

    // The sound events in front of the change, which the input has without all that follows, are there.
    void check_front(const Reading& now, std::size_t at) {
        const Lines front = sound_ones(read(GetParam(), std::span(m_bytes).first(at), Mode::usual).own);
        if (const Lines lost = without(front, now.own); !lost.empty() && !is_excepted("front", at, lost.size())) {
            wrong(at, Mode::usual, fmt::format("{} events in front are lost: {}", lost.size(), lost.front()));
        }
    }

    // Events that differ from the sound reading are reported with a place, or an exception allows that they differ.
    void check_reports(const Reading& now, std::size_t at, Mode mode) {
        const Reading& sound = m_sound.at(static_cast<std::size_t>(mode));
        const Lines reports = without(now.reports, sound.reports);
        const bool stopped = mode == Mode::strict && now.is_damaged; // perhaps earlier, with a report of the sound one
        if (stopped || std::ranges::any_of(reports, names_place)) {
            return;
        }
        const Lines gone = without(sound.own, now.own);
        const Lines came = without(now.own, sound.own);
        const std::size_t events = std::max(gone.size(), came.size());
        const bool must_report = events != 0 || (m_damage == "changed" && GetParam().summed.has(at));
        if (!reports.empty()) {
            wrong(at, mode, "no report has a place, not even " + reports.front());
        } else if (must_report && !is_excepted(m_damage, at, events)) {
            wrong(at, mode,
                  fmt::format("{} events differ, and nothing is reported: [{}] > [{}]", events, fmt::join(gone, "; "),
                              fmt::join(came, "; "))
                      .substr(0, 300));
        }
    }

    [[nodiscard]] bool is_excepted(std::string_view damage, std::size_t at, std::size_t events) {
        for (Exception& row : m_exceptions) {
            const std::size_t in_slot = (at - row.bytes.begin) % kSlot;
            if (row.damage == damage && row.bytes.has(at) && row.of_slot.has(in_slot) && events <= row.events_max) {
                row.is_used = true;
                return true;
            }
        }
        return false;
    }

    std::string m_damage;
    Lines m_wrong;
    Sum m_sum;
};

// The input "packed" has the records of "machine" in a file of its own: other names of places, and of what is absent.
std::string packed(std::string machine) {
    for (const auto& [text, instead] : {std::pair<std::string, std::string>{"\nf:0x", "\nf(0trace.dat):0x"},
                                        {"of f at", "of f(0trace.dat) at"},
                                        {"0 packets", "0 blocks"}}) {
        for (std::size_t at = 0; (at = machine.find(text, at)) != std::string::npos; at += instead.size()) {
            machine.replace(at, text.size(), instead);
        }
    }
    return machine;
}

TEST_P(Readings, AreThoseOfTheirFile) {
    const bool is_packed = GetParam().name == "packed";
    const std::string name = (is_packed ? "machine" : GetParam().name) + ".txt";
    const std::string text = fmt::format("{}\n", fmt::join(m_sound.front().lines(), "\n"));
    if (is_update() && !is_packed) {
        write(text, name);
    }
    const std::string expected = support::read_text(kFolder + name);
    EXPECT_EQ(text, is_packed ? packed(expected) : expected)
        << (is_packed ? "packed is not read as machine is, of which it is made" : "REMORA_UPDATE_DOCS=1 rewrites it");
}

TEST_P(Readings, OfEachCutReportWhatIsMissing) {
    begin("cut");
    for (std::size_t size = 0; size < m_bytes.size(); size += step_of(GetParam().cut_step)) {
        check(std::span(m_bytes).first(size), size, size % 7 == 1);
    }
    end();
}

TEST_P(Readings, OfEachChangedByteReportWhatDiffers) {
    begin("changed");
    for (const Range& range : GetParam().places) {
        for (std::size_t at = range.begin; at < std::min(range.end, m_bytes.size()); at += step_of(range.step)) {
            for (unsigned bit = 0; bit < range.bits; ++bit) {
                Bytes bytes = m_bytes;
                bytes[at] ^= static_cast<std::byte>(1U << (range.bits == 1 ? at % 8 : bit));
                check(bytes, at, bit == 0 && at % 7 == 0);
            }
        }
    }
    end();
}

INSTANTIATE_TEST_SUITE_P(Inputs, Readings, testing::ValuesIn(kInputs),
                         [](const auto& input) { return input.param.name; });

} // namespace

} // namespace host::formats::readings_test
