// SPDX-License-Identifier: MIT
// Tests where a line that is wider than a terminal is broken, and where it continues.
#include "host/text/wrap.hpp"

#include <gtest/gtest.h>

namespace host::text {

namespace {

const std::string kLongLine = "one two three four five six seven eight nine ten eleven twelve thirteen";

TEST(Wrapped, ContinuesBelowTheDescription) {
    EXPECT_EQ(wrapped("  --option TEXT     " + kLongLine),
              "  --option TEXT     one two three four five six seven eight nine "
              "ten eleven\n                    twelve thirteen");
    EXPECT_EQ(wrapped("  " + kLongLine + " fourteen"), "  " + kLongLine + "\n    fourteen");
    EXPECT_EQ(wrapped(std::string(30, ' ') + kLongLine), std::string(30, ' ') +
                                                             "one two three four five six seven eight nine ten\n" +
                                                             std::string(30, ' ') + "eleven twelve thirteen");
}

TEST(Wrapped, LeavesWhatFits) {
    const std::string line(kColumns, 'x');
    EXPECT_EQ(wrapped(line + "\n\n" + line + "\n"), line + "\n\n" + line + "\n");
    EXPECT_EQ(wrapped(line + "y"), line + "y") << "a word is not broken";
    EXPECT_EQ(wrapped(line + "y z"), line + "y\n  z");
}

TEST(Wrapped, BreaksAListOfWordsAfterACommaAndACommandBeforeABackslash) {
    EXPECT_EQ(wrapped("  --family TEXT:{general,ipoint,task,interrupt,cpu,attribute,mutex,signal,server,user}"),
              "  --family TEXT:{general,ipoint,task,interrupt,cpu,attribute,mutex,signal,\n    server,user}");
    EXPECT_EQ(wrapped("  remora record " + kLongLine),
              "  remora record one two three four five six seven eight nine ten eleven twelve \\\n      thirteen");
}

TEST(Cut, EndsWhatIsTooLongInATilde) {
    EXPECT_EQ(shortened("telemetry", 9), "telemetry");
    EXPECT_EQ(shortened("telemetries", 9), "telemetr~");
}

} // namespace

} // namespace host::text
