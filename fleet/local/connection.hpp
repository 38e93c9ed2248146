// SPDX-License-Identifier: MIT
// Opens a SQLite database and executes statements. What fails is thrown as a StoreFailure, which names the file, the
// cause and the remedy. Source: sqlite.org, "Result and Error Codes" and "Write-Ahead Logging".
#pragma once

#include "fleet/database.hpp"

#include <cstdint>
#include <memory>
#include <sqlite3.h>
#include <string>
#include <string_view>

namespace host::fleet::local {

enum class Access : std::uint8_t {
    read,  // nothing is created or changed
    write, // the file is created if there is none
};

class Connection {
  public:
    // Opens the database. refused: there is no such file, or it may not be read.
    Connection(std::string path, Access access);

    // Executes statements; their rows are ignored. bytes: the value of the parameter ?1 of a single statement.
    void run(const std::string& statements) const;
    void run(std::string_view statement, std::string_view bytes) const;

    // refused: another statement follows.
    [[nodiscard]] Answer query(std::string_view statement) const;

    // Returns the first column of the first row, or 0.
    [[nodiscard]] std::int64_t number(std::string_view statement) const;

    // Throws SQLite's code unless it is SQLITE_OK, SQLITE_ROW or SQLITE_DONE; the text is that of the latest call.
    void check(int code) const;

    [[nodiscard]] const std::string& path() const { return m_path; }

    [[nodiscard]] sqlite3* handle() const { return m_handle.get(); }

  private:
    struct Closer {
        void operator()(sqlite3* handle) const { sqlite3_close(handle); }

        void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
    };

    using Statement = std::unique_ptr<sqlite3_stmt, Closer>;

    [[nodiscard]] Statement prepare(std::string_view text) const;

    std::string m_path;
    std::unique_ptr<sqlite3, Closer> m_handle;
};

// The constructor waits for other writers; unreachable: one of them takes too long. The destructor rolls the
// transaction back unless commit() succeeded.
class Transaction {
  public:
    explicit Transaction(const Connection& connection)
        : m_connection(connection) {
        connection.run("BEGIN IMMEDIATE");
    }

    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;

    // Has no effect after a commit, and after errors for which SQLite has rolled the transaction back already.
    ~Transaction() { sqlite3_exec(m_connection.handle(), "ROLLBACK", nullptr, nullptr, nullptr); }

    // The transaction is durable when it returns.
    void commit() { m_connection.run("COMMIT"); }

  private:
    const Connection& m_connection;
};

} // namespace host::fleet::local
