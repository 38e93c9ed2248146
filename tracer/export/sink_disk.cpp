// SPDX-License-Identifier: MIT
#include "tracer/export/sink_disk.hpp"

#include "tracer/names/metadata_writer.hpp"

#include <algorithm>

namespace tracer {

lib::Result<void> DiskSink::set_base_name(std::string_view base_name) {
    if (base_name.empty() || base_name.size() > kNameMax) {
        return lib::Error::invalid_argument;
    }
    if (m_files != 0 || m_state != SinkState::idle) {
        return lib::Error::refused;
    }
    static_assert(kNumberMax >= 100 && kTotalsPrefix.size() == 3);
    lib::Text<kNameMax + 10> last;
    last.decimal(kNumberMax).add(base_name);
    if (const auto checked = m_volume.check_name(last.view()); !checked) {
        return checked.error();
    }
    m_base = lib::Text<kNameMax>(base_name);
    return {};
}

lib::Result<void> DiskSink::submit(const ChunkImage& image) {
    if (m_state == SinkState::failed) {
        return m_error;
    }
    ASSERT(m_state == SinkState::idle);
    m_file.clear();
    m_file.decimal(m_files).add(m_base.view());
    begin_file(image);
    return {};
}

lib::Result<void> DiskSink::finish(const ExportEnd& totals) {
    if (m_state == SinkState::failed) {
        return m_error;
    }
    ASSERT(m_state == SinkState::idle);
    if (m_files == 0) {
        return {};
    }
    MetadataWriter writer(m_end, {});
    writer.combined(event_code(ExportEnd::kEvent), totals);
    ChunkImage end;
    end.parts[0] = writer.written();
    m_ending = true;
    m_file.clear();
    m_file.add(kTotalsPrefix).add(m_base.view());
    begin_file(end);
    return {};
}

void DiskSink::begin_file(const ChunkImage& image) {
    m_image = image;
    m_part = 0;
    m_offset = 0;
    m_created = false;
    m_state = SinkState::busy;
}

// Makes one call of the volume per step: create, a piece of the image, or close.
SinkState DiskSink::step() {
    if (m_state != SinkState::busy) {
        return m_state;
    }
    if (!m_created) {
        const auto created = create_file();
        m_created = created.ok();
        return created ? m_state : fail(created.error());
    }
    while (m_part < m_image.parts.size() && m_offset == m_image.parts[m_part].size()) {
        ++m_part;
        m_offset = 0;
    }
    ASSERT(m_part <= m_image.parts.size());
    if (m_part < m_image.parts.size()) {
        const auto rest = m_image.parts[m_part].subspan(m_offset);
        const auto piece = rest.first(std::min(rest.size(), kStepBytes));
        m_offset += piece.size();
        const auto appended = m_volume.append(piece);
        return appended ? m_state : fail(appended.error());
    }
    if (const auto closed = m_volume.close(); !closed) {
        return fail(closed.error());
    }
    m_files += m_ending ? 0 : 1;
    return m_state = SinkState::idle;
}

lib::Result<void> DiskSink::create_file() {
    if (m_files == 0) {
        lib::Text<kNameMax + 10> totals;
        totals.add(kTotalsPrefix).add(m_base.view());
        if (const auto unused = m_volume.check_free(totals.view()); !unused) {
            return unused;
        }
    }
    return m_volume.create(m_file.view(), m_image.size_bytes());
}

SinkState DiskSink::fail(lib::Error error) {
    m_error = error;
    return m_state = SinkState::failed;
}

} // namespace tracer
