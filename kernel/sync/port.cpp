// SPDX-License-Identifier: MIT
// Implements ports. The message of a waiting task is on its own stack, which stays as it is until the task is woken.
#include "kernel/sync/port.hpp"

#include "kernel/sched/scheduler.hpp"
#include "kernel/sched/upcalls.hpp"
#include "kernel/sync/waiting.hpp"
#include "kernel/trace/sync.hpp"

#include <algorithm>

namespace kernel {

namespace {

constinit std::uint16_t s_last_port_id = 0;

} // namespace

bool Port::takes(std::span<const std::byte> message) const {
    return m_id != 0 && message.size() == m_message_bytes;
}

void Port::store(const std::byte* message) {
    const std::size_t place = (m_first + m_count) % m_capacity;
    std::copy_n(message, m_message_bytes, m_storage + place * m_message_bytes);
    ++m_count;
}

// Puts a message into the port; returns false if it is full.
bool Port::put(const std::byte* message, IrqOff off) {
    if (m_count == m_capacity) {
        return false;
    }
    trace_points::port_sent(current_task(off), m_id);
    if (Task* const receiver = m_receivers.first()) {
        std::copy_n(message, m_message_bytes, receiver->message);
        trace_points::port_received(receiver, m_id);
        m_receivers.wake(*receiver, off);
        schedule(off);
    } else {
        store(message);
    }
    return true;
}

// Gets a message out of the port; returns false if it is empty.
bool Port::get(std::byte* message, IrqOff off) {
    if (m_count == 0) {
        return false;
    }
    std::copy_n(m_storage + m_first * m_message_bytes, m_message_bytes, message);
    m_first = (m_first + 1) % m_capacity;
    --m_count;
    trace_points::port_received(current_task(off), m_id);
    if (Task* const sender = m_senders.first()) {
        store(sender->message);
        trace_points::port_sent(sender, m_id);
        m_senders.wake(*sender, off);
        schedule(off);
    }
    return true;
}

lib::Result<void> Port::send(std::span<const std::byte> message, lib::Ticks until, IrqOff off) {
    Task& self = calling_task(off);
    if (!takes(message)) {
        return lib::Error::invalid_argument;
    }
    if (put(message.data(), off)) {
        return {};
    }
    self.message = const_cast<std::byte*>(message.data()); // get() only reads the message of a waiting sender
    m_senders.enter(self, {.kind = WaitKind::send, .id = m_id}, until, off);
    schedule(off);
    return self.timed_out ? lib::Result<void>{lib::Error::timeout} : lib::Result<void>{};
}

lib::Result<void> Port::receive(std::span<std::byte> message, lib::Ticks until, IrqOff off) {
    Task& self = calling_task(off);
    if (!takes(message)) {
        return lib::Error::invalid_argument;
    }
    if (get(message.data(), off)) {
        return {};
    }
    self.message = message.data();
    m_receivers.enter(self, {.kind = WaitKind::receive, .id = m_id}, until, off);
    schedule(off);
    return self.timed_out ? lib::Result<void>{lib::Error::timeout} : lib::Result<void>{};
}

lib::Result<void> port_init(Port& port, std::string_view name, std::span<std::byte> storage,
                            std::size_t message_bytes) {
    const IrqGuard guard;
    if (port.m_id != 0) {
        return lib::Error::exists;
    }
    if (message_bytes == 0 || storage.size() < message_bytes) {
        return lib::Error::invalid_argument;
    }
    if (s_last_port_id == 0xFFFF) {
        return lib::Error::no_space;
    }
    port.m_id = ++s_last_port_id;
    port.m_storage = storage.data();
    port.m_message_bytes = message_bytes;
    port.m_capacity = storage.size() / message_bytes;
    trace_points::port_created(port.m_id, name);
    return {};
}

lib::Result<void> port_send(Port& port, std::span<const std::byte> message) {
    return primitive([&](IrqOff off) -> lib::Result<void> { return port.send(message, kForever, off); });
}

lib::Result<void> port_timedsend(Port& port, std::span<const std::byte> message, lib::Nanoseconds timeout) {
    if (timeout.value == 0) {
        return port_trysend(port, message);
    }
    return primitive([&](IrqOff off) -> lib::Result<void> { return port.send(message, wait_limit(timeout), off); });
}

lib::Result<void> port_trysend(Port& port, std::span<const std::byte> message) {
    return primitive([&](IrqOff off) -> lib::Result<void> {
        if (!port.takes(message)) {
            return lib::Error::invalid_argument;
        }
        return port.put(message.data(), off) ? lib::Result<void>{} : lib::Result<void>{lib::Error::busy};
    });
}

lib::Result<void> port_receive(Port& port, std::span<std::byte> message) {
    return primitive([&](IrqOff off) -> lib::Result<void> { return port.receive(message, kForever, off); });
}

lib::Result<void> port_timedreceive(Port& port, std::span<std::byte> message, lib::Nanoseconds timeout) {
    if (timeout.value == 0) {
        return port_tryreceive(port, message);
    }
    return primitive([&](IrqOff off) -> lib::Result<void> { return port.receive(message, wait_limit(timeout), off); });
}

lib::Result<void> port_tryreceive(Port& port, std::span<std::byte> message) {
    return primitive([&](IrqOff off) -> lib::Result<void> {
        if (!port.takes(message)) {
            return lib::Error::invalid_argument;
        }
        return port.get(message.data(), off) ? lib::Result<void>{} : lib::Result<void>{lib::Error::busy};
    });
}

} // namespace kernel
