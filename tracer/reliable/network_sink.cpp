// SPDX-License-Identifier: MIT
#include "tracer/reliable/network_sink.hpp"

namespace tracer::reliable {

lib::Result<void> NetworkSink::choose(Protocol protocol) {
    if (protocol == m_chosen || protocol == Protocol::automatic) {
        return {};
    }
    if (m_asked_at && protocol != m_used) {
        return lib::Error::exists;
    }
    if (m_keyed && protocol == Protocol::v1) {
        return lib::Error::refused;
    }
    m_chosen = protocol;
    return {};
}

void NetworkSink::wait_for_answer(bool wait) {
    m_waits = wait;
    if (m_asked_at) {
        m_asked_at = m_peer.now();
    }
}

void NetworkSink::set_key(const SipKey& key) {
    m_v2.set_key(key);
    m_keyed = true;
    m_chosen = Protocol::v2;
}

void NetworkSink::set_patience(lib::Nanoseconds patience) {
    m_patience = patience;
    m_v2.set_patience(kAbsenceTime);
}

lib::Result<void> NetworkSink::submit(const ChunkImage& image) {
    if (!m_asked_at) {
        m_image = image;
        if (m_chosen != Protocol::automatic) {
            use(m_chosen);
        }
    }
    const auto taken = current().submit(image);
    if (taken && !m_asked_at) {
        m_asked_at = m_peer.now(); // last: a submit() that was abandoned is repeated
    }
    return taken;
}

SinkState NetworkSink::step() {
    if (m_patience && m_v2.answered()) {
        m_v2.set_patience(*m_patience);
        m_patience.reset();
    }
    if (m_decided) {
        return current().step();
    }
    const SinkState state = m_v2.step();
    if (m_v2.answered()) {
        use(Protocol::v2);
    } else if (state != SinkState::idle && !m_waits && m_asked_at && m_peer.now() - *m_asked_at >= kAnswerTime) {
        if (m_v1.state() == SinkState::idle) {
            static_cast<void>(m_v1.submit(m_image)); // taken: it is idle and has not failed
        }
        use(Protocol::v1);
    }
    return this->state();
}

lib::Result<void> NetworkSink::finish(const ExportEnd& totals) {
    if (!m_decided) {
        use(m_chosen == Protocol::v2 ? Protocol::v2 : Protocol::v1);
    }
    return current().finish(totals);
}

void NetworkSink::use(Protocol protocol) {
    m_used = protocol;
    m_decided = true;
    m_image = {};
}

} // namespace tracer::reliable
