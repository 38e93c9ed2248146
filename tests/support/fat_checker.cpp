// SPDX-License-Identifier: MIT
// Implements the checker of FAT images.
#include "tests/support/fat_checker.hpp"

#include <algorithm>
#include <cstring>

namespace test {

namespace {

class Checker {
  public:
    Checker(const std::vector<std::byte>& image, std::uint32_t copy)
        : m_image(image) {
        m_cluster_bytes = u8(13) * 512U;
        m_reserved = u16(14);
        m_copies = u8(16);
        m_root_entries = u16(17);
        m_total = u16(19) != 0 ? u16(19) : u32(32);
        m_table_sectors = u16(22) != 0 ? u16(22) : u32(36);
        m_root = (m_reserved + m_copies * m_table_sectors) * 512U;
        m_data = m_root + m_root_entries * 32U;
        m_clusters = static_cast<std::uint32_t>((std::size_t{m_total} * 512U - m_data) / m_cluster_bytes);
        m_wide = m_clusters >= 65525;
        m_table = (m_reserved + copy * m_table_sectors) * 512U;
    }

    FatReport run() {
        m_owner.assign(m_clusters + 2, 0);
        compare_copies();
        check_links();
        if (m_wide) {
            const auto chain = walk(u32(44), "root directory");
            for (const std::uint32_t cluster : chain) {
                const std::size_t start = place(cluster);
                if (!read_entries(start, m_cluster_bytes)) {
                    break;
                }
            }
        } else {
            read_entries(m_root, m_data - m_root);
        }
        for (std::uint32_t cluster = 2; cluster < m_clusters + 2; ++cluster) {
            m_report.free_clusters += entry(cluster) == 0 ? 1U : 0U;
            m_report.lost_clusters += entry(cluster) != 0 && m_owner[cluster] == 0 ? 1U : 0U;
        }
        if (m_wide) {
            const std::uint32_t hint = u32(u16(48) * 512U + 488);
            m_report.hint_right = hint == 0xFFFFFFFF || hint == m_report.free_clusters;
        }
        return m_report;
    }

  private:
    std::uint8_t u8(std::size_t at) const { return static_cast<std::uint8_t>(m_image[at]); }

    std::uint16_t u16(std::size_t at) const { return static_cast<std::uint16_t>(u8(at) | (u8(at + 1) << 8)); }

    std::uint32_t u32(std::size_t at) const { return u16(at) | (static_cast<std::uint32_t>(u16(at + 2)) << 16); }

    std::uint32_t entry(std::uint32_t cluster) const {
        return m_wide ? u32(m_table + cluster * 4U) & 0x0FFFFFFF : u16(m_table + cluster * 2U);
    }

    bool is_end(std::uint32_t value) const { return value >= (m_wide ? 0x0FFFFFF8U : 0xFFF8U); }

    bool inside(std::uint32_t cluster) const { return cluster >= 2 && cluster < m_clusters + 2; }

    std::size_t place(std::uint32_t cluster) const { return m_data + std::size_t{cluster - 2} * m_cluster_bytes; }

    void compare_copies() {
        for (std::uint32_t copy = 1; copy < m_copies; ++copy) {
            const std::size_t first = m_reserved * 512U;
            const std::size_t bytes = m_table_sectors * 512U;
            if (std::memcmp(&m_image[first], &m_image[first + copy * bytes], bytes) != 0) {
                m_report.copies_equal = false;
            }
        }
    }

    // Checks that no entry, owned or lost, points to a free cluster, and no two to the same one.
    void check_links() {
        std::vector<std::uint8_t> pointed(m_clusters + 2, 0);
        for (std::uint32_t cluster = 2; cluster < m_clusters + 2; ++cluster) {
            const std::uint32_t next = entry(cluster);
            if (next == 0 || is_end(next) || next == (m_wide ? 0x0FFFFFF7U : 0xFFF7U)) {
                continue;
            }
            if (!inside(next)) {
                complain("link outside the volume at", cluster);
            } else if (entry(next) == 0) {
                complain("link to a free cluster at", cluster);
            } else if (pointed[next]++ != 0) {
                complain("second link to", next);
            }
        }
    }

    std::vector<std::uint32_t> walk(std::uint32_t first, const std::string& owner) {
        std::vector<std::uint32_t> chain;
        for (std::uint32_t cluster = first; !is_end(cluster); cluster = entry(cluster)) {
            if (!inside(cluster)) {
                complain(owner + ": chain leaves the volume or is free at", cluster);
                break;
            }
            if (entry(cluster) == 0) {
                complain(owner + ": unallocated cluster", cluster);
                break;
            }
            if (m_owner[cluster] != 0) {
                complain(owner + ": cluster has two owners", cluster);
                break;
            }
            m_owner[cluster] = 1;
            chain.push_back(cluster);
        }
        return chain;
    }

    // Returns false at the end mark.
    bool read_entries(std::size_t start, std::size_t bytes) {
        for (std::size_t at = start; at < start + bytes; at += 32) {
            if (u8(at) == 0) {
                return false;
            }
            const std::uint8_t attributes = u8(at + 11);
            if (u8(at) == 0xE5 || (attributes & 0x08) != 0) {
                continue;
            }
            std::string name(11, ' ');
            std::memcpy(name.data(), &m_image[at], 11);
            read_file(name, at);
        }
        return true;
    }

    void read_file(const std::string& name, std::size_t at) {
        const std::uint32_t high = m_wide ? u16(at + 20) : 0U;
        const std::uint32_t first = (high << 16) | u16(at + 26);
        const std::uint32_t size = u32(at + 28);
        const auto chain = first == 0 ? std::vector<std::uint32_t>{} : walk(first, name);
        if ((size + m_cluster_bytes - 1ULL) / m_cluster_bytes != chain.size()) {
            complain(name + ": chain does not match the size; clusters:", static_cast<std::uint32_t>(chain.size()));
        }
        std::vector<std::byte> contents;
        for (const std::uint32_t cluster : chain) {
            const auto begin = m_image.begin() + static_cast<std::ptrdiff_t>(place(cluster));
            contents.insert(contents.end(), begin, begin + m_cluster_bytes);
        }
        contents.resize(std::min<std::size_t>(size, contents.size()));
        if (!m_report.files.emplace(name, contents).second) {
            complain(name + ": name occurs twice", 0);
        }
    }

    void complain(const std::string& what, std::uint32_t number) {
        m_report.damage.push_back(what + " " + std::to_string(number));
    }

    const std::vector<std::byte>& m_image;
    FatReport m_report;
    std::vector<std::uint8_t> m_owner;
    std::uint32_t m_cluster_bytes = 0;
    std::uint32_t m_reserved = 0;
    std::uint32_t m_copies = 0;
    std::uint32_t m_root_entries = 0;
    std::uint32_t m_total = 0;
    std::uint32_t m_table_sectors = 0;
    std::uint32_t m_clusters = 0;
    std::size_t m_root = 0;
    std::size_t m_data = 0;
    std::size_t m_table = 0;
    bool m_wide = false;
};

} // namespace

std::string FatReport::text() const {
    std::string result;
    for (const std::string& line : damage) {
        result += line + "\n";
    }
    return result + "lost clusters: " + std::to_string(lost_clusters);
}

FatReport check_fat(const std::vector<std::byte>& image, std::uint32_t table_copy) {
    return Checker(image, table_copy).run();
}

} // namespace test
