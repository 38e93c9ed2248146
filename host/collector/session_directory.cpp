// SPDX-License-Identifier: MIT
#include "host/collector/session_directory.hpp"

#include "host/formats/dat/manifest.hpp"
#include "host/text/format.hpp"
#include "host/trace/kernel_image.hpp"
#include "lib/crc32c.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <span>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>

namespace host::collector {

lib::Error write_error() {
    return errno == ENOSPC || errno == EDQUOT ? lib::Error::no_space : lib::Error::io;
}

namespace {

using Failure = trace::Failure<lib::Error>;

// Says by errno why a directory or a file in it cannot be used.
Failure unusable_by_errno(std::string_view text) {
    return {write_error() == lib::Error::no_space ? lib::Error::no_space : lib::Error::refused, std::string(text)};
}

Failure no_lock() {
    return unusable_by_errno(fmt::format("{}: {}", kLockName, std::strerror(errno)));
}

// Returns only digits, because another program may have written the file.
std::string holder_of(int file) {
    std::array<char, 16> text{};
    const ssize_t count = ::pread(file, text.data(), text.size(), 0);
    const std::string_view read(text.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
    const std::string_view digits = read.substr(0, read.find_first_not_of("0123456789"));
    return digits.empty() ? std::string() : fmt::format(" (process {})", digits);
}

bool write_holder(int file) {
    const std::string text = fmt::format("{}\n", ::getpid());
    return ::ftruncate(file, 0) == 0 &&
           ::pwrite(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

// Returns whether the file under the lock's name is this one, so that its former holder has not removed it meanwhile.
bool is_named(int directory, const struct stat& file) {
    struct stat named {};

    return ::fstatat(directory, kLockName.data(), &named, AT_SYMLINK_NOFOLLOW) == 0 && named.st_dev == file.st_dev &&
           named.st_ino == file.st_ino;
}

} // namespace

lib::Result<void, Failure> DirectoryLock::take(int directory) {
    constexpr int kAttempts = 100; // an attempt only fails if a collector ended at that moment
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        trace::Descriptor file(
            ::openat(directory, kLockName.data(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644));

        struct stat found {};

        if (!file || ::fstat(file.number(), &found) != 0) {
            return no_lock();
        }
        if (!S_ISREG(found.st_mode)) {
            return Failure{lib::Error::refused, fmt::format("{} in it is no regular file", kLockName)};
        }
        if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
            return Failure{lib::Error::busy, fmt::format("another collector{} writes there", holder_of(file.number()))};
        }
        if (is_named(directory, found)) {
            if (!write_holder(file.number())) {
                return no_lock();
            }
            m_directory = directory;
            m_file = std::move(file);
            return {};
        }
    }
    return Failure{lib::Error::busy, "other collectors begin and end there"};
}

DirectoryLock::~DirectoryLock() {
    if (m_file) {
        ::unlinkat(m_directory, kLockName.data(), 0);
    }
}

namespace {

lib::Error error_of_errno() {
    switch (errno) {
    case ENOENT:
        return lib::Error::not_found;
    case EEXIST:
        return lib::Error::exists;
    case EACCES:
    case EPERM:
        return lib::Error::refused;
    default:
        return write_error();
    }
}

Failure unusable(std::string_view text) {
    return {lib::Error::refused, std::string(text)};
}

bool belongs_to_session(const std::string& name) {
    const auto is = [&name](std::string_view text) { return name == text || name == std::string(text) + ".new"; };
    return is(formats::dat::kManifestName) || is(trace::kFormatsName) || formats::dat::is_chunk_file_name(name) ||
           formats::dat::is_totals_file_name(name);
}

} // namespace

lib::Result<std::vector<std::string>> list_names(int directory) {
    const int own = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* const stream = own < 0 ? nullptr : ::fdopendir(own);
    if (stream == nullptr) {
        return error_of_errno();
    }
    std::vector<std::string> names;
    while (const dirent* const entry = ::readdir(stream)) {
        if (std::string_view(entry->d_name) != "." && std::string_view(entry->d_name) != "..") {
            names.emplace_back(entry->d_name);
        }
    }
    ::closedir(stream);
    return names;
}

SessionDirectory::SessionDirectory(trace::Descriptor directory, std::string path)
    : m_path(std::move(path))
    , m_directory(std::move(directory)) {}

SessionDirectory::Opened SessionDirectory::open(const std::string& path, OldSession old) {
    std::error_code code;
    std::filesystem::create_directories(path, code);
    trace::Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory) {
        errno = code ? code.value() : errno; // of the system's category
        return unusable_by_errno(std::strerror(errno));
    }
    auto opened = std::make_shared<SessionDirectory>(std::move(directory), path);
    if (const auto taken = opened->take(old); !taken) {
        return taken.error();
    }
    return opened;
}

SessionDirectory::Opened SessionDirectory::create(int parent, const std::string& parent_path, const std::string& name) {
    if (::mkdirat(parent, name.c_str(), 0755) != 0) {
        return Failure{error_of_errno(), std::strerror(errno)};
    }
    trace::Descriptor directory(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!directory) {
        return Failure{error_of_errno(), std::strerror(errno)};
    }
    auto opened = std::make_shared<SessionDirectory>(std::move(directory), parent_path + '/' + name);
    if (const auto taken = opened->take(OldSession::keep); !taken) {
        return taken.error();
    }
    return opened;
}

bool SessionDirectory::is_empty(const std::string& name) const {
    struct stat state {};

    return ::fstatat(descriptor(), name.c_str(), &state, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(state.st_mode) &&
           state.st_size == 0;
}

// Takes the lock first, so that what a collector is writing is not judged.
lib::Result<void, Failure> SessionDirectory::take(OldSession old) {
    if (auto locked = m_lock.take(descriptor()); !locked || old == OldSession::leave) {
        return locked;
    }
    auto names = list_names(descriptor());
    if (!names) {
        return unusable(error_name(names.error()));
    }
    std::erase(names.value(), kLockName);
    if (names.value().empty()) {
        return {};
    }
    for (const std::string& name : names.value()) {
        if (!belongs_to_session(name)) {
            return unusable(fmt::format("it holds \"{}\", which belongs to no session", name));
        }
    }
    const bool is_session = formats::dat::load_manifest(m_path).ok();
    // A loss of power leaves empty files of a session that was not flushed yet.
    if (!is_session && !std::ranges::all_of(names.value(), [this](const auto& name) { return is_empty(name); })) {
        return unusable("it holds Ntrace.dat files without a manifest of ours");
    }
    // A collector that was killed before a packet came leaves a manifest alone.
    const bool has_chunk = std::ranges::any_of(names.value(), [this](const std::string& name) {
        return formats::dat::is_chunk_file_name(name) && !is_empty(name);
    });
    if (is_session && has_chunk && old == OldSession::keep) {
        return Failure{lib::Error::exists, "it holds an earlier session"};
    }
    for (const std::string& name : names.value()) {
        if (::unlinkat(descriptor(), name.c_str(), 0) != 0 && errno != ENOENT) {
            return unusable(std::strerror(errno));
        }
    }
    return {};
}

lib::Result<std::uint64_t, Failure> remove_session(const std::string& path) {
    std::uint64_t bytes = 0;
    {
        // The directory must exist, because opening would make it.
        std::error_code missing;
        if (!std::filesystem::is_directory(path, missing)) {
            return Failure{lib::Error::not_found, "it is not there"};
        }
        const auto files = formats::dat::list_chunk_files(path);
        for (const std::string& file : files ? files.value() : std::vector<std::string>()) {
            std::error_code failed;
            const std::uintmax_t size = std::filesystem::file_size(std::filesystem::path(path) / file, failed);
            bytes += failed ? 0 : size;
        }
        if (const auto emptied = SessionDirectory::open(path, OldSession::replace); !emptied) {
            return emptied.error();
        }
    }
    if (::rmdir(path.c_str()) != 0) {
        return unusable(std::strerror(errno));
    }
    ::unlink((path + std::string(kPublishedSuffix)).c_str());
    return bytes;
}

lib::Result<int> SessionDirectory::create_file(const std::string& name) const {
    const int file = ::openat(descriptor(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (file < 0) {
        return error_of_errno();
    }
    return file;
}

lib::Result<void, trace::Refusal> store_formats(const trace::KernelImage& formats, const std::string& directory,
                                                formats::dat::Manifest& manifest) {
    const std::uint64_t ran = manifest.build ? manifest.build->image_id : 0;
    if (ran == 0 || ran != formats.image_id()) {
        return trace::Refusal{
            ran == 0 ? std::string("the session does not state which image sent it")
                     : fmt::format("the session comes from another image (build id {:016x}, this is {:016x})", ran,
                                   formats.image_id())};
    }
    const std::string text = formats.to_json_text();
    formats::dat::Manifest with = manifest;
    with.formats = formats::dat::ManifestFormats{formats.image_id(), lib::crc32c(std::as_bytes(std::span(text)))};
    for (const auto& saved : {formats::dat::save_text(text, directory, trace::kFormatsName),
                              formats::dat::save_manifest(with, directory)}) {
        if (!saved) {
            return trace::Refusal{std::string(error_name(saved.error()))};
        }
    }
    manifest = std::move(with);
    return {};
}

} // namespace host::collector
