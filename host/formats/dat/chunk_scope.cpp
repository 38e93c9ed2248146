// SPDX-License-Identifier: MIT
#include "host/formats/dat/chunk_scope.hpp"

namespace host::formats::dat {

void ChunkScope::begin(std::uint64_t offset_bytes) {
    m_index = m_facts.chunks.size();
    m_facts.chunks.push_back(
        {.file = m_segment.path, .begin_bytes = offset_bytes, .order = m_segment.order + m_chunks++});
}

void ChunkScope::report(trace::Code code, std::uint64_t offset_bytes, std::string_view text) {
    trace::Place place{.file = m_segment.path, .offset_bytes = offset_bytes};
    if (chunk().described) {
        place.chunk = chunk().description.chunk;
        place.cpu = chunk().description.cpu;
    }
    m_diagnostics.report(code, place, text);
}

} // namespace host::formats::dat
