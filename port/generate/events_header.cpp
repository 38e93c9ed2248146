// SPDX-License-Identifier: MIT
// Prints remora_events.h: for each event that a kernel may record its code and a function in C. Hosted.
#include "tracer/log.hpp"
#include "tracer/record/event_table.hpp"

#include <cstdio>
#include <string>

namespace {

std::string parameter(const tracer::Parameter& parameter, const char* type) {
    return parameter.unit == tracer::Unit::none ? std::string() : std::string(type) + std::string(parameter.name);
}

void print(const tracer::EventRow& row) {
    const std::string name(row.name);
    const std::string par1 = parameter(row.par1, "uint16_t ");
    const std::string par2 = parameter(row.par2, "uint32_t ");
    const std::string separator = par1.empty() || par2.empty() ? "" : ", ";
    const std::string list = par1 + separator + par2;
    std::printf("/* %s */\n#define FTrace_EVT_%s 0x%02X\n", std::string(row.meaning).c_str(), name.c_str(), row.code);
    std::printf("static inline void remora_log_%s(%s) { remora_log_code(0x%02X, %s, %s); }\n\n", name.c_str(),
                list.empty() ? "void" : list.c_str(), row.code, par1.empty() ? "0" : std::string(row.par1.name).c_str(),
                par2.empty() ? "0" : std::string(row.par2.name).c_str());
}

} // namespace

int main() {
    std::puts(
        "/* SPDX-License-Identifier: MIT */\n"
        "/* The events that a kernel records, generated from the table of events; docs/events.md describes them.\n"
        " * Part of remora_tracer.h. */");
    for (const tracer::EventRow& row : tracer::kEvents) {
        if (tracer::is_loggable(row)) {
            print(row);
        }
    }
    return 0;
}
