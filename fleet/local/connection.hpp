// SPDX-License-Identifier: MIT
// Opens a SQLite database, with the errors of a store: each names the file, the cause and the remedy. Source:
// sqlite.org, "Result and Error Codes" and "Write-Ahead Logging".
#pragma once

#include "fleet/database.hpp"
#include "host/sql/tables.hpp"
#include "lib/result.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <sqlite3.h>
#include <string>
#include <string_view>

namespace host::fleet::local {

enum class Access : std::uint8_t {
    read,  // nothing is created or changed
    write, // the file is created if there is none
};

class Connection;

// The connection of a prepared statement must outlive it.
class Statement {
  public:
    Statement() = default;

    // Binds the next parameter. Texts must outlive the next step().
    Statement& add(const sql::Cell& cell);
    Statement& add_bytes(std::string_view bytes);

    // Executes one step and returns whether there is a row.
    [[nodiscard]] lib::Result<bool, StoreFailure> step();

    // Executes the statement to its end without its rows; then it takes parameters again.
    [[nodiscard]] lib::Result<void, StoreFailure> finish();

    [[nodiscard]] std::uint64_t number(int column) const;
    [[nodiscard]] Value value(int column) const;
    [[nodiscard]] std::string bytes(int column) const;
    [[nodiscard]] int columns() const;
    [[nodiscard]] std::string column_name(int column) const;

  private:
    friend class Connection;

    struct Finalizer {
        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };

    Statement(const Connection& connection, sqlite3_stmt* statement)
        : m_connection(&connection)
        , m_statement(statement) {}

    const Connection* m_connection = nullptr;
    std::unique_ptr<sqlite3_stmt, Finalizer> m_statement;
    int m_place = 0; // position of the last parameter
};

class Connection {
  public:
    // Opens the database. refused: there is no such file, or it may not be read.
    [[nodiscard]] static lib::Result<std::unique_ptr<Connection>, StoreFailure> open(const std::string& path,
                                                                                     Access access);
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    ~Connection() { sqlite3_close(m_handle); }

    // Prepares one statement. refused: another statement follows it.
    [[nodiscard]] lib::Result<Statement, StoreFailure> prepare(std::string_view text) const;

    // Executes statements without parameters; their rows are ignored.
    [[nodiscard]] lib::Result<void, StoreFailure> run(const std::string& statements) const;

    // Returns the first column of the first row.
    [[nodiscard]] lib::Result<std::int64_t, StoreFailure> number(std::string_view statement) const;

    // Returns SQLite's code as a failure; the text is that of the latest call.
    [[nodiscard]] StoreFailure failure(int code) const;

    // Returns how many rows the latest INSERT or DELETE changed.
    [[nodiscard]] int changes() const { return sqlite3_changes(m_handle); }

    [[nodiscard]] sqlite3* handle() const { return m_handle; }

  private:
    explicit Connection(std::string path)
        : m_path(std::move(path)) {}

    std::string m_path;
    sqlite3* m_handle = nullptr;
};

// The destructor rolls the transaction back unless commit() succeeded.
class Transaction {
  public:
    // Waits for other writers. unreachable: one of them takes too long.
    [[nodiscard]] static lib::Result<std::unique_ptr<Transaction>, StoreFailure> begin(const Connection& connection);
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    ~Transaction();

    // The transaction is durable when it returns.
    [[nodiscard]] lib::Result<void, StoreFailure> commit();

  private:
    explicit Transaction(const Connection& connection)
        : m_connection(connection) {}

    const Connection& m_connection;
    bool m_open = true;
};

} // namespace host::fleet::local
