// SPDX-License-Identifier: MIT
// Keeps the names of the objects that records refer to by number. The kernel registers a task, mutex, ... when it is
// created; the exporter lists all of them before each chunk, so that any chunk decodes alone. Nothing is removed: a
// task that ended may still occur in an unsent chunk, and a chunk exported twice must list the same names twice. If a
// number is used again for another object, both entries are listed, oldest first. The declarations of typed events
// (user_fields.hpp) are stored here, too. Context: any, NMI included. Additions never block and fail only for lack of
// space.
#pragma once

#include "tracer/names/user_fields.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tracer {

enum class NameKind : std::uint8_t {
    task,
    interrupt,
    mutex,
    semaphore,
    server,
    level,
    condition,
    port,
};

// Multiplies by 2^64 divided by the golden ratio: the upper bits depend on all bits of both.
[[nodiscard]] constexpr std::uint64_t hash_step(std::uint64_t hash, std::uint64_t word) {
    return (hash ^ word) * 0x9E37'79B9'7F4A'7C15;
}

struct NameEntry {
    NameKind kind = NameKind::task;
    std::uint16_t id = 0;  // context, vector, mutex, ... as records carry it
    std::uint32_t pid = 0; // tasks only
    Name name;
    TaskParameters parameters; // tasks only; of a level, `level` is its lib::LevelKind

    friend bool operator==(const NameEntry&, const NameEntry&) = default;

    // The hash is made of what differs in most entries: the number, and the beginning of the name.
    [[nodiscard]] std::uint64_t hash() const {
        std::uint64_t beginning = 0;
        static_assert(sizeof beginning <= kNameBytesMax);
        __builtin_memcpy(&beginning, name.characters.data(), sizeof beginning);
        const std::uint64_t number =
            std::uint64_t{static_cast<std::uint8_t>(kind)} << 48 | std::uint64_t{id} << 32 | pid;
        return hash_step(hash_step(number, beginning), parameters.period_ns);
    }
};

// Any context may append to this list while others read it, interrupts and NMIs during an addition included. An
// addition takes an entry of the store, fills it, and then publishes it with one compare-and-exchange on the first free
// entry of the order: a reader sees a dense sequence of whole entries that only grows. It is bounded: the exchange
// fails only when another context has published meanwhile, and then the next entry is tried. An addition that is never
// finished (its task was killed) costs one entry of the store and nothing else. Two contexts that add the same entry at
// the same time may both succeed: duplicates are harmless.
//
// An equal entry is found by its hash: each bucket has a chain of the entries of its hashes, the latest first. An entry
// is put at its head after it was published, by one compare-and-exchange that is repeated only if another context has
// put one there meanwhile. One that was published and is in no chain (its task was killed) is added again as a
// duplicate.
template <typename Entry>
class AppendOnlyList {
  public:
    static constexpr std::size_t kNone = 0xFFFF;
    static constexpr std::size_t kCapacityMax = kNone - 1;

    // The memory of a list: four tables of one length, 1 to kCapacityMax, all zeros. The first two may also be those of
    // an earlier boot, for recover().
    struct Tables {
        std::span<Entry> entries;
        std::span<std::uint16_t> order;   // index in entries plus 1, in the order of publication; 0: free
        std::span<std::uint16_t> next;    // by index in the order: index of the one before it in its bucket plus 1
        std::span<std::uint16_t> buckets; // index of the latest plus 1; 0: empty
    };

    constexpr explicit AppendOnlyList(const Tables& tables)
        : m_tables(tables) {}

    AppendOnlyList(const AppendOnlyList&) = delete;
    AppendOnlyList& operator=(const AppendOnlyList&) = delete;

    // Returns the index of the entry, or of an equal one that is already present; kNone (and lost() grows) if the list
    // is full.
    std::size_t add(const Entry& entry) {
        std::uint16_t& bucket = bucket_of(entry);
        for (std::size_t link = __atomic_load_n(&bucket, __ATOMIC_ACQUIRE); link != 0; link = m_tables.next[link - 1]) {
            if (m_tables.entries[place(link - 1)] == entry) {
                return link - 1;
            }
        }
        // The capacity is tested first, so that the counter of entries taken cannot overflow.
        const std::uint32_t mine = __atomic_load_n(&m_taken, __ATOMIC_RELAXED) < capacity()
                                       ? __atomic_fetch_add(&m_taken, 1, __ATOMIC_RELAXED)
                                       : static_cast<std::uint32_t>(capacity());
        if (mine >= capacity()) {
            __atomic_fetch_add(&m_lost, 1, __ATOMIC_RELAXED);
            return kNone;
        }
        m_tables.entries[mine] = entry;
        const std::size_t index = publish(size(), static_cast<std::uint16_t>(mine + 1));
        put_into(bucket, index);
        return index;
    }

    [[nodiscard]] std::size_t capacity() const { return m_tables.entries.size(); }

    // Returns the number of entries published so far; their indices are below it.
    [[nodiscard]] std::size_t size() const {
        std::size_t count = __atomic_load_n(&m_size_hint, __ATOMIC_ACQUIRE);
        while (count < capacity() && __atomic_load_n(&m_tables.order[count], __ATOMIC_ACQUIRE) != 0) {
            ++count;
        }
        return count;
    }

    [[nodiscard]] std::size_t lost() const { return __atomic_load_n(&m_lost, __ATOMIC_RELAXED); }

    [[nodiscard]] const std::uint32_t& lost_count() const { return m_lost; }

    // Returns an entry. Precondition: index < size().
    [[nodiscard]] const Entry& entry(std::size_t index) const {
        ASSERT(index < capacity() && m_tables.order[index] != 0);
        return m_tables.entries[place(index)];
    }

    // Whoever reads this machine's memory from outside (black_box/) needs the store and the order of publication.
    struct Places {
        std::span<const Entry> entries;
        std::span<const std::uint16_t> order;
    };

    [[nodiscard]] Places places() const { return {m_tables.entries, m_tables.order}; }

    // Keeps the entries that an earlier boot left in memory, in their order, up to the first that is not whole or not
    // in the store. Nothing is added to them.
    void recover(bool (*whole)(const Entry& entry_untrusted)) {
        std::size_t count = 0;
        while (count < capacity() && m_tables.order[count] != 0 && m_tables.order[count] <= capacity() &&
               whole(m_tables.entries[place(count)])) {
            ++count;
        }
        for (std::size_t i = count; i < capacity(); ++i) {
            m_tables.order[i] = 0;
        }
        m_size_hint = static_cast<std::uint32_t>(count);
        m_taken = static_cast<std::uint32_t>(capacity());
        std::ranges::fill(m_tables.buckets, std::uint16_t{0});
        for (std::size_t i = 0; i < count; ++i) {
            put_into(bucket_of(m_tables.entries[place(i)]), i);
        }
    }

  private:
    // The upper bits of a hash depend on all of the entry.
    [[nodiscard]] std::uint16_t& bucket_of(const Entry& entry) {
        return m_tables.buckets[(entry.hash() >> 32) * m_tables.buckets.size() >> 32];
    }

    // Puts an entry at the head of a chain. The release order shows its reader the rest of the chain, and the entry.
    void put_into(std::uint16_t& bucket, std::size_t index) {
        std::uint16_t head = __atomic_load_n(&bucket, __ATOMIC_RELAXED);
        do {
            m_tables.next[index] = head;
        } while (!__atomic_compare_exchange_n(&bucket, &head, static_cast<std::uint16_t>(index + 1), false,
                                              __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    }

    [[nodiscard]] std::size_t place(std::size_t index) const {
        return __atomic_load_n(&m_tables.order[index], __ATOMIC_ACQUIRE) - std::size_t{1};
    }

    // The order has an entry for each one of the store, so the loop finds a free one.
    std::size_t publish(std::size_t from, std::uint16_t place_and_one) {
        for (std::size_t i = from; i < capacity(); ++i) {
            std::uint16_t free = 0;
            // The release order shows the whole entry to whoever acquires the value in place() or size().
            if (__atomic_compare_exchange_n(&m_tables.order[i], &free, place_and_one, false, __ATOMIC_RELEASE,
                                            __ATOMIC_RELAXED)) {
                // This hint may decrease when additions interrupt each other; size() searches from there.
                __atomic_store_n(&m_size_hint, static_cast<std::uint32_t>(i + 1), __ATOMIC_RELEASE);
                return i;
            }
        }
        ASSERT(false);
        return kNone;
    }

    Tables m_tables;
    std::uint32_t m_size_hint = 0;
    std::uint32_t m_taken = 0;
    std::uint32_t m_lost = 0;
};

// Is an encoded EventDeclaration, its length word included, with id 0; when it is registered, its id is its index.
struct EncodedDeclaration {
    static constexpr std::size_t kBytesMax = 254;
    static constexpr std::size_t kSlotsMax = combine_slots(kBytesMax);

    std::array<std::byte, kBytesMax> bytes{};
    std::uint16_t size = 0;

    friend bool operator==(const EncodedDeclaration&, const EncodedDeclaration&) = default;

    [[nodiscard]] std::uint64_t hash() const {
        std::uint64_t hash = size;
        for (const std::byte byte : view()) {
            hash = hash_step(hash, static_cast<std::uint8_t>(byte));
        }
        return hash;
    }

    [[nodiscard]] constexpr std::span<const std::byte> view() const { return std::span(bytes).first(size); }
};

class NameRegistry {
  public:
    using Names = AppendOnlyList<NameEntry>;
    using Declarations = AppendOnlyList<EncodedDeclaration>;

    constexpr NameRegistry(const Names::Tables& names, const Declarations::Tables& declarations)
        : m_names(names)
        , m_declarations(declarations) {}

    NameRegistry(const NameRegistry&) = delete;
    NameRegistry& operator=(const NameRegistry&) = delete;

    // Names are copied, cut at kNameBytesMax. parameters.context is filled in. An entry equal to an earlier one is not
    // added again. When the registry is full, the entry is counted in lost(), and the records keep their numbers
    // without a name.
    void add_task(std::uint16_t context, std::uint32_t pid, std::string_view name, TaskParameters parameters) {
        parameters.context = context;
        m_names.add({NameKind::task, context, pid, name, parameters});
    }

    // level_kind: lib::LevelKind, of a level.
    void add_name(NameKind kind, std::uint16_t id, std::string_view name, std::uint8_t level_kind = 0) {
        m_names.add({kind, id, 0, name, {.level = level_kind}});
    }

    // Returns the count of names that lost() counts, for whoever reads the memory.
    [[nodiscard]] const std::uint32_t& names_lost() const { return m_names.lost_count(); }

    [[nodiscard]] std::size_t size() const { return m_names.size(); }

    [[nodiscard]] std::size_t lost() const { return m_names.lost() + m_declarations.lost(); }

    // Returns the entry of a name. Precondition: index < size().
    [[nodiscard]] const NameEntry& entry(std::size_t index) const { return m_names.entry(index); }

    // Registers a declaration and returns its id; kUndeclared if the registry is full.
    std::uint16_t declare(const EncodedDeclaration& declaration) {
        const std::size_t index = m_declarations.add(declaration);
        return index == Declarations::kNone ? kUndeclared : static_cast<std::uint16_t>(index);
    }

    [[nodiscard]] std::size_t declarations() const { return m_declarations.size(); }

    // Returns the declaration with its id. Precondition: index < declarations().
    [[nodiscard]] EncodedDeclaration declaration(std::size_t index) const {
        EncodedDeclaration declaration = m_declarations.entry(index);
        lib::store_le(std::span(declaration.bytes).subspan(sizeof(std::uint16_t)), static_cast<std::uint16_t>(index));
        return declaration;
    }

    [[nodiscard]] auto name_places() const { return m_names.places(); }

    [[nodiscard]] auto declaration_places() const { return m_declarations.places(); }

    // Recovers what an earlier boot left in memory. Context: boot, before anything else uses it.
    void recover() {
        m_names.recover([](const NameEntry& entry) {
            return static_cast<std::uint8_t>(entry.kind) <= static_cast<std::uint8_t>(NameKind::port) &&
                   entry.name.size <= kNameBytesMax;
        });
        m_declarations.recover([](const EncodedDeclaration& declaration) {
            return declaration.size >= 2 * sizeof(std::uint16_t) && declaration.size <= EncodedDeclaration::kBytesMax;
        });
    }

  private:
    Names m_names;
    Declarations m_declarations;
};

} // namespace tracer
