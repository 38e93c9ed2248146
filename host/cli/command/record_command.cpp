// SPDX-License-Identifier: MIT
// remora record: the collector on the command line.
#include "host/cli/command/commands.hpp"
#include "host/cli/command/seconds.hpp"
#include "host/cli/terminal/stop_signal.hpp"

#include "host/collector/collector.hpp"
#include "host/collector/session_directory.hpp"
#include "host/collector/session_formats.hpp"
#include "host/text/escape.hpp"
#include "tracer/wire.hpp"

#include <csignal>
#include <memory>
#include <optional>

namespace host::cli {

namespace {

using trace::ExitStatus;

struct RecordOptions {
    std::string listen = fmt::format("127.0.0.1:{}", tracer::kTracerPort);
    std::string directory;
    std::string ready_file;
    double idle_timeout_s = 0;
    double timeout_s = 0;
    std::string kernel;
    bool progress = false;
    bool force = false;
    bool json = false;
};

std::string bind_error(lib::Error error, const std::string& listen, const collector::Address& address) {
    if (error == lib::Error::exists) {
        return fmt::format("{} is taken, perhaps by another collector: `ss -lunp 'sport = :{}'` names who holds it; "
                           "end it or choose another port (--listen ADDR:PORT, make run PORT=n)",
                           listen, address.port);
    }
    if (error == lib::Error::refused) {
        return fmt::format("{} may not be used by this user: choose a port above 1023", listen);
    }
    if (error == lib::Error::not_found) {
        return fmt::format("{} is no address of this machine: use 127.0.0.1, or 0.0.0.0 for all", listen);
    }
    return fmt::format("{} cannot be used: {}", listen, error_name(error));
}

ExitStatus complain(Context context, std::string_view text, ExitStatus status = ExitStatus::usage) {
    context.err.print("remora record: {}\n", text);
    return status;
}

bool write_ready_file(const std::string& path, const collector::Address& address) {
    std::FILE* const file = std::fopen(path.c_str(), "we");
    if (file == nullptr) {
        return false;
    }
    const std::string text = to_text(address) + '\n';
    const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    return std::fclose(file) == 0 && written;
}

void show_progress(Context context, const collector::Progress& progress) {
    context.err.print("{}{} packets, {} records, {} chunks, {} lost{}", context.err.is_terminal() ? "\r" : "",
                      progress.packets, progress.records, progress.chunks, progress.lost,
                      context.err.is_terminal() ? "\x1b[K" : "\n");
    context.err.flush();
}

void print_result(Context context, const RecordOptions& options, const formats::dat::Manifest& manifest,
                  const std::optional<collector::Address>& sender) {
    Output& out = context.out;
    const formats::dat::ManifestTransfer transfer = manifest.transfer.value_or(formats::dat::ManifestTransfer{});
    out.print("session    {}\n", text::escaped(options.directory));
    out.print("received   {} records in {} chunks, {} packets from {}\n", transfer.records, manifest.chunks.size(),
              transfer.packets, sender ? to_text(*sender) : "no sender");
    out.print("lost       {} packets ({} came too late); duplicate {}, reordered {}, malformed {}\n", transfer.lost,
              transfer.late, transfer.duplicate, transfer.reordered, transfer.malformed);
    if (transfer.other_senders != 0) {
        out.print("ignored    {} packets of other senders: the first one owns the session\n", transfer.other_senders);
    }
    if (transfer.socket_overflow != 0) {
        out.print("overflow   {} packets were dropped by this host's kernel: raise net.core.rmem_max\n",
                  transfer.socket_overflow);
    }
    out.print("verdict    {}\n", manifest.complete
                                     ? out.styled(Style::good, "complete: nothing lost")
                                     : out.styled(Style::bad, "incomplete: " + text::escaped(manifest.reason)));
}

// Keeps the formats of the kernel that sent the session beside it. Otherwise says why not: the session is whole
// without them.
ExitStatus keep_formats(const RecordOptions& options, Context context, formats::dat::Manifest& manifest,
                        const std::optional<trace::KernelImage>& formats) {
    if (!formats) {
        return ExitStatus::clean;
    }
    const auto stored = collector::store_formats(*formats, options.directory, manifest);
    if (stored) {
        return ExitStatus::clean;
    }
    return complain(
        context, fmt::format("the formats of {} are not kept: {}", text::escaped(options.kernel), stored.error().text),
        ExitStatus::damaged);
}

ExitStatus collect(const RecordOptions& options, Context context, collector::UdpSocket& socket,
                   const std::optional<trace::KernelImage>& formats) {
    collector::Collector collector(socket,
                                   {.directory = options.directory,
                                    .idle_timeout = duration(options.idle_timeout_s),
                                    .timeout = duration(options.timeout_s),
                                    .stop = &stop_requested()},
                                   [&](const collector::Progress& progress) {
                                       if (options.progress) {
                                           show_progress(context, progress);
                                       }
                                   });
    // The handler stays until the process ends: a second signal must not cut off the closing of the session.
    auto manifest = collector.run();
    if (options.progress && context.err.is_terminal()) {
        context.err.print("\n");
    }
    if (!manifest) {
        std::string_view remedy;
        if (manifest.error() == lib::Error::no_space) {
            remedy = "; free some space or choose another --out";
        } else if (manifest.error() == lib::Error::exists) {
            remedy = ": another process put a file of a session there; choose an --out that only this user can write";
        }
        return complain(context,
                        fmt::format("writing to {} failed: {}{}", text::escaped(options.directory),
                                    error_name(manifest.error()), remedy),
                        trace::status_of(manifest.error()));
    }
    const ExitStatus kept = keep_formats(options, context, manifest.value(), formats);
    if (options.json) {
        context.out.print("{}", to_json_text(manifest.value()));
    } else {
        print_result(context, options, manifest.value(), collector.sender());
    }
    return manifest.value().complete ? kept : ExitStatus::damaged;
}

ExitStatus record(const RecordOptions& options, Context context) {
    const auto address = collector::parse_address(options.listen);
    if (!address) {
        return complain(context, fmt::format("--listen {} is not of the form ADDR:PORT, as in 127.0.0.1:{}",
                                             text::escaped(options.listen), tracer::kTracerPort));
    }
    std::optional<trace::KernelImage> formats;
    if (!options.kernel.empty()) {
        auto table = trace::KernelImage::from_image(options.kernel);
        if (!table) {
            return complain(context, fmt::format("--kernel {}: {}", text::escaped(options.kernel), table.error().text));
        }
        formats = std::move(table.value());
    }
    collector::UdpSocket socket;
    if (const auto bound = socket.bind(address.value()); !bound) {
        return complain(context, bind_error(bound.error(), options.listen, address.value()));
    }
    const auto old = options.force ? collector::OldSession::replace : collector::OldSession::keep;
    if (const auto ready = collector::prepare_session_directory(options.directory, old); !ready) {
        const std::string name = text::escaped(options.directory);
        return complain(context, ready.error().cause == lib::Error::exists
                                     ? fmt::format("{} holds an earlier session: --force replaces it", name)
                                     : fmt::format("{} cannot be used: {}", name, text::escaped(ready.error().text)));
    }
    if (!socket.granted_enough()) {
        context.err.print("remora record: the receive buffer is {} KiB of {} KiB wanted; if packets are lost: "
                          "sysctl -w net.core.rmem_max={}\n",
                          socket.receive_buffer_bytes() / 1024, collector::UdpSocket::kReceiveBufferBytes / 1024,
                          collector::UdpSocket::kReceiveBufferBytes);
        context.err.flush();
    }
    catch_stop_signals(); // before the session is announced as one that can be stopped
    if (!options.ready_file.empty() && !write_ready_file(options.ready_file, socket.local())) {
        return complain(context, fmt::format("{} cannot be written", text::escaped(options.ready_file)));
    }
    return collect(options, context, socket, formats);
}

} // namespace

void add_record(CommandLine& line, Context context) {
    Command command = line.command("record", "receive a trace over UDP into a session directory");
    const auto options = std::make_shared<RecordOptions>();
    command.option("--listen", options->listen, "ADDR:PORT to receive on; port 0 takes a free one").show_default();
    command.option("--out", options->directory, "directory of the session").required();
    command.option("--ready-file", options->ready_file, "file to write ADDR:PORT to, once packets are received");
    command
        .option("--idle-timeout", options->idle_timeout_s,
                "end after so many seconds without a packet; starts with the first valid packet")
        .check(check_seconds);
    command.option("--timeout", options->timeout_s, "end after so many seconds").check(check_seconds);
    command.option(
        "--kernel", options->kernel,
        "image of the kernel that will send: keeps its trace_printf formats and function names in the session");
    command.flag("--progress", options->progress, "report once a second what has come");
    command.flag("--force", options->force, "replace the session that DIR holds");
    command.flag("--json", options->json, "print the manifest instead of a report");
    command.footer(examples({"remora record --listen 127.0.0.1:20000 --out out/udp",
                             "remora record --out out/udp --idle-timeout 5 --progress"}));
    command.run([options, context] { return record(*options, context); });
}

} // namespace host::cli
