// SPDX-License-Identifier: MIT
// Every truncation and every single flipped bit of one small file of each format: no reader crashes, hangs or grows,
// none shows more events than the file has room for, and where a checksum guards the events those that are shown as
// sound were logged.
#include "host/formats/trace.hpp"

#include "tests/support/allocated_bytes.hpp"
#include "tests/support/capture_files.hpp"
#include "tests/support/host_command.hpp"
#include "tests/support/kev_builder.hpp"
#include "tests/support/packed_archives.hpp"
#include "tests/support/tlog_files.hpp"

#include <gtest/gtest.h>
#include <ostream>
#include <set>
#include <sys/mman.h>
#include <tuple>
#include <unistd.h>

namespace host::formats {

namespace {

using support::Bytes;
using support::ChunkBuilder;

enum class Guard : std::uint8_t { none, checksum };

struct Range {
    std::size_t begin = 0;
    std::size_t end = ~std::size_t{0};
};

struct Golden {
    std::string name;
    trace::InputKind kind;
    Bytes (*bytes)();
    Guard guard = Guard::none;
    std::vector<Range> ranges{{}}; // that are swept
};

std::ostream& operator<<(std::ostream& out, const Golden& golden) {
    return out << golden.name;
}

// A file in memory, of which single bytes are changed in place.
class MemoryFile {
  public:
    explicit MemoryFile(const Bytes& bytes)
        : m_descriptor(::memfd_create("golden", 0))
        , m_size(bytes.size()) {
        EXPECT_EQ(::pwrite(m_descriptor, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    }

    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    ~MemoryFile() { ::close(m_descriptor); }

    void put(std::size_t at, std::byte value) const {
        ASSERT_EQ(::pwrite(m_descriptor, &value, 1, static_cast<off_t>(at)), 1);
    }

    [[nodiscard]] std::shared_ptr<trace::ByteSource> whole() const {
        return std::make_shared<trace::ByteSource>(m_descriptor, false, m_size);
    }

  private:
    int m_descriptor;
    std::size_t m_size;
};

using Shown =
    std::tuple<std::uint64_t, std::uint16_t, std::uint16_t, std::uint16_t, std::uint32_t, std::vector<std::byte>>;

struct Reading {
    std::size_t events = 0;
    std::multiset<Shown> sound{};
    bool reported = false;
};

Reading read(std::shared_ptr<trace::ByteSource> bytes, trace::InputKind kind) {
    constexpr std::size_t kMemoryMax = std::size_t{64} << 20;
    Reading reading;
    trace::Diagnostics diagnostics([&](std::string_view) { reading.reported = true; });
    const auto trace =
        Trace::open({.name = "golden", .bytes = std::move(bytes), .keep_open = true}, {.kind = kind}, diagnostics);
    if (!trace) {
        EXPECT_TRUE(diagnostics.damaged());
        return reading;
    }
    EXPECT_LT(allocated_bytes(), kMemoryMax);
    trace.value()->for_each([&](const trace::Event& event) {
        ++reading.events;
        if (!event.metadata && event.is_sound()) {
            reading.sound.emplace(event.ticks.value, event.cpu, event.raw_code, event.par1, event.par2,
                                  std::vector<std::byte>(event.payload.begin(), event.payload.end()));
        }
    });
    diagnostics.finish();
    return reading;
}

class Sweep : public testing::TestWithParam<Golden> {
  protected:
    Sweep()
        : m_bytes(GetParam().bytes())
        , m_file(m_bytes)
        , m_golden(read(m_file.whole(), GetParam().kind)) {}

    void check(const Reading& reading, std::size_t place) const {
        ASSERT_LE(reading.events, m_bytes.size() / 4 + 1) << place;
        if (GetParam().guard == Guard::checksum) {
            ASSERT_TRUE(std::ranges::includes(m_golden.sound, reading.sound)) << place;
        }
    }

    Bytes m_bytes;
    MemoryFile m_file;
    Reading m_golden;
};

TEST_P(Sweep, TheFileItselfIsSound) {
    EXPECT_FALSE(m_golden.sound.empty());
}

TEST_P(Sweep, EveryTruncationIsSurvived) {
    for (const Range& range : GetParam().ranges) {
        for (std::size_t size = range.begin; size < std::min(range.end, m_bytes.size()); ++size) {
            check(read(support::memory_source(std::span(m_bytes).first(size)), GetParam().kind), size);
            if (HasFatalFailure()) {
                return;
            }
        }
    }
}

TEST_P(Sweep, EveryFlippedBitIsSurvived) {
    for (const Range& range : GetParam().ranges) {
        for (std::size_t at = range.begin; at < std::min(range.end, m_bytes.size()); ++at) {
            for (unsigned bit = 0; bit < 8; ++bit) {
                m_file.put(at, m_bytes[at] ^ static_cast<std::byte>(1U << bit));
                const Reading reading = read(m_file.whole(), GetParam().kind);
                check(reading, 8 * at + bit);
                if (HasFatalFailure()) {
                    return;
                }
                if (GetParam().kind == trace::InputKind::packed) {
                    ASSERT_TRUE(reading.reported) << 8 * at + bit;
                }
            }
            m_file.put(at, m_bytes[at]);
        }
    }
}

ChunkBuilder few_events(std::uint16_t number = 0) {
    ChunkBuilder chunk(number);
    chunk.name("task", 12, "s").event(1000, "task_dispatch", 12).event(1500, "ipoint", 7, 9);
    chunk.raw(tracer::make_record(0x10EE, 8, 1, {1600})).raw(tracer::make_record(0x30EE, 2, 3, {1600}));
    return chunk.event(2000, "task_end_cycle", 12);
}

Bytes cyclic() {
    ChunkBuilder chunk;
    chunk.event(300, "ipoint", 3).event(400, "ipoint", 4).unordered(100, "ipoint", 1).unordered(200, "ipoint", 2);
    return chunk.plain();
}

Bytes compact() {
    ChunkBuilder chunk;
    for (unsigned i = 0; i < 12; ++i) {
        chunk.event(1000 + 100 * i, i % 2 == 0 ? "task_dispatch" : "ipoint", static_cast<std::uint16_t>(i % 3), i % 2);
    }
    return chunk.compact(tracer::compact::Layout::a);
}

// Without what comes in front of the stream, which nothing guards.
std::size_t compact_begin() {
    ChunkBuilder chunk;
    return chunk.description().preamble_slots * tracer::kRecordBytes;
}

Bytes packed() {
    return support::pack(few_events().bytes());
}

Bytes kev() {
    support::KevBuilder file({.more = ""});
    file.buffer(0, 0x1000, 0).time(0, 0x1000).user(0, 0x1010, 1).slot('B', 0, 6, 1, 0x1020, 1, 2);
    return file.user(0, 0x1021, 2).slot('E', 0, 6, 1, 0x1020, 3, 4).bytes;
}

Bytes tlog() {
    support::TlogFile file;
    return file.record(0, 1, 0).record(0, 10, 0.5, 3, 7).record(0, 31, 0.75).record(0, 11, 1).record(0, 2, 2).bytes();
}

Bytes tlog_old() {
    return support::TlogFile().openmp(0, 2, 0).openmp(0, 11, 0.5, 1, 5).openmp(0, 12, 1).openmp(0, 1, 2).bytes();
}

std::vector<Bytes> datagrams() {
    std::uint32_t number = 1;
    return support::packets(few_events().bytes(), number);
}

Bytes pcap() {
    return support::Pcap().add(support::ethernet(support::ip_packet(datagrams()[0]))).bytes();
}

Bytes pcapng() {
    support::Pcapng file;
    return file.interface(1).add(support::ethernet(support::ip_packet(datagrams()[0]))).bytes();
}

// The smallest floppy: boot sector, two tables of one sector, four of the directory, the file.
Bytes fat() {
    const support::TemporaryDirectory directory;
    const std::string image = directory / "volume.img";
    const std::string file = directory.write("0trace.dat", few_events().bytes());
    const auto made =
        test::run_command("mformat -C -f 160 -i " + image + " :: && mcopy -i " + image + " " + file + " ::");
    EXPECT_EQ(made.exit_code, 0) << made.output;
    Bytes bytes = test::read_file(image);
    bytes.resize(8192);
    return bytes;
}

const auto kGolden = std::to_array<Golden>({
    {"plain", trace::InputKind::records, [] { return few_events().plain(); }},
    {"described", trace::InputKind::records, [] { return few_events().bytes(); }},
    {"cyclic", trace::InputKind::records, cyclic},
    {"compact", trace::InputKind::records, compact},
    {"compact_stream", trace::InputKind::records, compact, Guard::checksum, {{compact_begin()}}},
    {"packed", trace::InputKind::packed, packed, Guard::checksum},
    {"kev", trace::InputKind::kev, kev},
    {"tlog", trace::InputKind::tlog, tlog},
    {"tlog_old", trace::InputKind::tlog_old, tlog_old},
    {"pcap", trace::InputKind::capture, pcap},
    {"pcapng", trace::InputKind::capture, pcapng},
    {"fat", trace::InputKind::fat, fat, Guard::none, {{0, 64}, {510, 520}, {1024, 1032}, {1536, 1600}}},
});

INSTANTIATE_TEST_SUITE_P(Formats, Sweep, testing::ValuesIn(kGolden),
                         [](const auto& golden) { return golden.param.name; });

} // namespace

} // namespace host::formats
