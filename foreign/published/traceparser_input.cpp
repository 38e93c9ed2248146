// SPDX-License-Identifier: MIT
// Two passes over the trace: the first gathers what the header and the names need.
#include "foreign/published/traceparser_input.hpp"

#include "convert/kev/kev.hpp"
#include "convert/writer/writer.hpp"
#include "host/formats/input_kind.hpp"
#include "host/formats/trace.hpp"
#include "host/trace/byte_source.hpp"

#include <functional>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace host::compat {

namespace {

using Open = std::function<lib::Result<std::unique_ptr<formats::Trace>>(trace::Diagnostics&)>;

bool is_directory(const std::string& path) {
    struct stat status {};

    return path != "-" && ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

lib::Result<trace::NamedSource> converted(const std::string& name, const Open& open, trace::Diagnostics& diagnostics) {
    trace::Diagnostics silent([](std::string_view) {});
    const auto first = open(silent);
    const auto survey = first ? convert::survey_of(*first.value()) : convert::Survey{};
    const auto second = open(diagnostics);
    if (!second) { // of no known format: not a trace, rather than a file that cannot be read
        return second.error() == lib::Error::unsupported ? lib::Error::corrupt : second.error();
    }
    if (survey.facts.usable_events == 0) {
        diagnostics.report("E-NOTHING", {.file = name}, "neither a .kev file nor a trace of known events");
        return lib::Error::corrupt;
    }
    const auto opened = trace::open_nameless_file();
    if (!opened) {
        return opened.error();
    }
    const int descriptor = opened.value();
    auto source = std::make_shared<trace::ByteSource>(descriptor, true, std::uint64_t{0}); // owns it from here on
    output::OutputFile file(descriptor, false);
    convert::records::KevWriter writer(file);
    if (const auto begun = writer.begin(&survey); !begun) {
        diagnostics.report("E-CPU", {.file = name}, begun.error().text);
        return lib::Error::unsupported;
    }
    for (auto batch = second.value()->next_batch(); !batch.empty() && file.error_number() == 0;
         batch = second.value()->next_batch()) {
        for (const trace::Event& event : batch) {
            if (!event.metadata) {
                writer.add(event);
            }
        }
    }
    static_cast<void>(writer.finish(second.value()->facts())); // never fails: the file does
    const std::uint64_t size_bytes = file.position_bytes();
    if (const auto closed = file.close(); !closed) {
        return closed.error();
    }
    const int kept = ::dup(descriptor);
    if (kept < 0) {
        return lib::Error::io;
    }
    source = std::make_shared<trace::ByteSource>(kept, true, size_bytes);
    return trace::NamedSource{.name = name, .bytes = std::move(source), .keep_open = true};
}

} // namespace

lib::Result<trace::NamedSource> open_as_kev(const std::string& path, trace::Diagnostics& diagnostics) {
    if (is_directory(path)) {
        return converted(
            path, [&](trace::Diagnostics& to) { return formats::Trace::open(path, {}, to); }, diagnostics);
    }
    const std::string name = path == "-" ? "<stdin>" : path;
    auto source = trace::ByteSource::open(path);
    if (!source) {
        diagnostics.report("E-IO", {.file = name}, error_name(source.error()));
        return source.error();
    }
    if (formats::kind_of(*source.value()) == trace::InputKind::kev) {
        return trace::NamedSource{.name = name, .bytes = source.value(), .keep_open = true};
    }
    auto positioned = trace::ByteSource::positioned(source.value());
    if (!positioned) {
        diagnostics.report("E-IO", {.file = name}, error_name(positioned.error()));
        return positioned.error();
    }
    const trace::NamedSource input{.name = name, .bytes = positioned.value(), .keep_open = true};
    return converted(
        name, [&](trace::Diagnostics& to) { return formats::Trace::open(input, {}, to); }, diagnostics);
}

} // namespace host::compat
