// SPDX-License-Identifier: MIT
// Ring buffer pages, kept in a file without a name until all sizes are known.
#include "convert/linux/ring_pages.hpp"

#include "lib/assert.hpp"

#include <algorithm>

namespace host::convert::linux {

namespace {

constexpr std::uint32_t kTypeTimeExtend = 30;
constexpr std::uint64_t kMissedEvents = std::uint64_t{1} << 31;
constexpr std::uint64_t kMissedStored = std::uint64_t{1} << 30; // their number follows the data

} // namespace

char* RingPages::any_event(std::uint64_t time_ns, std::size_t bytes) {
    ASSERT(bytes <= kDataBytesMax);
    if (time_ns < m_time) {
        time_ns = m_time;
        ++m_raised;
    }
    constexpr std::uint64_t kExtendedMax = (std::uint64_t{1} << (kDeltaBits + 32)) - 1; // a page has its time whole
    const bool is_long = bytes > kShortMax;
    const std::size_t head = is_long ? 8 : kShortHeadBytes;
    if (m_filled != 0 && (!fits(head + bytes) || time_ns - m_time > kExtendedMax)) {
        close_page();
    }
    if (m_filled == 0) {
        open_page(time_ns);
    }
    std::uint64_t delta = time_ns - m_time;
    m_time = time_ns;
    char* at = page() + m_filled;
    if (delta > kDeltaMax) {
        store(at, static_cast<std::uint32_t>(kTypeTimeExtend | (delta & kDeltaMax) << kTypeBits));
        store(at + 4, static_cast<std::uint32_t>(delta >> kDeltaBits));
        at += kExtendBytes;
        m_filled += kExtendBytes;
        delta = 0;
    }
    const std::uint32_t type = is_long ? 0 : static_cast<std::uint32_t>(bytes / 4);
    store(at, static_cast<std::uint32_t>(type | delta << kTypeBits));
    if (is_long) {
        store(at + 4, static_cast<std::uint32_t>(bytes + 4)); // itself included
    }
    m_filled += head + bytes;
    return at + head;
}

void RingPages::lost(std::uint64_t records) {
    if (records == 0) {
        return;
    }
    close_page();
    m_lost += records;
    m_lost_total += std::min(records, ~std::uint64_t{0} - m_lost_total);
}

void RingPages::open_page(std::uint64_t time_ns) {
    m_time = time_ns;
    store(page(), time_ns);
    m_filled = kHeadBytes;
}

void RingPages::close_page() {
    if (m_filled == 0) {
        return;
    }
    char* const begin = page();
    std::uint64_t commit = m_filled - kHeadBytes;
    std::memset(begin + m_filled, 0, kPageBytes - m_filled);
    if (m_lost != 0) {
        commit |= kMissedEvents | kMissedStored;
        store(begin + m_filled, m_lost);
        m_lost = 0;
    }
    store(begin + sizeof(std::uint64_t), commit);
    m_filled = 0;
    if (++m_page == kPagesPerWrite) {
        write_out();
    }
}

void RingPages::write_out() {
    if (!m_spooled) {
        auto spool = trace::Spool::create();
        if (!spool) {
            m_written = spool.error();
        } else {
            m_spool = std::move(spool.value());
        }
        m_spooled = true;
    }
    if (m_written) {
        m_written = m_spool.append(std::as_bytes(std::span(m_buffer).first(m_page * kPageBytes)));
    }
    m_page = 0;
}

lib::Result<std::shared_ptr<trace::ByteSource>> RingPages::finish(std::uint64_t& bytes) {
    close_page();
    if (m_page != 0) {
        write_out();
    }
    if (!m_written) {
        return m_written.error();
    }
    bytes = m_spool.size_bytes();
    return m_spool.take();
}

} // namespace host::convert::linux
