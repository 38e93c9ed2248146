// SPDX-License-Identifier: MIT
// Facts to lines `key = value;`.
#include "host/convert/ctf/ctf_environment.hpp"

#include "host/convert/ctf/ctf_text.hpp"

#include <fmt/format.h>
#include <iterator>

namespace host::convert::ctf {

std::string environment_of(const trace::TraceFacts& facts) {
    fmt::memory_buffer out;
    const auto at_end = std::back_inserter(out);
    if (facts.build) {
        fmt::format_to(at_end, "    kernel = {};\n    compiler = {};\n    application = {};\n",
                       quoted(facts.build->kernel.view()), quoted(facts.build->compiler.view()),
                       quoted(facts.build->application.view()));
    }
    fmt::format_to(at_end, "    boot_id = \"{:016x}\";\n", facts.boot_id.value_or(0));
    fmt::format_to(at_end, "    clock_mode = {};\n    clock_error_ppm = {};\n", static_cast<unsigned>(facts.clock.mode),
                   facts.clock.error_ppm);
    if (facts.export_end) {
        fmt::format_to(at_end, "    dropped = \"{}\";\n    refused = \"{}\";\n    overwritten = \"{}\";\n",
                       facts.export_end->dropped, facts.export_end->refused, facts.export_end->overwritten);
    }
    return {out.data(), out.size()};
}

} // namespace host::convert::ctf
