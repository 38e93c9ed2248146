// SPDX-License-Identifier: MIT
#include "fleet/command/server_options.hpp"

#include "fleet/server.hpp"
#include "fleet/session_publisher.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/trace/byte_source.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <unistd.h>
#include <utility>

namespace host::cli {

namespace {

constexpr std::size_t kSecretBytesMax = 64 * 1024;

constexpr const char* kPasswordVariable = "REMORA_PASSWORD";

trace::Refusal refusal(std::string_view option, const std::string& path, std::string_view why) {
    return {fmt::format("{} {}: {}", option, text::escaped(path), text::escaped(why))};
}

// Returns the first line of a file.
lib::Result<std::string, trace::Refusal> password_of(const std::string& path) {
    auto text = trace::read_file(path, kSecretBytesMax);
    if (!text) {
        return refusal("--password-file", path, text.error().text);
    }
    text.value().resize(std::min(text.value().find_first_of("\r\n"), text.value().size()));
    if (text.value().empty()) {
        return refusal("--password-file", path, "its first line, which is the password, is empty");
    }
    return std::move(text.value());
}

} // namespace

void add_server_options(Command& command, ServerOptions& options) {
    command.option("--creds", options.creds, "credentials of NATS, as `nsc` writes them (JWT and seed)");
    command.option("--user", options.user, "user, if the server's address has none");
    command.option("--password-file", options.password_file,
                   "file with the password in its first line; else the environment's REMORA_PASSWORD");
    command.option("--tls-ca", options.tls_ca,
                   "certificates (PEM) that a server is verified with; else those of this system");
    command.option("--tls-cert", options.tls_cert, "certificate of this client (PEM), for servers that verify it");
    command.option("--tls-key", options.tls_key, "its key (PEM)");
}

lib::Result<fleet::Credentials, trace::Refusal> credentials_of(const ServerOptions& options) {
    const auto files = std::to_array<std::pair<std::string_view, const std::string*>>({
        {"--creds", &options.creds},
        {"--tls-ca", &options.tls_ca},
        {"--tls-cert", &options.tls_cert},
        {"--tls-key", &options.tls_key},
    });
    for (const auto& [option, path] : files) {
        if (path->empty()) {
            continue;
        }
        if (const auto readable = trace::read_file(*path, kSecretBytesMax * 16); !readable) {
            return refusal(option, *path, readable.error().text);
        }
    }
    if (options.tls_cert.empty() != options.tls_key.empty()) {
        return trace::Refusal{"--tls-cert and --tls-key are given together"};
    }
    fleet::Credentials credentials{.creds_file = options.creds,
                                   .user = options.user,
                                   .password = {},
                                   .tls_ca = options.tls_ca,
                                   .tls_cert = options.tls_cert,
                                   .tls_key = options.tls_key};
    if (!options.password_file.empty()) {
        auto password = password_of(options.password_file);
        if (!password) {
            return password.error();
        }
        credentials.password = std::move(password.value());
    } else if (const char* const variable = std::getenv(kPasswordVariable); variable != nullptr) {
        credentials.password = variable;
    }
    return credentials;
}

std::string host_node() {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) {
        return "unknown";
    }
    return fleet::name_of(name.data());
}

std::string check_name(const std::string& text) {
    return fleet::is_name(text)
               ? ""
               : fmt::format("{} is no name: 1 to 63 characters of A-Z, a-z, 0-9, _ and -", text::escaped(text));
}

std::string check_nats(const std::string& text) {
    const auto addresses = fleet::addresses_of(text);
    const auto is_nats = [](const std::string& one) {
        return (one.starts_with("nats://") || one.starts_with("tls://")) && !one.ends_with('/');
    };
    return !addresses.empty() && std::ranges::all_of(addresses, is_nats)
               ? ""
               : fmt::format("{} is no server of NATS: nats://HOST or nats://HOST:PORT, with TLS tls://HOST",
                             fleet::shown_address(text));
}

fleet::NodeName node_for(const std::string& session, const std::string& site, const std::string& node) {
    const auto stored = fleet::node_of_session(session);
    return {.site = !site.empty() ? site
                    : stored      ? stored->site
                                  : kDefaultSite,
            .node = !node.empty() ? node
                    : stored      ? stored->node
                                  : host_node()};
}

} // namespace host::cli
