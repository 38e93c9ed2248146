// SPDX-License-Identifier: MIT
// libtlog has the published functions that read tlog files, with errors instead of exits. The whole file is in memory,
// because the interface returns a pointer to any event at any time.
#include "foreign/published/tlog_event.h"

#include "foreign/published/tlog_error.hpp"
#include "foreign/tlog/record.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

namespace {

namespace tlog = host::formats::tlog;

using host::compat::fail;

constexpr std::size_t kErrorBytes = 512;
thread_local std::array<char, kErrorBytes> g_error{};

struct CloseFile {
    void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
};

using Node = std::vector<tlog_exec_event>;

} // namespace

struct tlog_exec_profile {
    std::vector<Node> nodes;
};

namespace {

class Loader {
  public:
    Loader(const char* name, tlog_exec_profile& profile)
        : m_name(name)
        , m_profile(profile) {}

    // Adds one record. Returns false if it is invalid here, after reporting the reason.
    [[nodiscard]] bool take(const tlog::Record& record) {
        const unsigned long long number = m_number++;
        if (record.undefined()) {
            return true;
        }
        const std::size_t node = record.process;
        if (node >= m_profile.nodes.size()) {
            fail("%s: record %llu belongs to node %zu, but n_node is %zu", m_name, number, node,
                 m_profile.nodes.size());
            return false;
        }
        Node& events = m_profile.nodes[node];
        if (!events.empty() && node != m_node) {
            fail("%s: record %llu: node %zu comes again after node %zu", m_name, number, node, m_node);
            return false;
        }
        m_node = node;
        if (!tlog::to_nanoseconds(record.seconds)) {
            fail("%s: record %llu has a time of %g s", m_name, number, record.seconds);
            return false;
        }
        if (!events.empty() && record.seconds < events.back().time_stamp) {
            fail("%s: record %llu: time goes back from %.9f s to %.9f s", m_name, number, events.back().time_stamp,
                 record.seconds);
            return false;
        }
        if (events.size() == INT_MAX) {
            fail("%s: node %zu has more than %d events", m_name, node, INT_MAX);
            return false;
        }
        events.push_back({static_cast<short>(record.process), static_cast<char>(record.type),
                          static_cast<char>(record.arg1), static_cast<int>(record.arg2), record.seconds});
        return true;
    }

    [[nodiscard]] bool load() {
        const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(m_name, "rb"));
        if (file == nullptr) {
            fail("%s: %s", m_name, std::strerror(errno)); // NOLINT(concurrency-mt-unsafe): glibc's is safe enough
            return false;
        }
        std::array<std::byte, tlog::kBlockBytes> block{};
        std::size_t count = 0;
        while ((count = std::fread(block.data(), 1, block.size(), file.get())) == block.size()) {
            for (std::size_t at = 0; at < block.size(); at += tlog::kRecordBytes) {
                if (!take(tlog::decode(std::span(block).subspan(at), tlog::Layout::current))) {
                    return false;
                }
            }
        }
        if (std::ferror(file.get()) != 0) {
            fail("%s: it cannot be read", m_name);
        } else if (count != 0) {
            fail("%s: its last block has %zu of %zu bytes", m_name, count, block.size());
        } else if (m_number == 0) {
            fail("%s: it is empty", m_name);
        } else {
            return true;
        }
        return false;
    }

  private:
    const char* m_name;
    tlog_exec_profile& m_profile;
    unsigned long long m_number = 0;
    std::size_t m_node = 0;
};

// Returns null if there is no such node.
Node* find_node(tlog_exec_profile* profile, int node) {
    if (profile == nullptr) {
        fail("the profile is null");
        return nullptr;
    }
    if (node < 0 || static_cast<std::size_t>(node) >= profile->nodes.size()) {
        fail("node %d: the profile has nodes 0 to %zu", node, profile->nodes.size() - 1);
        return nullptr;
    }
    return &profile->nodes[static_cast<std::size_t>(node)];
}

} // namespace

tlog_exec_profile* tlog_read_file(char* fname, int n_node) {
    if (fname == nullptr || n_node < 1 || n_node > TLOG_NODES_MAX) {
        fail("n_node is %d: 1 to %d nodes are possible, and a file must be named", n_node, TLOG_NODES_MAX);
        return nullptr;
    }
    try {
        auto profile = std::make_unique<tlog_exec_profile>();
        profile->nodes.resize(static_cast<std::size_t>(n_node));
        return Loader(fname, *profile).load() ? profile.release() : nullptr;
    } catch (const std::bad_alloc&) {
        fail("%s: memory has run out", fname);
        return nullptr;
    }
}

int tlog_get_N_events(tlog_exec_profile* ep, int node) {
    const Node* const events = find_node(ep, node);
    return events != nullptr ? static_cast<int>(events->size()) : -1;
}

tlog_exec_event* tlog_get_event(tlog_exec_profile* ep, int node, int i) {
    Node* const events = find_node(ep, node);
    if (events == nullptr) {
        return nullptr;
    }
    if (i < 0 || static_cast<std::size_t>(i) >= events->size()) {
        fail("event %d of node %d: the node has %zu events", i, node, events->size());
        return nullptr;
    }
    return &(*events)[static_cast<std::size_t>(i)];
}

void tlog_close(tlog_exec_profile* ep) {
    delete ep;
}

namespace host::compat {

void fail(const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    static_cast<void>(std::vsnprintf(g_error.data(), g_error.size(), format, arguments));
    va_end(arguments);
}

} // namespace host::compat

const char* tlog_last_error(void) {
    return g_error.data();
}
