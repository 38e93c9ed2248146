// SPDX-License-Identifier: MIT
// What `remora record` says while it receives: text for a person, or with --json one object a line; in docs/json.md.
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
    bool serve = false;    // many sessions: a line for each event, instead of a report of the one
    bool json = false;     // --serve: events; --out: the manifest
    bool progress = false; // once a second
};

class RecordReport final : public collector::Observer {
  public:
    // formats: of the kernel that will send, kept beside its sessions; outlives the report, like the context's streams.
    RecordReport(Context context, RecordStyle style, const std::optional<trace::KernelImage>& formats);

    void opened(const collector::SessionView& session) override;
    void sealed(const collector::SessionView& session, const formats::dat::ManifestChunk& chunk) override;
    void closed(const collector::SessionView& session, formats::dat::Manifest& manifest,
                std::optional<lib::Error> error) override;
    void refused(std::string_view why) override;
    void progress(const collector::Progress& progress) override;

    // The whole session is stored by a server; removed: its directory was deleted.
    void published(const std::string& directory, bool removed);

    // The progress line, if there is one, is complete.
    void end();

    // Formats were given and could not be kept for every session.
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
    std::uint64_t m_refusals = 0; // since the last one that was printed
};

// What `remora record` needs of a publisher, if the program has one: its options, and an observer of the collector.

// A publisher while sessions are recorded.
class PublishedRecording : public collector::Observer {
  public:
    // The collector has ended. False: something is not published; that is reported.
    [[nodiscard]] virtual bool finish() = 0;
};

class Publishing {
  public:
    Publishing() = default;
    Publishing(const Publishing&) = delete;
    Publishing& operator=(const Publishing&) = delete;
    virtual ~Publishing() = default;

    virtual void add_options(Command& command) = 0;

    // What is wrong with the options together; empty: nothing. serve: `record --serve` is running.
    [[nodiscard]] virtual std::string fault(bool serve) const = 0;

    // Null: nothing is to be published. report outlives the result. served: the directory of `record --serve`, or
    // empty.
    [[nodiscard]] virtual lib::Result<std::unique_ptr<PublishedRecording>, trace::Refusal>
    start(RecordReport& report, const std::string& served, Context context) = 0;
};

} // namespace host::cli
