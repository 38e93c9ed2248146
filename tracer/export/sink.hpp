// SPDX-License-Identifier: MIT
// Declares a finished chunk as its carrier sees it, and the interface of a carrier. A sink takes whole chunks and works
// in bounded steps: the same sink runs in a low-priority task while the application runs, and in a polling loop with
// interrupts off once the run level has exited or after a panic.
//
// A sink may read the image at any offset and as often as it needs until it has reported `done`: a sink that must
// retransmit needs no buffer of its own, the chunk is its window. Only then is the chunk free for new records.
#pragma once

#include "lib/copy_bytes.hpp"
#include "lib/result.hpp"
#include "tracer/names/metadata.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tracer {

// An image is one chunk as it leaves the machine: the preamble, then the records in time order (a cyclic chunk has its
// older half first, then the newer half; then the emergency area). Every part is a whole number of records. The spans
// are owned by the exporter and stay valid and unchanged until the sink reports done or failed.
struct ChunkImage {
    static constexpr std::size_t kPartsMax = 4; // preamble, older half, newer half, emergency area
    ChunkBegin description;
    std::array<std::span<const std::byte>, kPartsMax> parts{};

    [[nodiscard]] constexpr std::size_t size_bytes() const {
        std::size_t size = 0;
        for (const auto part : parts) {
            size += part.size();
        }
        return size;
    }

    // Returns the bytes from the given offset to the end of the part that they are in, none at the end of the image.
    [[nodiscard]] constexpr std::span<const std::byte> piece(std::size_t offset) const {
        for (const auto part : parts) {
            if (offset < part.size()) {
                return part.subspan(offset);
            }
            offset -= part.size();
        }
        return {};
    }

    // Copies from the given offset; returns the number of bytes copied, at most out.size().
    [[nodiscard]] std::size_t read(std::size_t offset, std::span<std::byte> out) const {
        std::size_t copied = 0;
        for (const auto part : parts) {
            if (offset >= part.size()) {
                offset -= part.size();
                continue;
            }
            const std::size_t size = std::min(part.size() - offset, out.size() - copied);
            lib::copy_bytes(part.subspan(offset, size), out.subspan(copied));
            copied += size;
            offset = 0;
        }
        return copied;
    }
};

enum class SinkState : std::uint8_t {
    idle,   // accepts the next chunk
    busy,   // has a chunk and needs more steps
    failed, // see last_error(); further chunks are refused
};

class ChunkSink {
  public:
    ChunkSink(const ChunkSink&) = delete;
    ChunkSink& operator=(const ChunkSink&) = delete;

    // Returns the name for messages: "udp", "disk".
    [[nodiscard]] virtual std::string_view name() const = 0;

    // Starts the transfer of a chunk. Precondition: state() is idle. The image must outlive the transfer.
    [[nodiscard]] virtual lib::Result<void> submit(const ChunkImage& image) = 0;

    // Does a bounded piece of work and never waits. Context: task or irq-off.
    virtual SinkState step() = 0;

    // Ends the export after the last chunk: sends or writes the totals. Precondition: state() is idle; step() must be
    // called until it is idle again.
    [[nodiscard]] virtual lib::Result<void> finish(const ExportEnd& totals) = 0;

    [[nodiscard]] virtual SinkState state() const = 0;

    // Returns the error, once state() is failed.
    [[nodiscard]] virtual lib::Error last_error() const = 0;

  protected:
    constexpr ChunkSink() = default;
    ~ChunkSink() = default; // never deleted through this interface: sinks are static
};

} // namespace tracer
