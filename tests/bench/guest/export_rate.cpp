// SPDX-License-Identifier: MIT
// How fast records leave the machine, each way beside what it cannot exceed, in one boot: the acknowledged export
// beside datagrams of the same size that are sent through the same driver and answered by nothing; a file on the
// ramdisk beside a copy of the same bytes in memory. The best of a few runs of each, in turn. `make bench-export` reads
// the console.
#include "arch/arch.hpp"
#include "kernel/panic/console.hpp"
#include "kernel/root/network.hpp"
#include "kernel/root/storage.hpp"
#include "kernel/run/app.hpp"
#include "tracer/ftrace.hpp"
#include "tracer/reliable/sender.hpp"

#include <array>
#include <optional>

namespace bench {

namespace {

using tracer::SinkState;
namespace wire = tracer::reliable;

constexpr std::size_t kRecords = 131'072;
constexpr int kRuns = 5;
constexpr int kFiles = 3; // of the volume's 8 MiB
constexpr std::uint64_t kStepsMax = 50'000'000;

alignas(4096) constinit std::array<std::byte, kRecords * tracer::kRecordBytes> s_bytes{};
// Some pages further on: an emulator's translation buffer holds one of two pages at a distance of a power of two.
constexpr std::size_t kApart = std::size_t{17} * 4096;
alignas(4096) constinit std::array<std::byte, kApart + kRecords * tracer::kRecordBytes> s_copy{};
constinit std::array<std::byte, wire::kBytesMax> s_packet{};
constinit std::optional<wire::ReliableSink> s_sink{};

// Of one way: the shortest time.
class Best {
  public:
    void add(lib::Ticks begin, lib::Ticks end) {
        const std::uint64_t ticks = (end - begin).value;
        m_ticks = m_ticks == 0 || ticks < m_ticks ? ticks : m_ticks;
    }

    void print(std::string_view name) const {
        const std::uint64_t ns = arch::tick_rate().to_nanoseconds(lib::Ticks{m_ticks}).value;
        kernel::console().mark("figure ", name, " records ", kRecords, " ns ", ns);
    }

  private:
    std::uint64_t m_ticks = 0;
};

// By pieces of a sector, which the compiler expands in place: the kernel's memcpy() moves bytes one by one, and an
// emulator needs 40 times as long for that.
void copy_in_memory() {
    constexpr std::size_t kPieceBytes = 512;
    for (std::size_t at = 0; at < s_bytes.size(); at += kPieceBytes) {
        __builtin_memcpy(s_copy.data() + kApart + at, s_bytes.data() + at, kPieceBytes);
    }
    asm volatile("" : : "r"(s_copy.data()) : "memory");
}

tracer::ChunkImage image() {
    tracer::ChunkImage image;
    image.parts[0] = s_bytes;
    image.description.boot_id = arch::timestamp().value; // the first one names the session
    return image;
}

bool carried(tracer::ChunkSink& sink) {
    if (!sink.submit(image())) {
        return false;
    }
    std::uint64_t steps = 0;
    while (sink.step() == SinkState::busy && ++steps < kStepsMax) {
    }
    return sink.state() == SinkState::idle;
}

// As many datagrams of the same size as the acknowledged export needs without a loss.
bool sent_raw(wire::DatagramPeer& peer) {
    std::uint64_t steps = 0;
    for (std::size_t at = 0; at < s_bytes.size(); at += wire::kBodyBytesMax) {
        while (!peer.send(s_packet)) {
            if (!peer.poll() || ++steps == kStepsMax) {
                return false;
            }
        }
        static_cast<void>(peer.poll());
    }
    return true;
}

int measure_network(const kernel::AppArguments& arguments) {
    if (FTrace_OSD_init_udp(1, arguments.local_address, arguments.target_address) != 0) {
        return 1;
    }
    wire::DatagramPeer& peer = kernel::root::network_peer();
    s_sink.emplace(peer, wire::ReliableSink::Limits{});
    s_sink->set_patience(lib::milliseconds(5'000));
    Best raw;
    Best acknowledged;
    for (int i = 0; i < kRuns; ++i) {
        const lib::Ticks begin = arch::timestamp();
        if (!sent_raw(peer)) {
            return 1;
        }
        const lib::Ticks between = arch::timestamp();
        if (!carried(*s_sink)) {
            kernel::console().mark("the acknowledged export failed: ", lib::error_name(s_sink->last_error()));
            return 1;
        }
        raw.add(begin, between);
        acknowledged.add(between, arch::timestamp());
    }
    raw.print("raw_datagrams");
    acknowledged.print("acknowledged_export");
    kernel::console().mark("figure sends ", s_sink->counters().sends, " of ", s_sink->counters().packets);
    return 0;
}

int measure(const kernel::AppArguments& arguments) {
    for (std::size_t i = 0; i < s_bytes.size(); ++i) {
        s_bytes[i] = static_cast<std::byte>(i * 7 / 5);
    }
    const auto disk = kernel::root::open_storage(std::nullopt);
    if (!disk.ok()) {
        return 1;
    }
    Best copy;
    Best file;
    for (int i = 0; i < kFiles; ++i) {
        const lib::Ticks begin = arch::timestamp();
        copy_in_memory();
        const lib::Ticks between = arch::timestamp();
        if (!carried(*disk.value())) {
            return 1;
        }
        copy.add(begin, between);
        file.add(between, arch::timestamp());
    }
    copy.print("memory_copy");
    file.print("ramdisk_file");
    return measure_network(arguments);
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kExport[] = {
    {"b_export", "the speed of the export", &measure, true},
};

} // namespace

} // namespace bench
