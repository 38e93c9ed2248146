// SPDX-License-Identifier: MIT
// remora record runs the collector.
#include "host/cli/command/commands.hpp"
#include "host/cli/command/record/record_report.hpp"
#include "host/cli/command/time_text.hpp"
#include "host/cli/terminal/stop_signal.hpp"

#include "host/collector/collector.hpp"
#include "host/collector/session_directory.hpp"
#include "host/text/escape.hpp"
#include "tracer/export/wire.hpp"
#include "tracer/reliable/siphash.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <sys/stat.h>

namespace host::cli {

namespace {

using trace::ExitStatus;

struct RecordOptions {
    std::string listen = fmt::format("127.0.0.1:{}", tracer::kTracerPort);
    std::string directory;
    std::string serve;
    std::string session_bytes;
    std::string total_bytes;
    std::string ready_file;
    double idle_timeout_s = 0;
    double timeout_s = 0;
    std::string kernel;
    std::string key;
    bool progress = false;
    bool force = false;
    bool json = false;
    std::shared_ptr<Publishing> publishing; // null: this program has none
};

constexpr const char* kLimits =
    "Exit status 2: not complete, or not published; 4: the disk is full or a limit was reached (64 open "
    "sessions, 4096 files of a session, "
    "4096 sessions in DIR, --session-bytes, --total-bytes)\n";

constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 50;

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

std::string directory_error(const std::string& path, const trace::Failure<lib::Error>& error) {
    const std::string name = text::escaped(path);
    if (error.cause == lib::Error::exists) {
        return fmt::format("{} holds an earlier session: --force replaces it", name);
    }
    if (error.cause == lib::Error::busy) {
        return fmt::format("{}: {}; end it, or choose another directory", name, error.text);
    }
    return fmt::format("{} cannot be used: {}", name, text::escaped(error.text));
}

ExitStatus refuse(Context context, std::string_view text, ExitStatus status = ExitStatus::usage) {
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

// Returns the key in a file, or what is wrong with the file. Its contents are never shown.
lib::Result<tracer::reliable::SipKey, std::string> read_key(const std::string& path) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);

    struct stat status {};

    if (file == nullptr || ::fstat(::fileno(file.get()), &status) != 0) {
        return std::string(std::strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) {
        return std::string("not a file");
    }
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return fmt::format("mode {:o} lets others read or change the key: chmod 600", status.st_mode & 0777U);
    }
    std::array<char, tracer::reliable::kKeyTextMax + 1> text{};
    const std::size_t size = std::fread(text.data(), 1, text.size(), file.get());
    const auto key = tracer::reliable::key_of_text({text.data(), size});
    if (!key) {
        return fmt::format("no key: it holds {} hexadecimal digits and nothing else, as of `openssl rand -hex 16`",
                           tracer::reliable::kKeyDigits);
    }
    return key.value();
}

// Returns a number of bytes with a unit: 4K, 100M, 2G; 0 if the text is not such a number.
std::uint64_t byte_count(const std::string& text) {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [parsed, error] = std::from_chars(text.data(), end, number);
    const std::string_view unit(parsed, static_cast<std::size_t>(end - parsed));
    const auto power = std::string_view("KMGT").find(unit);
    const int shift = unit.empty() ? 0 : 10 * (static_cast<int>(power) + 1);
    const bool known = unit.empty() || (unit.size() == 1 && power != std::string_view::npos);
    return error == std::errc{} && known && number <= (kBytesMax >> shift) ? number << shift : 0;
}

std::string check_bytes(const std::string& text) {
    return byte_count(text) != 0
               ? ""
               : fmt::format("{} is no number of bytes above 0 and up to 1024T, as in 500M or 2G", text::escaped(text));
}

collector::Limits limits_of(const RecordOptions& options) {
    collector::Limits limits;
    limits.session_bytes = options.session_bytes.empty() ? limits.session_bytes : byte_count(options.session_bytes);
    limits.total_bytes = options.total_bytes.empty() ? limits.total_bytes : byte_count(options.total_bytes);
    return limits;
}

// By default a session that is served ends after so long without packets, because its sender may have stopped without
// an end.
constexpr std::chrono::seconds kServeIdle{60};

ExitStatus collect(const RecordOptions& options, Context context, collector::UdpSocket& socket,
                   const std::shared_ptr<collector::SessionDirectory>& directory,
                   const std::optional<trace::KernelImage>& formats,
                   const std::optional<tracer::reliable::SipKey>& key) {
    const bool serve = !options.serve.empty();
    const auto idle = duration(options.idle_timeout_s);
    RecordReport report(context, {.serve = serve, .json = options.json, .progress = options.progress}, formats);
    std::unique_ptr<PublishedRecording> publishing;
    if (options.publishing != nullptr) {
        auto started = options.publishing->start(report, options.serve, context);
        if (!started) {
            return refuse(context, started.error().text);
        }
        publishing = std::move(started.value());
    }
    collector::Collector collector(socket,
                                   {.directory = serve ? nullptr : directory,
                                    .serve = serve ? directory : nullptr,
                                    .limits = limits_of(options),
                                    .force = options.force,
                                    .idle_timeout = serve && !idle ? kServeIdle : idle,
                                    .timeout = duration(options.timeout_s),
                                    .stop = &stop_requested(),
                                    .key = key},
                                   publishing ? static_cast<collector::Observer&>(*publishing) : report);
    // The handler remains until the process ends, because a second signal must not interrupt the closing of a session.
    const collector::SessionTable::Outcome outcome = collector.run();
    report.end();
    const bool published = !publishing || publishing->finish();
    if (outcome.error) {
        return trace::status_of(*outcome.error);
    }
    const bool damaged = !published || (!serve && (outcome.complete != outcome.sessions || report.formats_failed()));
    return damaged ? ExitStatus::damaged : ExitStatus::clean;
}

// Returns what is wrong with the options of publishing together; empty: nothing.
std::string publishing_fault(const RecordOptions& options) {
    return options.publishing != nullptr ? options.publishing->fault(!options.serve.empty()) : "";
}

// Opens the directory, or returns why it cannot be used.
lib::Result<std::shared_ptr<collector::SessionDirectory>, trace::Failure<lib::Error>>
open_directory(const RecordOptions& options, Context context) {
    using Failure = trace::Failure<lib::Error>;
    using collector::ReliableSessions;
    const bool serve = !options.serve.empty();
    const auto old = serve           ? collector::OldSession::leave
                     : options.force ? collector::OldSession::replace
                                     : collector::OldSession::keep;
    const std::string& path = serve ? options.serve : options.directory;
    auto directory = collector::SessionDirectory::open(path, old);
    if (!directory && directory.error().cause == lib::Error::exists && ReliableSessions::can_continue(path)) {
        context.err.print("remora record: {}: continues the session that an earlier collector left, from {}\n",
                          text::escaped(path), text::escaped(ReliableSessions::journals_of(path)));
        context.err.flush();
        directory = collector::SessionDirectory::open(path, collector::OldSession::replace);
    }
    if (!directory) {
        return Failure{directory.error().cause, directory_error(path, directory.error())};
    }
    if (const auto prepared = serve ? ReliableSessions::prepare(path) : lib::Result<void, Failure>(); !prepared) {
        return Failure{prepared.error().cause, fmt::format("{} (what is acknowledged is kept there first)",
                                                           text::escaped(prepared.error().text))};
    }
    return directory.value();
}

ExitStatus record(const RecordOptions& options, Context context) {
    if (options.directory.empty() == options.serve.empty()) {
        return refuse(context, "either --out DIR (one run) or --serve DIR (any number of machines) is required");
    }
    if (const std::string fault = publishing_fault(options); !fault.empty()) {
        return refuse(context, fault);
    }
    const auto address = collector::parse_address(options.listen);
    if (!address) {
        return refuse(context, fmt::format("--listen {} is not of the form ADDR:PORT, as in 127.0.0.1:{}",
                                           text::escaped(options.listen), tracer::kTracerPort));
    }
    std::optional<trace::KernelImage> formats;
    if (!options.kernel.empty()) {
        auto table = trace::KernelImage::from_image(options.kernel);
        if (!table) {
            return refuse(context, fmt::format("--kernel {}: {}", text::escaped(options.kernel), table.error().text));
        }
        formats = std::move(table.value());
    }
    std::optional<tracer::reliable::SipKey> key;
    if (!options.key.empty()) {
        const auto read = read_key(options.key);
        if (!read) {
            return refuse(context, fmt::format("--key {}: {}", text::escaped(options.key), read.error()));
        }
        key = read.value();
    }
    collector::UdpSocket socket;
    if (const auto bound = socket.bind(address.value()); !bound) {
        return refuse(context, bind_error(bound.error(), options.listen, address.value()));
    }
    const auto directory = open_directory(options, context);
    if (!directory) {
        return refuse(context, directory.error().text, trace::status_of(directory.error().cause));
    }
    if (!socket.granted_enough()) {
        context.err.print("remora record: the receive buffer is {} KiB of {} KiB wanted; if packets are lost: "
                          "sysctl -w net.core.rmem_max={}\n",
                          socket.receive_buffer_bytes() / 1024, collector::UdpSocket::kReceiveBufferBytes / 1024,
                          collector::UdpSocket::kReceiveBufferBytes);
        context.err.flush();
    }
    catch_stop_signals(); // must precede the announcement that the session can be stopped
    if (!options.ready_file.empty() && !write_ready_file(options.ready_file, socket.local())) {
        return refuse(context, fmt::format("{} cannot be written", text::escaped(options.ready_file)));
    }
    return collect(options, context, socket, directory.value(), formats, key);
}

} // namespace

void add_record(CommandLine& line, Context context, const std::shared_ptr<Publishing>& publishing) {
    Command command = line.command("record", "receive traces over UDP into session directories");
    const auto options = std::make_shared<RecordOptions>();
    command.option("--listen", options->listen, "ADDR:PORT to receive on; port 0 takes a free one").show_default();
    const Option out = command.option("--out", options->directory, "record one run into this directory, then end");
    command
        .option("--serve", options->serve,
                "receive from any number of machines until stopped: a session directory in this one for each run")
        .excludes(out);
    command.option("--ready-file", options->ready_file, "file to write ADDR:PORT to, once packets are received");
    command
        .option(
            "--idle-timeout", options->idle_timeout_s,
            "end a session after so many seconds without a packet; starts with the first valid packet (--serve: 60)")
        .check(check_seconds);
    command.option("--timeout", options->timeout_s, "end after so many seconds").check(check_seconds);
    command.option("--session-bytes", options->session_bytes, "at most so many bytes of a session, such as 500M; 1G")
        .check(check_bytes);
    command
        .option("--total-bytes", options->total_bytes,
                "at most so many bytes of all sessions, of --serve with those of earlier collectors; 16G")
        .check(check_bytes);
    command.option(
        "--kernel", options->kernel,
        "image of the kernel that will send: keeps its trace_printf formats and function names in the session");
    command.option("--key", options->key,
                   "file with 32 hexadecimal digits, shared with the machines: only what it authenticates is received");
    command.flag("--progress", options->progress, "report once a second what has come");
    command.flag("--force", options->force, "replace the session that --out holds")
        .excludes(command.described("--serve"));
    command.flag("--json", options->json,
                 "print the manifest instead of a report; with --serve one object for each event");
    options->publishing = publishing;
    if (publishing != nullptr) {
        publishing->add_options(command);
    }
    command.footer(examples({"remora record --listen 127.0.0.1:20000 --out out/udp",
                             "remora record --out out/udp --idle-timeout 5 --progress",
                             "remora record --serve out/sessions --json",
                             "remora record --serve out/sessions --publish nats://127.0.0.1 --remove-published"}) +
                   kLimits);
    command.run([options, context] { return record(*options, context); });
}

} // namespace host::cli
