// SPDX-License-Identifier: MIT
// Tests each converter over each input of the fuzzers, under the sanitizers: no input makes one of them misbehave.
#include "convert/convert.hpp"
#include "host/text/format.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <filesystem>
#include <gtest/gtest.h>

namespace host::convert {

namespace {

TEST(Corpus, IsConvertedIntoEveryFormat) {
    const support::TemporaryDirectory directory;
    std::size_t converted = 0;
    for (const auto& input : std::filesystem::recursive_directory_iterator("tests/fuzz/corpus")) {
        for (const FormatRow* const format : all_formats()) {
            if (!input.is_regular_file()) {
                continue;
            }
            trace::Diagnostics diagnostics([](std::string_view) {});
            const Request request{.input = input.path(),
                                  .output = directory / fmt::format("{}{}", converted, format->suffix),
                                  .format = format};
            const Outcome outcome = convert(request, diagnostics, {});
            diagnostics.finish();
            EXPECT_TRUE(outcome.error.empty() || outcome.events == 0)
                << input.path() << " as " << format->name << ": " << outcome.error;
            converted += outcome.error.empty() ? 1 : 0;
        }
    }
    EXPECT_GE(converted, 10 * all_formats().size()) << "the tests run in the directory of the sources";
}

} // namespace

} // namespace host::convert
