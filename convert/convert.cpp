// SPDX-License-Identifier: MIT
// The two passes of a conversion, and the list of output formats. A stream is copied to a file without a name if it
// must be read twice.
#include "convert/convert.hpp"

#include "convert/rows.hpp"
#include "convert/writer/writer.hpp"
#include "host/formats/trace.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace host::convert {

namespace {

using trace::ExitStatus;

constexpr std::uint64_t kEventsPerReport = 1 << 16;

// Opens the input for both passes.
class Input {
  public:
    Input(const Request& request, const FormatRow& format, trace::Diagnostics& diagnostics)
        : m_request(request)
        , m_options(request.options) {
        m_options.machine_clock = m_options.machine_clock || format.keeps_stamps;
        if (format.needs_survey && trace::ByteSource::is_stream(request.input)) {
            if (auto source = formats::open_source(request.input, m_options, diagnostics); source) {
                const auto kept = trace::ByteSource::positioned(source.value());
                if (kept) {
                    m_kept = kept.value();
                } else {
                    m_error = kept.error();
                }
            }
        }
    }

    // The stream was read and could not be kept.
    [[nodiscard]] const std::optional<lib::Error>& error() const { return m_error; }

    [[nodiscard]] lib::Result<std::unique_ptr<formats::Trace>> open(trace::Diagnostics& diagnostics) {
        auto opened = m_kept != nullptr ? formats::Trace::open({.name = "<stdin>", .bytes = m_kept, .keep_open = true},
                                                               m_options, diagnostics)
                                        : formats::Trace::open(m_request.input, m_options, diagnostics, m_index);
        m_index = opened ? opened.value()->index() : nullptr;
        return opened;
    }

  private:
    const Request& m_request;
    trace::OpenOptions m_options;
    std::shared_ptr<trace::ByteSource> m_kept;
    std::shared_ptr<const formats::dat::SessionIndex> m_index; // of the previous pass
    std::optional<lib::Error> m_error;
};

// Returns an empty survey if the format needs none, or if the trace cannot be opened, which the second pass reports.
Survey survey_for(const Request& request, Input& input) {
    trace::Diagnostics silent([](std::string_view) {});
    const auto opened = request.format->needs_survey ? input.open(silent) : lib::Error::unsupported;
    return opened ? survey_of(*opened.value(), request.wanted) : Survey{};
}

bool is_stopped(const Request& request) {
    return request.stopped && request.stopped();
}

// Passes every event to the writer until the trace ends or a write has failed. Returns their number, or nothing if the
// request was stopped.
std::optional<std::uint64_t> write_events(const Request& request, formats::Trace& trace, Writer& writer,
                                          const Destination& destination,
                                          const std::function<void(std::uint64_t)>& report) {
    std::uint64_t events = 0;
    std::uint64_t next_report = kEventsPerReport;
    for (auto batch = trace.next_batch(); !batch.empty(); batch = trace.next_batch()) {
        for (const trace::Event& event : batch) {
            if (!event.metadata && (!request.wanted || request.wanted(event))) {
                writer.add(event);
                ++events;
            }
        }
        if (events >= next_report) {
            next_report = events + kEventsPerReport;
            report(events);
            if (is_stopped(request)) {
                return std::nullopt;
            }
            if (destination.failed()) {
                break;
            }
        }
    }
    // A pipe ends when the request is stopped.
    return is_stopped(request) ? std::nullopt : std::optional(events);
}

Outcome not_kept(const Request& request, lib::Error error) {
    const Failure failure = failure_of(error);
    return {.status = status_of(failure.cause),
            .error = fmt::format("{}: a temporary file (see TMPDIR): {}", request.input, failure.text),
            .events = 0};
}

ExitStatus end(const Request& request, const formats::Trace& trace, ExitStatus status) {
    if (status == ExitStatus::clean && request.ended) {
        request.ended(trace);
    }
    return status;
}

std::string refusal_of(const Request& request, const formats::Trace& trace) {
    return request.refusal ? request.refusal(trace.facts().names) : std::string();
}

} // namespace

Outcome convert(const Request& request, trace::Diagnostics& diagnostics, const Progress& progress) {
    const FormatRow& format = *request.format;
    const auto failed = [&](const Failure& failure) {
        return Outcome{.status = status_of(failure.cause),
                       .error = fmt::format("{}: {}", request.output, failure.text),
                       .events = 0};
    };
    Input input(request, format, diagnostics);
    if (input.error()) {
        return not_kept(request, *input.error());
    }
    Outcome interrupted{.status = ExitStatus::usage, .error = "interrupted: no output remains", .events = 0};
    const Survey survey = survey_for(request, input);
    if (is_stopped(request)) {
        return interrupted;
    }
    const auto opened = input.open(diagnostics);
    if (!opened) {
        return {.status = diagnostics.exit_status(false), .error = {}, .events = 0};
    }
    const auto destination = Destination::open(request.output, format.shape, request.input);
    if (!destination) {
        return failed(destination.error());
    }
    const auto writer = format.make(*destination.value());
    if (const auto begun = writer->begin(format.needs_survey ? &survey : nullptr); !begun) {
        return failed(begun.error());
    }
    const auto events = write_events(request, *opened.value(), *writer, *destination.value(),
                                     [&](std::uint64_t done) { progress(done, survey.events); });
    if (!events) {
        return interrupted;
    }
    if (std::string refusal = refusal_of(request, *opened.value()); !refusal.empty()) {
        return {.status = ExitStatus::usage, .error = std::move(refusal), .events = 0};
    }
    diagnostics.finish();
    const bool usable = opened.value()->facts().usable_events != 0;
    if (!usable) {
        diagnostics.report("E-NOTHING", {.file = request.input}, "no record of a known event");
    }
    if (const auto finished = writer->finish(opened.value()->facts()); !finished) {
        return failed(finished.error());
    }
    if (const std::string warning = writer->warning(); !warning.empty()) {
        diagnostics.report("W-CAP", {.file = request.output}, warning);
    }
    // If no event was written, an existing output is kept.
    const bool empty = *events == 0 && request.wanted != nullptr;
    if ((!usable || empty) && destination.value()->replaces()) {
        return {.status = usable ? ExitStatus::usage : diagnostics.exit_status(false),
                .error = fmt::format("{}: {}left as it was", request.output, empty ? "no event was chosen: " : ""),
                .events = *events};
    }
    const auto committed = destination.value()->commit();
    if (!committed && committed.error().cause != Fault::closed) {
        return failed(committed.error());
    }
    return {.status = end(request, *opened.value(), diagnostics.exit_status(usable)), .error = {}, .events = *events};
}

std::vector<const FormatRow*> all_formats() {
    return {
        &table::kCsvRow,       &records::kTlogRow,      &table::kSqliteRow,    &records::kDatRow,
        &records::kCompactRow, &perfetto::kPerfettoRow, &json::kChromeJsonRow, &vcd::kVcdRow,
        &ctf::kCtfRow,         &ctf::kCtfLttngRow,      &linux::kFtraceRow,    &linux::kKernelSharkRow,
        &records::kKevRow,     &json::kSpeedscopeRow,
    };
}

const FormatRow* find_format(std::string_view name) {
    const auto rows = all_formats();
    const auto found = std::ranges::find(rows, name, &FormatRow::name);
    return found != rows.end() ? *found : nullptr;
}

} // namespace host::convert
