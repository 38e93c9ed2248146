// SPDX-License-Identifier: MIT
// A panic abandons a step of the sender wherever it is: here at any of its last instructions. The processor
// executes the step one instruction at a time (the trap flag), and the handler leaves it after the chosen number. The
// next steps must finish the transfer with the totals of what was sent.
#include "tracer/reliable/sender.hpp"

#include <csetjmp>
#include <csignal>
#include <deque>
#include <gtest/gtest.h>
#include <ucontext.h>
#include <vector>

namespace abandoned_step_test {

namespace wire = tracer::reliable;
using tracer::SinkState;
using wire::PacketType;
using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kTrapFlag = 1U << 8U;
constexpr std::size_t kLast = 120;  // instructions, of the end of a step
constexpr std::size_t kStride = 40; // a trap takes long in some machines

struct SingleSteps {
    bool wanted = false; // the next SIGTRAP begins them
    std::uint64_t count = 0;
    std::uint64_t abandon_at = 0; // 0: never
    sigjmp_buf back{};
};

SingleSteps g_steps; // NOLINT: of the signal's handler

void on_trap(int /*signal*/, siginfo_t* /*information*/, void* context) {
    auto& flags = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL];
    if (!g_steps.wanted) {
        flags &= ~static_cast<greg_t>(kTrapFlag);
        return;
    }
    flags |= static_cast<greg_t>(kTrapFlag);
    if (++g_steps.count == g_steps.abandon_at) {
        g_steps.wanted = false;
        siglongjmp(g_steps.back, 1);
    }
}

// Plays a collector that receives everything and keeps it.
class Collector final : public wire::DatagramPeer {
  public:
    [[nodiscard]] lib::Result<void> send(std::span<const std::byte> datagram) override {
        const wire::Header header = wire::decode(datagram).value();
        if (header.type == PacketType::hello) {
            const bool returned = wire::decode_body<wire::Hello>(datagram).cookie == 5;
            answer(PacketType::hello_ack, header, m_packets, wire::HelloAck{.cookie = 5, .crc32c = m_crc, .window = 64},
                   returned ? std::uint8_t{0} : wire::kFlagCookie);
        } else if (header.type == PacketType::data) {
            if (header.seq == m_packets) {
                ++m_packets;
                m_bytes += datagram.size() - wire::kHeaderBytes;
                m_crc = lib::crc32c(datagram.subspan(wire::kHeaderBytes), m_crc);
            }
            if (!silent) {
                answer(PacketType::ack, header, m_packets, wire::Ack{.window = 64});
            }
        } else {
            const wire::Totals own{m_bytes, m_crc, 1};
            equal = equal && wire::decode_body<wire::Totals>(datagram) == own;
            answer(PacketType::fin_ack, header, m_packets, own);
        }
        return {};
    }

    [[nodiscard]] lib::Result<void> poll() override { return {}; }

    [[nodiscard]] bool sending() const override { return false; }

    [[nodiscard]] lib::Nanoseconds now() override { return time; }

    [[nodiscard]] lib::Result<std::size_t> receive(std::span<std::byte> out) override {
        if (m_inbox.empty()) {
            if (g_steps.wanted) {
                static_cast<void>(std::raise(SIGTRAP));
            }
            return lib::Error::not_found;
        }
        std::ranges::copy(m_inbox.front(), out.begin());
        m_inbox.pop_front();
        return wire::kHeaderBytes + wire::kControlBytes;
    }

    lib::Nanoseconds time = lib::milliseconds(1);
    bool equal = true;   // the totals that FIN announces
    bool silent = false; // acknowledges no data

    [[nodiscard]] bool has_answered() const { return !m_inbox.empty(); }

  private:
    template <typename Body>
    void answer(PacketType type, const wire::Header& to, std::uint64_t seq, const Body& body, std::uint8_t flags = 0) {
        Bytes packet(wire::kHeaderBytes + wire::kControlBytes);
        wire::encode_body(body, std::span(packet).subspan(wire::kHeaderBytes));
        const wire::SipKey key = wire::session_key({}, to.session, 5);
        wire::encode({.type = type, .flags = flags, .session = to.session, .seq = seq, .stamp = to.stamp},
                     wire::before_session(type) ? nullptr : &key, packet, wire::Covers::header);
        m_inbox.push_back(packet);
    }

    std::deque<Bytes> m_inbox;
    std::uint64_t m_packets = 0;
    std::uint64_t m_bytes = 0;
    std::uint32_t m_crc = 0;
};

// One transfer: a chunk, and the totals.
struct Transfer {
    Transfer() { image.parts[0] = memory; }

    void step() {
        collector.time = collector.time + lib::milliseconds(30);
        static_cast<void>(sink.step());
    }

    bool idle() {
        for (int i = 0; i < 200 && sink.state() == SinkState::busy; ++i) {
            step();
        }
        return sink.state() == SinkState::idle;
    }

    // Counts the instructions of the step; abandons it at one of them, unless that is 0.
    void step_singly(std::uint64_t abandon_at) {
        g_steps.count = 0;
        g_steps.abandon_at = abandon_at;
        if (sigsetjmp(g_steps.back, 1) == 0) {
            g_steps.wanted = true; // when everything that came has been received
            step();
            g_steps.wanted = false;
        }
    }

    std::vector<std::byte> memory = std::vector<std::byte>(tracer::kRecordBytes, std::byte{7});
    tracer::ChunkImage image;
    Collector collector;
    wire::ReliableSink sink{collector, {}};
};

class AbandonedStep : public testing::Test {
  protected:
    AbandonedStep() {
        struct sigaction action {};

        action.sa_sigaction = on_trap;
        action.sa_flags = SA_SIGINFO | SA_NODEFER;
        sigaction(SIGTRAP, &action, &m_before);
    }

    ~AbandonedStep() override { sigaction(SIGTRAP, &m_before, nullptr); }

    struct sigaction m_before {};
};

// The step that ends the chunk, and the one that ends the totals.
TEST_F(AbandonedStep, AtAnyInstructionLeavesTotalsThatAreRight) {
    for (const bool finishing : {false, true}) {
        const auto prepare = [finishing](Transfer& transfer) {
            ASSERT_TRUE(transfer.sink.submit(transfer.image).ok());
            if (finishing) {
                ASSERT_TRUE(transfer.idle());
                ASSERT_TRUE(transfer.sink.finish({.chunks = 1}).ok());
            }
            // No answer, until HELLO is said again: the answer to that is that everything is there.
            transfer.collector.silent = true;
            while (transfer.sink.counters().absences == 0 || !transfer.collector.has_answered()) {
                transfer.step();
            }
        };
        Transfer measured;
        prepare(measured);
        measured.step_singly(0);
        const std::uint64_t instructions = g_steps.count;
        ASSERT_GT(instructions, kLast);
        for (std::uint64_t at = instructions - kLast; at < instructions; at += kStride) {
            Transfer transfer;
            prepare(transfer);
            transfer.step_singly(at);
            transfer.collector.silent = false;
            ASSERT_TRUE(transfer.idle()) << at;
            if (!finishing) {
                ASSERT_TRUE(transfer.sink.finish({.chunks = 1}).ok());
                ASSERT_TRUE(transfer.idle()) << "abandoned at instruction " << at << " of " << instructions;
            }
            ASSERT_TRUE(transfer.collector.equal) << "abandoned at instruction " << at << " of " << instructions;
        }
    }
}

} // namespace abandoned_step_test
