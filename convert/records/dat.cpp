// SPDX-License-Identifier: MIT
// Our own records again (docs/trace-format.md): one file of chunks, each with its preamble, so that any chunk decodes
// alone. A trace that describes none of its chunks, such as one of a published S.Ha.R.K. kernel, stays plain records.
// What comes out differs from what went in only in how records are grouped, so events, names, payloads and losses
// survive; of damaged long events those slots stay that the reader gave as events.
#include "convert/records/preamble.hpp"
#include "convert/records/record_chunks.hpp"
#include "convert/rows.hpp"

#include <algorithm>
#include <optional>

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
    std::optional<RecordChunks> m_chunks; // none: plain records
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

} // namespace host::convert::records
