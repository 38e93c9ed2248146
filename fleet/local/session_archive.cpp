// SPDX-License-Identifier: MIT
#include "fleet/local/session_archive.hpp"

#include "host/formats/packed/archive.hpp"
#include "host/output/output_file.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace host::fleet::local {

namespace {

namespace fs = std::filesystem;
namespace packed = formats::packed;

StoreFailure failure_of(const std::string& path, int number) {
    const auto cause = number == ENOSPC || number == EDQUOT || number == EFBIG  ? lib::Error::no_space
                       : number == EACCES || number == EPERM || number == EROFS ? lib::Error::refused
                                                                                : lib::Error::io;
    return {cause, fmt::format("{}: {}", text::escaped(path), std::strerror(number))};
}

// An errno, or 0. A file system that cannot flush a directory says so with EINVAL.
int flush_directory(const std::string& path) {
    const int descriptor = ::open(path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) {
        return errno;
    }
    const int number = ::fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;
    ::close(descriptor);
    return number;
}

// The name under which a file grows; removed at the end, unless it has become the file.
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
            ::unlink(m_path.c_str()); // gone already if it was renamed
        }
    }

    [[nodiscard]] const std::string& path() const { return m_path; }

    [[nodiscard]] int descriptor() const { return m_descriptor; }

  private:
    std::string m_path;
    int m_descriptor;
};

} // namespace

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
        // Another loader was faster, or it is no directory.
        if (number != EEXIST || !fs::is_directory(path, failed)) {
            return failure_of(path, number == EEXIST ? ENOTDIR : number);
        }
    }
    const int number = flush_directory(above);
    return number == 0 ? lib::Result<void, StoreFailure>() : failure_of(above, number);
}

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

} // namespace host::fleet::local
