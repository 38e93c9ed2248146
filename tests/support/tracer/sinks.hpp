// SPDX-License-Identifier: MIT
// Fakes sinks and the devices below them: a sink that takes several steps and checks that an image does not change
// while it has it; a network that is busy or silent on demand; a volume that checks its announced sizes.
#pragma once

#include "tracer/export/sink_disk.hpp"
#include "tracer/export/sink_udp.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tests {

using Bytes = std::vector<std::byte>;

[[nodiscard]] inline Bytes bytes_of(const tracer::ChunkImage& image) {
    Bytes bytes(image.size_bytes());
    EXPECT_EQ(image.read(0, bytes), bytes.size());
    return bytes;
}

class FakeSink final : public tracer::ChunkSink {
  public:
    explicit FakeSink(int steps_per_chunk = 1)
        : m_steps_per_chunk(steps_per_chunk) {}

    [[nodiscard]] std::string_view name() const override { return called; }

    [[nodiscard]] lib::Result<void> submit(const tracer::ChunkImage& image) override {
        EXPECT_EQ(m_state, tracer::SinkState::idle);
        EXPECT_FALSE(end.has_value()) << "a chunk after the end";
        if (!takes) {
            return takes;
        }
        m_image = &image;
        m_at_submit = bytes_of(image);
        m_steps_left = m_steps_per_chunk;
        m_state = tracer::SinkState::busy;
        return {};
    }

    tracer::SinkState step() override {
        if (on_step) {
            on_step();
        }
        if (m_state == tracer::SinkState::busy && --m_steps_left <= 0) {
            if (chunks.size() == fail_at_chunk) {
                return m_state = tracer::SinkState::failed;
            }
            EXPECT_EQ(bytes_of(*m_image), m_at_submit) << "the image changed during the transfer";
            chunks.push_back(m_at_submit);
            m_state = tracer::SinkState::idle;
        }
        return m_state;
    }

    [[nodiscard]] lib::Result<void> finish(const tracer::ExportEnd& totals) override {
        EXPECT_EQ(m_state, tracer::SinkState::idle);
        EXPECT_FALSE(end.has_value());
        if (!takes) {
            return takes;
        }
        end = totals;
        return {};
    }

    [[nodiscard]] tracer::SinkState state() const override { return m_state; }

    [[nodiscard]] lib::Error last_error() const override { return lib::Error::io; }

    std::string_view called = "fake";
    lib::Result<void> takes; // what submit() and finish() return
    std::vector<Bytes> chunks;
    std::optional<tracer::ExportEnd> end;
    std::size_t fail_at_chunk = ~std::size_t{0};
    std::function<void()> on_step;

  private:
    int m_steps_per_chunk;
    int m_steps_left = 0;
    const tracer::ChunkImage* m_image = nullptr;
    Bytes m_at_submit;
    tracer::SinkState m_state = tracer::SinkState::idle;
};

class FakeNetwork final : public tracer::DatagramSender {
  public:
    [[nodiscard]] lib::Result<void> send(std::span<const std::byte> datagram) override {
        if (busy_sends != 0) {
            ++refusals;
            busy_sends -= busy_sends > 0 ? 1 : 0;
            return lib::Error::busy;
        }
        if (!sends) {
            return sends;
        }
        EXPECT_LE(datagram.size(), tracer::kPacketBytesMax);
        packets.emplace_back(datagram.begin(), datagram.end());
        return {};
    }

    [[nodiscard]] lib::Result<void> poll() override {
        ++polls;
        m_now = m_now + time_per_poll;
        polls_until_sent -= polls_until_sent > 0 ? 1 : 0;
        if (!polled) {
            return polled;
        }
        if (unreachable_after_polls && !packets.empty() && polls > *unreachable_after_polls) {
            return lib::Error::unreachable;
        }
        return {};
    }

    [[nodiscard]] bool sending() const override { return polls_until_sent != 0; }

    [[nodiscard]] lib::Nanoseconds now() override { return m_now; }

    std::vector<Bytes> packets;
    lib::Result<void> sends;  // what send() returns, if it is not busy
    lib::Result<void> polled; // what poll() returns
    std::uint32_t polls = 0;
    lib::Nanoseconds time_per_poll = lib::microseconds(1);
    int polls_until_sent = 0; // negative: forever
    int busy_sends = 0;       // negative: forever
    unsigned refusals = 0;
    std::optional<std::uint32_t> unreachable_after_polls;

  private:
    lib::Nanoseconds m_now;
};

class FakeVolume final : public tracer::FileVolume {
  public:
    static constexpr std::size_t kNameMax = 12;

    [[nodiscard]] lib::Result<void> check_name(std::string_view name) const override {
        return name.size() <= kNameMax ? lib::Result<void>() : lib::Error::invalid_argument;
    }

    [[nodiscard]] lib::Result<void> check_free(std::string_view name) override {
        return files.contains(std::string(name)) ? lib::Error::exists : lib::Result<void>();
    }

    [[nodiscard]] lib::Result<void> create(std::string_view name, std::size_t size_bytes) override {
        EXPECT_FALSE(m_open.has_value());
        if (files.contains(std::string(name))) {
            return lib::Error::exists;
        }
        if (size_bytes > free_bytes) {
            return lib::Error::no_space;
        }
        free_bytes -= size_bytes;
        m_announced = size_bytes;
        m_open = std::string(name);
        files[*m_open] = {};
        return {};
    }

    [[nodiscard]] lib::Result<void> append(std::span<const std::byte> bytes) override {
        EXPECT_TRUE(m_open.has_value());
        EXPECT_LE(bytes.size(), tracer::DiskSink::kStepBytes);
        ++appends;
        if (!appended) {
            return appended;
        }
        Bytes& file = files[*m_open];
        file.insert(file.end(), bytes.begin(), bytes.end());
        return {};
    }

    [[nodiscard]] lib::Result<void> close() override {
        if (!closed) {
            return closed;
        }
        EXPECT_EQ(files[m_open.value()].size(), m_announced);
        m_open.reset();
        return {};
    }

    std::map<std::string, Bytes> files;
    std::size_t free_bytes = 1U << 20;
    lib::Result<void> appended; // what append() returns
    lib::Result<void> closed;   // what close() returns
    std::size_t appends = 0;

  private:
    std::optional<std::string> m_open;
    std::size_t m_announced = 0;
};

} // namespace tests
