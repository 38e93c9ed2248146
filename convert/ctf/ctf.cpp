// SPDX-License-Identifier: MIT
// ctf: the Common Trace Format, version 1.8, for babeltrace2, Trace Compass and every program that reads CTF. Stamps
// are the trace's own ticks; what the names of tasks, mutexes and so on are is in enumerations.
#include "convert/rows.hpp"

#include "convert/ctf/ctf_trace.hpp"

namespace host::convert::ctf {

namespace {

class Ctf final : public Writer {
  public:
    explicit Ctf(Destination& destination)
        : m_trace(destination, CtfTrace::Clock::ticks) {}

    void add(const trace::Event& event) override { m_trace.add(event); }

    lib::Result<void, Failure> finish(const trace::TraceFacts& facts) override {
        return m_trace.finish(facts, "    tracer_name = \"remora\";\n", "");
    }

  private:
    CtfTrace m_trace;
};

} // namespace

const FormatRow kCtfRow = {
    .name = "ctf",
    .suffix = "",
    .meaning = "Common Trace Format 1.8, a directory: babeltrace2, Trace Compass",
    .shape = Destination::Shape::directory,
    .needs_survey = false,
    .make = make_writer<Ctf>,
};

} // namespace host::convert::ctf
