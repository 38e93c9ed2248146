// SPDX-License-Identifier: MIT
// Tests deflate, base64 and SHA-256, by their standards.
#include "host/report/frame.hpp"

#include "host/text/format.hpp"

#include <gmock/gmock.h>
#include <zlib.h>

namespace host::report {

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

// Source: RFC 4648, section 10.
TEST(Base64, EncodesTheVectorsOfTheStandard) {
    EXPECT_EQ(base64(bytes_of("")), "");
    EXPECT_EQ(base64(bytes_of("f")), "Zg==");
    EXPECT_EQ(base64(bytes_of("fo")), "Zm8=");
    EXPECT_EQ(base64(bytes_of("foo")), "Zm9v");
    EXPECT_EQ(base64(bytes_of("foobar")), "Zm9vYmFy");
    EXPECT_EQ(base64(bytes_of("\xFB\xFF")), "+/8=");
}

std::string inflated(std::span<const std::byte> packed, std::size_t bytes) {
    std::string out(bytes + 1, '\0');
    std::string in(reinterpret_cast<const char*>(packed.data()), packed.size());
    z_stream stream{};
    EXPECT_EQ(inflateInit2(&stream, -15), Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(in.data());
    stream.avail_in = static_cast<uInt>(in.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(stream.total_out);
    inflateEnd(&stream);
    return out;
}

TEST(Deflated, InflatesToWhatItWas) {
    std::string noise;
    for (std::uint32_t i = 0, state = 1; i < 300'000; ++i) {
        state = state * 1664525 + 1013904223;
        noise += static_cast<char>(state >> 24);
    }
    for (const std::string& text : {std::string(), std::string("a"), std::string(200'000, 'x'), noise}) {
        const auto packed = deflated(bytes_of(text));
        EXPECT_TRUE(inflated(packed, text.size()) == text) << text.size() << " bytes";
    }
    EXPECT_LT(deflated(bytes_of(std::string(200'000, 'x'))).size(), 1000U);
}

std::string digits(std::string_view text) {
    std::string digits;
    for (const std::byte byte : sha256(text)) {
        digits += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
    }
    return digits;
}

// Source: FIPS 180-4's examples, and lengths at which the padding needs another block.
TEST(Sha256, HasTheDigestsOfTheStandard) {
    EXPECT_EQ(digits(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(digits("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(digits("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(digits(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

} // namespace

} // namespace host::report
