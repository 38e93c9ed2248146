// SPDX-License-Identifier: MIT
#include "fleet/spool_publisher.hpp"

#include <algorithm>
#include <utility>

namespace host::fleet {

SpoolPublisher::SpoolPublisher(Connect connect, std::function<void(std::string_view)> report)
    : m_connect(std::move(connect))
    , m_report(std::move(report)) {}

void SpoolPublisher::add(const std::string& directory, const NodeName& from, bool closed) {
    const auto found = std::ranges::find(m_sessions, directory, &Session::directory);
    if (found == m_sessions.end()) {
        m_sessions.push_back({.publisher = nullptr, .directory = directory, .from = from, .closed = closed});
    } else {
        found->closed = found->closed || closed;
        found->due = !found->failed;
    }
}

void SpoolPublisher::look_again() {
    for (Session& session : m_sessions) {
        session.due = session.due || (!session.closed && !session.failed);
    }
}

void SpoolPublisher::close_all() {
    for (Session& session : m_sessions) {
        session.closed = true;
        session.due = !session.failed;
    }
}

bool SpoolPublisher::any_due() const {
    return std::ranges::any_of(m_sessions, &Session::due);
}

SpoolPublisher::Step SpoolPublisher::connected() {
    if (m_outlet != nullptr) {
        return Step::more;
    }
    auto outlet = m_connect();
    if (!outlet) {
        m_why = outlet.error().text;
        return outlet.error().cause == lib::Error::unreachable ? Step::away : Step::refused;
    }
    m_outlet = std::move(outlet.value());
    return Step::more;
}

SpoolPublisher::Step SpoolPublisher::step() {
    if (!any_due()) {
        return Step::idle;
    }
    if (const Step step = connected(); step != Step::more) {
        return step;
    }
    const auto session = std::ranges::find_if(m_sessions, &Session::due);
    if (session->publisher == nullptr) {
        session->publisher = std::make_unique<SessionPublisher>(session->directory, session->from, *m_outlet, m_report);
    }
    const Step step = publish(*session);
    if (step == Step::away) {
        return step;
    }
    if (session->closed && !session->due && !session->failed) {
        if (session->publisher->published().session) {
            m_finished.push_back(session->directory);
        }
        m_sessions.erase(session);
    } else {
        m_sessions.splice(m_sessions.end(), m_sessions, session); // the others' turn
    }
    return any_due() ? Step::more : Step::idle;
}

SpoolPublisher::Step SpoolPublisher::publish(Session& session) {
    SessionPublisher& publisher = *session.publisher;
    const SessionPublisher::Counts before = publisher.counts();
    const Published was = publisher.published();
    const auto done = publisher.next(kBatchBytes, session.closed);
    count(publisher, before, was.differing);
    if (done) {
        session.due = !done.value();
        const bool whole = !session.due && session.closed && publisher.published().session;
        const bool new_here = publisher.counts().chunks != 0 || !publisher.published_before();
        m_counts.sessions += whole && new_here ? 1U : 0U;
        m_counts.before += whole && !new_here ? 1U : 0U;
        return Step::more;
    }
    m_why = done.error().text;
    if (done.error().cause == lib::Error::unreachable) {
        return Step::away;
    }
    if (done.error().cause == lib::Error::not_found && !session.closed) { // it is just being opened
        session.due = false;
        return Step::more;
    }
    session.due = false;
    session.failed = true;
    ++m_counts.failed;
    m_report(m_why);
    return Step::more;
}

void SpoolPublisher::count(const SessionPublisher& publisher, const SessionPublisher::Counts& before,
                           std::size_t differing) {
    const SessionPublisher::Counts& now = publisher.counts();
    m_counts.chunks += now.chunks - before.chunks;
    m_counts.bytes += now.bytes - before.bytes;
    m_counts.undescribed += now.undescribed - before.undescribed;
    m_counts.differing += publisher.published().differing - std::min(differing, publisher.published().differing);
}

std::vector<std::string> SpoolPublisher::take_finished() {
    return std::exchange(m_finished, {});
}

std::vector<std::string> SpoolPublisher::left() const {
    std::vector<std::string> directories;
    for (const Session& session : m_sessions) {
        if (session.closed || session.due || session.failed) {
            directories.push_back(session.directory);
        }
    }
    std::ranges::sort(directories);
    return directories;
}

} // namespace host::fleet
