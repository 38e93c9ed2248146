// SPDX-License-Identifier: MIT
#include "fleet/local/connection.hpp"

#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <filesystem>
#include <unistd.h>
#include <utility>

namespace host::fleet::local {

namespace {

// A writer that holds the lock is awaited this long; it inserts one session at most.
constexpr int kPatienceMs = 60'000;

std::string uri_of(const std::string& path) {
    std::string uri = "file:";
    for (const char character : path) {
        constexpr std::string_view kSpecial = "%?#";
        uri += kSpecial.find(character) == std::string_view::npos
                   ? std::string(1, character)
                   : fmt::format("%{:02X}", static_cast<unsigned char>(character));
    }
    return uri;
}

// True if nothing writes to the database and this process may not create the files that readers share with writers.
bool is_unchanging(const std::string& path) {
    std::error_code ignored;
    const std::filesystem::path directory = std::filesystem::path(path).parent_path();
    return !std::filesystem::exists(path + "-wal", ignored) &&
           ::access(directory.empty() ? "." : directory.c_str(), W_OK) != 0;
}

Value value_of(sqlite3_stmt* row, int column) {
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_NULL:
        return {};
    case SQLITE_INTEGER:
        return sqlite3_column_int64(row, column);
    default:
        const auto* const begin = static_cast<const char*>(sqlite3_column_blob(row, column));
        return std::string(begin, static_cast<std::size_t>(sqlite3_column_bytes(row, column)));
    }
}

} // namespace

Connection::Connection(std::string path, Access access)
    : m_path(std::move(path)) {
    const int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI |
                      (access == Access::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    const std::string name = uri_of(m_path) + (access == Access::read && is_unchanging(m_path) ? "?immutable=1" : "");
    sqlite3* handle = nullptr;
    const int code = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
    m_handle.reset(handle);
    check(code);
    sqlite3_busy_timeout(handle, kPatienceMs);
}

void Connection::check(int code) const {
    if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) {
        return;
    }
    const auto say = [&](lib::Error cause, std::string_view text) {
        return StoreFailure{cause, fmt::format("{}: {}", text::escaped(m_path), text)};
    };
    const std::string reason = m_handle != nullptr ? sqlite3_errmsg(m_handle.get()) : sqlite3_errstr(code);
    switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        throw say(lib::Error::unreachable,
                  fmt::format("another program has been writing to it for {} s; try again when it has ended",
                              kPatienceMs / 1000));
    case SQLITE_FULL:
        throw say(lib::Error::no_space, "no space left there: make room, and start again; what is stored stays valid");
    case SQLITE_NOTADB:
        throw say(lib::Error::refused, "this is no SQLite database: name another directory");
    case SQLITE_CORRUPT:
        throw say(lib::Error::corrupt,
                  fmt::format("the database is damaged ({}): restore it, or load into a new directory", reason));
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN:
        throw say(lib::Error::refused, fmt::format("{}: see the permissions of the file and its directory", reason));
    case SQLITE_ERROR:
    case SQLITE_RANGE:
        throw say(lib::Error::refused, reason);
    default:
        throw say(lib::Error::io, reason);
    }
}

Connection::Statement Connection::prepare(std::string_view text) const {
    sqlite3_stmt* prepared = nullptr;
    const char* rest = nullptr;
    const int code = sqlite3_prepare_v2(handle(), text.data(), static_cast<int>(text.size()), &prepared, &rest);
    Statement statement(prepared);
    check(code);
    const std::string_view after = text.substr(static_cast<std::size_t>(rest - text.data()));
    if (prepared == nullptr || after.find_first_not_of(" \n\t;") != std::string_view::npos) {
        throw StoreFailure{lib::Error::refused, "one statement at a time"};
    }
    return statement;
}

void Connection::run(const std::string& statements) const {
    check(sqlite3_exec(handle(), statements.c_str(), nullptr, nullptr, nullptr));
}

void Connection::run(std::string_view statement, std::string_view bytes) const {
    const Statement prepared = prepare(statement);
    sqlite3_bind_blob64(prepared.get(), 1, bytes.data(), bytes.size(), SQLITE_STATIC);
    check(sqlite3_step(prepared.get()));
}

Answer Connection::query(std::string_view statement) const {
    const Statement prepared = prepare(statement);
    Answer answer;
    for (int i = 0; i < sqlite3_column_count(prepared.get()); ++i) {
        const char* const name = sqlite3_column_name(prepared.get(), i);
        answer.columns.emplace_back(name != nullptr ? name : "");
    }
    int code = sqlite3_step(prepared.get());
    for (; code == SQLITE_ROW; code = sqlite3_step(prepared.get())) {
        std::vector<Value>& values = answer.rows.emplace_back();
        for (int i = 0; i < sqlite3_column_count(prepared.get()); ++i) {
            values.push_back(value_of(prepared.get(), i));
        }
    }
    check(code);
    return answer;
}

std::int64_t Connection::number(std::string_view statement) const {
    const Answer answer = query(statement);
    const auto* const number = answer.rows.empty() ? nullptr : std::get_if<std::int64_t>(&answer.rows.front().front());
    return number != nullptr ? *number : 0;
}

} // namespace host::fleet::local
