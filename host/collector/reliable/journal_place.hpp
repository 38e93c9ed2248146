// SPDX-License-Identifier: MIT
// The directory in which the streams and journals of all sessions are, and how a file in it is read and written.
#pragma once

#include "host/collector/reliable/file_store.hpp"
#include "host/trace/byte_source.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace host::collector::reliable {

// The open directory, which all stores share. What is opened in it is no link, and neither is the directory itself.
struct FileStores::Place {
    Place(std::string named, const Report& to, std::atomic<std::uint64_t>* counted)
        : path(std::move(named))
        , bytes(counted != nullptr ? *counted : own_bytes)
        , report(to) {}

    std::string path;
    std::atomic<std::uint64_t> own_bytes = 0; // used if the caller counts none
    std::atomic<std::uint64_t>& bytes;        // in all files
    std::atomic<std::size_t> journals = 0;    // that exist
    const Report& report;
    trace::Descriptor directory;
    trace::Descriptor event;          // becomes readable when a flush has ended; none without a flusher
    std::unique_ptr<Flusher> flusher; // null: each sync() flushes at once

    void wake() const {
        constexpr std::uint64_t kOne = 1;
        static_cast<void>(::write(event.number(), &kOne, sizeof(kOne))); // fails if it is readable already
    }

    // Returns a file for reading and writing, which is made if it does not exist. If it cannot be opened or is no
    // regular file, errno states why.
    [[nodiscard]] trace::Descriptor open(const std::string& name) const {
        constexpr int kFlags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
        trace::Descriptor file(::openat(directory.number(), name.c_str(), kFlags, 0644));

        struct stat state {};

        if (file && (::fstat(file.number(), &state) != 0 || !S_ISREG(state.st_mode))) {
            errno = EINVAL;
            return {};
        }
        return file;
    }

    [[nodiscard]] bool has(const std::string& name) const {
        struct stat state {};

        return ::fstatat(directory.number(), name.c_str(), &state, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
    }

    // Returns the file, which stays open until kOpenMax others have been used; -1 if it cannot be opened.
    [[nodiscard]] int kept_open(const std::string& name) {
        const auto found = std::ranges::find(m_open, name, &std::pair<std::string, trace::Descriptor>::first);
        if (found != m_open.end()) {
            m_open.splice(m_open.begin(), m_open, found);
            return m_open.front().second.number();
        }
        trace::Descriptor file = open(name);
        if (!file) {
            return -1;
        }
        if (m_open.size() == kOpenMax) {
            m_open.pop_back();
        }
        m_open.emplace_front(name, std::move(file));
        return m_open.front().second.number();
    }

    // Closes the files of a session.
    void close(const std::string& name) {
        std::erase_if(m_open, [&name](const auto& file) { return file.first.starts_with(name); });
    }

  private:
    std::list<std::pair<std::string, trace::Descriptor>> m_open; // the one used last is the first
};

inline bool write_all(int file, std::span<const std::byte> bytes, std::uint64_t offset) {
    while (!bytes.empty()) {
        const ssize_t written = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        bytes = bytes.subspan(static_cast<std::size_t>(written));
        offset += static_cast<std::uint64_t>(written);
    }
    return true;
}

// Returns how many bytes were read: fewer than requested if the file ends or cannot be read.
inline std::size_t read_some(const trace::Descriptor& file, std::span<std::byte> out, std::uint64_t offset) {
    std::size_t done = 0;
    while (done < out.size()) {
        const ssize_t count =
            ::pread(file.number(), out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            break;
        }
        done += static_cast<std::size_t>(count);
    }
    return done;
}

inline constexpr std::uint64_t kGlanceEntries = 102; // of a journal: 4 KiB, and how much of it is read in one call

// Passes on the entries of a journal, without the first ones. Returns at which byte it is damaged; none: nowhere. The
// process may have been killed while it wrote the last entry, so that one is left out if it is wrong.
template <typename Take>
[[nodiscard]] std::optional<std::uint64_t> read_entries(const trace::Descriptor& journal, std::uint64_t first,
                                                        std::uint64_t end, const Take& take) {
    std::array<std::byte, kGlanceEntries * JournalEntry::kBytes> piece{};
    while (first < end) {
        const std::uint64_t count = std::min<std::uint64_t>(end - first, kGlanceEntries);
        auto left = std::span(piece).first(static_cast<std::size_t>(count) * JournalEntry::kBytes);
        if (read_some(journal, left, first * JournalEntry::kBytes) != left.size()) {
            return first * JournalEntry::kBytes;
        }
        for (; !left.empty(); left = left.subspan(JournalEntry::kBytes), ++first) {
            JournalEntry::Bytes bytes{};
            std::ranges::copy(left.first(JournalEntry::kBytes), bytes.begin());
            if (const auto entry = JournalEntry::decode(bytes)) {
                take(*entry);
            } else if (first + 1 != end) {
                return first * JournalEntry::kBytes;
            }
        }
    }
    return std::nullopt;
}

} // namespace host::collector::reliable
