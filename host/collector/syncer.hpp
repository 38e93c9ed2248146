// SPDX-License-Identifier: MIT
// Makes sessions durable beside the receive loop: a thread flushes each sealed file to the disk and then writes the
// manifest that lists it. A flush may take longer than the socket's buffer suffices, and V1.0 sends nothing twice, so
// the loop never waits for a flush unless kJobsMax are pending. While many are pending, the whole file system is
// flushed for all of them at once: for the files, for the manifests, and for their names; and a session has at most one
// pending manifest, so the cost of a flood of small chunks or sessions does not grow with their number. A pending job
// holds no open file.
//
//   push(file, manifest)  -->  fdatasync(file)  -->  manifest.json.new, fsync, rename, fsync(directory)  -->  durable
#pragma once

#include "host/collector/session_directory.hpp"
#include "host/formats/dat/manifest.hpp"
#include "host/trace/byte_source.hpp"
#include "lib/result.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace host::collector {

// States how much of one session is on the disk. The object is shared with the thread.
class Durability {
  public:
    // Returns how many bytes of records, in the order in which the session's writer took them, a loss of power does not
    // undo.
    [[nodiscard]] std::uint64_t bytes() const;

    // Returns the first error of a flush or a manifest: no_space, io.
    [[nodiscard]] std::optional<lib::Error> error() const;

    // Returns whether nothing of this session is pending.
    [[nodiscard]] bool idle() const;

    // Returns whether no manifest of this session is pending.
    [[nodiscard]] bool manifest_idle() const;

  private:
    friend class Syncer;

    void note(std::optional<lib::Error> error);

    mutable std::mutex m_mutex;
    std::uint64_t m_bytes = 0;
    std::uint64_t m_pending = 0;
    std::uint64_t m_manifests = 0; // how many of the pending jobs have a manifest
    std::optional<lib::Error> m_error;
};

class Syncer {
  public:
    static constexpr std::size_t kJobsMax = 16'384; // of sealed files; each session has one manifest at most
    static constexpr std::size_t kSingleMax = 16;   // the most files that are flushed one by one

    struct Job {
        std::shared_ptr<SessionDirectory> directory;
        std::shared_ptr<Durability> durability;
        std::string file;                               // is flushed; may be empty
        std::optional<formats::dat::Manifest> manifest; // is written then, unless a later one is pending
        std::uint64_t bytes = 0;                        // the value of Durability::bytes() afterwards
    };

    Syncer();
    Syncer(const Syncer&) = delete;
    Syncer& operator=(const Syncer&) = delete;
    ~Syncer(); // completes everything that is pending

    void push(Job job);

    // Returns when every job that was pushed is done.
    void drain();

  private:
    void work();
    static bool flush_files(const std::vector<Job>& jobs);
    static void store(Job& job, bool flush_later);
    static void perform(std::vector<Job>& jobs);

    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::vector<Job> m_jobs;
    bool m_busy = false;
    bool m_ended = false;
    std::thread m_thread; // the last member, because it uses the others
};

} // namespace host::collector
