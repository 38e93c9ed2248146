// SPDX-License-Identifier: MIT
#include "fleet/local/directory_store.hpp"

#include "fleet/database.hpp"
#include "fleet/local/schema.hpp"
#include "host/formats/dat/manifest.hpp"
#include "host/formats/packed/archive.hpp"
#include "host/output/output_file.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "lib/assert.hpp"
#include "lib/result.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace host::fleet::local {

namespace {

namespace fs = std::filesystem;
namespace packed = formats::packed;

// Lets one process at a time prepare a directory, because SQLite does not wait for others while the mode of a journal
// changes. On a file system without locks it has no effect.
class DirectoryGuard {
  public:
    explicit DirectoryGuard(const std::string& directory)
        : m_descriptor(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
        if (m_descriptor >= 0) {
            (void)::flock(m_descriptor, LOCK_EX);
        }
    }

    DirectoryGuard(const DirectoryGuard&) = delete;
    DirectoryGuard& operator=(const DirectoryGuard&) = delete;

    ~DirectoryGuard() {
        if (m_descriptor >= 0) {
            ::close(m_descriptor);
        }
    }

  private:
    int m_descriptor;
};

StoreFailure failure_of(const std::string& path, int number) {
    const auto cause = number == ENOSPC || number == EDQUOT || number == EFBIG  ? lib::Error::no_space
                       : number == EACCES || number == EPERM || number == EROFS ? lib::Error::refused
                                                                                : lib::Error::io;
    return {cause, fmt::format("{}: {}", text::escaped(path), std::strerror(number))};
}

// Returns an errno, or 0. EINVAL counts as success: the file system cannot flush directories.
int flush_directory(const std::string& path) {
    const int descriptor = ::open(path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) {
        return errno;
    }
    const int number = ::fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;
    ::close(descriptor);
    return number;
}

// Creates a file under a temporary name. The destructor removes it, unless it was renamed.
class Partial {
  public:
    explicit Partial(const std::string& path)
        : m_path(path + ".XXXXXX.partial")
        , m_descriptor(::mkostemps(m_path.data(), sizeof ".partial" - 1, O_CLOEXEC)) {}

    Partial(const Partial&) = delete;
    Partial& operator=(const Partial&) = delete;

    ~Partial() {
        if (m_descriptor >= 0) {
            ::close(m_descriptor);
            ::unlink(m_path.c_str()); // fails if it was renamed
        }
    }

    [[nodiscard]] const std::string& path() const { return m_path; }

    [[nodiscard]] int descriptor() const { return m_descriptor; }

  private:
    std::string m_path;
    int m_descriptor;
};

// Creates the directory and the missing ones above it; all of them are durable. no_space, refused, io.
lib::Result<void, StoreFailure> make_directories(const std::string& path) {
    std::error_code failed;
    if (fs::is_directory(path, failed)) {
        return {};
    }
    const std::string above = fs::path(path).parent_path().string();
    if (!above.empty()) {
        if (auto made = make_directories(above); !made) {
            return made;
        }
    }
    if (::mkdir(path.c_str(), 0777) != 0) {
        const int number = errno;
        // Another loader was faster, or `path` is no directory.
        if (number != EEXIST || !fs::is_directory(path, failed)) {
            return failure_of(path, number == EEXIST ? ENOTDIR : number);
        }
    }
    const int number = flush_directory(above);
    return number == 0 ? lib::Result<void, StoreFailure>() : failure_of(above, number);
}

// Writes a session as one packed file: beside its name, flushed, then renamed. A file at `path` is replaced. The
// directory of `path` must exist. no_space, io; corrupt: a file of the session.
lib::Result<void, StoreFailure> write_archive(const std::string& session, const std::string& path) {
    const auto files = packed::files_to_pack(session);
    if (!files) {
        return StoreFailure{lib::Error::corrupt, files.error().text};
    }
    const Partial partial(path);
    if (partial.descriptor() < 0) {
        return failure_of(path, errno);
    }
    const mode_t mask = ::umask(0);
    ::umask(mask);
    output::OutputFile out(partial.descriptor(), false);
    packed::ArchiveWriter writer([&out](std::span<const std::byte> bytes) { out.append(bytes); },
                                 [](std::uint64_t /*bytes*/) {});
    if (const auto written = writer.write(files.value()); !written) {
        return StoreFailure{lib::Error::corrupt, written.error().text};
    }
    out.flush();
    if (out.error_number() != 0) {
        return failure_of(path, out.error_number());
    }
    if (::fchmod(partial.descriptor(), 0666 & ~mask) != 0 || ::fsync(partial.descriptor()) != 0 ||
        ::rename(partial.path().c_str(), path.c_str()) != 0) {
        return failure_of(path, errno);
    }
    const std::string directory = fs::path(path).parent_path().string();
    const int number = flush_directory(directory);
    return number == 0 ? lib::Result<void, StoreFailure>() : failure_of(directory, number);
}

using sql::Cell;

constexpr std::string_view kDatabase = "fleet.sqlite";

constexpr std::string_view kOfRun = "site = ? AND node = ? AND boot = ?";
constexpr std::string_view kOfChunk = "site = ? AND node = ? AND boot = ? AND cpu = ? AND chunk = ? AND generation = ?";

// Binds the parameters of kOfRun. `boot` must outlive the statement.
void add_run(Statement& statement, const Run& run, const std::string& boot) {
    statement.add(Cell(std::string_view(run.from.site))).add(Cell(std::string_view(run.from.node)));
    statement.add(Cell(std::string_view(boot)));
}

void add_key(Statement& statement, const formats::dat::ChunkKey& key) {
    statement.add(Cell(key.cpu)).add(Cell(key.chunk)).add(Cell(key.generation));
}

// Binds the description of a chunk in the order of the columns of Table::chunks.
void add_description(Statement& statement, const ReadChunk& chunk, const std::string& encoding) {
    const tracer::ChunkBegin& begin = chunk.description;
    statement.add(Cell(std::string_view(encoding))).add(Cell(begin.records)).add(Cell(chunk.events));
    statement.add(Cell(chunk.message->body.size())).add(Cell(chunk.crc32c));
    statement.add(Cell::of(chunk.first_ticks)).add(Cell::of(chunk.last_ticks));
    statement.add(Cell(begin.dropped)).add(Cell(begin.refused)).add(Cell(begin.overwritten));
    statement.add(Cell(chunk.message->sequence));
}

std::string parameters(std::size_t count) {
    std::string text = "?";
    for (std::size_t i = 1; i < count; ++i) {
        text += ", ?";
    }
    return text;
}

// Inserts the row, and the bytes if the row is new.
lib::Result<void, StoreFailure> add_chunk(const Connection& connection, Statement& rows, Statement& images,
                                          const ReadChunk& chunk) {
    const std::string boot = boot_text(chunk.run.boot_id);
    const std::string encoding = formats::dat::encoding_name(chunk.description);
    add_run(rows, chunk.run, boot);
    rows.add(Cell(chunk.run.started_s));
    add_key(rows, chunk.key);
    add_description(rows, chunk, encoding);
    if (auto added = rows.finish(); !added || connection.changes() == 0) {
        return added;
    }
    add_run(images, chunk.run, boot);
    add_key(images, chunk.key);
    images.add_bytes(chunk.message->body);
    return images.finish();
}

} // namespace

std::string archive_path(const NodeName& from, std::string_view boot) {
    return fmt::format("{}/{}/{}.rpk", from.site, from.node, boot);
}

std::string DirectoryStore::database_path() const {
    return (std::filesystem::path(m_directory) / kDatabase).string();
}

lib::Result<std::shared_ptr<Store>, StoreFailure> DirectoryStore::open(const std::string& directory, Access access) {
    auto store = std::shared_ptr<DirectoryStore>(new DirectoryStore(directory));
    if (access == Access::write) {
        return std::shared_ptr<Store>(std::move(store));
    }
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(store->database_path(), ignored)) {
        return StoreFailure{lib::Error::refused,
                            fmt::format("{}: this is no store of a fleet (no {} in it): `remora load --from SESSIONS "
                                        "--to {}` makes one",
                                        text::escaped(directory), kDatabase, text::escaped(directory))};
    }
    auto connection = Connection::open(store->database_path(), access);
    if (!connection) {
        return connection.error();
    }
    if (auto checked = check_schema(*connection.value(), store->database_path()); !checked) {
        return checked.error();
    }
    store->m_connection = std::move(connection.value());
    return std::shared_ptr<Store>(std::move(store));
}

lib::Result<void, StoreFailure> DirectoryStore::prepare() {
    if (auto made = make_directories(m_directory); !made) {
        return made;
    }
    const DirectoryGuard guard(m_directory);
    auto connection = Connection::open(database_path(), Access::write);
    if (!connection) {
        return connection.error();
    }
    // The schema is checked before the mode of the journal changes, because that would write to another program's file.
    if (auto made = make_schema(*connection.value(), database_path()); !made) {
        return made;
    }
    if (auto set = connection.value()->run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"); !set) {
        return set;
    }
    m_connection = std::move(connection.value());
    return {};
}

lib::Result<Answer, StoreFailure> DirectoryStore::query(const std::string& statement) {
    ASSERT(m_connection != nullptr);
    auto prepared = m_connection->prepare(statement);
    if (!prepared) {
        return prepared.error();
    }
    Statement& rows = prepared.value();
    Answer answer;
    for (int i = 0; i < rows.columns(); ++i) {
        answer.columns.push_back(rows.column_name(i));
    }
    auto row = rows.step();
    for (; row && row.value(); row = rows.step()) {
        std::vector<Value>& values = answer.rows.emplace_back();
        for (int i = 0; i < rows.columns(); ++i) {
            values.push_back(rows.value(i));
        }
    }
    if (!row) {
        return row.error();
    }
    return answer;
}

std::string DirectoryStore::quoted(std::string_view text) const {
    std::string literal = "'";
    for (const char character : text) {
        literal += character;
        if (character == '\'') {
            literal += '\'';
        }
    }
    return literal + '\'';
}

lib::Result<std::vector<StoredChunk>, StoreFailure> DirectoryStore::chunks_of(const Run& run) {
    auto prepared = m_connection->prepare(
        fmt::format("SELECT cpu, chunk, generation, sequence, crc32c FROM chunks WHERE {}", kOfRun));
    if (!prepared) {
        return prepared.error();
    }
    Statement& rows = prepared.value();
    const std::string boot = boot_text(run.boot_id);
    add_run(rows, run, boot);
    std::vector<StoredChunk> chunks;
    auto row = rows.step();
    for (; row && row.value(); row = rows.step()) {
        chunks.push_back({.key = {.boot_id = run.boot_id,
                                  .cpu = static_cast<std::uint16_t>(rows.number(0)),
                                  .chunk = static_cast<std::uint16_t>(rows.number(1)),
                                  .generation = static_cast<std::uint32_t>(rows.number(2))},
                          .sequence = rows.number(3),
                          .crc32c = static_cast<std::uint32_t>(rows.number(4))});
    }
    if (!row) {
        return row.error();
    }
    return chunks;
}

lib::Result<bool, StoreFailure> DirectoryStore::has_session(const Run& run) {
    auto rows = m_connection->prepare(fmt::format("SELECT 1 FROM nodes WHERE {}", kOfRun));
    if (!rows) {
        return rows.error();
    }
    const std::string boot = boot_text(run.boot_id);
    add_run(rows.value(), run, boot);
    return rows.value().step();
}

lib::Result<void, StoreFailure> DirectoryStore::add_chunks(std::span<const ReadChunk> chunks) {
    auto rows =
        m_connection->prepare(fmt::format("INSERT OR IGNORE INTO chunks({}) VALUES({})", column_names(Table::chunks),
                                          parameters(columns_of(Table::chunks).size())));
    if (!rows) {
        return rows.error();
    }
    auto images = m_connection->prepare("INSERT OR REPLACE INTO images VALUES(?, ?, ?, ?, ?, ?, ?)");
    if (!images) {
        return images.error();
    }
    auto transaction = Transaction::begin(*m_connection);
    if (!transaction) {
        return transaction.error();
    }
    for (const ReadChunk& chunk : chunks) {
        if (auto added = add_chunk(*m_connection, rows.value(), images.value(), chunk); !added) {
            return added;
        }
    }
    return transaction.value()->commit();
}

lib::Result<void, StoreFailure> DirectoryStore::add_session(const ReadSession& session) {
    const std::string path =
        (std::filesystem::path(m_directory) / archive_path(session.run.from, boot_text(session.run.boot_id))).string();
    if (auto made = make_directories(std::filesystem::path(path).parent_path().string()); !made) {
        return made;
    }
    if (auto written = write_archive(session.directory, path); !written) {
        return written;
    }
    return insert_session(*m_connection, session);
}

lib::Result<std::optional<std::string>, StoreFailure> DirectoryStore::image_of(const Run& run,
                                                                               const formats::dat::ChunkKey& key) {
    auto rows = m_connection->prepare(fmt::format("SELECT bytes FROM images WHERE {}", kOfChunk));
    if (!rows) {
        return rows.error();
    }
    const std::string boot = boot_text(run.boot_id);
    add_run(rows.value(), run, boot);
    add_key(rows.value(), key);
    const auto row = rows.value().step();
    if (!row) {
        return row.error();
    }
    return row.value() ? std::optional(rows.value().bytes(0)) : std::optional<std::string>();
}

} // namespace host::fleet::local
