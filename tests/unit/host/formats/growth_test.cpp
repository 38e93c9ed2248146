// SPDX-License-Identifier: MIT
// Tests that the work of every reader grows as its input does: four times the bytes, about four times the work. Each
// input is a pathological one, made to any size: what repeats, contradicts or interrupts itself as often as it can.
// Work is counted and not timed: bytes and calls of reads in every build; where the readers are compiled for the fuzz
// targets (not with FAST=1), also each comparison that they make, and each byte that they allocate.
#include "tests/support/reading_inputs.hpp"

#include "host/formats/fat/volume.hpp"
#include "host/formats/trace.hpp"
#include "host/text/format.hpp"
#include "lib/crc32c.hpp"
#include "tests/support/memory_source.hpp"

#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

struct Work {
    std::uint64_t comparisons = 0;
    std::uint64_t reads = 0;
    std::uint64_t read_bytes = 0;
    std::uint64_t allocated_bytes = 0;
};

constinit Work g_work;

} // namespace

// The compiler calls these at each comparison of numbers in what the fuzz targets are made of.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
void __sanitizer_cov_trace_cmp1(std::uint8_t /*left*/, std::uint8_t /*right*/) {
    ++g_work.comparisons;
}

void __sanitizer_cov_trace_cmp2(std::uint16_t /*left*/, std::uint16_t /*right*/) {
    ++g_work.comparisons;
}

void __sanitizer_cov_trace_cmp4(std::uint32_t /*left*/, std::uint32_t /*right*/) {
    ++g_work.comparisons;
}

void __sanitizer_cov_trace_cmp8(std::uint64_t /*left*/, std::uint64_t /*right*/) {
    ++g_work.comparisons;
}

void __sanitizer_cov_trace_const_cmp1(std::uint8_t /*left*/, std::uint8_t /*right*/) {
    ++g_work.comparisons;
}

void __sanitizer_cov_trace_const_cmp2(std::uint16_t /*left*/, std::uint16_t /*right*/) {
    ++g_work.comparisons;
}

void __sanitizer_cov_trace_const_cmp4(std::uint32_t /*left*/, std::uint32_t /*right*/) {
    ++g_work.comparisons;
}

void __sanitizer_cov_trace_const_cmp8(std::uint64_t /*left*/, std::uint64_t /*right*/) {
    ++g_work.comparisons;
}

void __sanitizer_cov_trace_switch(std::uint64_t /*value*/, std::uint64_t* /*cases*/) {
    ++g_work.comparisons;
}

[[gnu::weak]] int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void*, std::size_t),
                                                            void (*)(const volatile void*));

ssize_t pread(int descriptor, void* out, std::size_t bytes, off_t offset) {
    const ssize_t got = ::syscall(SYS_pread64, descriptor, out, bytes, offset);
    ++g_work.reads;
    g_work.read_bytes += got > 0 ? static_cast<std::uint64_t>(got) : 0;
    return got;
}
}

// NOLINTEND(bugprone-reserved-identifier)

namespace host::formats::growth_test {

namespace {

using support::append_record;
using support::Bytes;
using support::ChunkBuilder;
using support::inputs::append;
using support::inputs::slot;
using trace::InputKind;
using trace::kCodeOf;

constexpr std::size_t kSmallBytes = 6 * 1024;
constexpr std::size_t kFactor = 4;

struct Growing {
    std::string name;
    InputKind kind;
    std::function<Bytes(std::size_t bytes)> make;
};

std::ostream& operator<<(std::ostream& out, const Growing& input) {
    return out << input.name;
}

// Repeats what `part` makes, which receives the number of the repetition.
Growing repeated(std::string name, InputKind kind, const std::function<Bytes(unsigned)>& part, Bytes begin = {}) {
    return {std::move(name), kind, [part, begin](std::size_t bytes) {
                Bytes all = begin;
                for (unsigned i = 0; all.size() < bytes; ++i) {
                    append(all, part(i));
                }
                return all;
            }};
}

Growing slots(std::string name, const std::function<tracer::Record(unsigned)>& make) {
    return repeated(std::move(name), InputKind::records, [make](unsigned i) { return support::to_bytes({make(i)}); });
}

ChunkBuilder tiny(unsigned number) {
    ChunkBuilder chunk(static_cast<std::uint16_t>(number));
    chunk.begin.generation = number >> 16;
    chunk.event(1000 + number, "ipoint", 1, number).event(1001 + number, "task_dispatch", 2);
    return chunk;
}

// Ten records, of the last of which a byte is lost.
Bytes torn(unsigned i) {
    Bytes bytes;
    for (unsigned k = 0; k < 10; ++k) {
        append_record(bytes, slot(kCodeOf<"ipoint">, 1000 + 10 * i + k));
    }
    bytes.pop_back();
    return bytes;
}

const std::uint16_t kFirstOfHeader = kCodeOf<"chunk_begin"> | static_cast<std::uint16_t>(tracer::Combine::first);
const std::uint16_t kMiddleOfTask = kCodeOf<"task_name"> | static_cast<std::uint16_t>(tracer::Combine::middle);

std::vector<Growing> records() {
    std::vector<Growing> all;
    all.push_back(slots("first_slots", [](unsigned i) { return slot(kFirstOfHeader, 1000 + i, 100, i); }));
    all.push_back(slots("first_slots_and_records", [](unsigned i) {
        return i % 8 == 0 ? slot(kFirstOfHeader, 1000 + i) : slot(kCodeOf<"ipoint">, 1000 + i);
    }));
    all.push_back(slots("first_slots_and_unknown", [](unsigned i) {
        return i % 2 == 0 ? slot(kFirstOfHeader, 1000 + i) : slot(0x00FC, 1000 + i);
    }));
    all.push_back(slots("falls", [](unsigned i) { return slot(kCodeOf<"ipoint">, 1'000'000'000 - i); }));
    all.push_back(slots("unknown", [](unsigned i) { return slot(0x00FC, 1000 + i); }));
    all.push_back(
        slots("unknown_between", [](unsigned i) { return slot(i % 5 == 0 ? 0x00FC : kCodeOf<"ipoint">, 1000 + i); }));
    all.push_back(slots("middles", [](unsigned) { return slot(kMiddleOfTask, 1000); }));
    all.push_back(slots("middles_with_holes",
                        [](unsigned i) { return i % 11 == 10 ? slot(0x4FFF, 1000) : slot(kMiddleOfTask, 1000); }));
    all.push_back(slots("erased", [](unsigned i) {
        return i % 2 == 0 ? tracer::Record{0xFFFF, 0xFFFF, 0xFFFF'FFFF, 0xFFFF'FFFF, 0xFFFF'FFFF} : tracer::Record{};
    }));
    all.push_back(repeated("torn", InputKind::records, &torn));
    all.push_back({"bytes_of_any_place", InputKind::records, [](std::size_t bytes) {
                       Bytes all(bytes, std::byte{0x20}); // a record at every byte, but for every hundredth
                       for (std::size_t i = 0; i < all.size(); i += 129) {
                           all[i] = std::byte{0xEF};
                       }
                       return all;
                   }});
    all.push_back(repeated("tiny_chunks", InputKind::records, [](unsigned i) { return tiny(i).bytes(); }));
    all.push_back(
        repeated("sealed_chunks", InputKind::records, [](unsigned i) { return support::sealed(tiny(i).bytes()); }));
    all.push_back(repeated("same_chunk", InputKind::records, [](unsigned) { return tiny(1).bytes(); }));
    all.push_back(repeated("chunks_of_one_number", InputKind::records, [](unsigned i) {
        ChunkBuilder chunk = tiny(i);
        chunk.begin.chunk = 1;
        chunk.begin.generation = 0;
        return chunk.bytes();
    }));
    all.push_back(repeated("chunks_of_one_time", InputKind::records, [](unsigned i) {
        ChunkBuilder chunk(static_cast<std::uint16_t>(i));
        chunk.event(1, "ipoint").event(2'000'000, "ipoint");
        return chunk.bytes();
    }));
    all.push_back(repeated("too_many_announced", InputKind::records, [](unsigned i) {
        tracer::ChunkBegin description = tiny(i).description();
        description.records = 20;
        return tiny(i).with(description);
    }));
    all.push_back(repeated("headers_without_end", InputKind::records, [](unsigned i) {
        Bytes bytes = tiny(i).bytes();
        bytes.resize(10 * tracer::kRecordBytes);
        return bytes;
    }));
    all.push_back(repeated("wrong_sums", InputKind::records, [](unsigned i) {
        Bytes bytes = support::sealed(tiny(i).bytes());
        bytes[bytes.size() - 20] ^= std::byte{1};
        return bytes;
    }));
    all.push_back(repeated("names", InputKind::records, [](unsigned i) {
        ChunkBuilder chunk = tiny(i);
        return chunk.name("task", static_cast<std::uint16_t>(i), "t" + std::to_string(i)).bytes();
    }));
    all.push_back(repeated("mutex_names", InputKind::records, [](unsigned i) {
        ChunkBuilder chunk = tiny(i);
        return chunk.name("mutex", static_cast<std::uint16_t>(i), "m" + std::to_string(i)).bytes();
    }));
    all.push_back(repeated("formats", InputKind::records, [](unsigned i) {
        ChunkBuilder chunk = tiny(i);
        return chunk.format(i, "text " + std::to_string(i)).bytes();
    }));
    all.push_back(repeated("declarations", InputKind::records, [](unsigned i) {
        tracer::EventDeclaration declaration{
            .id = static_cast<std::uint16_t>(i), .name = {"e" + std::to_string(i)}, .field_count = 0};
        ChunkBuilder chunk = tiny(i);
        return chunk.declare(declaration).bytes();
    }));
    all.push_back(repeated("pids", InputKind::records, [](unsigned i) {
        ChunkBuilder chunk = tiny(i);
        return chunk.event(2000 + i, "task_create", static_cast<std::uint16_t>(i), i).bytes();
    }));
    all.push_back(repeated("compact", InputKind::records,
                           [](unsigned i) { return tiny(i).compact(tracer::compact::Layout::a); }));
    all.push_back(repeated("overwritten", InputKind::records, [](unsigned i) {
        ChunkBuilder chunk = tiny(i);
        chunk.begin.overwritten = 5;
        return chunk.bytes();
    }));
    return all;
}

Bytes packet(std::uint32_t number, std::size_t records = 1) {
    Bytes image;
    for (std::size_t i = 0; i < records; ++i) {
        append_record(image, slot(kCodeOf<"ipoint">, 1000 + number));
    }
    return support::packets(image, number, records)[0];
}

// The frames of packets with these numbers.
Growing capture(std::string name, const std::function<std::uint32_t(unsigned i, unsigned count)>& number) {
    return {std::move(name), InputKind::capture, [number](std::size_t bytes) {
                const Bytes one = support::Pcap().add(support::ethernet(support::ip_packet(packet(1)))).bytes();
                const auto count = static_cast<unsigned>(bytes / (one.size() - 24));
                support::Pcap file;
                for (unsigned i = 0; i < count; ++i) {
                    file.add(support::ethernet(support::ip_packet(packet(number(i, count)))));
                }
                return file.bytes();
            }};
}

std::vector<Growing> captures() {
    std::vector<Growing> all;
    all.push_back(capture("in_order", [](unsigned i, unsigned) { return i + 1; }));
    all.push_back(capture("backwards", [](unsigned i, unsigned count) { return count - i; }));
    all.push_back(capture("one_number", [](unsigned, unsigned) { return 1U; }));
    all.push_back(capture("gaps", [](unsigned i, unsigned) { return 2 * i + 1; }));
    all.push_back(capture("gaps_then_late",
                          [](unsigned i, unsigned count) { return i < count / 2 ? 2 * i + 1 : 2 * (count - i); }));
    all.push_back(capture("jumps", [](unsigned i, unsigned) { return i % 2 == 0 ? i / 2 + 1 : 0x4000'0000U + i; }));
    all.push_back({"empty_frames", InputKind::capture, [](std::size_t bytes) {
                       support::Pcap file;
                       while (file.bytes().size() < bytes) {
                           file.raw({}, 0, 60);
                       }
                       return file.bytes();
                   }});
    const auto blocks = [&all](std::string name, const std::function<void(support::Pcapng&)>& add) {
        all.push_back({std::move(name), InputKind::capture, [add](std::size_t bytes) {
                           support::Pcapng file;
                           while (file.bytes().size() < bytes) {
                               add(file);
                           }
                           return file.bytes();
                       }});
    };
    blocks("unknown_blocks", [](support::Pcapng& file) { file.block(0x0BAD, {}); });
    blocks("interfaces", [](support::Pcapng& file) { file.section().interface(1).interface(1); });
    blocks("no_interface", [](support::Pcapng& file) { file.simple(Bytes(4)); });
    blocks("foreign_links", [](support::Pcapng& file) { file.interface(147).add(Bytes(4), 0); });
    return all;
}

std::vector<Growing> foreign() {
    const auto kev = [](std::string name, const std::function<void(support::KevBuilder&, unsigned)>& add) {
        return Growing{std::move(name), InputKind::kev, [add](std::size_t bytes) {
                           support::KevBuilder file;
                           for (unsigned i = 0; file.bytes.size() < bytes; ++i) {
                               add(file, i);
                           }
                           return file.bytes;
                       }};
    };
    std::vector<Growing> all;
    all.push_back(kev("begins", [](auto& file, unsigned i) { file.slot('B', 0, 6, i % 1024, 1000 + i, i, i); }));
    all.push_back(kev("begin_and_many_middles",
                      [](auto& file, unsigned i) { file.slot(i == 0 ? 'B' : 'C', 0, 6, 1, 1000, i, i); }));
    all.push_back(kev("orphans", [](auto& file, unsigned i) { file.slot('E', 0, 6, i % 1024, 1000 + i, i, i); }));
    all.push_back(kev("open_and_users", [](auto& file, unsigned i) {
        i < 255 ? file.slot('B', 0, 6, i, 1000, i, i) : file.user(0, 1000 + i, i);
    }));
    all.push_back(kev("leaps", [](auto& file, unsigned i) { file.user(0, i % 2 == 0 ? 0x10 : 0xF000'0000, i); }));
    all.push_back(kev("falls", [](auto& file, unsigned i) { file.user(0, 0x4000'0000 - i, i); }));
    all.push_back(kev("times", [](auto& file, unsigned i) { file.time(i % 64, std::uint64_t{i} << 32); }));
    all.push_back(kev("buffers", [](auto& file, unsigned i) { file.buffer(0, 1000 + i, 3 * i); }));
    all.push_back(kev("threads", [](auto& file, unsigned i) { file.slot('S', 0, 4, 1, 1000 + i, i, i + 1); }));
    all.push_back(kev("thread_names", [](auto& file, unsigned i) {
        file.slot('B', 0, 4, 320, 1000 + i, 2, i + 1).slot('E', 0, 4, 320, 1000 + i, 0x636261 + i, 0);
    }));
    all.push_back(kev("process_names", [](auto& file, unsigned i) {
        file.slot('S', 0, 4, 1, 1000 + i, i, 1);
        file.slot('B', 0, 4, 192, 1000 + i, 2, i).slot('E', 0, 4, 192, 1000 + i, 0x636261 + i, 0);
    }));
    all.push_back(kev("calls", [](auto& file, unsigned i) { file.slot('S', 0, 3, 1 + i % 2, 1000 + i, i, i); }));
    all.push_back(kev("our_user_events",
                      [](auto& file, unsigned i) { file.slot('S', 0, 6, kCodeOf<"mutex_name">, 1000 + i, i, i); }));
    all.push_back({"keys_of_the_header", InputKind::kev, [](std::size_t bytes) {
                       std::string more;
                       for (unsigned i = 0; more.size() < bytes; ++i) {
                           more += "TRACE_K" + std::to_string(i) + "::v";
                       }
                       return support::KevBuilder({.more = more}).user(0, 1, 2).bytes;
                   }});
    all.push_back({"colons_of_the_header", InputKind::kev, [](std::size_t bytes) {
                       std::string more;
                       while (more.size() < bytes) {
                           more += "TRACE_TRACE_::::";
                       }
                       return support::KevBuilder({.more = more}).user(0, 1, 2).bytes;
                   }});
    const auto tlog = [](std::string name, const std::function<void(support::TlogFile&, unsigned)>& add) {
        return Growing{std::move(name), InputKind::tlog, [add](std::size_t bytes) {
                           support::TlogFile file;
                           for (unsigned i = 0; file.bytes().size() < bytes; ++i) {
                               add(file, i);
                           }
                           return file.bytes();
                       }};
    };
    all.push_back(tlog("starts", [](auto& file, unsigned i) { file.record(static_cast<std::uint16_t>(i), 1, i); }));
    all.push_back(tlog("starts_of_one", [](auto& file, unsigned i) { file.record(0, 1, i); }));
    all.push_back(tlog(
        "processes", [](auto& file, unsigned i) { file.small_process(static_cast<std::uint16_t>(i % 512), i / 512); }));
    all.push_back(tlog("alternating",
                       [](auto& file, unsigned i) { file.record(static_cast<std::uint16_t>(i % 3), 10, i, 3, i); }));
    all.push_back(tlog("backwards", [](auto& file, unsigned i) { file.record(0, 31, 1e6 - i, 3, i); }));
    all.push_back(tlog("opens", [](auto& file, unsigned i) { file.record(0, 10 + i % 200, i, 3, i); }));
    return all;
}

// A volume with clusters of one sector, in one chain, which is every file's.
Bytes fat_of_one_chain(std::size_t bytes) {
    constexpr std::size_t kSector = 512;
    const std::size_t clusters = bytes / 2 / kSector;
    const std::size_t files = std::min<std::size_t>(bytes / 2 / 32, 990) / 16 * 16;
    const std::size_t table = (clusters + 2) * 3 / 2 / kSector + 1;
    const std::size_t root = kSector * (1 + table);
    const std::size_t data = root + files * 32;
    Bytes image(data + clusters * kSector);
    const auto put = [&image](std::size_t at, std::uint64_t value, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i) {
            image[at + i] = static_cast<std::byte>(value >> (8 * i));
        }
    };
    put(0, 0x9000EB, 3);
    put(11, kSector, 2);
    put(13, 1, 1);                      // sectors of a cluster
    put(14, 1, 2);                      // reserved
    put(16, 1, 1);                      // tables
    put(17, files, 2);                  // entries of the root
    put(19, image.size() / kSector, 2); // sectors
    put(22, table, 2);
    put(510, 0xAA55, 2);
    for (std::size_t cluster = 2; cluster < clusters + 2; ++cluster) { // entries of 12 bits
        const std::uint64_t next = cluster + 1 < clusters + 2 ? cluster + 1 : 0xFFF;
        const std::size_t at = kSector + cluster * 3 / 2;
        const auto before = std::to_integer<std::uint64_t>(image[at]);
        put(at, cluster % 2 == 0 ? next : (before & 0x0F) | next << 4, 2);
    }
    for (std::size_t i = 0; i < files; ++i) {
        const std::string name = fmt::format("{:<8}DAT", fmt::format("{}TRACE", i));
        for (std::size_t k = 0; k < name.size(); ++k) {
            image[root + 32 * i + k] = static_cast<std::byte>(name[k]);
        }
        put(root + 32 * i + 26, 2, 2);
        put(root + 32 * i + 28, clusters * kSector, 4);
    }
    return image;
}

std::vector<Growing> containers() {
    std::vector<Growing> all;
    all.push_back({"fat_of_one_chain", InputKind::fat, &fat_of_one_chain});
    all.push_back({"packed_tiny_chunks", InputKind::packed, [](std::size_t bytes) {
                       Bytes raw;
                       for (unsigned i = 0; raw.size() < bytes; ++i) {
                           append(raw, tiny(i).bytes());
                       }
                       return support::pack(raw);
                   }});
    all.push_back({"packed_blocks_cut", InputKind::packed, [](std::size_t bytes) {
                       const Bytes archive = support::pack(support::two_chunks());
                       Bytes all = archive;
                       while (all.size() < bytes) { // heads of blocks without their contents
                           append(all, {archive.begin(), archive.begin() + 64});
                       }
                       return all;
                   }});
    all.push_back({"packed_marks", InputKind::packed, [](std::size_t bytes) {
                       const Bytes archive = support::pack(support::two_chunks());
                       Bytes all = archive;
                       while (all.size() < bytes) {
                           append(all, {archive.begin(), archive.begin() + 8});
                       }
                       return all;
                   }});
    all.push_back({"descriptors", InputKind::memory, [](std::size_t bytes) {
                       support::MemoryImage image(0x600);
                       image.add_chunk(0, 4, 2);
                       image.write(0, slot(kCodeOf<"ipoint">, 1000));
                       Bytes memory = image.saved(0);
                       Bytes all;
                       while (all.size() < bytes) { // marks of descriptors that are none
                           append(all, {memory.begin(), memory.begin() + 16});
                       }
                       all.resize((all.size() + 4095) / 4096 * 4096);
                       append(all, memory);
                       return all;
                   }});
    all.push_back({"memory_of_chunks", InputKind::memory, [](std::size_t bytes) {
                       support::MemoryImage image(bytes);
                       image.add_chunk(0, static_cast<std::uint32_t>(bytes / 16 - 8), 2);
                       for (unsigned i = 0; i + 16 < bytes / 16; ++i) {
                           image.write(0, slot(i % 3 == 0 ? kFirstOfHeader : kCodeOf<"ipoint">, 1000 + i));
                       }
                       return image.saved(0);
                   }});
    return all;
}

std::vector<Growing> inputs_of_every_reader() {
    std::vector<Growing> all;
    for (auto&& group : {records(), captures(), foreign(), containers()}) {
        all.insert(all.end(), group.begin(), group.end());
    }
    return all;
}

// Reads an input to its end.
Work work_of(const Growing& input, std::size_t bytes) {
    const Bytes all = input.make(bytes);
    const auto source = support::memory_source(all);
    const Work before = g_work;
    trace::Diagnostics diagnostics([](std::string_view) {});
    const auto trace =
        Trace::open({.name = "f", .bytes = source, .keep_open = true}, {.kind = input.kind}, diagnostics);
    if (trace) {
        trace.value()->for_each([](const trace::Event&) {});
    }
    diagnostics.finish();
    return {.comparisons = g_work.comparisons - before.comparisons,
            .reads = g_work.reads - before.reads,
            .read_bytes = g_work.read_bytes - before.read_bytes,
            .allocated_bytes = g_work.allocated_bytes - before.allocated_bytes};
}

class Growth : public testing::TestWithParam<Growing> {
  protected:
    static void SetUpTestSuite() {
        if (__sanitizer_install_malloc_and_free_hooks != nullptr) {
            static_cast<void>(__sanitizer_install_malloc_and_free_hooks(
                [](const volatile void*, std::size_t bytes) { g_work.allocated_bytes += bytes; },
                [](const volatile void*) {}));
        }
    }
};

// What grows with the square of the input is sixteen times as much, what also sorts at most five times.
void expect_proportional(std::string_view what, std::uint64_t small, std::uint64_t large, std::uint64_t beside) {
    EXPECT_LE(large, (kFactor + 2) * std::max(small, beside)) << what << " for four times the bytes, from " << small;
}

TEST_P(Growth, WorkIsProportionalToTheInput) {
    const Work small = work_of(GetParam(), kSmallBytes);
    const Work large = work_of(GetParam(), kFactor * kSmallBytes);
    expect_proportional("comparisons", small.comparisons, large.comparisons, 1000);
    expect_proportional("reads", small.reads, large.reads, 16);
    expect_proportional("bytes read", small.read_bytes, large.read_bytes, kSmallBytes);
    expect_proportional("bytes allocated", small.allocated_bytes, large.allocated_bytes, 200'000);
}

INSTANTIATE_TEST_SUITE_P(Inputs, Growth, testing::ValuesIn(inputs_of_every_reader()),
                         [](const auto& input) { return input.param.name + "_" + std::to_string(input.index); });

} // namespace

} // namespace host::formats::growth_test
