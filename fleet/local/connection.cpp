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

} // namespace

Statement& Statement::add(const sql::Cell& cell) {
    cell.bind(m_statement.get(), ++m_place);
    return *this;
}

Statement& Statement::add_bytes(std::string_view bytes) {
    sqlite3_bind_blob64(m_statement.get(), ++m_place, bytes.data(), bytes.size(), SQLITE_STATIC);
    return *this;
}

lib::Result<bool, StoreFailure> Statement::step() {
    const int code = sqlite3_step(m_statement.get());
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        return m_connection->failure(code);
    }
    return code == SQLITE_ROW;
}

lib::Result<void, StoreFailure> Statement::finish() {
    int code = SQLITE_ROW;
    while (code == SQLITE_ROW) {
        code = sqlite3_step(m_statement.get());
    }
    lib::Result<void, StoreFailure> outcome;
    if (code != SQLITE_DONE) {
        outcome = m_connection->failure(code);
    }
    sqlite3_reset(m_statement.get());
    m_place = 0;
    return outcome;
}

std::uint64_t Statement::number(int column) const {
    return static_cast<std::uint64_t>(sqlite3_column_int64(m_statement.get(), column));
}

Value Statement::value(int column) const {
    switch (sqlite3_column_type(m_statement.get(), column)) {
    case SQLITE_NULL:
        return {};
    case SQLITE_INTEGER:
        return sqlite3_column_int64(m_statement.get(), column);
    default:
        return bytes(column);
    }
}

std::string Statement::bytes(int column) const {
    const auto* const begin = static_cast<const char*>(sqlite3_column_blob(m_statement.get(), column));
    return {begin, static_cast<std::size_t>(sqlite3_column_bytes(m_statement.get(), column))};
}

int Statement::columns() const {
    return sqlite3_column_count(m_statement.get());
}

std::string Statement::column_name(int column) const {
    const char* const name = sqlite3_column_name(m_statement.get(), column);
    return name != nullptr ? name : "";
}

lib::Result<std::unique_ptr<Connection>, StoreFailure> Connection::open(const std::string& path, Access access) {
    auto connection = std::unique_ptr<Connection>(new Connection(path));
    const int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI |
                      (access == Access::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    const std::string name = uri_of(path) + (access == Access::read && is_unchanging(path) ? "?immutable=1" : "");
    const int code = sqlite3_open_v2(name.c_str(), &connection->m_handle, flags, nullptr);
    if (code != SQLITE_OK) {
        return connection->failure(code);
    }
    sqlite3_busy_timeout(connection->m_handle, kPatienceMs);
    return connection;
}

StoreFailure Connection::failure(int code) const {
    const auto say = [&](lib::Error cause, std::string_view text) {
        return StoreFailure{cause, fmt::format("{}: {}", text::escaped(m_path), text)};
    };
    const std::string reason = m_handle != nullptr ? sqlite3_errmsg(m_handle) : sqlite3_errstr(code);
    switch (code & 0xFF) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return say(lib::Error::unreachable,
                   fmt::format("another program has been writing to it for {} s; try again when it has ended",
                               kPatienceMs / 1000));
    case SQLITE_FULL:
        return say(lib::Error::no_space, "no space left there: make room, and start again; what is stored stays valid");
    case SQLITE_NOTADB:
        return say(lib::Error::refused, "this is no SQLite database: name another directory");
    case SQLITE_CORRUPT:
        return say(lib::Error::corrupt,
                   fmt::format("the database is damaged ({}): restore it, or load into a new directory", reason));
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN:
        return say(lib::Error::refused, fmt::format("{}: see the permissions of the file and its directory", reason));
    case SQLITE_ERROR:
    case SQLITE_RANGE:
        return say(lib::Error::refused, reason);
    default:
        return say(lib::Error::io, reason);
    }
}

lib::Result<Statement, StoreFailure> Connection::prepare(std::string_view text) const {
    sqlite3_stmt* prepared = nullptr;
    const char* rest = nullptr;
    const int code = sqlite3_prepare_v2(m_handle, text.data(), static_cast<int>(text.size()), &prepared, &rest);
    Statement statement(*this, prepared);
    if (code != SQLITE_OK) {
        return failure(code);
    }
    const std::string_view after = text.substr(static_cast<std::size_t>(rest - text.data()));
    if (prepared == nullptr || after.find_first_not_of(" \n\t;") != std::string_view::npos) {
        return StoreFailure{lib::Error::refused, "one statement at a time"};
    }
    return statement;
}

lib::Result<void, StoreFailure> Connection::run(const std::string& statements) const {
    const int code = sqlite3_exec(m_handle, statements.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) {
        return failure(code);
    }
    return {};
}

lib::Result<std::int64_t, StoreFailure> Connection::number(std::string_view statement) const {
    auto prepared = prepare(statement);
    if (!prepared) {
        return prepared.error();
    }
    const auto row = prepared.value().step();
    if (!row) {
        return row.error();
    }
    return row.value() ? static_cast<std::int64_t>(prepared.value().number(0)) : 0;
}

lib::Result<std::unique_ptr<Transaction>, StoreFailure> Transaction::begin(const Connection& connection) {
    if (auto begun = connection.run("BEGIN IMMEDIATE"); !begun) {
        return begun.error();
    }
    return std::unique_ptr<Transaction>(new Transaction(connection));
}

Transaction::~Transaction() {
    if (m_open) {
        (void)m_connection.run("ROLLBACK"); // after some errors SQLite has rolled it back already
    }
}

lib::Result<void, StoreFailure> Transaction::commit() {
    if (auto committed = m_connection.run("COMMIT"); !committed) {
        return committed;
    }
    m_open = false;
    return {};
}

} // namespace host::fleet::local
