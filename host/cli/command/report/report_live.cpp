// SPDX-License-Identifier: MIT
// Implements `remora report --live`. This thread reads the trace and answers the page's requests between two batches of
// events; the server's thread packs the answers. If the machine is restarted, this is a new run and a new trace.
#include "host/cli/command/report/report_reading.hpp"

#include "host/formats/memory/black_box.hpp"
#include "host/output/output_file.hpp"
#include "host/report/frame.hpp"
#include "host/report/live/feed.hpp"
#include "host/report/live/http_server.hpp"
#include "host/text/escape.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

namespace host::cli {

namespace {

using report::live::Feed;
using report::live::HttpServer;

constexpr std::chrono::milliseconds kWake{50};  // a request waits at most so long if the machine records nothing
constexpr std::chrono::milliseconds kLook{200}; // between two checks whether the machine was restarted

// Returns the id of the run in the memory; nothing if no kernel has been started in it.
std::optional<std::uint64_t> boot_in(const std::string& path) {
    const auto source = trace::ByteSource::open_file(path);
    if (!source || !formats::memory::is_memory(*source.value())) {
        return std::nullopt;
    }
    trace::Diagnostics silent([](std::string_view) {});
    const auto box = formats::memory::BlackBox::open({.name = path, .bytes = source.value()}, silent);
    return box ? std::optional(box.value().descriptor().boot_id) : std::nullopt;
}

std::vector<std::byte> text_bytes(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

class LivePages {
  public:
    LivePages(const LiveReport& options, Context context)
        : m_options(options)
        , m_context(context) {}

    LivePages(const LivePages&) = delete;
    LivePages& operator=(const LivePages&) = delete;

    ~LivePages() { m_feed.close(); }

    trace::ExitStatus run() {
        if (!open_output() || !start()) {
            return trace::ExitStatus::usage;
        }
        TraceInput input = m_options.input;
        input.options.whole_first = false;
        input.options.follow = {.wanted = true, .wake = kWake};
        trace::ExitStatus status = trace::ExitStatus::clean;
        do {
            m_again = false;
            const auto used = with_trace(input, m_context, "", [this](formats::Trace& trace) { return follow(trace); });
            status = worse(status, used);
        } while (m_again && stop_requested() == 0);
        return status;
    }

  private:
    [[nodiscard]] bool open_output() {
        if (m_options.output.empty()) {
            return true;
        }
        auto destination =
            output::Destination::open(m_options.output, output::Destination::Shape::file, m_options.input.path);
        if (!destination) {
            complain(m_options.output, destination.error().text);
            return false;
        }
        m_destination = std::move(destination.value());
        return true;
    }

    [[nodiscard]] bool start() {
        const std::string& path = m_options.input.path;
        if (std::error_code ignored; std::filesystem::is_directory(path, ignored)) {
            complain(path, "a directory holds a trace that has ended; --live needs the memory of a machine: the file "
                           "of a guest's RAM (make run makes out/ram; RAM=FILE of qemu/boot.sh)");
            return false;
        }
        auto server = HttpServer::start({.port = m_options.port, .policy = m_page.policy + "; frame-ancestors 'none'"},
                                        [this](const report::live::Request& request) { return answer(request); });
        if (!server) {
            m_context.err.print("remora report: {}\n", server.error().text);
            return false;
        }
        m_server = std::move(server.value());
        m_context.out.print("{}\n", m_server->address());
        m_context.out.flush();
        if (!boot_in(path)) {
            m_context.err.print("remora report: {}: waiting for a machine that starts its kernel in this memory\n",
                                text::escaped(path));
            m_context.err.flush();
        }
        return true;
    }

    // Is called in the server's thread.
    [[nodiscard]] report::live::Answer answer(const report::live::Request& request) {
        if (request.path.empty()) {
            return {.status = 200, .type = "text/html; charset=utf-8", .body = text_bytes(m_page.html)};
        }
        if (request.path != "data") {
            return {.status = 404};
        }
        const auto block = m_feed.after(request.n);
        return block ? report::live::Answer{.status = 200,
                                            .type = "application/octet-stream",
                                            .body = report::deflated(*block)}
                     : report::live::Answer{.status = 204};
    }

    trace::ExitStatus follow(formats::Trace& trace) {
        Reading reading(m_options.reading, std::nullopt, trace);
        m_feed.begin([&reading] { return reading.tables(); });
        for (auto batch = trace.next_batch(); !batch.empty(); batch = trace.next_batch()) {
            for (const trace::Event& event : batch) {
                reading.add(event);
            }
            m_feed.answer();
        }
        reading.finish();
        const bool was_reset = trace.facts().restarted;
        if (!was_reset) {
            reading.explain_late(m_options.input); // What the memory still has; of a former run that is nothing.
        }
        m_feed.change(was_reset ? Feed::State::reset : Feed::State::ended);
        if (stop_requested() == 0) {
            m_context.err.print("remora report: {}; the page is served until Ctrl-C\n",
                                was_reset ? "the machine was reset" : "the run has ended");
            m_context.err.flush();
        }
        const auto boot = trace.facts().boot_id ? trace.facts().boot_id : boot_in(m_options.input.path);
        while (stop_requested() == 0 && !m_again) {
            m_feed.answer_for(kLook);
            const auto now = boot_in(m_options.input.path);
            m_again = now && now != boot;
        }
        const trace::ExitStatus status = m_again ? trace::ExitStatus::clean : write_page(reading);
        m_feed.remove();
        return status;
    }

    [[nodiscard]] trace::ExitStatus write_page(Reading& reading) {
        const report::Trace tables = reading.tables();
        if (m_destination != nullptr && tables.facts.usable_events != 0) {
            const std::vector<std::vector<std::byte>> contents = {report::contents(tables)};
            m_destination->file().append(report::page(contents));
            if (const auto committed = m_destination->commit(); !committed) {
                complain(m_options.output, committed.error().text);
                return output::status_of(committed.error().cause);
            }
        }
        return reading.whole() ? trace::ExitStatus::clean : trace::ExitStatus::damaged;
    }

    void complain(const std::string& about, const std::string& what) {
        m_context.err.print("remora report: {}: {}\n", text::escaped(about), what);
    }

    const LiveReport& m_options;
    Context m_context;
    std::unique_ptr<output::Destination> m_destination;
    const report::LivePage m_page = report::live_page();
    Feed m_feed;
    std::unique_ptr<HttpServer> m_server; // declared after the members that its thread uses
    bool m_again = false;                 // another run of the machine has begun
};

} // namespace

trace::ExitStatus follow_live(const LiveReport& options, Context context) {
    return LivePages(options, context).run();
}

} // namespace host::cli
