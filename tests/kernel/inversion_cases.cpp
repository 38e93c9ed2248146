// SPDX-License-Identifier: MIT
// Tests priority inversion at its worst: a chain of eight owners, a wait that gives up, an owner that is killed, a
// circle of three. Recording is on from the start, so the runner has `remora check` judge each decision.
#include "kernel/sync/mutex.hpp"
#include "tests/kernel/recording.hpp"

#include <array>
#include <cstddef>

namespace {

namespace inversion_cases {

using namespace guest;

constexpr std::size_t kDepth = 8;

constinit std::array<kernel::Mutex, kDepth> g_mutexes{};

void init_mutexes() {
    for (kernel::Mutex& mutex : g_mutexes) {
        must(kernel::mutex_init(mutex, "link"));
    }
}

// Counts in all chunks as they are now, the current one included.
std::size_t recorded(std::uint16_t code, std::uint16_t par1, std::uint32_t par2) {
    const arch::IrqGuard guard;
    std::size_t found = 0;
    for (const tracer::Chunk& chunk : tracer::instance().store.slots()) {
        if (!chunk.exists) {
            continue;
        }
        const tracer::ChunkContents contents = tracer::ChunkStore::contents(chunk);
        for (std::size_t at = 0; at < contents.newer.size(); at += tracer::kRecordBytes) {
            const tracer::Record record = tracer::decode_record(contents.newer.subspan(at, tracer::kRecordBytes));
            found += record.event_code() == code && record.par1 == par1 && record.par2 == par2 ? 1U : 0U;
        }
    }
    return found;
}

std::uint16_t my_context() {
    return must(kernel::task_info(kernel::task_self())).context;
}

void high_body(void*) {
    order.add('H');
    must(kernel::mutex_lock(g_mutexes[kDepth - 1]));
    order.add('i');
    must(kernel::mutex_unlock(g_mutexes[kDepth - 1]));
    order.add('I');
}

void middle_body(void*) {
    order.add('M');
}

// Owns mutex I, has the next, more urgent one do the same, and then needs mutex I - 1.
template <std::size_t I>
void link_body(void*) {
    must(kernel::mutex_lock(g_mutexes[I]));
    order.add(static_cast<char>('0' + I));
    if constexpr (I + 1 < kDepth) {
        start("link", due_after(9'000 - I * 500), &link_body<I + 1>);
    } else {
        start("high", due_after(1'000), &high_body);
    }
    if constexpr (I == 0) {
        order.add('x'); // high waits for 7, 7 for 6, ... 1 for this one
        start("middle", due_after(2'000), &middle_body);
        order.add('y');
    } else {
        must(kernel::mutex_lock(g_mutexes[I - 1]));
        order.add(static_cast<char>('a' + I));
        must(kernel::mutex_unlock(g_mutexes[I - 1]));
    }
    must(kernel::mutex_unlock(g_mutexes[I]));
    order.add(static_cast<char>('0' + I));
}

// The least urgent owner runs in high's place, and each one it frees after it; middle waits for all of them, and then
// everybody is as urgent as he was.
int chain_of_eight(const kernel::AppArguments&) {
    init_mutexes();
    start("link", due_after(10'000), &link_body<0>);
    check_order("01234567HxybcdefghiIM76543210");
    for (const kernel::Mutex& mutex : g_mutexes) {
        check(mutex.owner() == nullptr && mutex.contentions() == 1, "one lock waited for each");
    }
    return failures;
}

// High gives up while low runs in its place: low has its own position again, after middle.
int given_up(const kernel::AppArguments&) {
    init_mutexes();
    start("low", due_after(3'000), [](void*) {
        must(kernel::mutex_lock(g_mutexes[0]));
        order.add('l');
        start("high", due_after(1'000), [](void*) {
            order.add('H');
            check_error(kernel::mutex_timedlock(g_mutexes[0], lib::microseconds(200)), lib::Error::timeout,
                        "time is up");
            order.add('T');
        });
        order.add('l');
        start("middle", due_after(2'000), &middle_body);
        order.add('l');
        spin_until([] { return order.letters().size() > 4; }); // until time is up
        order.add('L');
        must(kernel::mutex_unlock(g_mutexes[0]));
    });
    check_order("lHllTML");
    check(kernel::mutex_trylock(g_mutexes[0]).ok(), "the mutex is free");
    must(kernel::mutex_unlock(g_mutexes[0]));
    return failures;
}

constinit kernel::Pid g_owner{};

// The owner, which runs in high's position, is killed: high gets the mutex, learns in which state it may be, and middle
// has waited for no task but high.
int owner_killed(const kernel::AppArguments&) {
    init_mutexes();
    static constinit std::uint16_t context = 0;
    g_owner = create("low", due_after(3'000), [](void*) {
        context = my_context();
        must(kernel::mutex_lock(g_mutexes[0]));
        order.add('l');
        start("high", due_after(1'000), [](void*) {
            order.add('H');
            must(kernel::mutex_lock(g_mutexes[0]));
            check(kernel::mutex_abandoned(g_mutexes[0]), "the owner's end is reported");
            must(kernel::mutex_consistent(g_mutexes[0]));
            order.add('h');
            must(kernel::mutex_unlock(g_mutexes[0]));
        });
        order.add('l');
        start("middle", due_after(2'000), &middle_body);
        order.add('l');
        start("killer", due_after(500), [](void*) {
            order.add('K');
            must(kernel::task_kill(g_owner));
        });
        order.add('!');
    });
    must(kernel::task_activate(g_owner));
    check_order("lHllKhM");
    check(!kernel::mutex_abandoned(g_mutexes[0]) && g_mutexes[0].owner() == nullptr, "free, and in order");
    check(recorded(FTrace_EVT_set_mutex_owner_died, context, g_mutexes[0].id()) == 1, "recorded");
    check(kernel::task_info(g_owner).error() == lib::Error::not_found, "the owner is gone");
    return failures;
}

constinit std::uint16_t g_refused = 0;

void third_body(void*) {
    must(kernel::mutex_lock(g_mutexes[2]));
    order.add('c');
    must(kernel::mutex_lock(g_mutexes[0])); // a continues in this position
    order.add('C');
    must(kernel::mutex_unlock(g_mutexes[0]));
    must(kernel::mutex_unlock(g_mutexes[2]));
}

void second_body(void*) {
    g_refused = my_context();
    must(kernel::mutex_lock(g_mutexes[1]));
    order.add('b');
    start("third", due_after(1'000), &third_body);
    check_error(kernel::mutex_lock(g_mutexes[2]), lib::Error::refused, "a circle of three");
    order.add('r');
    must(kernel::mutex_unlock(g_mutexes[1])); // gives way
    must(kernel::mutex_lock(g_mutexes[2]));
    order.add('B');
    must(kernel::mutex_unlock(g_mutexes[2]));
}

// a owns 0 and waits for 1, c owns 2 and waits for 0: b, which owns 1, must not wait for 2. It gets the error,
// retreats, and everybody gets through.
int circle(const kernel::AppArguments&) {
    init_mutexes();
    start("first", due_after(3'000), [](void*) {
        must(kernel::mutex_lock(g_mutexes[0]));
        order.add('a');
        start("second", due_after(2'000), &second_body);
        must(kernel::mutex_lock(g_mutexes[1]));
        order.add('A');
        must(kernel::mutex_unlock(g_mutexes[1]));
        must(kernel::mutex_unlock(g_mutexes[0]));
        order.add('.');
    });
    check_order("abcrACB.");
    check(recorded(FTrace_EVT_set_mutex_deadlock, g_refused, g_mutexes[2].id()) == 1, "recorded, once");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_mutex_chain_of_eight", "inheritance along a chain of eight", &checked<&chain_of_eight>, false},
    {"t_mutex_given_up", "a wait that gives up takes its place back", &checked<&given_up>, false},
    {"t_mutex_owner_killed", "a killed owner hands over and is reported", &checked<&owner_killed>, false},
    {"t_mutex_circle", "the lock that would close a circle is refused", &checked<&circle>, false},
};

} // namespace inversion_cases

} // namespace
