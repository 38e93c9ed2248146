// SPDX-License-Identifier: MIT
// Tests the totals that a ramdisk has beside its chunks (endtrace.dat): with them the account of a session of files
// closes or names what is missing; without them, as earlier versions left it, it stays open.
#include "tests/support/host_command.hpp"
#include "tests/support/host_command_line.hpp"

#include "host/text/format.hpp"
#include "tracer/names/metadata_writer.hpp"

#include <gmock/gmock.h>

namespace host::cli {

namespace adopted_totals_test {

using support::Bytes;
using testing::HasSubstr;
using testing::Not;

class AdoptedTotals : public support::CommandLine {
  protected:
    // Of the sample chunk alone: nine records.
    static constexpr tracer::ExportEnd kWhole{
        .chunks = 1, .result = tracer::RunResult::completed, .records = 9, .committed = 9};

    static Bytes totals(const tracer::ExportEnd& end) {
        std::array<std::byte, tracer::kCombineSlotsMax * tracer::kRecordBytes> slots{};
        tracer::MetadataWriter writer(slots, {});
        writer.combined(tracer::event_code("export_end"), end);
        return {writer.written().begin(), writer.written().end()};
    }

    // What `remora adopt` and `remora verify` make of the sample and this file.
    void expect_missing(const Bytes& end, const std::string& text) {
        write(support::sealed(sample().bytes()));
        m_directory.write("endtrace.dat", end);
        EXPECT_EQ(remora({"adopt", "--force", m_directory.path()}), 2);
        EXPECT_THAT(m_out, HasSubstr(text));
        EXPECT_EQ(remora({"verify", m_directory.path()}), 2);
        EXPECT_EQ(remora({"summary", m_directory.path()}), 2);
        EXPECT_THAT(m_out, HasSubstr(text));
        EXPECT_THAT(m_out, Not(HasSubstr("nothing lost")));
    }
};

TEST_F(AdoptedTotals, CloseTheAccount) {
    for (const std::string name : {"endtrace.dat", "ENDTRACE.DAT"}) {
        write(support::sealed(sample().bytes()));
        const std::string path = m_directory.write(name, totals(kWhole));
        EXPECT_EQ(remora({"adopt", "--force", m_directory.path()}), 0);
        EXPECT_EQ(remora({"verify", m_directory.path()}), 0);
        EXPECT_THAT(m_out, HasSubstr("closed: every record is here, or counted"));
        EXPECT_THAT(m_out, HasSubstr("9 attempts = 9 committed + 0 dropped"));
        EXPECT_EQ(std::remove(path.c_str()), 0);
    }
}

TEST_F(AdoptedTotals, AreAbsentFromFilesOfAnEarlierVersion) {
    write(support::sealed(sample().bytes()));
    EXPECT_EQ(remora({"adopt", m_directory.path()}), 0);
    EXPECT_EQ(remora({"verify", m_directory.path()}), 6);
    EXPECT_THAT(m_out, HasSubstr("open: the machine's totals did not come with the trace"));
}

// A part of the run left by the network alone.
TEST_F(AdoptedTotals, NameTheRecordsThatLeftOtherwise) {
    tracer::ExportEnd part = kWhole;
    part.committed = 70;
    expect_missing(totals(part), "61 records that the machine kept are not in these files");
}

TEST_F(AdoptedTotals, OfAnotherRunAreNotThisOnes) {
    tracer::ExportEnd other = kWhole;
    other.committed = 8;
    expect_missing(totals(other), "endtrace.dat is of another run: the machine kept 8 records, in these files are 9");
}

TEST_F(AdoptedTotals, NameAFileThatIsMissing) {
    tracer::ExportEnd two = kWhole;
    two.chunks = 2;
    expect_missing(totals(two), "the machine wrote 2 files, here are 1");
}

TEST_F(AdoptedTotals, ThatAreDamagedAreNoTotals) {
    Bytes damaged = totals(kWhole);
    damaged[20] ^= std::byte{1};
    expect_missing(damaged, "endtrace.dat cannot be read: corrupt");
    expect_missing({}, "endtrace.dat cannot be read: corrupt");
}

// The volume itself, without copying the files off it.
TEST_F(AdoptedTotals, AreReadFromTheImageOfAVolume) {
    tracer::ExportEnd part = kWhole;
    part.committed = 70;
    const std::string image = m_directory / "volume.img";
    for (const auto& [end, status, text] :
         {std::tuple{totals(kWhole), 0, "closed: every record is here"},
          std::tuple{totals(part), 2, "records committed, and not overwritten: the machine counts 70, here are 9"},
          std::tuple{Bytes(16), 2, "ENDTRACE.DAT holds no totals of a run"}}) {
        const std::string chunk = write(support::sealed(sample().bytes()));
        const std::string file = m_directory.write("endtrace.dat", end);
        const auto made = test::run_command(
            fmt::format("rm -f {0} && mformat -C -i {0} -f 1440 :: && mcopy -i {0} {1} {2} ::", image, chunk, file));
        ASSERT_EQ(made.exit_code, 0) << made.output;
        EXPECT_EQ(remora({"verify", image}), status);
        EXPECT_THAT(m_out + m_err, HasSubstr(text));
        EXPECT_EQ(remora({"summary", image}), status);
    }
}

} // namespace adopted_totals_test

} // namespace host::cli
