// SPDX-License-Identifier: MIT
// Compresses a chunk in the running kernel: the records come back exactly, and what is refused changes nothing.
#include "tests/kernel/recording.hpp"
#include "tracer/compact/decoder.hpp"

namespace {

namespace compact_cases {

using namespace guest;

constexpr int kSlots = 4096;

constinit tracer::compact::Decoder decoder;

// Compares the stream, record by record, with a copy of the chunk that was kept apart.
void compare(std::span<const std::byte> stream, std::span<const std::byte> plain) {
    decoder.restart(stream.size());
    std::size_t at = 0;
    while (decoder.next(stream.subspan(decoder.offset())) == tracer::compact::Decoder::Step::records) {
        for (const tracer::Record& record : decoder.records()) {
            if (at >= plain.size() || record != tracer::decode_record(plain.subspan(at))) {
                check(false, "a record differs");
                return;
            }
            at += tracer::kRecordBytes;
        }
    }
    check(decoder.fault() == tracer::compact::Fault::none, tracer::compact::fault_text(decoder.fault()));
    check(at == plain.size(), "all records came back");
}

constinit std::array<std::byte, kSlots * tracer::kRecordBytes> copy{};

int compress(const kernel::AppArguments&) {
    const int number =
        FTrace_chunk_create(kSlots * kRecordBytes, 8 * kRecordBytes, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_CYC);
    ASSERT(number >= 0 && FTrace_actual_chunk_select(number) == 0 && FTrace_enable() == 0);
    for (std::uint32_t i = 0; i < 2 * kSlots; ++i) { // the kernel's own events come between
        TRACER_LOGEVENT(i % 4 == 0 ? FTrace_EVT_ipoint : FTrace_EVT_user_event_0, 1, i % 8);
    }
    FTrace_disable();
    tracer::Chunk& chunk = *must(tracer::instance().store.find(number));
    const tracer::ChunkContents before = tracer::ChunkStore::contents(chunk);
    std::size_t size = 0;
    for (const auto part : {before.older, before.newer}) {
        for (const std::byte byte : part) {
            copy[size++] = byte;
        }
    }
    const tracer::Totals totals = tracer::totals(0);
    check(FTrace_set_compact_layout(11) == -1, "there is no layout 11");
    check(FTrace_compress_chunk(number, FTRACE_CHUNK_FLAG_CYC) == 0, "the chunk is compressed");
    FTrace_flags flags = 0;
    check(FTrace_get_chunk_flags(number, &flags) == 0 && (flags & FTRACE_CHUNK_FLAG_COMPR) != 0, "it is COMPR");
    const tracer::ChunkContents after = tracer::ChunkStore::contents(chunk);
    check(after.compact && after.stream_records * tracer::kRecordBytes == size, "it has as many records");
    check(after.stream_bytes * 5 < size * 2, "at less than 2.5 to 1");
    check(tracer::totals(0) == totals, "no count has changed");
    compare(after.newer.first(after.stream_bytes), std::span(copy).first(size));
    check(FTrace_compress_chunk(number, FTRACE_CHUNK_FLAG_CYC) == -1, "already COMPR");
    check(FTrace_chunk_delete(number) == 0, "it can be deleted");
    return failures;
}

// Tests a run with compact=LAYOUT, whose chunks the kernel has made.
int compact_run(const kernel::AppArguments&) {
    check(FTrace_trigger_arm(FTRACE_TRIGGER_STOP, FTrace_EVT_ipoint, FTRACE_ANY, FTRACE_ANY, 0) == -1,
          "a trigger cannot be set");
    check(std::string_view(FTrace_last_error().text).find("is compact: its records cannot be counted") !=
              std::string_view::npos,
          FTrace_last_error().text);
    check(FTrace_chunk_create(4'096, 0, FTRACE_CHUNK_FLAG_COMPR | FTRACE_CHUNK_FLAG_CYC) == -1,
          "a cyclic chunk is not written compactly");
    check(std::string_view(FTrace_last_error().text).find("compress it after recording") != std::string_view::npos,
          FTrace_last_error().text);
    const int cyclic = FTrace_chunk_create(4'096, 0, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_CYC);
    check(cyclic >= 0 && FTrace_actual_chunk_select(cyclic) == 0, "records may go to a cyclic chunk that is plain");
    check(FTrace_trigger_arm(FTRACE_TRIGGER_STOP, FTrace_EVT_ipoint, FTRACE_ANY, FTRACE_ANY, 0) == 0,
          "which a trigger can watch");
    TRACER_LOGEVENT(FTrace_EVT_ipoint, 1, 2);
    check(FTrace_trigger_state() == FTRACE_TRIGGER_DONE, "and stop");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_compress", "a compressed chunk gives back every record", &checked<&compress>, true},
    {"s_compact_run", "what cannot be done with compact chunks is refused", &checked<&compact_run>, false},
};

} // namespace compact_cases

} // namespace
