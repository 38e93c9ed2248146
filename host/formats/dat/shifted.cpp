// SPDX-License-Identifier: MIT
// Finds records that are off their slots. The slots are examined from the first one on as long as they look like
// records; after that the next records are searched at every byte. A slot is recognized by its code and the high half
// of its stamp, which are its first eight bytes; its other bytes cannot be checked. So the records that a place may
// have damaged follow from where the place may be.
#include "host/formats/dat/segment.hpp"

#include "host/formats/dat/chunk_begin.hpp"
#include "host/trace/event.hpp"
#include "tracer/chunk/chunk_seal.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace host::formats::dat {

namespace {

constexpr std::uint64_t kCheckedBytes = 8; // bytes of a slot that can be checked

// Other bytes look like a record in less than one of ten cases, so that enough of them in a row are not a coincidence.
// At the end of the chunk, where the last record must end, fewer are enough.
constexpr std::uint64_t kRunMin = 8;
constexpr std::uint64_t kRunAtEndMin = 2;

// A chunk_begin has so many slots; its last field is the checksum.
constexpr std::uint64_t kHeaderSlots = tracer::combine_slots(tracer::kCrc32cOffset + sizeof(std::uint32_t));

enum class Known : std::uint8_t { no, single, combined };

// The table is indexed by the event code, because it is read at every byte. Code 0 is that of an empty slot.
constexpr auto kKnown = [] {
    std::array<Known, 256> known{};
    for (std::size_t code = 1; code < known.size(); ++code) {
        const tracer::EventRow* const row = tracer::find_event(tracer::canonical_code(static_cast<std::uint8_t>(code)));
        if (row != nullptr) {
            known[code] = row->shape == tracer::Shape::combined ? Known::combined : Known::single;
        }
    }
    return known;
}();

// Returns whether the slot has code 0 or is all ones: it was never written, or was erased.
bool is_blank(const tracer::Record& record) {
    return record.empty() || record.code == 0xFFFF;
}

// Returns whether the bits of a slot are those of a record, whose code may be unknown, and its stamp is close to this
// one.
bool is_formed_as_a_record(const tracer::Record& record, lib::Ticks near) {
    const std::uint64_t stamp = record.stamp().value;
    const std::uint64_t apart = std::max(stamp, near.value) - std::min(stamp, near.value);
    return (record.code & kBitsWithoutMeaning) == 0 && record.event_code() != 0 && apart < kStampsApartMax;
}

// A place at which bytes between `broken` and `resumed` are missing or were added.
struct Place {
    std::uint64_t broken = 0;  // the first slot that is not a record; those before it look like records
    std::uint64_t resumed = 0; // the first slot that looks like one again, or the end; it may be less than `broken`

    // Returns by how much the slots after the place are off those before it: so many bytes were added, or 16 less so
    // many were lost.
    [[nodiscard]] std::uint64_t shift() const { return (resumed - broken) % tracer::kRecordBytes; }
};

// States what the number of bytes shows about all places, provided that none has lost or gained a slot or more.
enum class Places : std::uint8_t { unknown, lost, added };

class Search {
  public:
    Search(trace::ByteSource& source, std::uint64_t begin_bytes, std::uint64_t end_bytes,
           std::optional<Announced> announced)
        : m_window(source, end_bytes)
        , m_begin(begin_bytes)
        , m_end(end_bytes)
        , m_run(begin_bytes)
        , m_announced(announced) {}

    [[nodiscard]] FoundStretches find();

  private:
    [[nodiscard]] std::vector<Stretch> stretches();
    void find_places();
    [[nodiscard]] std::uint64_t pass_records(std::uint64_t offset, lib::Ticks& last);
    [[nodiscard]] bool ends_chunk(std::uint64_t offset, const tracer::Record& record);
    [[nodiscard]] bool carries_on_header(std::uint64_t offset);
    [[nodiscard]] bool keeps_places(std::uint64_t offset, lib::Ticks last);
    [[nodiscard]] std::optional<std::uint64_t> find_run(std::uint64_t broken);
    [[nodiscard]] bool is_run(std::uint64_t offset, bool is_shifted);
    [[nodiscard]] bool hides_a_shift(const Place& place);
    [[nodiscard]] std::uint64_t first_of_run(std::uint64_t offset);
    void judge();
    void anchor(Stretch& stretch);
    [[nodiscard]] std::uint64_t end_before(const Place& place, std::uint64_t begin);
    [[nodiscard]] std::uint64_t begin_after(const Place& place);

    [[nodiscard]] std::uint64_t added_at(const Place& place) const {
        return m_kind == Places::lost ? 0 : place.shift();
    }

    SlotWindow m_window;
    std::uint64_t m_begin;
    std::uint64_t m_end; // or the beginning of the next chunk, once it was found
    std::uint64_t m_run; // where the slots that are examined begin
    std::optional<Announced> m_announced;
    std::optional<lib::Ticks> m_near; // stamp of a run that was found: other stamps are close to it
    std::vector<Place> m_places;
    Places m_kind = Places::unknown;
    bool m_is_exact = false; // there is one place, and it is known how many bytes it lost or gained
};

// Recognizes a chunk by the slots of its header, which all have one stamp, and by eight further slots in a row, because
// a stamp that is read off its place may look like a header's.
bool Search::carries_on_header(std::uint64_t offset) {
    const auto first = m_window.at(offset);
    bool is_header = true;
    for (std::uint64_t slot = 0; slot < kRunMin && offset + (slot + 1) * tracer::kRecordBytes <= m_end; ++slot) {
        const auto record = m_window.at(offset + slot * tracer::kRecordBytes);
        if (!first || !record || !looks_like_a_record(*record, first->stamp()) ||
            (is_header && (record->event_code() != first->event_code() || record->stamp() != first->stamp()))) {
            return false;
        }
        is_header = is_header && record->combine() == tracer::Combine::middle;
    }
    return true;
}

// Returns whether a slot with an unknown code is in its place, as in the file of a newer kernel: it and those after it
// are formed as records are, and time rises from one to the next, except where a cyclic chunk begins. Slots that are
// read off their places do not have such stamps.
bool Search::keeps_places(std::uint64_t offset, lib::Ticks last) {
    unsigned falls = 0;
    for (std::uint64_t slot = 0; slot < kRunMin; ++slot, offset += tracer::kRecordBytes) {
        const auto record = m_window.at(offset);
        if (!record || offset + tracer::kRecordBytes > m_end) {
            return slot != 0 && offset == m_end;
        }
        falls += record->stamp() < last ? 1U : 0U;
        if (!is_formed_as_a_record(*record, last) || falls > 1) {
            return false;
        }
        last = record->stamp();
    }
    return true;
}

// Returns whether the next chunk begins here.
bool Search::ends_chunk(std::uint64_t offset, const tracer::Record& record) {
    if (record.event_code() != trace::kCodeOf<"chunk_begin">) {
        return false;
    }
    if (!begins_chunk(record)) { // its first slot is lost, unless the slot belongs to this chunk
        return record.combine() >= tracer::Combine::middle && offset > m_begin + kHeaderSlots * tracer::kRecordBytes &&
               carries_on_header(offset);
    }
    return offset != m_begin && read_chunk_begin([&, slot = offset]() mutable {
               return m_window.at(std::exchange(slot, slot + tracer::kRecordBytes));
           });
}

// Returns whether eight records in a row follow whose stamps do not decrease, or fewer at the end.
bool Search::is_run(std::uint64_t offset, bool is_shifted) {
    std::optional<lib::Ticks> last;
    for (std::uint64_t count = 0; count < kRunMin; ++count, offset += tracer::kRecordBytes) {
        if (offset + tracer::kRecordBytes > m_end) {
            return is_shifted ? offset == m_end && count >= kRunAtEndMin : count != 0;
        }
        const auto record = m_window.at(offset);
        if (!record || !looks_like_a_record(*record, last ? *last : m_near.value_or(record->stamp())) ||
            record->stamp() < last.value_or(record->stamp())) {
            return false;
        }
        last = record->stamp();
    }
    return true;
}

// Finds the next run at any byte. It may overlap the slot before `broken`, which may be damaged as well.
std::optional<std::uint64_t> Search::find_run(std::uint64_t broken) {
    if (is_run(broken + tracer::kRecordBytes,
               false)) { // one slot is damaged in its place: the other places do not matter
        return broken + tracer::kRecordBytes;
    }
    for (std::uint64_t offset = std::max(m_run + 1, broken - std::min(broken, tracer::kRecordBytes - 1));
         offset + tracer::kRecordBytes <= m_end; ++offset) {
        if (offset != broken && is_run(offset, (offset - broken) % tracer::kRecordBytes != 0)) {
            return offset;
        }
    }
    return std::nullopt;
}

// Returns whether the slots are in their places again, although a record between is off its place, with a stamp between
// those before and after: what was lost was gained again, or the reverse.
bool Search::hides_a_shift(const Place& place) {
    const auto after = m_window.at(place.resumed);
    const auto before = place.broken >= m_run + 2 * tracer::kRecordBytes
                            ? m_window.at(place.broken - 2 * tracer::kRecordBytes)
                            : std::nullopt;
    if (!after || !before || place.resumed - place.broken < 2 * tracer::kRecordBytes) {
        return false;
    }
    const auto [least, most] = std::minmax({before->stamp(), after->stamp()});
    for (std::uint64_t offset = place.broken - tracer::kRecordBytes + 1; offset < place.resumed; ++offset) {
        const auto record = m_window.at(offset);
        if ((offset - place.broken) % tracer::kRecordBytes != 0 && record &&
            looks_like_a_record(*record, after->stamp()) && record->stamp() >= least && record->stamp() <= most) {
            return true;
        }
    }
    return false;
}

std::uint64_t Search::first_of_run(std::uint64_t offset) {
    for (auto record = m_window.at(offset); record && offset > m_run + tracer::kRecordBytes;
         offset -= tracer::kRecordBytes) {
        const auto before = m_window.at(offset - tracer::kRecordBytes);
        if (!before || !looks_like_a_record(*before, record->stamp())) {
            break;
        }
        record = before;
    }
    return offset;
}

// Steps over what most of a chunk consists of: the slots in the window that look like records, none of them of a
// chunk_begin. Returns the offset after them; last: in and out, the stamp of the slot before it.
std::uint64_t Search::pass_records(std::uint64_t offset, lib::Ticks& last) {
    const std::span<const std::byte> window = m_window.from(offset);
    const auto slots = window.first(
        std::min<std::size_t>(window.size(), (m_end - offset) / tracer::kRecordBytes * tracer::kRecordBytes));
    const std::byte* slot = slots.data();
    const std::byte* const end = slot + slots.size();
    std::uint64_t latest = last.value;
    for (; slot != end; slot += tracer::kRecordBytes) {
        const tracer::Record record = load_record(slot);
        const std::uint64_t stamp = load_stamp(slot);
        const bool is_plain =
            plain_row(record.code) != nullptr && stamp - latest < kStampsApartMax; // true for most records
        if (!is_plain && (record.event_code() == trace::kCodeOf<"chunk_begin"> ||
                          !looks_like_a_record(record, lib::Ticks{latest}))) {
            break;
        }
        latest = stamp;
    }
    last = {latest};
    return offset + static_cast<std::uint64_t>(slot - slots.data());
}

void Search::find_places() {
    if (const std::uint64_t run = m_end - std::min(m_end, kRunMin * tracer::kRecordBytes);
        run > m_begin && is_run(run, true)) {
        m_near = m_window.at(run)->stamp();
    }
    std::optional<lib::Ticks> last; // stamp of the slot before
    for (std::uint64_t offset = m_begin; offset + tracer::kRecordBytes <= m_end;) {
        const auto record = m_window.at(offset);
        if (!record) {
            return;
        }
        if (ends_chunk(offset, *record)) {
            m_end = offset;
            return;
        }
        if (looks_like_a_record(*record, last.value_or(record->stamp()))) {
            last = record->stamp();
            const std::uint64_t end = pass_records(offset + tracer::kRecordBytes, *last);
            m_near = end - tracer::kRecordBytes >= m_run + kRunMin * tracer::kRecordBytes ? last : m_near;
            offset = end;
            continue;
        }
        if (keeps_places(offset, last.value_or(record->stamp()))) {
            last = record->stamp();
            offset += tracer::kRecordBytes;
            continue;
        }
        const auto resumed = find_run(offset);
        if (!resumed) {
            if ((m_end - offset) % tracer::kRecordBytes != 0 && !is_blank(*record)) {
                m_places.push_back({offset, m_end});
            }
            return;
        }
        if (Place place{offset, *resumed}; place.shift() != 0 || hides_a_shift(place)) {
            place.resumed = first_of_run(*resumed);
            m_places.push_back(place);
            m_run = place.resumed;
        }
        last.reset();
        offset = *resumed;
    }
}

void Search::judge() {
    if (!m_announced) {
        return;
    }
    const auto announced =
        static_cast<std::int64_t>((m_announced->preamble + m_announced->records) * tracer::kRecordBytes);
    const std::int64_t gained = static_cast<std::int64_t>(m_end - m_begin) - announced;
    std::int64_t if_added = 0;
    for (const Place& place : m_places) {
        if (place.shift() == 0) {
            return;
        }
        if_added += static_cast<std::int64_t>(place.shift());
    }
    const std::uint64_t tail = (m_end - m_places.back().resumed) % tracer::kRecordBytes; // bytes of an incomplete slot
    if_added += static_cast<std::int64_t>(tail);
    const std::uint64_t places = m_places.size() + (tail != 0 ? 1 : 0);
    if (gained == if_added) {
        m_kind = Places::added;
    } else if (gained == if_added - static_cast<std::int64_t>(places * tracer::kRecordBytes)) {
        m_kind = Places::lost;
    }
    const Place& first =
        m_places.front(); // if it is long, it may be two places, of which one reversed most of the other
    m_is_exact = m_kind != Places::unknown && places == 1 && first.resumed <= first.broken + 2 * tracer::kRecordBytes;
}

// The slot before the one that looks damaged may be damaged, too, in bytes that cannot be checked. Bytes before the
// place are not damaged: the place is not so far before the first record after it that another record would be whole.
std::uint64_t Search::end_before(const Place& place, std::uint64_t begin) {
    const std::uint64_t after = place.resumed - std::min(place.resumed, tracer::kRecordBytes - 1 + added_at(place));
    const std::uint64_t limit =
        std::min(m_is_exact ? place.broken : place.broken - std::min(place.broken, tracer::kRecordBytes), after);
    std::uint64_t end = place.broken;
    while (end > begin && end > limit) {
        end -= tracer::kRecordBytes;
    }
    // Leaves out a long event whose end is in the place.
    for (std::size_t slots = 0; end > begin && slots < tracer::kCombineSlotsMax; ++slots) {
        const auto record = m_window.at(end - tracer::kRecordBytes);
        if (!record || record->combine() == tracer::Combine::simple || record->combine() == tracer::Combine::last) {
            break;
        }
        end -= tracer::kRecordBytes;
    }
    return std::max(end, begin);
}

// Finds the first slot after a place. It begins within the bytes that show that a slot is damaged.
std::uint64_t Search::begin_after(const Place& place) {
    const auto before = place.broken >= m_begin + tracer::kRecordBytes
                            ? m_window.at(place.broken - tracer::kRecordBytes)
                            : std::nullopt;
    const bool is_before_damaged =
        m_announced && before && before->code == trace::kCodeOf<"numevents"> && before->par2 != m_announced->records;
    const std::uint64_t safe = place.broken + kCheckedBytes - 1 + added_at(place);
    std::uint64_t begin = place.resumed;
    while (begin < m_end && !(m_is_exact && is_before_damaged) &&
           (begin < safe || (!m_is_exact && begin == place.resumed))) {
        begin += tracer::kRecordBytes;
    }
    // Leaves out a long event whose beginning is in the place.
    for (std::size_t slots = 0; begin < m_end && slots < tracer::kCombineSlotsMax; ++slots) {
        const auto record = m_window.at(begin);
        if (!record || record->combine() < tracer::Combine::middle) {
            break;
        }
        begin += tracer::kRecordBytes;
    }
    return std::min(begin, m_end);
}

// The end of the preamble is known exactly, because its last slot repeats the count.
void Search::anchor(Stretch& stretch) {
    const std::uint64_t last = m_announced ? m_announced->preamble + m_places.size() : 0;
    for (std::uint64_t slot = 0; stretch.index + slot < last; ++slot) {
        const std::uint64_t offset = stretch.begin_bytes + slot * tracer::kRecordBytes;
        const auto record = offset + tracer::kRecordBytes <= stretch.end_bytes ? m_window.at(offset) : std::nullopt;
        if (!record || (record->code == trace::kCodeOf<"numevents"> && record->par2 == m_announced->records)) {
            stretch.index = record ? m_announced->preamble - std::min(m_announced->preamble, slot + 1) : stretch.index;
            return;
        }
    }
}

FoundStretches Search::find() {
    find_places();
    if (m_window.failed() || m_places.empty()) {
        return {.stretches = {}, .end_bytes = m_end};
    }
    judge();
    return {.stretches = stretches(), .end_bytes = m_end};
}

std::vector<Stretch> Search::stretches() {
    std::vector<Stretch> found{{.begin_bytes = m_begin}};
    for (const Place& place : m_places) {
        Stretch& before = found.back();
        const std::uint64_t begin = begin_after(place);
        const std::uint64_t apart = begin - std::min(begin, before.begin_bytes);
        const bool rounds_up = m_kind == Places::lost ||
                               (m_kind == Places::unknown && apart % tracer::kRecordBytes > tracer::kRecordBytes / 2);
        before.end_bytes = end_before(place, before.begin_bytes);
        anchor(before);
        const Stretch after{.begin_bytes = begin,
                            .index = before.index +
                                     (apart + (rounds_up ? tracer::kRecordBytes - 1 : 0)) / tracer::kRecordBytes,
                            .place_bytes = before.end_bytes};
        if (before.end_bytes == before.begin_bytes && found.size() > 1) {
            const auto place_bytes = before.place_bytes; // nothing is between these two places
            before = after;
            before.place_bytes = place_bytes;
        } else {
            found.push_back(after);
        }
    }
    Stretch& last = found.back();
    last.end_bytes = m_end;
    const std::uint64_t slots = (last.end_bytes - last.begin_bytes) / tracer::kRecordBytes;
    if (m_announced && slots != 0 && (last.end_bytes - last.begin_bytes) % tracer::kRecordBytes == 0) {
        const std::uint64_t announced = m_announced->preamble + m_announced->records;
        last.index = std::max(last.index, announced - std::min(announced, slots));
    }
    return found;
}

} // namespace

bool looks_like_a_record(const tracer::Record& record, lib::Ticks near) {
    const Known least = record.combine() == tracer::Combine::simple ? Known::single : Known::combined;
    return is_formed_as_a_record(record, near) && kKnown[record.event_code()] >= least;
}

FoundStretches find_stretches(trace::ByteSource& source, std::uint64_t begin_bytes, std::uint64_t end_bytes,
                              std::optional<Announced> announced) {
    return Search(source, begin_bytes, end_bytes, announced).find();
}

} // namespace host::formats::dat
