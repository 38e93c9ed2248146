// SPDX-License-Identifier: MIT
// Prints what `remora record` reports while it receives: text for a person, or with --json one object a line
// (docs/json.md).
#pragma once

#include "host/cli/command/command_line.hpp"
#include "host/cli/terminal/output.hpp"
#include "host/collector/observer.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/kernel_image.hpp"
#include "lib/result.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace host::cli {

struct RecordStyle {
    bool serve = false;    // many sessions: a line for each event instead of a report of one session
    bool json = false;     // --serve: events; --out: the manifest
    bool progress = false; // once a second
};

class RecordReport final : public collector::Observer {
  public:
    // formats: those of the kernel that will send, kept beside its sessions; they and the context's streams must
    // outlive the report.
    RecordReport(Context context, RecordStyle style, const std::optional<trace::KernelImage>& formats);

    void opened(const collector::SessionView& session) override;
    void sealed(const collector::SessionView& session, const formats::dat::ManifestChunk& chunk) override;
    void closed(const collector::SessionView& session, formats::dat::Manifest& manifest,
                std::optional<lib::Error> error) override;
    void refused(std::string_view why) override;
    void progress(const collector::Progress& progress) override;

    // Reports that the whole session is stored by a server; removed: its directory was deleted.
    void published(const std::string& directory, bool removed);

    // Completes the progress line, if there is one.
    void end();

    // Returns whether formats were given and could not be kept for every session.
    [[nodiscard]] bool formats_failed() const { return m_formats_failed; }

  private:
    void keep_formats(const collector::SessionView& session, formats::dat::Manifest& manifest);
    void print_report(const collector::SessionView& session, const formats::dat::Manifest& manifest);
    void print_line(const collector::SessionView& session, const formats::dat::Manifest& manifest);
    void complain(std::string_view text);

    Context m_context;
    RecordStyle m_style;
    const std::optional<trace::KernelImage>& m_formats;
    bool m_formats_failed = false;
    collector::Progress m_last;
    std::chrono::steady_clock::time_point m_last_time = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point m_next_refusal;
    std::uint64_t m_refusals = 0; // refusals since the last one that was printed
};

// A publisher while sessions are recorded; it observes the collector.
class PublishedRecording : public collector::Observer {
  public:
    // Must be called after the collector has ended. Returns false if something is not published, which is reported.
    [[nodiscard]] virtual bool finish() = 0;
};

class Publishing {
  public:
    Publishing() = default;
    Publishing(const Publishing&) = delete;
    Publishing& operator=(const Publishing&) = delete;
    virtual ~Publishing() = default;

    virtual void add_options(Command& command) = 0;

    // Returns what is wrong with the options together; empty: nothing. serve: `record --serve` is running.
    [[nodiscard]] virtual std::string fault(bool serve) const = 0;

    // Starts publishing. Returns null if nothing is published. report must outlive the result. served: the directory of
    // `record --serve`, or empty.
    [[nodiscard]] virtual lib::Result<std::unique_ptr<PublishedRecording>, trace::Refusal>
    start(RecordReport& report, const std::string& served, Context context) = 0;
};

} // namespace host::cli
