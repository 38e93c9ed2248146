// SPDX-License-Identifier: MIT
// remora record --publish: a publisher beside the collector. The collector never waits for it: it announces sessions to
// it, and what is recorded is on the disk in any case. A publisher that ends is started again.
#pragma once

#include "fleet/command/publisher_process.hpp"
#include "fleet/command/server_options.hpp"
#include "fleet/message.hpp"
#include "host/cli/command/record/record_report.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace host::cli {

struct PublishingOptions {
    std::string to; // empty: nothing is published
    std::string site;
    std::string node;
    double wait_s = 30;
    bool remove = false;
    ServerOptions server;
};

class RecordPublishing final : public PublishedRecording {
  public:
    // report: of the collector; outlives this, like the options. served: the directory of `record --serve`, or empty.
    RecordPublishing(RecordReport& report, const PublishingOptions& options, std::string served, Context context);

    // Sessions that an earlier collector left are published first.
    [[nodiscard]] lib::Result<void, trace::Refusal> start();

    void opened(const collector::SessionView& session) override;
    void sealed(const collector::SessionView& session, const formats::dat::ManifestChunk& chunk) override;
    void closed(const collector::SessionView& session, formats::dat::Manifest& manifest,
                std::optional<lib::Error> error) override;
    void refused(std::string_view why) override;
    void progress(const collector::Progress& progress) override;
    [[nodiscard]] collector::Freed take_freed() override;

    [[nodiscard]] bool finish() override;

  private:
    using Clock = std::chrono::steady_clock;

    struct Announced {
        fleet::NodeName from;
        bool closed = false;
    };

    [[nodiscard]] fleet::NodeName node_of(const collector::SessionView& session) const;
    [[nodiscard]] lib::Result<void, trace::Refusal> start_process();
    void announce(const std::string& directory, const Announced& session);
    void take(const std::vector<std::string>& lines);
    void note_end(int status);
    void tend();
    void complain(std::string_view text);

    RecordReport& m_report;
    const PublishingOptions& m_options;
    std::string m_served;
    Context m_context;
    PublisherProcess m_process;
    std::map<std::string, Announced> m_sessions; // those that are not published as a whole, by directory
    collector::Freed m_freed;
    std::chrono::seconds m_delay{};
    Clock::time_point m_next_start;
    bool m_given_up = false; // the server refuses this user
    bool m_left = false;     // the last process left something
};

} // namespace host::cli
