// SPDX-License-Identifier: MIT
// What is written as chunks is read back; what no reader would take is refused.
#include "tests/support/host_command_line.hpp"
#include "tests/support/tlog_files.hpp"

#include <gmock/gmock.h>

namespace host::cli {

namespace {

using testing::HasSubstr;

class DatConvert : public support::CommandLine {
  protected:
    // A trace with events of this processor, in the format.
    int convert(std::uint16_t processor, const std::string& format) {
        const std::string input =
            m_directory.write("in.log", support::TlogFile().small_process(0, 0).small_process(processor, 1).bytes());
        return remora({"convert", input, "--to", format, "-o", m_directory / "out.dat"});
    }
};

// The machine's checksum is of the machine's bytes: chunks that are made anew do not keep it.
TEST_F(DatConvert, OfASealedChunkIsNotDamaged) {
    const std::string input = m_directory.write("in.dat", support::sealed(sample().bytes()));
    ASSERT_EQ(remora({"check", input}), 0) << m_err;
    for (const std::string format : {"dat", "compact"}) {
        ASSERT_EQ(remora({"convert", input, "--to", format, "-o", m_directory / "out.dat"}), 0) << m_err;
        EXPECT_EQ(remora({"verify", m_directory / "out.dat"}), 6) << m_out << m_err;
        EXPECT_EQ(m_err.find("W-CRC"), std::string::npos);
    }
}

TEST_F(DatConvert, RefusesAProcessorThatNoReaderBelieves) {
    for (const std::string format : {"dat", "compact"}) {
        ASSERT_EQ(convert(255, format), 0) << m_err;
        EXPECT_EQ(remora({"count", m_directory / "out.dat"}), 0) << m_err;
        EXPECT_EQ(convert(256, format), 1);
        EXPECT_THAT(m_err, HasSubstr("out.dat: processor 256: chunks are of the processors 0 to 255; csv has any "
                                     "number\n"));
    }
}

} // namespace

} // namespace host::cli
