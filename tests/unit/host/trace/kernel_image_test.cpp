// SPDX-License-Identifier: MIT
// Tests what a kernel image states: functions by address, from an ELF file built here byte by byte, from hostile ones,
// and from a session's copy. What formats become: rendering_test.cpp.
#include "host/trace/kernel_image.hpp"

#include "host/trace/program_output.hpp"
#include "host/trace/value_text.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace host::trace {

namespace {

struct Symbol {
    std::string name;
    unsigned type; // 0 none, 1 object, 2 function
    std::uint16_t section;
    std::uint64_t address;
    std::uint64_t size;
};

constexpr std::uint16_t kText = 1; // sections of the image below
constexpr std::uint16_t kFormatsSection = 2;

template <typename T>
void put(std::string& out, T value) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    out.append(bytes, sizeof(T));
}

// Header, contents of the sections, section headers; in that order. A symbol without a name has that of the last one
// with a name.
std::string elf(const std::vector<Symbol>& symbols, const std::string& formats = std::string("go\0", 3)) {
    std::string strings(1, '\0');
    std::string table(24, '\0');
    std::size_t name_at = 0;
    for (const Symbol& symbol : symbols) {
        name_at = symbol.name.empty() ? name_at : strings.size();
        put(table, static_cast<std::uint32_t>(name_at));
        put(table, static_cast<std::uint8_t>(0x10 | symbol.type));
        put(table, std::uint8_t{0});
        put(table, symbol.section);
        put(table, symbol.address);
        put(table, symbol.size);
        if (!symbol.name.empty()) {
            strings += symbol.name + '\0';
        }
    }

    struct Section {
        std::string name;
        std::string contents;
        std::uint64_t flags;
    };

    const std::vector<Section> sections = {{"", "", 0},
                                           {".text", "\x90", 0x6},
                                           {".trace_formats", std::string("RFMT1\0\0\0", 8) + formats, 0x2},
                                           {".symtab", table, 0},
                                           {".strtab", strings, 0}};
    std::string names;
    std::string contents;
    std::string headers;
    for (const Section& section : sections) {
        put(headers, static_cast<std::uint32_t>(names.size()));
        put(headers, std::uint32_t{1});
        put(headers, section.flags);
        put(headers, std::uint64_t{0});
        put(headers, 64 + contents.size());
        put(headers, section.contents.size());
        headers += std::string(24, '\0');
        names += section.name + '\0';
        contents += section.contents;
    }
    put(headers, static_cast<std::uint32_t>(names.size()));
    names += std::string(".shstrtab") + '\0';
    put(headers, std::uint32_t{3});
    headers += std::string(16, '\0');
    put(headers, 64 + contents.size());
    put(headers, names.size());
    headers += std::string(24, '\0');
    contents += names;

    std::string file("\x7f"
                     "ELF\x02\x01");
    file.resize(0x28, '\0');
    put(file, 64 + contents.size());
    file.resize(0x3A, '\0');
    put(file, std::uint16_t{64});
    put(file, static_cast<std::uint16_t>(sections.size() + 1));
    put(file, static_cast<std::uint16_t>(sections.size()));
    return file + contents + headers;
}

class KernelImageFile : public testing::Test {
  protected:
    lib::Result<KernelImage, Refusal> read(const std::string& file) {
        const auto bytes = std::as_bytes(std::span(file));
        return KernelImage::from_image(m_directory.write("kernel.elf", {bytes.begin(), bytes.end()}));
    }

    support::TemporaryDirectory m_directory;
};

TEST_F(KernelImageFile, NamesFunctionsByAddress) {
    const auto image = read(elf({{"_ZN4apps4workEj", 2, kText, 0x1000, 0x20},
                                 {"label", 0, kText, 0x1040, 0},
                                 {".Llocal", 0, kText, 0x1050, 0},
                                 {"constant", 0, 0xFFF1, 0x1060, 0},
                                 {"table", 1, kFormatsSection, 0x1070, 4},
                                 {"data_label", 0, kFormatsSection, 0x1080, 0},
                                 {"last", 2, kText, 0x2000, 1}}));
    ASSERT_TRUE(image.ok());
    ASSERT_EQ(image.value().functions().size(), 3U);
    const auto place = [&](std::uint64_t address) { return place_of(&image.value(), address); };
    EXPECT_EQ(place(0xFFF), "");
    EXPECT_EQ(place(0x1000), "apps::work(unsigned int)");
    EXPECT_EQ(place(0x101F), "apps::work(unsigned int)+0x1f");
    EXPECT_EQ(place(0x1020), "") << "after its end";
    EXPECT_EQ(place(0x1040), "label");
    EXPECT_EQ(place(0x1FFF), "label+0xfbf") << "of unknown size: up to the next";
    EXPECT_EQ(place(0x2000), "last");
    EXPECT_EQ(place(0x2001), "");
    EXPECT_EQ(place_of(nullptr, 0x1000), "");
}

TEST_F(KernelImageFile, OfSeveralNamesTheOneWithASizeStays) {
    const auto image = read(elf({{"alias", 0, kText, 0x1000, 0}, {"real", 2, kText, 0x1000, 8}}));
    ASSERT_TRUE(image.ok());
    ASSERT_EQ(image.value().functions().size(), 1U);
    EXPECT_EQ(place_of(&image.value(), 0x1001), "real+0x1");
}

TEST_F(KernelImageFile, ASessionsCopyNamesTheSame) {
    const auto image = read(elf({{"one", 2, kText, 0x1000, 0x20}, {"two\x1b[2J", 2, kText, ~std::uint64_t{0} - 3, 4}}));
    ASSERT_TRUE(image.ok());
    const auto copy = KernelImage::parse(image.value().to_json_text());
    ASSERT_TRUE(copy.ok());
    ASSERT_EQ(copy.value().functions().size(), 2U);
    EXPECT_EQ(place_of(&copy.value(), 0x1001), "one+0x1");
    EXPECT_EQ(place_of(&copy.value(), ~std::uint64_t{0}), "two\\x1b[2J+0x3") << "the terminal is safe";
    ASSERT_NE(copy.value().format(8), nullptr);
    EXPECT_EQ(*copy.value().format(8), "go");
}

std::string number_of(std::size_t substitution) {
    constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return substitution == 0 ? "S_" : std::string("S") + kDigits[substitution - 1] + "_";
}

// f(a<int, int>, a<the last one, the last one>, ...): each level doubles.
std::string doubling(std::size_t levels) {
    std::string name = "_Z1f1aIiiE";
    for (std::size_t i = 1; i <= levels; ++i) {
        name += "S_I" + number_of(i) + number_of(i) + "E";
    }
    return name;
}

TEST_F(KernelImageFile, ANameThatWouldGrowWithoutBoundsStaysMangled) {
    const auto image = read(elf({{doubling(2), 2, kText, 0x1000, 8}, {doubling(16), 2, kText, 0x2000, 8}}));
    ASSERT_TRUE(image.ok());
    EXPECT_EQ(image.value().functions()[0].name, "f(a<int, int>, a<a<int, int>, a<int, int> >, "
                                                 "a<a<a<int, int>, a<int, int> >, a<a<int, int>, a<int, int> > >)");
    EXPECT_EQ(image.value().functions()[1].name, doubling(16));
}

TEST(Demangler, RefusesWhatTogetherCostsTooMuch) {
    const std::string name = doubling(6);
    Demangler demangler;
    int taken = 0;
    while (taken < 1'000 && demangler.name(name) != name) {
        ++taken;
    }
    EXPECT_GT(taken, 1);
    EXPECT_LT(taken, 1'000);
}

TEST(Demangler, EstimatesNeverLessThanTheTextHasNames) {
    for (std::size_t levels = 1; levels < 7; ++levels) {
        const std::string text = Demangler().name(doubling(levels));
        const auto names = static_cast<std::uint64_t>(std::ranges::count(text, 'a') + std::ranges::count(text, 'i'));
        EXPECT_GE(demangled_estimate(doubling(levels)), names) << levels;
    }
    EXPECT_GE(demangled_estimate(doubling(34)), std::uint64_t{1} << 32);
    EXPECT_LT(demangled_estimate("_Z1fSt4spanIiE"), 20U) << "not the operator sp";
    EXPECT_GT(demangled_estimate("_Z1fIJijxEEvDpT_"), 200U) << "each of a pack";
}

// The longest names of this kernel.
TEST(Demangler, TakesRealNames) {
    const std::string heap =
        "_ZSt13__adjust_heapIN9__gnu_cxx17__normal_iteratorIPN6kernel6DemandESt4spanIS3_Lm18446744073709551615EEEElS3_"
        "NS0_5__ops15_Iter_comp_iterIZNSt6ranges8__detail16__make_comp_projINSA_4lessEMS3_mEEDaRT_RT0_EUlOSF_OSH_E_EEE"
        "vSF_SH_SH_T1_T2_";
    EXPECT_TRUE(Demangler().name(heap).starts_with("void std::__adjust_heap<")) << demangled_estimate(heap);
    const std::string line =
        "_ZN6kernel7Console4lineIJA9_cA16_cSt17basic_string_viewIcSt11char_traitsIcEEA3_cS7_A8_cjS2_mS2_EEEvDpRKT_";
    EXPECT_TRUE(Demangler().name(line).starts_with("void kernel::Console::line<")) << demangled_estimate(line);
}

// A megabyte of symbols would become a gigabyte of names.
TEST_F(KernelImageFile, RefusesMoreThanAnyKernelHas) {
    std::vector<Symbol> symbols = {{std::string(4000, 'A'), 2, kText, 0x1000, 1}};
    for (std::uint64_t i = 1; i < 4'000; ++i) {
        symbols.push_back({"", 2, kText, 0x1000 + i, 1});
    }
    EXPECT_TRUE(read(elf(symbols)).ok());
    symbols.resize(50'000, {"", 2, kText, 0x9000, 1});
    const auto names = read(elf(symbols));
    ASSERT_FALSE(names.ok());
    EXPECT_NE(names.error().text.find("functions"), std::string::npos);
    EXPECT_FALSE(read(elf(std::vector<Symbol>(300'000, {"a", 2, kText, 0x9000, 1}))).ok());
    std::string formats;
    for (int i = 0; i < 300'000; ++i) {
        formats += std::string("a\0", 2);
    }
    const auto texts = read(elf({}, formats));
    ASSERT_FALSE(texts.ok());
    EXPECT_NE(texts.error().text.find("formats"), std::string::npos);
}

std::string copy_with(std::size_t format_bytes, std::size_t name_bytes) {
    return R"({"format":"remora-formats","version":1,"image":"0f","formats":[{"id":8,"text":")" +
           std::string(format_bytes, 'x') + R"("}],"functions":[{"address":4096,"size":1,"name":")" +
           std::string(name_bytes, 'y') + "\"}]}";
}

TEST(KernelImageCopy, WithATextBeyondTheLimitIsRefused) {
    EXPECT_TRUE(KernelImage::parse(copy_with(4096, 4096)).ok());
    const auto format = KernelImage::parse(copy_with(4097, 1));
    ASSERT_FALSE(format.ok());
    EXPECT_EQ(format.error().text,
              "the format 8 has a text of 4097 bytes, more than 4096: name the image that ran with "
              "--kernel kernel.elf");
    const auto name = KernelImage::parse(copy_with(1, 4097));
    ASSERT_FALSE(name.ok());
    EXPECT_TRUE(name.error().text.starts_with("the function 0 has a text of 4097 bytes")) << name.error().text;
}

TEST_F(KernelImageFile, WithAFormatBeyondTheLimitIsRefused) {
    EXPECT_TRUE(read(elf({}, std::string(4096, 'x') + '\0')).ok());
    const auto image = read(elf({}, std::string("go\0", 3) + std::string(4097, 'x') + '\0'));
    ASSERT_FALSE(image.ok());
    EXPECT_EQ(image.error().text,
              "the format 11 has a text of 4097 bytes, more than 4096: shorten it, or split it in two");
}

TEST(KernelImageCopy, OfAnOlderVersionHasNoFunctions) {
    const auto copy = KernelImage::parse(R"({"format":"remora-formats","version":1,"image":"0f","formats":[]})");
    ASSERT_TRUE(copy.ok());
    EXPECT_TRUE(copy.value().functions().empty());
    EXPECT_FALSE(KernelImage::parse(
                     R"({"format":"remora-formats","version":1,"image":"0f","formats":[],"functions":[{"name":7}]})")
                     .ok());
}

// An image of two instructions, and its copies in which the sections of lines are damaged.
TEST(KernelImageLines, AreThoseOfTheSourceAndAForgedTableEnds) {
    constexpr ProgramLimits kLimits{.processor_s = 10, .output_bytes = 1000};
    const support::TemporaryDirectory directory;
    const std::string source =
        ".section .trace_formats,\"a\"\n.ascii \"RFMT1\\0\\0\\0\"\n.text\n.globl f\nf:\nnop\nret\n";
    const std::string code = directory.write("code.s", std::as_bytes(std::span(source)));
    const std::string map = fmt::format("--debug-prefix-map={}=.", directory.path());
    const std::string here = fmt::format("--debug-prefix-map={}=.", std::filesystem::current_path().string());
    ASSERT_TRUE(output_of({"as", "-g", map, here, "-o", directory / "code.o", code}, kLimits).ok());
    const std::string path = directory / "code.elf";
    ASSERT_TRUE(output_of({"ld", "-e", "f", "-Ttext=0x100000", "-o", path, directory / "code.o"}, kLimits).ok());
    const auto addresses = std::to_array<std::uint64_t>({0x100001, 5, 0x100000});
    const auto image = KernelImage::from_image(path);
    ASSERT_TRUE(image.ok());
    EXPECT_EQ(image.value().lines_at(addresses), (std::vector<std::string>{"code.s:7", "", "code.s:6"}));
    EXPECT_TRUE(image.value().lines_at({}).empty());

    const std::string whole = support::read_text(path);
    constexpr std::size_t kSections = 160; // bytes of them, in front of the name
    const std::size_t name = whole.find("code.s");
    ASSERT_TRUE(name != std::string::npos && name > kSections);
    std::mt19937 random(7);
    for (int round = 0; round < 16; ++round) {
        std::string damaged = whole;
        for (int i = 0; i < 8; ++i) {
            damaged[name - random() % kSections] = static_cast<char>(random());
        }
        const auto forged = KernelImage::from_image(directory.write("code.elf", std::as_bytes(std::span(damaged))));
        EXPECT_TRUE(!forged || forged.value().lines_at(addresses).size() == addresses.size());
    }
}

TEST(KernelImageCopy, RefusesWhatIsNoImageAndNoTable) {
    const support::TemporaryDirectory directory;
    const support::Bytes garbage(100, std::byte{0x7F});
    const auto none = KernelImage::from_image(directory.write("a.elf", garbage));
    ASSERT_FALSE(none.ok());
    EXPECT_EQ(none.error().text, "it is no 64-bit ELF image");
    support::Bytes liar(64, std::byte{0xFF});
    const std::string_view magic("\x7f"
                                 "ELF\x02\x01");
    for (std::size_t i = 0; i < magic.size(); ++i) {
        liar[i] = static_cast<std::byte>(magic[i]);
    }
    EXPECT_FALSE(KernelImage::from_image(directory.write("b.elf", liar)).ok());
    EXPECT_FALSE(KernelImage::parse("{}").ok());
    EXPECT_FALSE(KernelImage::parse(R"({"format":"remora-formats","version":2})").ok());
    const auto table = KernelImage::parse(
        R"({"format":"remora-formats","version":1,"image":"00ff","formats":[{"id":8,"text":"x %d"}]})");
    ASSERT_TRUE(table.ok());
    EXPECT_EQ(table.value().image_id(), 0xFFU);
    ASSERT_NE(table.value().format(8), nullptr);
    EXPECT_EQ(*table.value().format(8), "x %d");
    EXPECT_EQ(table.value().format(9), nullptr);
}

// Every byte of the file wrong once, and every length: an image is refused or read, never more.
TEST_F(KernelImageFile, SurvivesDamage) {
    const std::string whole = elf({{"_ZN4apps4workEj", 2, kText, 0x1000, 0x20}, {"label", 0, kText, 0x1040, 0}});
    std::mt19937 random(7);
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(static_cast<unsigned char>(damaged[at]) ^ (1U + random() % 255U));
        for (const std::string& file : {damaged, whole.substr(0, at)}) {
            const auto image = read(file);
            EXPECT_TRUE(image.ok() || !image.error().text.empty());
            if (image) {
                static_cast<void>(place_of(&image.value(), 0x1001));
                EXPECT_LE(image.value().functions().size(), 3U);
            }
        }
    }
}

} // namespace

} // namespace host::trace
