// SPDX-License-Identifier: MIT
// A message port: a bounded queue of messages of one size, over storage of its owner's. Messages are copied in and out,
// and received in the order in which the port took them. Whoever sends to a full port or receives from an empty one
// waits, the most urgent first (wait_queue.hpp); a message goes to a waiting receiver directly, and room to the most
// urgent waiting sender, so no later sender overtakes them.
//
//   senders waiting (full)  --->  [ m3 | m2 | m1 ]  --->  receivers waiting (empty)
//
//   alignas(Sample) constinit std::byte s_storage[4 * sizeof(Sample)];
//   constinit kernel::Port s_samples;
//   must(port_init(s_samples, "samples", s_storage, sizeof(Sample)));
#pragma once

#include "kernel/irq_off.hpp"
#include "kernel/sync/wait_queue.hpp"
#include "lib/result.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace kernel {

class Port {
  public:
    constexpr Port() = default;
    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;

    // 1.. in the order of initialisation; what trace records carry. 0 before port_init().
    [[nodiscard]] std::uint16_t id() const { return m_id; }

    [[nodiscard]] std::size_t capacity() const { return m_capacity; }

    // Messages in the port. irq-off, or a hint.
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
    WaitQueue m_senders;   // some only while the port is full
    WaitQueue m_receivers; // some only while it is empty
};

// The storage must live as long as the port and serve nothing else; it holds storage.size() / message_bytes messages.
// `name` appears in the trace. invalid_argument: messages of no size, or no room for a single one. exists: initialised
// before. no_space: 65535 ports exist. Context: any.
lib::Result<void> port_init(Port& port, std::string_view name, std::span<std::byte> storage, std::size_t message_bytes);

// Copies the message into the port, waiting for room if need be. invalid_argument: not initialised, or the message has
// not the port's size. Context: task.
lib::Result<void> port_send(Port& port, std::span<const std::byte> message);

// As port_send, but waits no longer than `timeout`. 0: as port_trysend. timeout: there was no room in time; nothing is
// sent. Context: task.
lib::Result<void> port_timedsend(Port& port, std::span<const std::byte> message, lib::Nanoseconds timeout);

// As port_send, but busy instead of waiting. Context: any, also a timer handler.
lib::Result<void> port_trysend(Port& port, std::span<const std::byte> message);

// Copies the oldest message out of the port, waiting for one if need be. Errors as port_send. Context: task.
lib::Result<void> port_receive(Port& port, std::span<std::byte> message);

// As port_receive, but waits no longer than `timeout`. 0: as port_tryreceive. timeout: no message came in time; the
// buffer is as it was. Context: task.
lib::Result<void> port_timedreceive(Port& port, std::span<std::byte> message, lib::Nanoseconds timeout);

// As port_receive, but busy instead of waiting. Context: any, also a timer handler.
lib::Result<void> port_tryreceive(Port& port, std::span<std::byte> message);

} // namespace kernel
