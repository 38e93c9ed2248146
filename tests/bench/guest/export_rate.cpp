// SPDX-License-Identifier: MIT
// How fast records leave the machine, each way beside what it cannot exceed, in one boot: the acknowledged export
// beside datagrams of the same size that are sent through the same driver and answered by nothing; a file on the
// ramdisk beside a copy of the same bytes in memory. The best of a few runs of each, in turn. `make bench-export` reads
// the console.
#include "arch/arch.hpp"
#include "kernel/panic/console.hpp"
#include "kernel/root/sinks.hpp"
#include "kernel/run/app.hpp"
#include "lib/copy_bytes.hpp"
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

// An emulator's translation buffer holds one of two pages at a distance of a power of two, so they are further apart.
struct Memory {
    std::array<std::byte, kRecords * tracer::kRecordBytes> bytes{};
    std::array<std::byte, std::size_t{17} * 4096> apart{};
    std::array<std::byte, kRecords * tracer::kRecordBytes> copy{};
};

alignas(4096) constinit Memory s_memory{};
constinit std::array<std::byte, wire::kBytesMax> s_packet{};
constinit std::optional<wire::ReliableSink> s_sink{};

// Of one way: the shortest time. With a clock that counts instructions, a tick is one.
class Best {
  public:
    void add(lib::Ticks time) { m_ticks = m_ticks == 0 || time.value < m_ticks ? time.value : m_ticks; }

    void print(std::string_view name) const {
        const std::uint64_t ns = arch::tick_rate().to_nanoseconds(lib::Ticks{m_ticks}).value;
        kernel::console().mark("figure ", name, " records ", kRecords, " ticks ", m_ticks, " ns ", ns);
    }

  private:
    std::uint64_t m_ticks = 0;
};

void copy_in_memory() {
    lib::copy_bytes(s_memory.bytes, s_memory.copy);
    asm volatile("" : : "r"(s_memory.copy.data()) : "memory");
}

tracer::ChunkImage image() {
    tracer::ChunkImage image;
    image.parts[0] = s_memory.bytes;
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

// The time of the steps that sent or took in something. The others wait for the collector; how many they are depends on
// the host.
std::optional<lib::Ticks> worked(wire::ReliableSink& sink) {
    const auto happened = [&sink] { return sink.counters().sends + sink.counters().acknowledgements; };
    lib::Ticks at = arch::timestamp();
    std::uint64_t before = happened();
    lib::Ticks time;
    if (!sink.submit(image())) {
        return std::nullopt;
    }
    for (std::uint64_t steps = 0; sink.state() == SinkState::busy && steps < kStepsMax; ++steps) {
        sink.step();
        const lib::Ticks now = arch::timestamp();
        if (happened() != before) {
            before = happened();
            time = time + (now - at);
        }
        at = now;
    }
    return sink.state() == SinkState::idle ? std::optional(time) : std::nullopt;
}

// As many datagrams of the same size as the acknowledged export needs without a loss.
bool sent_raw(wire::DatagramPeer& peer) {
    std::uint64_t steps = 0;
    for (std::size_t at = 0; at < s_memory.bytes.size(); at += wire::kBodyBytesMax) {
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
    Best work;
    for (int i = 0; i < kRuns; ++i) {
        const lib::Ticks begin = arch::timestamp();
        if (!sent_raw(peer)) {
            return 1;
        }
        const lib::Ticks between = arch::timestamp();
        const auto time = worked(*s_sink);
        if (!time) {
            kernel::console().mark("the acknowledged export failed: ", lib::error_name(s_sink->last_error()));
            return 1;
        }
        raw.add(between - begin);
        acknowledged.add(arch::timestamp() - between);
        work.add(*time);
    }
    raw.print("raw_datagrams");
    acknowledged.print("acknowledged_export");
    work.print("acknowledged_work");
    kernel::console().mark("figure sends ", s_sink->counters().sends, " of ", s_sink->counters().packets);
    return 0;
}

int measure(const kernel::AppArguments& arguments) {
    for (std::size_t i = 0; i < s_memory.bytes.size(); ++i) {
        s_memory.bytes[i] = static_cast<std::byte>(i * 7 / 5);
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
        copy.add(between - begin);
        file.add(arch::timestamp() - between);
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
