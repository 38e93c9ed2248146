// SPDX-License-Identifier: MIT
// remora load reads chunks and sessions from a stream, or from session directories, and stores them for `remora fleet`.
#include "fleet/command/commands.hpp"
#include "fleet/command/server_options.hpp"
#include "host/cli/command/exit_table.hpp"
#include "host/cli/terminal/stop_signal.hpp"

#include "fleet/loader.hpp"
#include "fleet/local/directory_source.hpp"
#include "fleet/network/network.hpp"
#include "host/text/escape.hpp"
#include "host/text/json_writer.hpp"

#include <chrono>
#include <memory>
#include <thread>

namespace host::cli {

namespace {

using trace::ExitStatus;

struct LoadOptions {
    std::string from;
    std::string to;
    std::string site;
    std::string node;
    std::string consumer{fleet::kConsumer};
    ServerOptions server;
    std::string store_password_file;
    std::uint64_t batch = 512;
    bool until_empty = false;
    bool json = false;
};

using OpenSource = lib::Result<std::shared_ptr<fleet::Source>, trace::Refusal>;

// A loader that runs until it is stopped waits for its store, and asks for it this often.
constexpr std::chrono::milliseconds kStoreAway{500};

OpenSource open_source(const LoadOptions& options, const fleet::Credentials& credentials) {
    if (fleet::is_server(options.from) || options.from.find("://") != std::string::npos) {
        if (std::string fault = check_nats(options.from); !fault.empty()) {
            return trace::Refusal{std::move(fault)};
        }
        auto source = fleet::nats_source(options.from, credentials, options.consumer);
        return source ? OpenSource(std::move(source.value())) : trace::Refusal{source.error().text};
    }
    auto source = fleet::local::DirectorySource::open(options.from, {.site = options.site, .node = options.node},
                                                      {.site = kDefaultSite, .node = host_node()});
    return source ? OpenSource(std::shared_ptr<fleet::Source>(std::move(source.value()))) : source.error();
}

void report(const LoadOptions& options, const fleet::Loader::Counts& counts, Context context) {
    if (options.json) {
        text::JsonText json(context.out.buffer());
        json.begin_object();
        json.member("chunks", counts.chunks);
        json.member("events", counts.events);
        json.member("bytes", counts.bytes);
        json.member("sessions", counts.sessions);
        json.member("again", counts.again);
        json.member("rejected", counts.rejected);
        json.end_object();
        context.out.buffer().push_back('\n');
        return;
    }
    context.out.print(
        "{} chunks with {} events in {} bytes, {} sessions loaded into {}; {} there already, {} rejected\n",
        counts.chunks, counts.events, counts.bytes, counts.sessions, text::escaped(options.to), counts.again,
        counts.rejected);
}

ExitStatus load(const LoadOptions& options, Context context) {
    const auto complain = [context](std::string_view text, ExitStatus status = ExitStatus::usage) {
        context.err.print("remora load: {}\n", text);
        return status;
    };
    const auto credentials = credentials_of(options.server);
    if (!credentials) {
        return complain(credentials.error().text);
    }
    ServerOptions of_store = options.server;
    of_store.password_file = options.store_password_file.empty() ? of_store.password_file : options.store_password_file;
    const auto store_credentials = credentials_of(of_store);
    if (!store_credentials) {
        return complain(store_credentials.error().text);
    }
    const auto source = open_source(options, credentials.value());
    if (!source) {
        return complain(source.error().text);
    }
    catch_stop_signals();
    const auto say = [context](std::string_view line) {
        context.err.print("remora load: {}\n", line);
        context.err.flush();
    };
    const bool until_empty = options.until_empty || !fleet::is_server(options.from);
    const auto nap = [until_empty] {
        if (!until_empty) {
            std::this_thread::sleep_for(kStoreAway);
        }
        return !until_empty && stop_requested() == 0;
    };
    const auto store = fleet::open_patiently(
        [&] { return fleet::open_store(options.to, store_credentials.value(), fleet::OpenMode::write); }, nap,
        until_empty ? [](std::string_view) {} : std::function<void(std::string_view)>(say));
    if (!store) {
        return stop_requested() != 0 ? ExitStatus::clean
                                     : complain(store.error().text, trace::status_of(store.error().cause));
    }
    fleet::Loader loader(
        *source.value(), *store.value(),
        {.batch_messages = options.batch, .until_empty = until_empty, .stop = &stop_requested(), .report = say});
    const auto done = loader.run();
    report(options, loader.counts(), context);
    if (!done) {
        return complain(done.error().text, trace::status_of(done.error().cause));
    }
    return loader.counts().rejected != 0 ? ExitStatus::damaged : ExitStatus::clean;
}

} // namespace

void add_load(CommandLine& line, Context context) {
    Command command = line.command("load", "load published traces, or session directories, into a store of a fleet");
    const auto options = std::make_shared<LoadOptions>();
    command
        .option("--from", options->from,
                "nats://HOST[:PORT] that `remora publish` and `remora record --publish` publish to; or a directory: a "
                "session, or sessions in it, also as NODE/SESSION or SITE/NODE/SESSION")
        .required();
    command
        .option("--to", options->to,
                "clickhouse://HOST[:PORT]/DATABASE, or a directory of packed sessions, which is made")
        .required();
    command
        .option("--site", options->site,
                "of the sessions in a directory; else as it names them, or who published them, else default")
        .check(check_name)
        .show_default();
    command.option("--node", options->node, "likewise, else the name of this host").check(check_name);
    command
        .option("--consumer", options->consumer,
                "of a stream: how far it is loaded is kept under this name; loaders with the same name share the "
                "messages, so each store needs a name of its own")
        .check(check_name)
        .show_default();
    add_server_options(command, options->server);
    command.option("--store-password-file", options->store_password_file,
                   "file with the password of the store, if it is another one");
    command.option("--batch", options->batch, "messages that are stored together, at most")
        .range(1U, 4096U)
        .show_default();
    command.flag("--until-empty", options->until_empty,
                 "end when everything that was published is loaded; from a directory always");
    command.flag("--json", options->json, "print what was loaded as one object");
    command.footer(examples({"remora load --from out/sessions --to out/fleet",
                             "remora load --from nats://collector --to clickhouse://store/remora",
                             "remora load --from nats://127.0.0.1:4222 --to out/fleet --until-empty"}));
    command.run([options, context] { return load(*options, context); });
}

} // namespace host::cli
