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

struct ServerOption {
    const char* name;
    std::string fleet::Credentials::*member;
    const char* meaning;
    bool is_file = true;
};

constexpr const char* kPasswordFile = "--password-file";

constexpr auto kServerOptions = std::to_array<ServerOption>({
    {"--creds", &fleet::Credentials::creds_file, "credentials of NATS, as `nsc` writes them (JWT and seed)"},
    {"--user", &fleet::Credentials::user, "user, if the server's address has none", false},
    {"--tls-ca", &fleet::Credentials::tls_ca,
     "certificates (PEM) that a server is verified with; else those of this system"},
    {"--tls-cert", &fleet::Credentials::tls_cert, "certificate of this client (PEM), for servers that verify it"},
    {"--tls-key", &fleet::Credentials::tls_key, "its key (PEM)"},
});

} // namespace

void add_server_options(Command& command, ServerOptions& options) {
    for (const ServerOption& option : kServerOptions) {
        command.option(option.name, options.given.*option.member, option.meaning);
        if (!option.is_file) {
            command.option(kPasswordFile, options.password_file,
                           "file with the password in its first line; else the environment's REMORA_PASSWORD");
        }
    }
}

std::vector<std::string> words_of(const ServerOptions& options) {
    std::vector<std::string> words;
    const auto add = [&words](const char* name, const std::string& value) {
        if (!value.empty()) {
            words.insert(words.end(), {name, value});
        }
    };
    for (const ServerOption& option : kServerOptions) {
        add(option.name, options.given.*option.member);
    }
    add(kPasswordFile, options.password_file);
    return words;
}

lib::Result<fleet::Credentials, trace::Refusal> credentials_of(const ServerOptions& options) {
    fleet::Credentials credentials = options.given;
    for (const ServerOption& option : kServerOptions) {
        const std::string& path = credentials.*option.member;
        if (!option.is_file || path.empty()) {
            continue;
        }
        if (const auto readable = trace::read_file(path, kSecretBytesMax * 16); !readable) {
            return refusal(option.name, path, readable.error().text);
        }
    }
    if (credentials.tls_cert.empty() != credentials.tls_key.empty()) {
        return trace::Refusal{"--tls-cert and --tls-key are given together"};
    }
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
