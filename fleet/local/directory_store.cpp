// SPDX-License-Identifier: MIT
#include "fleet/local/directory_store.hpp"

#include "fleet/database.hpp"
#include "fleet/local/schema.hpp"
#include "fleet/session_rows.hpp"
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

void check(int number, const std::string& path) {
    if (number != 0) {
        throw failure_of(path, number);
    }
}

// Creates the directory and the missing ones above it; all of them are durable. no_space, refused, io.
void make_directories(const std::string& path) {
    std::error_code failed;
    if (fs::is_directory(path, failed)) {
        return;
    }
    const std::string above = fs::path(path).parent_path().string();
    if (!above.empty()) {
        make_directories(above);
    }
    if (::mkdir(path.c_str(), 0777) != 0) {
        const int number = errno;
        // Another loader was faster, or `path` is no directory.
        if (number != EEXIST || !fs::is_directory(path, failed)) {
            check(number == EEXIST ? ENOTDIR : number, path);
        }
    }
    check(flush_directory(above), above);
}

// Writes a session as one packed file: beside its name, flushed, then renamed. A file at `path` is replaced. The
// directory of `path` must exist. no_space, io; corrupt: a file of the session.
void write_archive(const std::string& session, const std::string& path) {
    const auto files = packed::files_to_pack(session);
    if (!files) {
        throw StoreFailure{lib::Error::corrupt, files.error().text};
    }
    const Partial partial(path);
    check(partial.descriptor() < 0 ? errno : 0, path);
    const mode_t mask = ::umask(0);
    ::umask(mask);
    output::OutputFile out(partial.descriptor(), false);
    packed::ArchiveWriter writer([&out](std::span<const std::byte> bytes) { out.append(bytes); },
                                 [](std::uint64_t /*bytes*/) {});
    if (const auto written = writer.write(files.value()); !written) {
        throw StoreFailure{lib::Error::corrupt, written.error().text};
    }
    out.flush();
    check(out.error_number(), path);
    if (::fchmod(partial.descriptor(), 0666 & ~mask) != 0 || ::fsync(partial.descriptor()) != 0 ||
        ::rename(partial.path().c_str(), path.c_str()) != 0) {
        throw failure_of(path, errno);
    }
    const std::string directory = fs::path(path).parent_path().string();
    check(flush_directory(directory), directory);
}

constexpr std::string_view kDatabase = "fleet.sqlite";

} // namespace

std::string archive_path(const NodeName& from, std::string_view boot) {
    return fmt::format("{}/{}/{}.rpk", from.site, from.node, boot);
}

DirectoryStore::DirectoryStore(std::string directory)
    : m_directory(std::move(directory))
    , m_database((fs::path(m_directory) / kDatabase).string()) {}

lib::Result<std::shared_ptr<Store>, StoreFailure> DirectoryStore::open(const std::string& directory, Access access) {
    return caught([&]() -> std::shared_ptr<Store> {
        auto store = std::shared_ptr<DirectoryStore>(new DirectoryStore(directory));
        std::error_code ignored;
        if (access == Access::write) {
            return store;
        }
        if (!fs::is_regular_file(store->m_database, ignored)) {
            throw StoreFailure{
                lib::Error::refused,
                fmt::format("{0}: this is no store of a fleet (no {1} in it): `remora load --from SESSIONS --to {0}` "
                            "makes one",
                            text::escaped(directory), kDatabase)};
        }
        store->m_connection = std::make_unique<Connection>(store->m_database, access);
        check_schema(*store->m_connection);
        return store;
    });
}

lib::Result<void, StoreFailure> DirectoryStore::prepare() {
    return caught([this] {
        make_directories(m_directory);
        const DirectoryGuard guard(m_directory);
        auto connection = std::make_unique<Connection>(m_database, Access::write);
        // The schema is checked before the mode of the journal changes, because that would write to another program's
        // file.
        make_schema(*connection);
        connection->run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
        m_connection = std::move(connection);
    });
}

lib::Result<Answer, StoreFailure> DirectoryStore::query(const std::string& statement) {
    ASSERT(m_connection != nullptr);
    return caught([&] { return m_connection->query(statement); });
}

std::string DirectoryStore::quoted(std::string_view text) const {
    std::string literal = "'";
    for (const char character : text) {
        literal.append(character == '\'' ? 2 : 1, character);
    }
    return literal + '\'';
}

lib::Result<std::vector<StoredChunk>, StoreFailure> DirectoryStore::chunks_of(const Run& run) {
    return caught([&] {
        return stored_chunks(
            run, m_connection->query(fmt::format("SELECT {} FROM chunks WHERE {}", kStoredColumns, condition_of(run))));
    });
}

lib::Result<bool, StoreFailure> DirectoryStore::has_session(const Run& run) {
    return caught([&] {
        return m_connection->number(fmt::format("SELECT count(*) FROM nodes WHERE {}", condition_of(run))) != 0;
    });
}

lib::Result<void, StoreFailure> DirectoryStore::add_chunks(std::span<const ReadChunk> chunks) {
    return caught([&] { insert_chunks(*m_connection, chunks); });
}

lib::Result<void, StoreFailure> DirectoryStore::add_session(const ReadSession& session) {
    return caught([&] {
        const fs::path path = fs::path(m_directory) / archive_path(session.run.from, boot_text(session.run.boot_id));
        make_directories(path.parent_path().string());
        write_archive(session.directory, path.string());
        insert_session(*m_connection, session);
    });
}

lib::Result<void, StoreFailure> DirectoryStore::add_formats(const Run& run, std::string_view text) {
    return caught([&] { insert_formats(*m_connection, run, text); });
}

lib::Result<std::optional<std::string>, StoreFailure> DirectoryStore::formats_of(const Run& run) {
    return image(formats_condition_of(run));
}

lib::Result<std::optional<std::string>, StoreFailure> DirectoryStore::image_of(const Run& run,
                                                                               const formats::dat::ChunkKey& key) {
    return image(condition_of(run, key));
}

lib::Result<std::optional<std::string>, StoreFailure> DirectoryStore::image(const std::string& condition) const {
    return caught([&] {
        const Answer answer = m_connection->query(fmt::format("SELECT bytes FROM images WHERE {}", condition));
        return answer.rows.empty() ? std::nullopt : std::optional(Cells(answer.rows.front()).text());
    });
}

} // namespace host::fleet::local
