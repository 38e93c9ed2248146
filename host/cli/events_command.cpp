// SPDX-License-Identifier: MIT
// remora events: the event table, for people and for scripts.
#include "host/cli/commands.hpp"

#include "host/cli/event_text.hpp"
#include "host/cli/json_version.hpp"
#include "host/cli/trace_input.hpp"
#include "host/trace/escape.hpp"
#include "host/trace/json.hpp"
#include "host/trace/names.hpp"
#include "tracer/event_table.hpp"

#include <memory>
#include <span>

namespace host::cli {

namespace {

struct EventsOptions {
    TraceInput input;
    bool json = false;
};

std::string parameters(const tracer::EventRow& row) {
    if (row.shape == tracer::Shape::combined) {
        return "(long event)";
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
    out.print("{{\n\"version\": {},\n\"events\": [\n", kJsonVersion);
    for (std::size_t i = 0; i < tracer::kEvents.size(); ++i) {
        const tracer::EventRow& row = tracer::kEvents[i];
        out.print(
            "  {{\"code\": {}, \"name\": {}, \"family\": \"{}\", \"par1\": {}, \"par2\": {}, \"meaning\": {}}}{}\n",
            row.code, json_string(row.name), tracer::kFamilyNames[row.code & 0x0F], json_string(row.par1.name),
            json_string(row.par2.name), json_string(row.meaning), i + 1 < tracer::kEvents.size() ? "," : "");
    }
    out.print("]\n}}\n");
}

std::string fields_of(const tracer::EventDeclaration& declaration) {
    std::string text;
    for (const tracer::FieldDeclaration& field : std::span(declaration.items).first(declaration.field_count)) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                            tracer::kFieldTypeNames[static_cast<std::size_t>(field.type)],
                            trace::escaped(field.name.view()));
        text += field.unit.size != 0 ? fmt::format(" ({})", trace::escaped(field.unit.view())) : "";
    }
    return text;
}

void print_declarations_json(Output& out, const trace::Names& names) {
    trace::Json json = trace::Json::array();
    for (const auto& [id, declaration] : names.declarations()) {
        trace::Json fields = trace::Json::array();
        for (const tracer::FieldDeclaration& field : std::span(declaration->items).first(declaration->field_count)) {
            fields.push_back({{"name", trace::escaped(field.name.view())},
                              {"type", tracer::kFieldTypeNames[static_cast<std::size_t>(field.type)]},
                              {"detail", field.detail},
                              {"unit", trace::escaped(field.unit.view())}});
        }
        json.push_back({{"id", id}, {"name", trace::escaped(declaration->name.view())}, {"fields", fields}});
    }
    const trace::Json document = {{"version", kJsonVersion}, {"declarations", json}};
    out.print("{}\n", document.dump(2));
}

// The typed events that a trace declares.
trace::ExitStatus print_declarations(const EventsOptions& options, Context context) {
    return with_trace(options.input, context, [&](trace::Trace& trace) {
        trace::Event event;
        while (trace.next(event)) {
        }
        const trace::Names& names = trace.facts().names;
        if (options.json) {
            print_declarations_json(context.out, names);
            return trace::ExitStatus::clean;
        }
        context.out.print("{}\n", context.out.styled(Style::strong, "  id  typed event          fields"));
        for (const auto& [id, declaration] : names.declarations()) {
            context.out.print("{:>4}  {:<19}  {}\n", id, trace::escaped(declaration->name.view()),
                              fields_of(*declaration));
        }
        return trace::ExitStatus::clean;
    });
}

} // namespace

void add_events(CommandLine& line, Context context) {
    Command command = line.command("events", "print the event table, or the typed events of a trace");
    const auto options = std::make_shared<EventsOptions>();
    command.option("TRACE", options->input.path, "show the typed events that this trace declares");
    command.flag("--json", options->json, "as JSON");
    command.footer(examples({"remora events", "remora events out/udp", "remora events --json"}));
    command.run([options, context] {
        context.out.page();
        if (!options->input.path.empty()) {
            return print_declarations(*options, context);
        }
        options->json ? print_json(context.out) : print_text(context.out);
        return trace::ExitStatus::clean;
    });
}

} // namespace host::cli
