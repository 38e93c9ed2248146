// SPDX-License-Identifier: MIT
// The cost and the savings of compact chunks on a real trace: the records of a session are encoded with the object code
// that the kernel links. Sizes are exact; the time is that of the best of many rounds.
//
//   compact_cost DIR|FILE...    a session directory, or Ntrace.dat files
#include "tracer/compact/decoder.hpp"
#include "tracer/compact/encoder.hpp"
#include "tracer/names/metadata.hpp"
#include "tracer/record/event_table.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

using tracer::Record;
using tracer::compact::Decoder;
using tracer::compact::Encoder;
using tracer::compact::Layout;
using tracer::compact::LayoutRow;
using Bytes = std::vector<std::byte>;

constexpr double kRatioGoal = 2.5;
constexpr double kSpeedGoal = 200; // MB of records a second
constexpr int kRounds = 200;
constexpr std::size_t kSpeedBytes = 1024 * 1024; // a chunk of usual size
constexpr std::size_t kRecordsMax = 8 * 1024 * 1024;

Encoder g_encoder;
Decoder g_decoder;

// The records after the preamble of one plain chunk; nothing if the file contains another kind.
Bytes records_of(const std::filesystem::path& path) {
    std::vector<char> text(std::filesystem::file_size(path) / tracer::kRecordBytes * tracer::kRecordBytes);
    if (!std::ifstream(path, std::ios::binary).read(text.data(), static_cast<std::streamsize>(text.size()))) {
        return {};
    }
    const auto bytes = std::as_bytes(std::span(text));
    for (std::size_t at = 0; at < bytes.size(); at += tracer::kRecordBytes) {
        if (tracer::decode_record(bytes.subspan(at)).event_code() == tracer::event_code("numevents")) {
            const auto rest = bytes.subspan(at + tracer::kRecordBytes);
            return {rest.begin(), rest.end()};
        }
    }
    return {};
}

// Main area only: the emergency area begins where time decreases.
void append_rising(Bytes& all, const Bytes& records) {
    lib::Ticks last;
    for (std::size_t at = 0; at < records.size() && all.size() < kRecordsMax; at += tracer::kRecordBytes) {
        const auto record = std::span(records).subspan(at, tracer::kRecordBytes);
        if (tracer::decode_record(record).stamp() < last) {
            return;
        }
        last = tracer::decode_record(record).stamp();
        all.insert(all.end(), record.begin(), record.end());
    }
}

std::size_t encode(Layout layout, const Bytes& records, Bytes& stream) {
    g_encoder.begin(layout);
    if (!g_encoder.count(records)) {
        return 0;
    }
    const std::size_t planned = g_encoder.plan();
    if (stream.size() < planned) {
        stream.resize(planned);
    }
    const auto started = g_encoder.start(std::span(stream).first(planned));
    const auto written = started ? g_encoder.write(records) : started;
    const auto bytes = g_encoder.finish();
    return written && bytes ? bytes.value() : 0;
}

// Whether the stream decodes to every record, the stamps to the layout's granule.
bool round_trips(const LayoutRow& row, const Bytes& records, std::span<const std::byte> stream) {
    std::size_t at = 0;
    g_decoder.restart(stream.size());
    while (g_decoder.next(stream.subspan(g_decoder.offset())) == Decoder::Step::records) {
        for (const Record& record : g_decoder.records()) {
            if (at == records.size()) {
                return false;
            }
            Record expected = tracer::decode_record(std::span(records).subspan(at));
            const std::uint64_t early = expected.stamp().value - record.stamp().value;
            expected.tsc_high = record.tsc_high;
            expected.tsc_low = record.tsc_low;
            if (record != expected || early >> row.lsb != 0) {
                return false;
            }
            at += tracer::kRecordBytes;
        }
    }
    return g_decoder.fault() == tracer::compact::Fault::none && at == records.size();
}

// The trace repeated with increasing stamps, up to the size of a usual chunk.
Bytes repeated(const Bytes& records) {
    Bytes all;
    const std::uint64_t begin = tracer::decode_record(records).stamp().value;
    const std::uint64_t end = tracer::decode_record(std::span(records).last(tracer::kRecordBytes)).stamp().value;
    for (std::uint64_t shift = 0; all.size() < kSpeedBytes; shift += end - begin + 1000) {
        const std::size_t from = all.size();
        all.insert(all.end(), records.begin(), records.end());
        for (std::size_t at = from; at < all.size(); at += tracer::kRecordBytes) {
            const auto place = std::span(all).subspan(at, tracer::kRecordBytes);
            const Record record = tracer::decode_record(place);
            tracer::encode_record(
                tracer::make_record(record.code, record.par1, record.par2, {record.stamp().value + shift}), place);
        }
    }
    return all;
}

double megabytes_per_second(Layout layout, const Bytes& records) {
    // Processor time of this process only.
    const auto now_s = [] {
        timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
    };
    Bytes stream;
    double best_s = 1e9;
    for (int round = 0; round < kRounds; ++round) {
        const double before_s = now_s();
        if (encode(layout, records, stream) == 0) {
            return 0;
        }
        best_s = std::min(best_s, now_s() - before_s);
    }
    return static_cast<double>(records.size()) / 1e6 / best_s;
}

} // namespace

int main(int argc, char** argv) {
    std::vector<std::filesystem::path> files;
    for (int i = 1; i < argc; ++i) {
        if (!std::filesystem::is_directory(argv[i])) {
            files.emplace_back(argv[i]);
            continue;
        }
        for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
            if (entry.path().extension() == ".dat" || entry.path().extension() == ".DAT") {
                files.push_back(entry.path());
            }
        }
    }
    std::ranges::sort(files);
    Bytes records;
    if (!files.empty()) {
        append_rising(records, records_of(files.front())); // one chunk: each has a map of its own
    }
    if (records.empty()) {
        std::fprintf(stderr, "compact_cost: no records; give it a session directory with plain chunks\n");
        return 1;
    }
    const auto count = static_cast<double>(records.size() / tracer::kRecordBytes);
    std::printf("FIGURE compact_records %.0f records\n", count);
    std::printf("FIGURE bytes_per_event_R16 %.2f bytes\n", static_cast<double>(records.size()) / count);
    double ratio = 0;
    for (const LayoutRow& row : tracer::compact::kLayoutRows) {
        Bytes stream;
        const std::size_t bytes = encode(row.layout, records, stream);
        if (bytes == 0 || !round_trips(row, records, std::span<const std::byte>(stream).first(bytes))) {
            std::fprintf(stderr, "compact_cost: layout %s does not decode to the records\n", row.name.data());
            return 1;
        }
        std::printf("FIGURE bytes_per_event_%s %.2f bytes\n", row.name.data(), static_cast<double>(bytes) / count);
        ratio = row.layout == Layout::a ? static_cast<double>(records.size()) / static_cast<double>(bytes) : ratio;
    }
    const double speed = megabytes_per_second(Layout::a, repeated(records));
    std::printf("FIGURE compact_ratio_A %.2f times\n", ratio);
    std::printf("FIGURE compact_speed_A %.0f MB/s\n", speed);
    std::printf("GOAL P12 %.2fx,%.0fMB/s >=%.1fx,>=%.0fMB/s %s\n", ratio, speed, kRatioGoal, kSpeedGoal,
                ratio >= kRatioGoal && speed >= kSpeedGoal ? "met" : "missed");
    return 0;
}
