// SPDX-License-Identifier: MIT
// A message port is a bounded queue of messages of one size, in storage of its owner. Messages are copied in and out,
// and are received in the order in which the port took them. A task that sends to a full port or receives from an empty
// one waits; the most urgent waiter is served first (waiting.hpp). A message goes to a waiting receiver directly, and
// room to the most urgent waiting sender, so that no later sender overtakes them.
//
//   senders waiting (full)  --->  [ m3 | m2 | m1 ]  --->  receivers waiting (empty)
//
//   alignas(Sample) constinit std::byte s_storage[4 * sizeof(Sample)];
//   constinit kernel::Port s_samples;
//   must(port_init(s_samples, "samples", s_storage, sizeof(Sample)));
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/sync/waiting.hpp"
#include "lib/result.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace kernel {

// A port must be initialised by port_init() before it is used.
class Port {
  public:
    constexpr Port() = default;
    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;

    // Returns the number that trace records carry: from 1 on in the order of initialisation, 0 before port_init().
    [[nodiscard]] std::uint16_t id() const { return m_id; }

    // Returns how many messages the port can hold.
    [[nodiscard]] std::size_t capacity() const { return m_capacity; }

    // Returns how many messages the port holds. With interrupts on the answer is only a hint.
    [[nodiscard]] std::size_t size() const { return m_count; }

  private:
    friend lib::Result<void> port_init(Port& port, std::string_view name, std::span<std::byte> storage,
                                       std::size_t message_bytes);
    friend lib::Result<void> port_send(Port& port, std::span<const std::byte> message);
    friend lib::Result<void> port_timedsend(Port& port, std::span<const std::byte> message, lib::Nanoseconds timeout);
    friend lib::Result<void> port_trysend(Port& port, std::span<const std::byte> message);
    friend lib::Result<void> port_receive(Port& port, std::span<std::byte> message);
    friend lib::Result<void> port_timedreceive(Port& port, std::span<std::byte> message, lib::Nanoseconds timeout);
    friend lib::Result<void> port_tryreceive(Port& port, std::span<std::byte> message);

    [[nodiscard]] bool takes(std::span<const std::byte> message) const;
    [[nodiscard]] bool put(const std::byte* message, IrqOff);
    [[nodiscard]] bool get(std::byte* message, IrqOff);
    [[nodiscard]] lib::Result<void> send(std::span<const std::byte> message, lib::Ticks until, IrqOff);
    [[nodiscard]] lib::Result<void> receive(std::span<std::byte> message, lib::Ticks until, IrqOff);
    void store(const std::byte* message);

    std::uint16_t m_id = 0;
    std::byte* m_storage = nullptr;
    std::size_t m_message_bytes = 0;
    std::size_t m_capacity = 0;
    std::size_t m_first = 0; // index of the oldest message
    std::size_t m_count = 0;
    WaitQueue m_senders;   // empty unless the port is full
    WaitQueue m_receivers; // empty unless the port is empty
};

// Initialises a port, which holds storage.size() / message_bytes messages. The storage must live as long as the port
// and serve nothing else. The name appears in the trace.
// message_bytes: the size of each message, at least 1 byte.
// invalid_argument: the size is 0, or the storage has no room for a single message.
// exists: the port was initialised before.
// no_space: 65,535 ports exist.
// Context: any.
lib::Result<void> port_init(Port& port, std::string_view name, std::span<std::byte> storage, std::size_t message_bytes);

// Copies the message into the port, and waits for room if the port is full.
// invalid_argument: the port is not initialised, or the message does not have the port's size.
// Context: task.
lib::Result<void> port_send(Port& port, std::span<const std::byte> message);

// Sends like port_send(), but waits no longer than `timeout`. With 0 it is port_trysend(). An error sends nothing.
// invalid_argument: the port is not initialised, or the message does not have the port's size.
// timeout: there was no room in time.
// busy: the timeout is 0 and the port is full.
// Context: task.
lib::Result<void> port_timedsend(Port& port, std::span<const std::byte> message, lib::Nanoseconds timeout);

// Copies the message into the port if there is room.
// invalid_argument: the port is not initialised, or the message does not have the port's size.
// busy: the port is full.
// Context: any. It is a scheduling point in task context.
lib::Result<void> port_trysend(Port& port, std::span<const std::byte> message);

// Copies the oldest message out of the port, and waits for one if the port is empty.
// invalid_argument: the port is not initialised, or the message does not have the port's size.
// Context: task.
lib::Result<void> port_receive(Port& port, std::span<std::byte> message);

// Receives like port_receive(), but waits no longer than `timeout`. With 0 it is port_tryreceive(). An error leaves the
// buffer as it was.
// invalid_argument: the port is not initialised, or the message does not have the port's size.
// timeout: no message came in time.
// busy: the timeout is 0 and the port is empty.
// Context: task.
lib::Result<void> port_timedreceive(Port& port, std::span<std::byte> message, lib::Nanoseconds timeout);

// Copies the oldest message out of the port if there is one.
// invalid_argument: the port is not initialised, or the message does not have the port's size.
// busy: the port is empty.
// Context: any. It is a scheduling point in task context.
lib::Result<void> port_tryreceive(Port& port, std::span<std::byte> message);

} // namespace kernel
