// SPDX-License-Identifier: MIT
#include "host/collector/syncer.hpp"

#include "host/formats/dat/manifest.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <fcntl.h>
#include <map>
#include <utility>

namespace host::collector {

namespace {

std::optional<lib::Error> flush(int directory, const std::string& name, bool all_files) {
    const trace::Descriptor file(all_files ? -1 : ::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    return (all_files ? ::syncfs(directory) : ::fdatasync(file.number())) == 0 ? std::nullopt
                                                                               : std::optional(write_error());
}

} // namespace

std::uint64_t Durability::bytes() const {
    const std::scoped_lock lock(m_mutex);
    return m_bytes;
}

std::optional<lib::Error> Durability::error() const {
    const std::scoped_lock lock(m_mutex);
    return m_error;
}

void Durability::note(std::optional<lib::Error> error) {
    const std::scoped_lock lock(m_mutex);
    m_error = m_error ? m_error : error;
}

bool Durability::idle() const {
    const std::scoped_lock lock(m_mutex);
    return m_pending == 0;
}

bool Durability::manifest_idle() const {
    const std::scoped_lock lock(m_mutex);
    return m_manifests == 0;
}

Syncer::Syncer()
    : m_thread([this] { work(); }) {}

Syncer::~Syncer() {
    {
        const std::scoped_lock lock(m_mutex);
        m_ended = true;
    }
    m_changed.notify_all();
    m_thread.join();
}

void Syncer::push(Job job) {
    {
        const std::scoped_lock lock(job.durability->m_mutex);
        ++job.durability->m_pending;
        job.durability->m_manifests += job.manifest ? 1U : 0U;
    }
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return m_jobs.size() < kJobsMax; });
    m_jobs.push_back(std::move(job));
    m_changed.notify_all();
}

void Syncer::drain() {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return m_jobs.empty() && !m_busy; });
}

void Syncer::work() {
    std::unique_lock lock(m_mutex);
    while (true) {
        m_changed.wait(lock, [this] { return m_ended || !m_jobs.empty(); });
        if (m_jobs.empty()) {
            return;
        }
        std::vector<Job> jobs = std::exchange(m_jobs, {});
        m_busy = true;
        lock.unlock();
        perform(jobs);
        jobs.clear();
        lock.lock();
        m_busy = false;
        m_changed.notify_all();
    }
}

// If there are many files, or many sessions, the whole file system is flushed, which costs as much as flushing a few
// files. Returns whether it was: then the manifests, too, are flushed together.
bool Syncer::flush_files(const std::vector<Job>& jobs) {
    const auto many = static_cast<std::ptrdiff_t>(kSingleMax);
    const bool all_files = std::ranges::count_if(jobs, [](const Job& job) { return !job.file.empty(); }) > many ||
                           std::ranges::count_if(jobs, [](const Job& job) { return job.manifest.has_value(); }) > many;
    std::optional<lib::Error> error;
    bool flushed = false;
    for (const Job& job : jobs) {
        if (!job.file.empty()) {
            error = all_files && flushed ? error : flush(job.directory->descriptor(), job.file, all_files);
            flushed = true;
            job.durability->note(error);
        }
    }
    return all_files;
}

// Stores the manifest of a job, or makes the name of its file durable. flush_later: the manifest is not in its place
// yet.
void Syncer::store(Job& job, bool flush_later) {
    if (!job.manifest) {
        if (!flush_later) {
            ::fsync(job.directory->descriptor()); // errors are ignored
        }
        return;
    }
    if (const auto error = job.durability->error()) {
        job.manifest->complete = false;
        job.manifest->reason = fmt::format("writing failed: {}", error_name(*error));
    }
    const std::string text = to_json_text(*job.manifest);
    const int directory = job.directory->descriptor();
    const auto saved = flush_later ? formats::dat::write_beside(text, directory, formats::dat::kManifestName,
                                                                formats::dat::Flush::later)
                                   : formats::dat::save_text(text, directory, formats::dat::kManifestName);
    if (!saved) {
        job.durability->note(saved.error());
    }
}

// Flushes all files first, because a manifest must only list what is on the disk. If a session has several manifests,
// only the last one is written.
void Syncer::perform(std::vector<Job>& jobs) {
    const bool together = flush_files(jobs);
    std::map<const Durability*, const SessionDirectory*> stored;
    for (auto job = jobs.rbegin(); job != jobs.rend(); ++job) {
        if (!job->manifest || stored.emplace(job->durability.get(), job->directory.get()).second) {
            store(*job, together);
        }
    }
    const auto flush_all = [&jobs] {
        const auto error = flush(jobs.front().directory->descriptor(), "", true);
        for (const Job& job : jobs) {
            job.durability->note(error);
        }
        return !error;
    };
    if (together && !stored.empty() && flush_all()) {
        for (const auto& [durability, directory] : stored) { // one that was not written is missing, which is noted
            static_cast<void>(formats::dat::put_in_place(directory->descriptor(), formats::dat::kManifestName,
                                                         formats::dat::Flush::later));
        }
        flush_all();
    }
    for (const Job& job : jobs) {
        Durability& durability = *job.durability;
        const std::scoped_lock lock(durability.m_mutex);
        --durability.m_pending;
        durability.m_manifests -= job.manifest ? 1U : 0U;
        if (!durability.m_error) {
            durability.m_bytes = std::max(durability.m_bytes, job.bytes);
        }
    }
}

} // namespace host::collector
