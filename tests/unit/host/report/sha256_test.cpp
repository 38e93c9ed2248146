// SPDX-License-Identifier: MIT
// Digests of the standard.
#include "host/report/sha256.hpp"

#include "host/text/format.hpp"

#include <gmock/gmock.h>

namespace host::report {

namespace {

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
