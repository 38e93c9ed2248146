// SPDX-License-Identifier: MIT
#include "convert/json/call_stack.hpp"

#include <algorithm>

namespace host::convert::json {

bool CallStack::is_beyond(tracer::Flow flow) {
    if (flow == tracer::Flow::call && m_frames.size() == kDepthMax) {
        ++m_beyond;
        return true;
    }
    if (m_beyond == 0) {
        return false;
    }
    m_beyond -= flow == tracer::Flow::ret ? 1 : 0;
    return true;
}

void CallStack::open(Frame frame) {
    m_frames.push_back(frame);
    m_changes.push_back({true, frame});
}

void CallStack::close() {
    m_changes.push_back({false, m_frames.back()});
    m_frames.pop_back();
}

void CallStack::close_all() {
    while (!m_frames.empty()) {
        close();
    }
}

// Interludes end before the task continues, even without a record.
void CallStack::close_interludes() {
    for (; !m_interludes.empty(); m_interludes.pop_back()) {
        m_changes.push_back({false, m_interludes.back()});
    }
}

bool CallStack::holds(Frame function) const {
    return std::ranges::find(m_frames, function) != m_frames.end();
}

void CallStack::close_down_to(Frame function) {
    while (m_frames.back() != function) {
        close();
    }
}

std::span<const CallStack::Change> CallStack::step(tracer::Flow flow, Frame function) {
    static_cast<void>(resume());
    close_interludes();
    if (is_beyond(flow)) {
        return m_changes;
    }
    if (flow == tracer::Flow::call) {
        open(function);
        return m_changes;
    }
    if (flow == tracer::Flow::ret && !m_frames.empty()) {
        close();
    }
    if (!m_frames.empty() && m_frames.back() == function) {
        return m_changes;
    }
    if (holds(function)) {
        close_down_to(function);
        return m_changes;
    }
    if ((flow == tracer::Flow::jump || flow == tracer::Flow::next) && !m_frames.empty()) {
        close();
    }
    if (flow == tracer::Flow::ret) {
        close_all();
    }
    open(function);
    return m_changes;
}

std::span<const CallStack::Change> CallStack::step_unknown(tracer::Flow flow, Frame address) {
    static_cast<void>(resume());
    close_interludes();
    if (is_beyond(flow)) {
        return m_changes;
    }
    if (flow == tracer::Flow::ret && !m_frames.empty()) {
        close();
    }
    if (flow == tracer::Flow::call || m_frames.empty()) {
        open(address);
    }
    return m_changes;
}

std::span<const CallStack::Change> CallStack::suspend(bool forget) {
    m_changes.clear();
    if (m_open) {
        close_interludes();
        for (auto frame = m_frames.rbegin(); frame != m_frames.rend(); ++frame) {
            m_changes.push_back({false, *frame});
        }
        m_open = false;
    }
    if (forget) {
        m_frames.clear();
        m_beyond = 0;
    }
    return m_changes;
}

std::span<const CallStack::Change> CallStack::resume() {
    m_changes.clear();
    if (!m_open) {
        for (const Frame frame : m_frames) {
            m_changes.push_back({true, frame});
        }
        m_open = true;
    }
    return m_changes;
}

std::span<const CallStack::Change> CallStack::begin_interlude(Frame frame) {
    m_changes.clear();
    m_interludes.push_back(frame);
    m_changes.push_back({true, frame});
    return m_changes;
}

std::span<const CallStack::Change> CallStack::end_interlude() {
    m_changes.clear();
    if (!m_interludes.empty()) {
        m_changes.push_back({false, m_interludes.back()});
        m_interludes.pop_back();
    }
    return m_changes;
}

} // namespace host::convert::json
