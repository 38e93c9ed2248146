// SPDX-License-Identifier: MIT
// Compact chunks (docs/trace-format.md, section 3a) from any trace of ours, by the kernel's own encoder. Only layouts
// that keep all bits of the stamp are used, A or A2, whichever makes the smaller stream; a chunk in which time falls
// stays as records.
#include "host/convert/records/preamble.hpp"
#include "host/convert/records/record_chunks.hpp"
#include "host/convert/rows.hpp"

#include "tracer/compact/encoder.hpp"

#include <array>
#include <optional>

namespace host::convert::records {

namespace {

using tracer::compact::Layout;

constexpr std::array kExactLayouts = {Layout::a, Layout::a2};

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
    void write(const RecordChunks::Chunk& chunk, const trace::TraceFacts& facts) {
        tracer::ChunkBegin begin = chunk.begin;
        const auto stream_bytes = encode(chunk.records);
        const bool smaller = stream_bytes && m_stream.size() < chunk.records.size();
        if (smaller) {
            begin.encoding = tracer::Encoding::compact;
            begin.layout = static_cast<std::uint8_t>(m_layout);
            begin.compact_bytes = *stream_bytes;
            begin.records = static_cast<std::uint32_t>(m_stream.size() / tracer::kRecordBytes);
        }
        m_file.append(make_preamble(begin, facts, chunk.names, chunk.first));
        m_file.append(smaller ? std::span<const std::byte>(m_stream) : chunk.records);
    }

    // The stream's length; m_stream holds it, filled up to whole slots. Nothing if the records cannot be encoded.
    [[nodiscard]] std::optional<std::size_t> encode(std::span<const std::byte> records) {
        std::optional<std::size_t> best;
        for (const Layout layout : kExactLayouts) {
            m_encoder->begin(layout);
            if (!m_encoder->count(records)) {
                return {};
            }
            const std::size_t bytes = m_encoder->plan();
            if (!best || bytes < *best) {
                best = bytes;
                m_layout = layout;
            }
        }
        if (m_layout != kExactLayouts.back()) {
            m_encoder->begin(m_layout);
            static_cast<void>(m_encoder->count(records)); // as before
            best = m_encoder->plan();
        }
        m_stream.assign((*best + tracer::kRecordBytes - 1) / tracer::kRecordBytes * tracer::kRecordBytes, std::byte{});
        if (!m_encoder->start(m_stream) || !m_encoder->write(records)) {
            return {};
        }
        const auto used = m_encoder->finish();
        return used ? std::optional(used.value()) : std::nullopt;
    }

    OutputFile& m_file;
    std::optional<RecordChunks> m_chunks;
    std::unique_ptr<tracer::compact::Encoder> m_encoder = std::make_unique<tracer::compact::Encoder>();
    std::vector<std::byte> m_stream;
    Layout m_layout = Layout::a;
};

} // namespace

const FormatRow kCompactRow = {
    .name = "compact",
    .suffix = ".dat",
    .meaning = "the same chunks written compactly, without loss: a third of the size or less",
    .shape = Destination::Shape::file,
    .needs_survey = true,
    .keeps_stamps = true,
    .make = make_writer<Compact>,
};

} // namespace host::convert::records
