// SPDX-License-Identifier: MIT
// remora events: the event table, for people and for scripts.
#include "host/cli/commands.hpp"

#include "host/cli/event_text.hpp"
#include "tracer/event_table.hpp"

#include <memory>

namespace host::cli {

namespace {

std::string parameters(const tracer::EventRow& row) {
    if (row.shape == tracer::Shape::combined) {
        return "(several slots)";
    }
    std::string text;
    for (const tracer::Parameter& parameter : {row.par1, row.par2}) {
        if (parameter.unit != tracer::Unit::none) {
            text += text.empty() ? "" : ", ";
            text += parameter.name;
        }
    }
    return text;
}

void print_text(Output& out) {
    out.print("{}\n",
              out.styled(Style::strong, "code  family     event                par1, par2             meaning"));
    for (const tracer::EventRow& row : tracer::kEvents) {
        out.print("0x{:02X}  {:<9}  {:<19}  {:<21}  {}\n", row.code, tracer::kFamilyNames[row.code & 0x0F], row.name,
                  parameters(row), row.meaning);
    }
}

void print_json(Output& out) {
    out.print("[\n");
    for (std::size_t i = 0; i < tracer::kEvents.size(); ++i) {
        const tracer::EventRow& row = tracer::kEvents[i];
        out.print(
            "  {{\"code\": {}, \"name\": {}, \"family\": \"{}\", \"par1\": {}, \"par2\": {}, \"meaning\": {}}}{}\n",
            row.code, json_string(row.name), tracer::kFamilyNames[row.code & 0x0F], json_string(row.par1.name),
            json_string(row.par2.name), json_string(row.meaning), i + 1 < tracer::kEvents.size() ? "," : "");
    }
    out.print("]\n");
}

} // namespace

void add_events(CLI::App& app, Context context, trace::ExitStatus& status) {
    CLI::App* const command = app.add_subcommand("events", "print the event table");
    const auto json = std::make_shared<bool>(false);
    command->add_flag("--json", *json, "as JSON");
    command->callback([json, context, &status] {
        *json ? print_json(context.out) : print_text(context.out);
        status = trace::ExitStatus::clean;
    });
}

} // namespace host::cli
