// SPDX-License-Identifier: MIT
// dat has our own records again (docs/trace-format.md), in one file of chunks, each with its preamble, so that any
// chunk decodes alone. A trace that describes none of its chunks, such as one of a published S.Ha.R.K. kernel, stays
// plain records. The output differs from the input only in how records are grouped, so events, names, payloads and
// losses survive; of damaged long events the slots that the reader passed on as events remain.
//
// compact has compact chunks (docs/trace-format.md, section 3a) from any trace of ours, by the kernel's own encoder.
// Only layouts that keep all bits of the stamp are used, A or A2, whichever makes the smaller stream; a chunk in which
// time falls stays as records.
#include "convert/records/record_chunks.hpp"
#include "convert/rows.hpp"
#include "tracer/compact/encoder.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace host::convert::records {

namespace {

class Dat final : public Writer {
  public:
    explicit Dat(Destination& destination)
        : m_file(destination.file()) {}

    lib::Result<void, Failure> begin(const Survey* survey) override {
        const auto& chunks = survey->facts.chunks;
        if (survey->kind == trace::InputKind::records && std::ranges::none_of(chunks, &trace::ChunkReport::described)) {
            return {};
        }
        if (auto checked = check_processors(*survey); !checked) {
            return checked;
        }
        m_chunks.emplace(*survey, [this, survey](const RecordChunks::Chunk& chunk) {
            tracer::ChunkBegin begin = chunk.begin;
            m_file.append(make_preamble(begin, survey->facts, chunk.names, chunk.first));
            m_file.append(chunk.records);
        });
        return {};
    }

    void add(const trace::Event& event) override {
        if (m_chunks) {
            m_chunks->add(event);
            return;
        }
        if (is_one_record(event)) [[likely]] {
            const tracer::Record record = record_of(event);
            m_file.append(std::as_bytes(std::span(&record, 1)));
            return;
        }
        m_plain.clear();
        if (!append_records(event, m_plain)) {
            ++m_without_record;
        }
        m_file.append(std::as_bytes(std::span(m_plain)));
    }

    lib::Result<void, Failure> finish(const trace::TraceFacts& /*facts*/) override {
        return m_chunks ? m_chunks->finish() : events_without_record(m_without_record);
    }

  private:
    OutputFile& m_file;
    std::optional<RecordChunks> m_chunks; // none for plain records
    std::vector<tracer::Record> m_plain;
    std::uint64_t m_without_record = 0; // events
};

} // namespace

const FormatRow kDatRow = {
    .name = "dat",
    .suffix = ".dat",
    .meaning = "16-byte records again, in one file of chunks: to join a session's files, to unpack compact ones",
    .shape = Destination::Shape::file,
    .needs_survey = true,
    .keeps_stamps = true,
    .make = make_writer<Dat>,
};

namespace {

using tracer::compact::Layout;

class Compact final : public Writer {
  public:
    explicit Compact(Destination& destination)
        : m_file(destination.file()) {}

    lib::Result<void, Failure> begin(const Survey* survey) override {
        if (auto checked = check_processors(*survey); !checked) {
            return checked;
        }
        m_chunks.emplace(*survey, [this, survey](const RecordChunks::Chunk& chunk) { write(chunk, survey->facts); });
        return {};
    }

    void add(const trace::Event& event) override { m_chunks->add(event); }

    lib::Result<void, Failure> finish(const trace::TraceFacts& /*facts*/) override { return m_chunks->finish(); }

  private:
    // A plan is the attempt to use one layout.
    struct Plan {
        Layout layout;
        tracer::compact::Encoder encoder;
        std::size_t bytes = 0; // size of the stream
    };

    void write(const RecordChunks::Chunk& chunk, const trace::TraceFacts& facts) {
        tracer::ChunkBegin begin = chunk.begin;
        Plan* const plan = encode(chunk.records);
        const bool smaller = plan != nullptr && m_stream.size() < chunk.records.size();
        if (smaller) {
            begin.encoding = tracer::Encoding::compact;
            begin.layout = static_cast<std::uint8_t>(plan->layout);
            begin.compact_bytes = plan->bytes;
            begin.records = static_cast<std::uint32_t>(m_stream.size() / tracer::kRecordBytes);
        }
        m_file.append(make_preamble(begin, facts, chunk.names, chunk.first));
        m_file.append(smaller ? std::span<const std::byte>(m_stream) : chunk.records);
    }

    // Encodes the records and returns the plan with the smallest stream, the first of equal ones. m_stream has the
    // stream, filled up to whole slots. Returns null if the records cannot be encoded.
    [[nodiscard]] Plan* encode(std::span<const std::byte> records) {
        for (Plan& plan : *m_plans) {
            plan.encoder.begin(plan.layout);
            if (!plan.encoder.count(records)) {
                return nullptr;
            }
            plan.bytes = plan.encoder.plan();
        }
        Plan& best = *std::ranges::min_element(*m_plans, {}, &Plan::bytes);
        m_stream.assign((best.bytes + tracer::kRecordBytes - 1) / tracer::kRecordBytes * tracer::kRecordBytes,
                        std::byte{});
        if (!best.encoder.start(m_stream) || !best.encoder.write(records)) {
            return nullptr;
        }
        const auto used = best.encoder.finish();
        best.bytes = used ? used.value() : 0;
        return used ? &best : nullptr;
    }

    OutputFile& m_file;
    std::optional<RecordChunks> m_chunks;
    std::unique_ptr<std::array<Plan, 2>> m_plans{
        new std::array<Plan, 2>{{{.layout = Layout::a, .encoder = {}}, {.layout = Layout::a2, .encoder = {}}}}};
    std::vector<std::byte> m_stream;
};

} // namespace

const FormatRow kCompactRow = {
    .name = "compact",
    .suffix = ".dat",
    .meaning = "the same chunks written compactly, without loss: less than half of the size",
    .shape = Destination::Shape::file,
    .needs_survey = true,
    .keeps_stamps = true,
    .make = make_writer<Compact>,
};

} // namespace host::convert::records
