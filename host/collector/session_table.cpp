// SPDX-License-Identifier: MIT
#include "host/collector/session_table.hpp"

#include "host/collector/reliable/admission.hpp"
#include "host/formats/dat/chunk_begin.hpp"
#include "host/text/format.hpp"
#include "tracer/record/event_table.hpp"
#include "tracer/record/record.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <iterator>
#include <sys/stat.h>
#include <utility>

namespace host::collector {

namespace {

constexpr std::size_t kPlausibleMin = 2; // packets
constexpr std::uint16_t kReservedBits = 0x4F00;

} // namespace

bool plausible_records(std::span<const std::byte> records_untrusted) {
    std::uint64_t last = 0;
    int falls = 0;
    bool any = false;
    for (; records_untrusted.size() >= tracer::kRecordBytes;
         records_untrusted = records_untrusted.subspan(tracer::kRecordBytes)) {
        const tracer::Record record = tracer::decode_record(records_untrusted);
        const std::uint64_t stamp = record.stamp().value;
        falls += stamp < last ? 1 : 0;
        last = stamp;
        if (record.empty() || (record.code & kReservedBits) != 0 || stamp == 0 || falls > 1 ||
            formats::dat::is_metadata_family(record.code) || tracer::find_event(record.event_code()) == nullptr) {
            return false;
        }
        any = true;
    }
    return any;
}

std::optional<Strangers::Packets> Strangers::take(const Address& sender, std::uint32_t number,
                                                  std::span<const std::byte> records, bool begins, bool has_room) {
    const auto known = std::ranges::find(m_strangers, sender, &Stranger::sender);
    if (known != m_strangers.end()) {
        m_strangers.splice(m_strangers.end(), m_strangers, known);
    } else {
        if (m_strangers.size() == kSendersMax) {
            m_strangers.pop_front();
        }
        m_strangers.push_back({.sender = sender, .packets = {}});
    }
    Stranger& stranger = m_strangers.back();
    auto& held = stranger.packets[number];
    stranger.plausible += held.empty() && plausible_records(records) ? 1U : 0U;
    if (held.empty() || begins) {
        held.assign(records.begin(), records.end());
    }
    stranger.begins = stranger.begins || begins;
    if (!has_room || (!stranger.begins && stranger.plausible < kPlausibleMin)) {
        if (stranger.packets.size() > kHeldMax) {
            stranger.packets.erase(stranger.packets.begin());
        }
        return std::nullopt;
    }
    Packets packets = std::move(stranger.packets);
    m_strangers.pop_back();
    return packets;
}

std::optional<Strangers::Stranger> Strangers::take_plausible() {
    const auto found =
        std::ranges::find_if(m_strangers, [](const Stranger& stranger) { return stranger.plausible != 0; });
    if (found == m_strangers.end()) {
        return std::nullopt;
    }
    Stranger stranger = std::move(*found);
    m_strangers.erase(found);
    return stranger;
}

namespace {

constexpr std::size_t kFormerMax = 256;
// A network delays no packet for longer.
constexpr std::chrono::seconds kFormerFor{10};

bool ends_export(std::span<const std::byte> records) {
    return formats::dat::read_leading_event<tracer::ExportEnd>(trace::kCodeOf<"export_end">, records).has_value();
}

std::string reset_text(std::uint64_t next_boot_id) {
    return fmt::format("the machine was reset: boot {:016x} follows", next_boot_id);
}

void add(Progress& sum, const Session& session) {
    sum.packets += session.counts().delivered;
    sum.records += session.writer().records();
    sum.lost += session.counts().lost;
    sum.chunks += session.writer().chunks().size();
}

} // namespace

SessionTable::SessionTable(std::shared_ptr<SessionDirectory> first, std::shared_ptr<SessionDirectory> root,
                           const Limits& limits, Observer& observer)
    : m_limits(limits)
    , m_observer(observer)
    , m_alone(first != nullptr)
    , m_surroundings{.syncer = m_syncer,
                     .observer = observer,
                     .limits = m_limits,
                     .usage = m_usage,
                     .strays = m_strays,
                     .alone = m_alone}
    , m_places(m_alone ? SessionPlaces::beside(*first) : SessionPlaces::served(std::move(root), m_usage)) {
    if (m_alone) {
        open(std::move(first));
    }
}

SessionTable::Sessions::iterator SessionTable::session_of(const Address& sender) {
    return std::ranges::find_if(m_open, [&sender](const auto& session) { return session->sender() == sender; });
}

// Returns whether a session of this sender has ended lately. boot_id: none for any boot. An acknowledged packet is
// never late, because packets are passed on only once or all again.
bool SessionTable::was_of(const Address& sender, std::optional<std::uint64_t> boot_id, Clock::time_point now) const {
    return !sender.session && std::ranges::any_of(m_former, [&](const Former& former) {
        return former.sender == sender && (!boot_id || former.boot_id == *boot_id) && now - former.ended < kFormerFor;
    });
}

bool SessionTable::take(const Address& sender, std::uint32_t number, std::span<const std::byte> records,
                        Clock::time_point now) {
    const auto begin = formats::dat::read_chunk_begin(records);
    const auto boot_id = begin ? std::optional(begin->boot_id) : std::nullopt;
    const auto own = session_of(sender);
    if (own == m_open.end()) {
        if (sender.session && std::ranges::find(m_cut, sender) != m_cut.end()) {
            return true; // it is passed on again
        }
        const auto former = std::ranges::find_if(m_open, [&sender](const auto& session) {
            return sender.session && session->sender() && session->sender()->session &&
                   session->sender()->ipv4 == sender.ipv4 && session->sender()->port == sender.port;
        });
        return boot_id && former != m_open.end() ? begin_after(former, sender, number, records, *boot_id, now)
                                                 : take_strange(sender, number, records, boot_id, now);
    }
    if (boot_id && (*own)->is_other_boot(*boot_id, number)) {
        if (was_of(sender, boot_id, now) || !has_room()) {
            ++m_strays.packets; // a late packet of the previous boot, perhaps
            return false;
        }
        return begin_after(own, sender, number, records, *boot_id, now);
    }
    (*own)->take(number, records, boot_id, now);
    if ((*own)->ended()) {
        close(own, "", now);
    }
    return true;
}

// The machine runs again: its session ends, and another one begins with this packet.
bool SessionTable::begin_after(Sessions::iterator former, const Address& sender, std::uint32_t number,
                               std::span<const std::byte> records, std::uint64_t boot_id, Clock::time_point now) {
    // This comes first, because what is opened may take the place of the former session.
    if (sender.session) {
        m_superseded.push_back({.session = former->get(), .next_boot_id = boot_id, .since = now});
    } else {
        close(former, reset_text(boot_id), now);
    }
    Session* const next = open_for(sender, boot_id, now);
    if (next != nullptr) {
        next->take(number, records, boot_id, now);
    }
    return next != nullptr;
}

bool SessionTable::take_strange(const Address& sender, std::uint32_t number, std::span<const std::byte> records,
                                std::optional<std::uint64_t> boot_id, Clock::time_point now) {
    if (sender.session && !boot_id) { // the session of this sender is closed
        ++m_strays.packets;
        return false;
    }
    const bool taken = m_alone && (m_open.empty() || m_open.front()->sender()) && !of_same_machine(sender);
    const bool ends = ends_export(records); // an end without a begin makes no session
    if (taken || ends || was_of(sender, boot_id, now)) {
        count_stray(sender, boot_id.has_value() || ends);
        return false;
    }
    ++m_strays.packets;
    auto packets = m_strangers.take(sender, number, records, boot_id.has_value(), has_room());
    Session* const session = packets ? open_for(sender, boot_id.value_or(0), now) : nullptr;
    if (session == nullptr) {
        return !packets; // true if the packet is held
    }
    m_strays.packets -= std::min<std::uint64_t>(m_strays.packets, packets->size());
    for (const auto& [held, contents] : *packets) {
        session->take(held, contents, std::nullopt, now);
    }
    if (session->ended()) {
        close(session_of(sender), "", now);
    }
    return true;
}

// Returns whether the run of this machine has been recorded: after a reset it may send the trace of its former boot
// first.
bool SessionTable::of_same_machine(const Address& sender) const {
    return std::ranges::any_of(m_former, [&](const Former& former) {
        return (m_run_follows || (sender.session && former.sender.session)) && former.sender.ipv4 == sender.ipv4 &&
               former.sender.port == sender.port;
    });
}

// Returns the session of `record --out` if it waits for its sender; otherwise opens one in a new directory. Null if
// that is not possible.
Session* SessionTable::open_for(const Address& sender, std::uint64_t boot_id, Clock::time_point now) {
    if (!m_alone || m_open.empty() || m_open.front()->sender()) {
        return open_new(sender, boot_id, now);
    }
    Session& session = *m_open.front();
    session.bind(sender, boot_id, now);
    m_observer.opened(session.view());
    return &session;
}

bool SessionTable::open_beside(const Address& sender, std::uint64_t boot_id, Clock::time_point now) {
    return open_new(sender, boot_id, now) != nullptr;
}

Session* SessionTable::open_new(const Address& sender, std::uint64_t boot_id, Clock::time_point now) {
    if (m_open.size() >= m_limits.sessions && !make_space(sender, now)) {
        m_observer.refused(
            fmt::format("{}: there are {} open sessions already, no more are taken", to_text(sender), m_open.size()));
        fail(lib::Error::no_space);
        return nullptr;
    }
    auto made = m_places.make(boot_id, m_alone ? m_limits.sessions : m_limits.directories);
    if (!made) {
        m_observer.refused(fmt::format("{}: no session can be made: {}", to_text(sender), made.error().text));
        fail(made.error().cause);
        return nullptr;
    }
    open(std::move(made.value()));
    Session& session = *m_open.back();
    session.bind(sender, boot_id, now);
    m_observer.opened(session.view());
    return &session;
}

bool SessionTable::make_space(const Address& newcomer, Clock::time_point now) {
    std::vector<reliable::Occupant> occupants;
    for (const auto& session : m_open) {
        const std::chrono::nanoseconds silence = now - session->last_packet();
        occupants.push_back({.ipv4 = session->sender() ? session->sender()->ipv4 : 0,
                             .bytes = session->writer().taken_bytes(),
                             .silence = {static_cast<std::uint64_t>(silence.count())}});
    }
    const auto replaced = m_alone ? std::nullopt : reliable::Admission::replaced(occupants, newcomer.ipv4);
    if (replaced) {
        const auto session = std::next(m_open.begin(), static_cast<std::ptrdiff_t>(*replaced));
        std::erase_if(m_superseded, [&session](const Superseded& old) { return old.session == session->get(); });
        cut(session, "another machine needed its place", now);
    }
    return replaced.has_value();
}

// Closes a session that its machine has not ended.
void SessionTable::cut(Sessions::iterator session, const std::string& why, Clock::time_point now) {
    if (const auto& sender = (*session)->sender()) {
        m_cut.push_back(*sender);
    }
    close(session, why, now);
}

void SessionTable::open(std::shared_ptr<SessionDirectory> directory) {
    m_open.push_back(std::make_unique<Session>(std::move(directory), m_surroundings));
    ++m_outcome.sessions;
}

void SessionTable::close(Sessions::iterator session, const std::string& why, Clock::time_point now) {
    (*session)->close(why);
    const auto& end = (*session)->writer().export_end();
    m_run_follows = end && end->result == tracer::RunResult::unknown;
    if (const auto& sender = (*session)->sender(); sender && (*session)->boot_id() != 0) {
        m_former.push_back({.sender = *sender, .boot_id = (*session)->boot_id(), .ended = now});
        if (m_former.size() > kFormerMax) {
            m_former.pop_front();
        }
    }
    m_closing.splice(m_closing.end(), m_open, session);
    if (m_open.size() + m_closing.size() > m_limits.sessions + kClosingMax) { // before anything is received
        m_syncer.drain();
        report_settled();
    }
}

void SessionTable::count_stray(const Address& sender, bool of_trace) {
    ++m_strays.packets;
    const bool former = std::ranges::any_of(m_former, [&](const Former& one) { return one.sender == sender; });
    if (!former && of_trace) {
        ++m_strays.traces;
        m_strays.sender = sender;
    }
}

void SessionTable::count_malformed(const Address& sender) {
    if (const auto own = session_of(sender); own != m_open.end()) {
        (*own)->count_malformed();
    } else {
        ++m_strays.malformed;
    }
}

void SessionTable::close_superseded(Clock::time_point now) {
    std::erase_if(m_superseded, [&](const Superseded& old) {
        const auto session =
            std::ranges::find_if(m_open, [&old](const auto& open) { return open.get() == old.session; });
        const bool due = session != m_open.end() && now - old.since >= kSupersededFor;
        if (due) {
            cut(session, reset_text(old.next_boot_id), now);
        }
        return due || session == m_open.end();
    });
}

std::vector<Address> SessionTable::tick(Clock::time_point now, std::optional<std::chrono::milliseconds> idle) {
    close_superseded(now);
    const bool urgent = m_alone || 2 * m_open.size() >= m_limits.sessions;
    for (auto next = m_open.begin(); next != m_open.end();) {
        const auto session = next++;
        (*session)->tick(now);
        if ((*session)->ended()) {
            close(session, "", now);
        } else if (const auto& sender = (*session)->sender();
                   sender && idle && (urgent || !sender->session) && now - (*session)->last_packet() >= *idle) {
            cut(session, fmt::format("nothing came for {} ms", idle->count()), now);
        }
    }
    report_settled();
    return std::exchange(m_cut, {});
}

void SessionTable::report_settled() {
    for (auto next = m_closing.begin(); next != m_closing.end();) {
        const auto session = next++;
        if (!(*session)->settled()) {
            continue;
        }
        formats::dat::Manifest manifest = (*session)->result();
        const auto error = (*session)->error();
        m_observer.closed((*session)->view(), manifest, error);
        m_outcome.complete += manifest.complete ? 1U : 0U;
        if (error) {
            fail(*error);
            if (const auto& sender = (*session)->sender()) {
                m_unwritten.push_back(*sender);
            }
        }
        add(m_ended, **session);
        m_closing.erase(session);
    }
}

void SessionTable::fail(lib::Error error) {
    m_outcome.error = m_outcome.error ? m_outcome.error : error;
}

void SessionTable::close_all(const std::string& why) {
    const Clock::time_point now = Clock::now();
    if (m_alone && !m_open.empty() && !m_open.front()->sender()) {
        if (auto stranger = m_strangers.take_plausible()) {
            Session* const session = open_for(stranger->sender, 0, now);
            m_strays.packets -= std::min<std::uint64_t>(m_strays.packets, stranger->packets.size());
            for (const auto& [number, records] : stranger->packets) {
                session->take(number, records, std::nullopt, now);
            }
        }
    }
    close_superseded(now + kSupersededFor);
    while (!m_open.empty()) {
        close(m_open.begin(), why, now);
    }
    settle();
    report_settled();
}

void SessionTable::settle() {
    m_syncer.drain();
    for (const auto& session : m_open) {
        session->list_sealed();
    }
    m_syncer.drain();
}

void SessionTable::release(const Freed& freed) {
    m_usage.bytes -= std::min(m_usage.bytes.load(), freed.bytes);
    m_places.release(freed.sessions);
}

bool SessionTable::settled(const Address& sender) const {
    const auto is_of = [&sender](const auto& session) { return session->sender() == sender; };
    return std::ranges::find(m_unwritten, sender) == m_unwritten.end() && std::ranges::none_of(m_open, is_of) &&
           std::ranges::none_of(m_closing, is_of);
}

Progress SessionTable::progress() const {
    Progress progress = m_ended;
    progress.open = m_open.size();
    progress.strays = m_strays.packets + m_strays.malformed + m_strays.malformed_acknowledged;
    for (const Sessions* const sessions : {&m_open, &m_closing}) {
        for (const auto& session : *sessions) {
            add(progress, *session);
        }
    }
    return progress;
}

} // namespace host::collector
