// SPDX-License-Identifier: MIT
// Compares a text that a program writes with the file that holds what is expected. REMORA_UPDATE_DOCS=1 rewrites the
// file. Paths are from the root of the checkout, where `make test-unit` runs the tests.
#pragma once

#include "tests/support/host_trace_builder.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

namespace support {

inline void expect_text_of(const std::string& path, const std::string& text) {
    if (std::getenv("REMORA_UPDATE_DOCS") != nullptr) {
        std::FILE* const file = std::fopen(path.c_str(), "w");
        ASSERT_NE(file, nullptr) << path;
        std::fputs(text.c_str(), file);
        std::fclose(file);
        return;
    }
    const std::string expected = read_text(path);
    const auto [is, was] = std::ranges::mismatch(text, expected);
    EXPECT_TRUE(text == expected) << path << " differs from byte " << was - expected.begin() << " on; there it has\n"
                                  << std::string(was, expected.end()).substr(0, 300) << "\nand the output is\n"
                                  << std::string(is, text.end()).substr(0, 300) << "\nREMORA_UPDATE_DOCS=1 rewrites it";
}

} // namespace support
