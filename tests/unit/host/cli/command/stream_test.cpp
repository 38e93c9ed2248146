// SPDX-License-Identifier: MIT
// A trace through a pipe says what the same trace says by name.
#include "tests/support/host_command_line.hpp"

#include "host/trace/json.hpp"

namespace host::cli {

namespace stream_test {

class Streams : public support::CommandLine {
  protected:
    std::string output_of(const std::vector<std::string>& arguments) {
        EXPECT_EQ(remora(arguments), 0) << m_err;
        return m_out;
    }
};

TEST_F(Streams, PrintTheSameTimesAsTheFile) {
    const std::string path = write(sample().bytes());
    const std::string by_name = output_of({"print", path, "--json"});
    EXPECT_NE(by_name.find("\"time_ns\":0,"), std::string::npos) << by_name;
    const support::StandardInput input(path);
    EXPECT_EQ(output_of({"print", "-", "--json"}), by_name);
}

TEST_F(Streams, SummariseTheSameFiguresAsTheFile) {
    const std::string path = write(sample().bytes());
    auto by_name = trace::Json::parse(output_of({"summary", path, "--json"}));
    const support::StandardInput input(path);
    auto streamed = trace::Json::parse(output_of({"summary", "-", "--json"}));
    by_name.erase("trace");
    streamed.erase("trace");
    EXPECT_EQ(streamed.dump(2), by_name.dump(2));
}

// The damage of a chunk that comes by a pipe is known only after its events: no job is claimed, and a line says why.
TEST_F(Streams, SummariseNoJobsIfADamagedChunkCameByAPipe) {
    support::Bytes bytes = support::sealed(sample().bytes());
    bytes.back() ^= std::byte{1};
    const std::string path = write(bytes);
    EXPECT_EQ(remora({"summary", path}), 2);
    EXPECT_EQ(m_err.find("no jobs are shown"), std::string::npos) << m_err;
    const support::StandardInput input(path);
    EXPECT_EQ(remora({"summary", "-"}), 2);
    EXPECT_NE(m_err.find("-: no jobs are shown: a damaged chunk of a pipe"), std::string::npos) << m_err;
    EXPECT_EQ(m_out.find("response times"), std::string::npos) << m_out;
}

} // namespace stream_test

} // namespace host::cli
