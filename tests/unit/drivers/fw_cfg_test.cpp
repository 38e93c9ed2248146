// SPDX-License-Identifier: MIT
// Tests files that QEMU hands over, on a fake of its two ports.
#include "drivers/fw_cfg.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

// Items by selector; bytes after an item's end are zeros, and without QEMU every port reads as ones.
class FakeFirmwareConfig {
  public:
    bool present = true;
    std::map<std::uint16_t, std::string> items{{0, "QEMU"}};
    int reads = 0;

    void add(const std::string& name, const std::string& content) { m_files.emplace_back(name, content); }

    // After the last file; `count`: what the directory claims.
    void close(std::uint32_t count) {
        std::string directory = big(count, 4);
        std::uint16_t selector = 0x20;
        for (const auto& [name, content] : m_files) {
            std::string field = name;
            field.resize(56);
            directory += big(content.size(), 4) + big(selector, 2) + big(0, 2) + field;
            items[selector++] = content;
        }
        items[0x19] = directory;
    }

    std::uint8_t in8(std::uint16_t port) {
        EXPECT_EQ(port, 0x511);
        ++reads;
        const std::string& item = items[m_selected];
        const std::size_t at = m_at++;
        return !present ? 0xFF : at < item.size() ? static_cast<std::uint8_t>(item[at]) : 0;
    }

    void out16(std::uint16_t port, std::uint16_t value) {
        EXPECT_EQ(port, 0x510);
        m_selected = value;
        m_at = 0;
    }

    std::uint16_t in16(std::uint16_t) { return unused(); }

    std::uint32_t in32(std::uint16_t) { return unused(); }

    void out8(std::uint16_t, std::uint8_t) { unused(); }

    void out32(std::uint16_t, std::uint32_t) { unused(); }

    void in_block8(std::uint16_t, std::span<std::byte>) { unused(); }

    void in_block16(std::uint16_t, std::span<std::byte>) { unused(); }

    void in_block32(std::uint16_t, std::span<std::byte>) { unused(); }

    void out_block8(std::uint16_t, std::span<const std::byte>) { unused(); }

    void out_block16(std::uint16_t, std::span<const std::byte>) { unused(); }

    void out_block32(std::uint16_t, std::span<const std::byte>) { unused(); }

  private:
    static std::uint16_t unused() {
        ADD_FAILURE() << "an access of another width";
        return 0;
    }

    static std::string big(std::size_t value, unsigned bytes) {
        std::string text;
        for (unsigned i = bytes; i-- > 0;) {
            text += static_cast<char>(value >> (8 * i) & 0xFF);
        }
        return text;
    }

    std::vector<std::pair<std::string, std::string>> m_files;
    std::uint16_t m_selected = 0;
    std::size_t m_at = 0;
};

class FirmwareFiles : public testing::Test {
  protected:
    std::string read(std::string_view name, std::size_t room = 64) {
        std::vector<std::byte> out(room);
        const auto size = m_files.read(name, out);
        if (!size) {
            return std::string(lib::error_name(size.error()));
        }
        return {reinterpret_cast<const char*>(out.data()), size.value()};
    }

    FakeFirmwareConfig m_machine;
    drivers::FirmwareConfig<FakeFirmwareConfig> m_files{m_machine};
};

TEST_F(FirmwareFiles, AreFoundByTheirWholeName) {
    m_machine.add("opt/remora/key2", "another");
    m_machine.add("opt/remora/ke", "another");
    m_machine.add("opt/remora/key", "content");
    m_machine.close(3);
    EXPECT_EQ(read("opt/remora/key"), "content");
    EXPECT_EQ(read("opt/remora/none"), lib::error_name(lib::Error::not_found));
    EXPECT_EQ(read("opt/remora/key", 7), "content");
    EXPECT_EQ(read("opt/remora/key", 6), lib::error_name(lib::Error::no_space));
}

TEST_F(FirmwareFiles, HaveNamesOfUpTo55CharactersAndAnySize) {
    const std::string longest(55, 'n');
    m_machine.add(longest, "long name");
    m_machine.add("empty", "");
    m_machine.add("large", std::string(0x10203, 'x'));
    m_machine.close(3);
    EXPECT_EQ(read(longest), "long name");
    EXPECT_EQ(read(longest + "n"), lib::error_name(lib::Error::not_found)) << "no place for the zero after it";
    EXPECT_EQ(read("empty", 0), "");
    EXPECT_EQ(read("large", 0x10203), std::string(0x10203, 'x'));
}

// What is after a name's zero does not count.
TEST_F(FirmwareFiles, EndTheirNamesWithAZero) {
    m_machine.add(std::string("key\0rest", 8), "content");
    m_machine.close(1);
    EXPECT_EQ(read("key"), "content");
}

TEST_F(FirmwareFiles, AreFoundAmongTheFirst256) {
    for (int i = 0; i < 257; ++i) {
        m_machine.add("file" + std::to_string(i), std::to_string(i));
    }
    m_machine.close(257);
    EXPECT_EQ(read("file255"), "255");
    EXPECT_EQ(read("file256"), lib::error_name(lib::Error::not_found));
}

TEST_F(FirmwareFiles, AreAsManyAsTheDirectorySays) {
    m_machine.add("first", "1");
    m_machine.add("second", "2");
    m_machine.close(1);
    EXPECT_EQ(read("first"), "1");
    EXPECT_EQ(read("second"), lib::error_name(lib::Error::not_found));
}

// The signature alone decides, at its first wrong byte.
TEST_F(FirmwareFiles, AreNotReadFromAMachineWithAnotherSignature) {
    m_machine.add("key", "content");
    m_machine.close(1);
    for (std::size_t i = 0; i < 4; ++i) {
        m_machine.items[0] = "QEMU";
        m_machine.items[0][i] = 'x';
        m_machine.reads = 0;
        EXPECT_EQ(read("key"), lib::error_name(lib::Error::not_found)) << i;
        EXPECT_EQ(m_machine.reads, static_cast<int>(i) + 1);
    }
}

TEST_F(FirmwareFiles, AreNotThereOnAnotherMachine) {
    m_machine.present = false;
    EXPECT_EQ(read("opt/remora/key"), lib::error_name(lib::Error::not_found));
    EXPECT_LE(m_machine.reads, 4);
}

TEST_F(FirmwareFiles, AreSearchedForABoundedTime) {
    m_machine.close(0xFFFF'FFFF);
    EXPECT_EQ(read("opt/remora/key"), lib::error_name(lib::Error::not_found));
    EXPECT_LE(m_machine.reads, 4 + 4 + 64 * 256);
}

} // namespace
