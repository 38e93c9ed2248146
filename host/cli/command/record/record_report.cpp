// SPDX-License-Identifier: MIT
#include "host/cli/command/record/record_report.hpp"

#include "host/cli/event/event_lines.hpp"
#include "host/collector/session_directory.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/text/json_writer.hpp"

namespace host::cli {

namespace {

using collector::SessionView;
using formats::dat::Manifest;

constexpr std::chrono::seconds kRefusalsEvery{1};

std::string sender_of(const SessionView& session) {
    return session.sender ? to_text(*session.sender) : "no sender";
}

// Prints {"version":1,"event":"...", members}.
template <typename Members>
void put_event(Output& out, std::string_view event, Members members) {
    text::JsonText json(out.buffer());
    json.begin_object();
    json.member("version", kJsonVersion);
    json.member("event", event);
    members(json);
    json.end_object();
    out.buffer().push_back('\n');
    out.flush(); // readers follow the lines as they are written
}

// Writes it as a member of an event.
void put_session(text::JsonText& json, const SessionView& session) {
    json.member("session", session.directory);
    json.member("sender", session.sender ? std::optional(to_text(*session.sender)) : std::nullopt);
    json.member("boot_id", fmt::format("{:016x}", session.boot_id));
}

std::string write_error(const SessionView& session, lib::Error error) {
    std::string_view remedy;
    if (error == lib::Error::no_space) {
        remedy = "; free some space or choose another --out";
    } else if (error == lib::Error::exists) {
        remedy = ": another process put a file of a session there; choose an --out that only this user can write";
    }
    return fmt::format("writing to {} failed: {}{}", text::escaped(session.directory), error_name(error), remedy);
}

} // namespace

RecordReport::RecordReport(Context context, RecordStyle style, const std::optional<trace::KernelImage>& formats)
    : m_context(context)
    , m_style(style)
    , m_formats(formats) {}

void RecordReport::complain(std::string_view text) {
    end();
    m_context.err.print("remora record: {}\n", text);
    m_context.err.flush();
}

void RecordReport::opened(const SessionView& session) {
    if (m_style.serve && m_style.json) {
        put_event(m_context.out, "session_opened", [&](text::JsonText& json) { put_session(json, session); });
    } else if (m_style.serve) {
        m_context.out.print("{}  receiving from {}\n", text::escaped(session.directory), sender_of(session));
        m_context.out.flush();
    }
}

void RecordReport::sealed(const SessionView& session, const formats::dat::ManifestChunk& chunk) {
    if (m_style.serve && m_style.json) {
        put_event(m_context.out, "chunk_sealed", [&](text::JsonText& json) {
            put_session(json, session);
            json.member("file", chunk.file);
            json.member("bytes", chunk.bytes);
            json.member("records", chunk.records);
            json.member("missing", chunk.missing);
        });
    }
}

void RecordReport::closed(const SessionView& session, Manifest& manifest, std::optional<lib::Error> error) {
    keep_formats(session, manifest);
    if (m_style.serve && m_style.json) {
        put_event(m_context.out, "session_closed", [&](text::JsonText& json) {
            put_session(json, session);
            json.member("complete", manifest.complete);
            json.member("reason", text::escaped(manifest.reason));
            json.member("chunks", manifest.chunks.size());
            json.member("records", manifest.transfer->records);
            json.member("packets", manifest.transfer->packets);
            json.member("lost", manifest.transfer->lost);
        });
    } else if (m_style.serve) {
        print_line(session, manifest);
    } else if (error && *error != lib::Error::no_space) {
        complain(write_error(session, *error));
        return;
    } else if (m_style.json) {
        m_context.out.print("{}", to_json_text(manifest));
    } else {
        print_report(session, manifest);
    }
    if (error) {
        complain(manifest.reason.starts_with("cut off by a limit")
                     ? fmt::format("{}: {}", text::escaped(session.directory), manifest.reason)
                     : write_error(session, *error));
    }
}

void RecordReport::published(const std::string& directory, bool removed) {
    if (m_style.serve && m_style.json) {
        put_event(m_context.out, "session_published", [&](text::JsonText& json) {
            json.member("session", directory);
            json.member("removed", removed);
        });
    } else if (m_style.serve) {
        m_context.out.print("{}  published{}\n", text::escaped(directory), removed ? " and removed" : "");
        m_context.out.flush();
    } else if (!m_style.json) {
        m_context.out.print("published  {}\n", text::escaped(directory));
        m_context.out.flush();
    }
}

// Stores the formats beside the session that this kernel sent. If that fails, it reports why; the session is complete
// without them.
void RecordReport::keep_formats(const SessionView& session, Manifest& manifest) {
    if (!m_formats) {
        return;
    }
    if (const auto stored = collector::store_formats(*m_formats, session.directory, manifest); !stored) {
        m_formats_failed = true;
        complain(fmt::format("the formats of --kernel are not kept in {}: {}", text::escaped(session.directory),
                             stored.error().text));
    }
}

void RecordReport::print_line(const SessionView& session, const Manifest& manifest) {
    m_context.out.print("{}  {} records in {} chunks from {}: {}\n", text::escaped(session.directory),
                        manifest.transfer->records, manifest.chunks.size(), sender_of(session),
                        manifest.complete ? "complete" : "incomplete: " + text::escaped(manifest.reason));
    m_context.out.flush();
}

void RecordReport::print_report(const SessionView& session, const Manifest& manifest) {
    Output& out = m_context.out;
    const formats::dat::ManifestTransfer& transfer = *manifest.transfer;
    out.print("session    {}\n", text::escaped(session.directory));
    out.print("received   {} records in {} chunks, {} packets from {}\n", transfer.records, manifest.chunks.size(),
              transfer.packets, sender_of(session));
    out.print("lost       {} packets ({} came too late); duplicate {}, reordered {}, malformed {}\n", transfer.lost,
              transfer.late, transfer.duplicate, transfer.reordered, transfer.malformed);
    if (transfer.conflicts != 0) {
        out.print("conflict   {} packets came again with other contents: the first are kept\n", transfer.conflicts);
    }
    if (transfer.other_senders != 0) {
        out.print("ignored    {} packets of other senders: the first plausible one owns the session\n",
                  transfer.other_senders);
    }
    if (transfer.socket_overflow != 0) {
        out.print("overflow   {} packets were dropped by this host's kernel: raise net.core.rmem_max\n",
                  transfer.socket_overflow);
    }
    const bool ended_badly = manifest.announced && manifest.announced->result > tracer::RunResult::completed;
    out.print("verdict    {}\n", out.styled(manifest.complete && !ended_badly ? Style::good : Style::bad,
                                            (manifest.complete ? "complete: nothing lost"
                                                               : "incomplete: " + text::escaped(manifest.reason)) +
                                                (ended_badly ? "; but the run ended badly" : "")));
}

// Prints at most one line a second, for any number of refusals.
void RecordReport::refused(std::string_view why) {
    ++m_refusals;
    const auto now = std::chrono::steady_clock::now();
    if (now < m_next_refusal) {
        return;
    }
    m_next_refusal = now + kRefusalsEvery;
    complain(m_refusals == 1 ? std::string(why) : fmt::format("{} ({} times)", why, m_refusals));
    if (m_style.serve && m_style.json) {
        put_event(m_context.out, "error", [&](text::JsonText& json) {
            json.member("text", text::escaped(why));
            json.member("times", m_refusals);
        });
    }
    m_refusals = 0;
}

void RecordReport::progress(const collector::Progress& progress) {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - std::exchange(m_last_time, now)).count();
    const auto rate = static_cast<std::uint64_t>(
        static_cast<double>(progress.records - std::exchange(m_last, progress).records) / seconds);
    if (!m_style.progress) {
        return;
    }
    if (m_style.serve && m_style.json) {
        put_event(m_context.out, "progress", [&](text::JsonText& json) {
            json.member("open", progress.open);
            json.member("packets", progress.packets);
            json.member("records", progress.records);
            json.member("records_per_s", rate);
            json.member("chunks", progress.chunks);
            json.member("lost", progress.lost);
            json.member("strays", progress.strays);
        });
        return;
    }
    const bool terminal = m_context.err.is_terminal();
    m_context.err.print("{}{} packets, {} records ({}/s), {} chunks, {} lost{}{}", terminal ? "\r" : "",
                        progress.packets, progress.records, rate, progress.chunks, progress.lost,
                        m_style.serve ? fmt::format(", {} sessions open", progress.open) : "",
                        terminal ? "\x1b[K" : "\n");
    m_context.err.flush();
}

void RecordReport::end() {
    if (m_style.progress && m_context.err.is_terminal()) {
        m_context.err.print("\r\x1b[K");
        m_context.err.flush();
    }
}

} // namespace host::cli
