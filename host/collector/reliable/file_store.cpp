// SPDX-License-Identifier: MIT
// The thread that flushes the streams of all sessions, and the directory in which they are.
#include "host/collector/reliable/file_store.hpp"

#include "host/collector/reliable/stream_files.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <mutex>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace host::collector::reliable {

using trace::Descriptor;

// A thread that executes what begin_sync() asks for. What has come meanwhile is flushed together: if that is much, the
// file system is flushed once for all streams and once for all journals, so that many streams do not keep one waiting.
class FileStores::Flusher {
  public:
    explicit Flusher(Place& place)
        : m_place(place)
        , m_thread([this] { work(); }) {}

    Flusher(const Flusher&) = delete;
    Flusher& operator=(const Flusher&) = delete;

    ~Flusher() {
        {
            const std::scoped_lock lock(m_mutex);
            m_ended = true;
        }
        m_changed.notify_all();
        m_thread.join();
    }

    void push(FileStore& store, std::uint16_t number, const Mark& mark) {
        {
            const std::scoped_lock lock(m_mutex);
            m_jobs.push_back({.store = &store, .number = number, .mark = mark});
        }
        m_changed.notify_all();
    }

    // Loads what an earlier process has left.
    void load(FileStore& store) {
        store.m_state = StoreState::loading;
        {
            const std::scoped_lock lock(m_mutex);
            m_loads.push_back(&store);
        }
        m_changed.notify_all();
    }

    // Returns when nothing is pending for this store.
    void wait(const FileStore& store) {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return !store.pending(); });
    }

  private:
    static constexpr std::size_t kSingleMax = 8; // the most streams that are flushed one by one

    struct Job {
        FileStore* store = nullptr;
        std::uint16_t number = 0;
        Mark mark;
        bool done = false;
    };

    void work() {
        std::unique_lock lock(m_mutex);
        while (true) {
            m_changed.wait(lock, [this] { return m_ended || !m_jobs.empty() || !m_loads.empty(); });
            if (m_jobs.empty() && m_loads.empty()) {
                return;
            }
            if (!m_jobs.empty()) {
                flush(lock);
            }
            if (!m_loads.empty()) {
                load_part(lock);
            }
        }
    }

    void flush(std::unique_lock<std::mutex>& lock) {
        m_running = std::exchange(m_jobs, {});
        lock.unlock();
        if (m_running.size() <= kSingleMax || !flush_together()) {
            for (Job& job : m_running) {
                job.done = job.store->flush_alone(job.number, job.mark);
            }
        }
        lock.lock();
        for (const Job& job : m_running) {
            job.store->set_state(job.number, job.done ? SyncState::done : SyncState::failed);
        }
        m_running.clear();
        m_changed.notify_all();
        m_place.wake();
    }

    // Loads a part of one store, so that neither a flush nor another store waits for a large one.
    void load_part(std::unique_lock<std::mutex>& lock) {
        FileStore* const loaded = m_loads.front();
        m_loads.pop_front();
        lock.unlock();
        const bool is_loaded = loaded->load_part_aside();
        lock.lock();
        if (!is_loaded) {
            m_loads.push_back(loaded);
            return;
        }
        m_changed.notify_all();
        m_place.wake();
    }

    // Returns false if nothing counts, because the file system could not be flushed. Then what was written is written
    // again, for each stream alone.
    [[nodiscard]] bool flush_together() {
        if (std::ranges::any_of(m_running, [](const Job& job) { return job.store->m_streams[job.number].unflushed; })) {
            return false;
        }
        for (const Job& job : m_running) {
            job.store->m_new_names = false; // the file system is flushed with its names
        }
        std::map<FileStore*, std::size_t> marks;
        const auto write_marks = [&] {
            for (Job& job : m_running) {
                job.done = job.store->may_mark(job.number, job.mark) &&
                           job.store->write_mark(job.number, job.mark, marks[job.store]);
                marks[job.store] += job.done ? 1U : 0U;
            }
            return true;
        };
        const int directory = m_place.directory.number();
        const bool flushed = ::syncfs(directory) == 0 && write_marks() && ::syncfs(directory) == 0;
        for (const Job& job : m_running) {
            job.store->m_streams[job.number].unflushed = !flushed;
            if (!flushed) {
                job.store->m_new_names = true;
            }
            if (flushed && job.done) {
                job.store->take_mark(job.number, job.mark);
            }
        }
        for (const auto& [store, count] : marks) {
            store->count_marks(flushed ? count : 0);
        }
        return flushed;
    }

    Place& m_place;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::vector<Job> m_jobs;
    std::vector<Job> m_running;
    std::deque<FileStore*> m_loads;
    bool m_ended = false;
    std::thread m_thread; // the last member, because it uses the others
};

FileStores::FileStore::~FileStore() {
    wait();
    m_place.close(m_name);
}

SyncState FileStores::FileStore::begin_sync(std::uint16_t number, const Mark& mark) {
    if (m_place.flusher == nullptr || is_nothing(mark)) {
        return sync(number, mark) ? SyncState::done : SyncState::failed;
    }
    set_state(number, SyncState::pending);
    m_place.flusher->push(*this, number, mark);
    return SyncState::pending;
}

bool FileStores::FileStore::load_part_aside() {
    const std::optional<std::string> wrong = load_part();
    if (!wrong) {
        return false;
    }
    if (!wrong->empty()) {
        fail(*wrong);
    }
    m_state = wrong->empty() ? StoreState::ready : StoreState::failed;
    return true;
}

void FileStores::FileStore::wait() {
    if (m_place.flusher != nullptr) {
        m_place.flusher->wait(*this);
    }
}

FileStores::FileStores(std::string directory, const Limits& limits, Report report, Flushes flushes,
                       std::atomic<std::uint64_t>* bytes)
    : m_directory(std::move(directory))
    , m_limits(limits)
    , m_report(std::move(report))
    , m_place(std::make_unique<Place>(m_directory, m_report, bytes))
    , m_flushes(flushes) {
    recount();
}

FileStores::~FileStores() = default;

lib::Result<void> FileStores::make() {
    if (m_place->directory) {
        return {};
    }
    const bool made = ::mkdir(m_directory.c_str(), 0755) == 0 || errno == EEXIST;
    Descriptor directory(made ? ::open(m_directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1);
    if (!directory) {
        const bool is_full = errno == ENOSPC || errno == EDQUOT;
        m_why = fmt::format("{}: {}", m_directory, std::strerror(errno));
        return is_full ? lib::Error::no_space : lib::Error::refused;
    }
    if (::flock(directory.number(), LOCK_EX | LOCK_NB) != 0) {
        m_why = fmt::format("{}: another process journals there", m_directory);
        return lib::Error::refused;
    }
    m_place->directory = std::move(directory);
    if (m_flushes == Flushes::aside) {
        m_place->event = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
        m_place->flusher = std::make_unique<Flusher>(*m_place);
    }
    return {};
}

int FileStores::event() const {
    return m_place->event ? m_place->event.number() : -1;
}

std::string FileStores::name_of(const Peer& peer, std::uint64_t session) {
    return fmt::format("{:016x}-{:08x}-{}", session, peer.ipv4, peer.port);
}

std::string FileStores::stream_path(const Peer& peer, std::uint64_t session, std::uint16_t stream) const {
    return m_directory + '/' + stream_file(name_of(peer, session), stream);
}

std::size_t FileStores::journals() const {
    return m_place->journals;
}

void FileStores::recount() {
    m_place->journals = sessions().size();
}

bool FileStores::has_journal(const Peer& peer, std::uint64_t session) {
    return make() && m_place->has(journal_file(name_of(peer, session)));
}

FileStores::Glance FileStores::glance(const Peer& peer, std::uint64_t session) {
    const Descriptor journal = make() ? m_place->open(journal_file(name_of(peer, session))) : Descriptor();

    struct stat state {};

    if (!journal || ::fstat(journal.number(), &state) != 0) {
        return {.is_damaged = true};
    }
    const std::uint64_t entries = static_cast<std::uint64_t>(state.st_size) / JournalEntry::kBytes;
    const std::uint64_t first = entries - std::min(entries, kGlanceEntries);
    Glance seen{.is_empty = true, .is_plain = first == 0};
    seen.is_damaged = read_entries(journal, first, entries, [&seen](const JournalEntry& entry) {
                          seen.is_ended = entry.mark.ended;
                          seen.is_empty = false;
                          seen.is_plain = seen.is_plain && entry.mark.lost == 0 && !entry.mark.ended;
                      }).has_value();
    return seen;
}

bool FileStores::remove(const Peer& peer, std::uint64_t session) {
    const std::string name_of_session = name_of(peer, session);
    const auto known = m_known.find(name_of_session);
    if (known != m_known.end() && known->second->pending()) {
        return false;
    }
    const int directory = make() ? m_place->directory.number() : -1;
    const auto remove_file = [this, directory](const std::string& name) {
        struct stat state {};

        if (::fstatat(directory, name.c_str(), &state, AT_SYMLINK_NOFOLLOW) == 0 &&
            ::unlinkat(directory, name.c_str(), 0) == 0) {
            m_place->bytes -= std::min(m_place->bytes.load(), static_cast<std::uint64_t>(state.st_size));
            return true;
        }
        return false;
    };
    for (std::uint16_t stream = 0; stream < tracer::reliable::kStreamsMax; ++stream) {
        remove_file(stream_file(name_of_session, stream));
    }
    if (remove_file(journal_file(name_of_session)) && m_place->journals != 0) {
        --m_place->journals;
    }
    m_place->close(name_of_session);
    m_known.erase(name_of_session);
    return true;
}

std::vector<std::pair<Peer, std::uint64_t>> FileStores::sessions() const {
    std::vector<std::pair<Peer, std::uint64_t>> found;
    std::error_code none; // a directory that does not exist holds nothing
    for (const auto& entry : std::filesystem::directory_iterator(m_directory, none)) {
        const std::string name = entry.path().filename();
        Peer peer;
        std::uint64_t session = 0;
        if (std::sscanf(name.c_str(), "%16" SCNx64 "-%8" SCNx32 "-%5" SCNu16, &session, &peer.ipv4, &peer.port) == 3 &&
            name == journal_file(name_of(peer, session))) {
            found.emplace_back(peer, session);
        }
    }
    return found;
}

std::shared_ptr<SessionStore> FileStores::open(const Peer& peer, std::uint64_t session) {
    if (!make()) {
        return nullptr;
    }
    std::erase_if(m_known, [this](const auto& known) {
        return m_known.size() >= kKnownMax && known.second.use_count() == 1 && !known.second->pending();
    });
    const std::string name = name_of(peer, session);
    const auto known = m_known.find(name);
    if (known != m_known.end() && known->second->begin_again()) {
        return known->second;
    }
    auto store = std::make_shared<FileStore>(*m_place, name, m_limits);
    if (m_place->flusher == nullptr) {
        m_why = store->has_journal() ? store->load() : std::string();
        return m_why.empty() ? store : nullptr;
    }
    m_known[name] = store;
    if (store->has_journal()) {
        m_place->flusher->load(*store);
    }
    return store;
}

} // namespace host::collector::reliable
