// SPDX-License-Identifier: MIT
// POSIX end of OutputFile and Destination.
#include "host/convert/output_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace host::convert {

namespace {

namespace fs = std::filesystem;

lib::Error error_of(int number) {
    switch (number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return lib::Error::no_space;
    case EACCES:
    case EPERM:
    case EROFS:
        return lib::Error::refused;
    case ENOENT:
    case ENOTDIR:
        return lib::Error::not_found;
    case EPIPE:
        return lib::Error::unreachable;
    default:
        return lib::Error::io;
    }
}

// Both exist and are the same file.
bool is_same_file(const std::string& left, const std::string& right) {
    std::error_code ignored;
    return fs::equivalent(left, right, ignored);
}

// `inner` is `outer` or lies below it. Both as they would be once created.
bool lies_within(const std::string& inner, const std::string& outer) {
    std::error_code failed;
    const fs::path a = fs::weakly_canonical(inner, failed);
    const fs::path b = fs::weakly_canonical(outer, failed);
    return !failed && std::mismatch(b.begin(), b.end(), a.begin(), a.end()).first == b.end();
}

std::string without_slash(std::string path) {
    while (path.size() > 1 && path.ends_with('/')) {
        path.pop_back();
    }
    return path;
}

// Empty if the destination may be made.
std::string reason_against(const std::string& path, Destination::Shape shape, const std::string& input) {
    std::error_code ignored;
    const bool directory = fs::is_directory(path, ignored);
    if (is_same_file(path, input)) {
        return "it is the input: name another output";
    }
    if (fs::is_directory(input, ignored) && lies_within(path, input)) {
        return "it lies inside the input session: name an output outside of it";
    }
    if (shape != Destination::Shape::directory) {
        return directory ? "it is a directory: name a file" : "";
    }
    if (directory && lies_within(input, path)) {
        return "it holds the input: name another output";
    }
    if (directory && !fs::is_empty(path, ignored)) {
        return "the directory exists and is not empty: remove it, or name another";
    }
    return !directory && fs::exists(path, ignored) ? "it is a file: this format is a directory" : "";
}

} // namespace

lib::Result<std::unique_ptr<OutputFile>> OutputFile::create(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0) {
        return error_of(errno);
    }
    return std::make_unique<OutputFile>(descriptor, true);
}

OutputFile::OutputFile(int descriptor, bool owned)
    : m_descriptor(descriptor)
    , m_owned(owned)
    , m_buffer(kBufferBytes) {}

OutputFile::~OutputFile() {
    if (m_owned && m_descriptor >= 0) {
        ::close(m_descriptor);
    }
}

void OutputFile::write_out(std::span<const std::byte> bytes) {
    m_written += bytes.size();
    while (m_error_number == 0 && !bytes.empty()) {
        const ssize_t count = ::write(m_descriptor, bytes.data(), bytes.size());
        if (count >= 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(count));
        } else if (errno != EINTR) {
            m_error_number = errno;
        }
    }
}

void OutputFile::flush() {
    const std::size_t count = m_filled;
    m_filled = 0;
    write_out(std::span(m_buffer).first(count));
}

void OutputFile::append_slowly(std::span<const std::byte> bytes) {
    flush();
    if (bytes.size() >= kBufferBytes) {
        write_out(bytes);
    } else {
        append(bytes);
    }
}

void OutputFile::patch(std::uint64_t offset_bytes, std::span<const std::byte> bytes) {
    flush();
    while (m_error_number == 0 && !bytes.empty()) {
        const ssize_t count = ::pwrite(m_descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset_bytes));
        if (count >= 0) {
            bytes = bytes.subspan(static_cast<std::size_t>(count));
            offset_bytes += static_cast<std::uint64_t>(count);
        } else if (errno != EINTR) {
            m_error_number = errno;
        }
    }
}

lib::Result<void> OutputFile::close() {
    flush();
    if (m_owned && m_descriptor >= 0 && ::close(std::exchange(m_descriptor, -1)) != 0 && m_error_number == 0) {
        m_error_number = errno;
    }
    if (m_error_number != 0) {
        return error_of(m_error_number);
    }
    return {};
}

lib::Result<std::unique_ptr<Destination>> Destination::open(const std::string& path, Shape shape,
                                                            const std::string& input, std::string& why) {
    auto destination = std::unique_ptr<Destination>(new Destination());
    destination->m_shape = shape;
    if (path == "-") {
        if (shape == Shape::directory) {
            why = "this format is a directory of files: name one with --output";
            return lib::Error::refused;
        }
        if (shape == Shape::library_file) {
            why = "this format is written in no fixed order, so it cannot go to a stream: name a file with --output";
            return lib::Error::refused;
        }
        destination->m_files.push_back(std::make_unique<OutputFile>(STDOUT_FILENO, false));
        return destination;
    }
    destination->m_path = without_slash(path);
    why = reason_against(destination->m_path, shape, input);
    if (!why.empty()) {
        return lib::Error::refused;
    }
    const std::string partial = destination->m_path + ".partial";
    if (is_same_file(partial, input)) {
        why = fmt::format("{} is the input, and would be overwritten on the way", partial);
        return lib::Error::refused;
    }
    if (shape == Shape::directory) {
        std::error_code failed;
        fs::remove_all(partial, failed);
        fs::create_directory(partial, failed);
        if (failed) {
            why = failed.message();
            return error_of(failed.value());
        }
    } else if (shape == Shape::library_file) {
        std::error_code failed;
        fs::remove(partial, failed); // of a run that was killed: a library would go on with it
        if (failed) {
            why = failed.message();
            return error_of(failed.value());
        }
    } else {
        auto file = OutputFile::create(partial);
        if (!file) {
            why = error_name(file.error());
            return file.error();
        }
        destination->m_files.push_back(std::move(file.value()));
    }
    destination->m_partial = partial;
    return destination;
}

Destination::~Destination() {
    if (!m_committed && !m_partial.empty()) {
        m_files.clear();
        std::error_code ignored;
        fs::remove_all(m_partial, ignored);
    }
}

lib::Result<OutputFile*> Destination::add_file(std::string_view name) {
    auto file = OutputFile::create(m_partial + '/' + std::string(name));
    if (!file) {
        return file.error();
    }
    m_files.push_back(std::move(file.value()));
    return m_files.back().get();
}

bool Destination::failed() const {
    return std::ranges::any_of(m_files, [](const auto& file) { return file->error_number() != 0; });
}

lib::Result<void> Destination::commit() {
    for (const auto& file : m_files) {
        if (const auto closed = file->close(); !closed) {
            return closed.error();
        }
    }
    if (!m_path.empty()) {
        std::error_code failed;
        if (m_shape == Shape::directory) {
            fs::remove(m_path, failed); // an empty directory of that name
        }
        fs::rename(m_partial, m_path, failed);
        if (failed) {
            return error_of(failed.value());
        }
    }
    m_committed = true;
    return {};
}

} // namespace host::convert
