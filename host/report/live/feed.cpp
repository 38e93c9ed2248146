// SPDX-License-Identifier: MIT
#include "host/report/live/feed.hpp"

#include <algorithm>

namespace host::report::live {

namespace {

std::string_view name_of(Feed::State state) {
    switch (state) {
    case Feed::State::waiting:
        return "waiting";
    case Feed::State::running:
        return "running";
    case Feed::State::ended:
        return "ended";
    case Feed::State::reset:
        return "reset";
    }
    return "";
}

} // namespace

void Feed::begin(Tables tables) {
    const std::lock_guard lock(m_mutex);
    m_tables = std::move(tables);
    m_state = State::running;
    m_cuts.clear();
    ++m_run;
    m_has_trace = true;
}

void Feed::remove() {
    const std::lock_guard lock(m_mutex);
    answer_locked();
    m_has_trace = false;
    m_tables = nullptr;
}

void Feed::answer() {
    const std::lock_guard lock(m_mutex);
    answer_locked();
}

void Feed::answer_for(std::chrono::milliseconds time) {
    std::unique_lock lock(m_mutex);
    const auto end = std::chrono::steady_clock::now() + time;
    while (m_asking.wait_until(lock, end, [this] { return m_asked != nullptr; })) {
        answer_locked();
    }
}

void Feed::answer_locked() {
    if (m_asked == nullptr) {
        return;
    }
    m_asked->block = block_after(m_asked->after);
    m_asked->answered = true;
    m_asked = nullptr;
    m_answering.notify_all();
}

// An unknown cut belongs to another run, or to a page that was inactive for long.
std::optional<std::vector<std::byte>> Feed::block_after(std::optional<std::uint64_t> number) {
    const Trace trace = m_tables();
    const auto known = std::ranges::find_if(m_cuts, [&](const Known& one) { return number == one.number; });
    const bool first = known == m_cuts.end();
    if (!first && known->cut.events == trace.head.events && known->state == m_state) {
        return std::nullopt;
    }
    const Cut since = first ? Cut{} : known->cut;
    if (m_cuts.empty() || m_cuts.back().cut.events != trace.head.events || m_cuts.back().state != m_state) {
        m_cuts.push_back({.number = ++m_number, .state = m_state, .cut = cut_of(trace)});
    }
    auto block = contents(trace, since, Live{.state = name_of(m_state), .cut = m_number, .first = first, .run = m_run});
    if (m_cuts.size() > kCutsMax) {
        m_cuts.pop_front();
    }
    return block;
}

std::optional<std::vector<std::byte>> Feed::after(std::optional<std::uint64_t> cut) {
    std::unique_lock lock(m_mutex);
    if (m_closed) {
        return std::nullopt;
    }
    if (!m_has_trace) {
        return contents_without_trace({.state = name_of(State::waiting), .cut = 0, .first = true, .run = m_run + 1});
    }
    Asked asked{.after = cut};
    m_asked = &asked;
    m_asking.notify_all();
    m_answering.wait(lock, [&] { return asked.answered || m_closed; });
    m_asked = nullptr;
    return std::move(asked.block);
}

void Feed::close() {
    const std::lock_guard lock(m_mutex);
    m_closed = true;
    m_answering.notify_all();
}

} // namespace host::report::live
