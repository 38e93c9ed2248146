// SPDX-License-Identifier: MIT
// remora events prints the event table, for people and for scripts.
#include "host/cli/command/commands.hpp"

#include "host/cli/command/trace_input.hpp"
#include "host/cli/event/event_lines.hpp"
#include "host/text/escape.hpp"
#include "host/text/json_writer.hpp"
#include "host/text/wrap.hpp"
#include "host/trace/names.hpp"
#include "tracer/record/event_table.hpp"

#include <memory>
#include <span>

namespace host::cli {

namespace {

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
    out.print("{}\n", out.styled(Style::strong, "code  family     event                par1, par2; meaning"));
    for (const tracer::EventRow& row : tracer::kEvents) {
        const std::string line = fmt::format("0x{:02X}  {:<9}  {:<19}  {}", row.code,
                                             tracer::kFamilyNames[row.code & 0x0F], row.name, parameters(row));
        out.print("{}\n{}\n", line.substr(0, line.find_last_not_of(' ') + 1),
                  text::wrapped(fmt::format("      {}", row.meaning)));
    }
}

void print_json(Output& out) {
    out.print("{{\n\"version\": {},\n\"events\": ", kJsonVersion);
    text::JsonWriter<text::MemorySink, text::JsonLayout::spaced> json{out.buffer()};
    json.begin_array();
    for (const tracer::EventRow& row : tracer::kEvents) {
        json.line();
        json.blank("  ");
        json.begin_object();
        json.member("code", row.code);
        json.member("name", row.name);
        json.member("family", tracer::kFamilyNames[row.code & 0x0F]);
        json.member("par1", row.par1.name);
        json.member("par2", row.par2.name);
        json.member("meaning", row.meaning);
        json.end_object();
    }
    json.end_lines();
    json.blank("\n}\n");
}

std::string fields_of(const tracer::EventDeclaration& declaration) {
    std::string text;
    for (const tracer::FieldDeclaration& field : std::span(declaration.items).first(declaration.field_count)) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                            tracer::kFieldTypeNames[static_cast<std::size_t>(field.type)],
                            text::escaped(field.name.view()));
        text += field.unit.size != 0 ? fmt::format(" ({})", text::escaped(field.unit.view())) : "";
    }
    return text;
}

void print_declarations_json(Output& out, const trace::Names& names) {
    text::JsonDocument json{out.buffer()};
    json.begin_object();
    json.member("version", kJsonVersion);
    json.objects("declarations", names.declarations(), [&](const auto& entry) {
        const auto& [id, declaration] = entry;
        json.member("id", id);
        json.member("name", text::escaped(declaration->name.view()));
        json.objects("fields", std::span(declaration->items).first(declaration->field_count),
                     [&](const tracer::FieldDeclaration& field) {
                         json.member("name", text::escaped(field.name.view()));
                         json.member("type", tracer::kFieldTypeNames[static_cast<std::size_t>(field.type)]);
                         json.member("detail", field.detail);
                         json.member("unit", text::escaped(field.unit.view()));
                     });
    });
    json.end_object();
    json.blank("\n");
}

// Prints the typed events that a trace declares.
trace::ExitStatus print_declarations(const TraceInput& input, Context context) {
    return with_trace(input, context, "", [&](formats::Trace& trace) {
        trace.for_each([](const trace::Event&) {});
        const trace::Names& names = trace.facts().names;
        if (input.json) {
            print_declarations_json(context.out, names);
            return trace::ExitStatus::clean;
        }
        context.out.print("{}\n", context.out.styled(Style::strong, "  id  typed event          fields"));
        for (const auto& [id, declaration] : names.declarations()) {
            context.out.print("{:>4}  {:<19}  {}\n", id, text::escaped(declaration->name.view()),
                              fields_of(*declaration));
        }
        return trace::ExitStatus::clean;
    });
}

} // namespace

void add_events(CommandLine& line, Context context) {
    Command command = line.command("events", "print the event table, or the typed events of a trace");
    const auto input = std::make_shared<TraceInput>();
    command.option("TRACE", input->path, "show the typed events that this trace declares");
    command.flag("--json", input->json, "as JSON");
    command.footer(examples({"remora events", "remora events out/udp", "remora events --json"}));
    command.run([input, context] {
        context.out.page();
        if (!input->path.empty()) {
            return print_declarations(*input, context);
        }
        input->json ? print_json(context.out) : print_text(context.out);
        return trace::ExitStatus::clean;
    });
}

} // namespace host::cli
