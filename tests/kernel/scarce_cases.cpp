// SPDX-License-Identifier: MIT
// Chunks run out: a chunk of one slot, one chunk alone, none at all, the arena used up; and tasks and timer events run
// out at every place of a scenario that needs several. What finds no room is an error or counted, and nothing is lost
// permanently. The account of attempts is compared at the end of each case (checked.cpp).
#include "kernel/config.hpp"
#include "kernel/time/timer.hpp"
#include "tests/kernel/recording.hpp"

#include <array>
#include <cstddef>

namespace {

namespace scarce_cases {

using namespace guest;

constexpr std::uint32_t kEvents = 100;

constinit Recording recording;

int chunk(int slots, FTrace_flags mode) {
    const int number =
        FTrace_chunk_create(slots * kRecordBytes, 0, static_cast<FTrace_flags>(FTRACE_CHUNK_FLAG_FREE | mode));
    ASSERT(number >= 0);
    return number;
}

void log_numbers() {
    for (std::uint32_t number = 0; number < kEvents; ++number) {
        TRACER_LOGEVENT(FTrace_EVT_user_event_0, 1, number);
    }
}

struct Lone {
    std::size_t first_number = kEvents;
    std::size_t last_number = kEvents;
    std::size_t kept = 0;
    std::size_t all = 0; // with the tracer's own blackout_end
    std::uint64_t dropped = 0;
    bool full = false;
};

// Logs a hundred events into one chunk that nothing follows.
Lone alone(int slots, FTrace_flags mode) {
    const int number = chunk(slots, mode);
    const std::uint64_t dropped = tracer::totals(0).dropped;
    ASSERT(FTrace_actual_chunk_select(number) == 0 && enable_bare());
    log_numbers();
    FTrace_disable();
    Lone lone;
    lone.dropped = tracer::totals(0).dropped - dropped;
    FTrace_flags flags = 0;
    ASSERT(FTrace_get_chunk_flags(number, &flags) == 0);
    lone.full = (flags & FTRACE_CHUNK_FLAG_FULL) != 0;
    recording.read(number);
    lone.all = recording.records().size();
    for (const tracer::Record& record : recording.records()) {
        if (record.event_code() == FTrace_EVT_user_event_0) {
            lone.first_number = lone.kept == 0 ? record.par2 : lone.first_number;
            lone.last_number = record.par2;
            ++lone.kept;
        }
    }
    return lone;
}

int one_chunk(const kernel::AppArguments&) {
    filter_the_kernel();
    for (const int slots : {1, 2, 3, 16}) {
        const auto room = static_cast<std::size_t>(slots);
        for (const FTrace_flags mode : {FTRACE_CHUNK_FLAG_STOP, FTRACE_CHUNK_FLAG_JTN}) {
            const Lone lone = alone(slots, mode);
            check(lone.all == room && lone.full, "STOP, JTN alone: every slot is used");
            check(lone.kept == 0 || (lone.first_number == 0 && lone.last_number == lone.kept - 1), "the oldest stay");
            check(lone.kept + 1 >= room && lone.kept <= room, "all but what reports the chunk before");
            check(lone.dropped == kEvents - lone.kept, "each of the others is counted");
        }
        const Lone lone = alone(slots, FTRACE_CHUNK_FLAG_CYC);
        check(lone.last_number == kEvents - 1 && !lone.full, "CYC alone: the newest is there");
        check(lone.kept <= room && lone.kept + 1 >= room && lone.kept >= 1, "with what came before it");
        check(lone.dropped == 0, "nothing is dropped");
    }
    return failures;
}

// A request for the next chunk, where there is none, gets an error, and loses nothing.
int no_next(const kernel::AppArguments&) {
    filter_the_kernel();
    const int only = chunk(150, FTRACE_CHUNK_FLAG_STOP);
    ASSERT(FTrace_actual_chunk_select(only) == 0 && FTrace_enable() == 0);
    const tracer::Totals before = tracer::totals(0);
    TRACER_LOGEVENT(FTrace_EVT_next_chunk, 0, 0);
    check(FTrace_last_error().value == FTrace_EVT_next_chunk, "the reason is reported");
    log_numbers();
    FTrace_disable();
    recording.read(only);
    check(recording.count(FTrace_EVT_user_event_0) == kEvents, "recording continues where it was");
    check(tracer::totals(0).dropped == before.dropped, "nothing is lost");
    check(tracer::totals(0).refused == before.refused + 1, "the request is counted as refused");
    return failures;
}

int no_chunk(const kernel::AppArguments&) {
    const tracer::Totals before = tracer::totals(0);
    check(FTrace_enable() == -1, "there is nothing to record into");
    log_numbers(); // recording is off: no attempts at all
    check(tracer::totals(0) == before, "nothing is recorded");
    for (std::uint32_t number = 0; number < kEvents; ++number) {
        FAST_TRACER_LOGEVENT(FTrace_EVT_user_event_0, 1, number); // does not ask first
    }
    const tracer::Totals after = tracer::totals(0);
    check(after.committed == before.committed && after.dropped == before.dropped, "nothing is recorded");
    check(after.refused == before.refused + kEvents, "each is counted");
    check(FTrace_actual_chunk_select(0) == -1 && FTrace_send_chunk(0, 0, 0) == -1, "no chunk to select or send");
    return failures;
}

constinit std::array<int, 256> g_numbers{};

std::size_t fill(int bytes) {
    std::size_t count = 0;
    for (; count < g_numbers.size(); ++count) {
        g_numbers[count] = FTrace_chunk_create(bytes, kRecordBytes, FTRACE_CHUNK_FLAG_FREE);
        if (g_numbers[count] < 0) {
            break;
        }
    }
    return count;
}

void give_back(std::size_t count) {
    while (count-- > 0) {
        check(FTrace_chunk_delete(g_numbers[count]) == 0, "given back");
    }
}

// Numbers run out by small chunks, the arena by large ones; recording does not notice.
int no_more_chunks(const kernel::AppArguments&) {
    filter_the_kernel();
    FTrace_set_filter(FTrace_filter_job, 1); // slices end meanwhile
    const int current = chunk(4'000, FTRACE_CHUNK_FLAG_STOP);
    ASSERT(FTrace_actual_chunk_select(current) == 0 && FTrace_enable() == 0);
    for (const int bytes : {kRecordBytes, 4'000'000}) {
        const std::size_t first = fill(bytes);
        check(FTrace_last_error().text != nullptr, "the refusal has a reason");
        log_numbers();
        give_back(first);
        check(first > 0 && fill(bytes) == first, "as many again: nothing has leaked");
        give_back(first);
    }
    check(fill(kRecordBytes) == g_numbers.size() - 1, "256 chunks with the current one");
    give_back(g_numbers.size() - 1);
    FTrace_disable();
    recording.read(current);
    check(recording.count(FTrace_EVT_user_event_0) == 2 * kEvents, "what was recorded meanwhile is there");
    return failures;
}

// --- tasks and timer events ----------------------------------------------------------------------------------------

constinit std::array<kernel::Pid, kernel::kTasksMax> g_tasks{};
constinit std::array<kernel::TimerId, kernel::kTimerEventsMax> g_timers{};

lib::Result<kernel::Pid> make(const kernel::TaskModel& model) {
    return kernel::task_create({.name = "t", .body = [](void*) {}, .model = model});
}

std::size_t fill_tasks() {
    std::size_t count = 0;
    for (; count < g_tasks.size(); ++count) {
        const auto pid = make(kernel::BackgroundModel{});
        if (!pid.ok()) {
            check(pid.error() == lib::Error::no_space, "no task is left");
            break;
        }
        g_tasks[count] = pid.value();
    }
    return count;
}

std::size_t fill_timers() {
    std::size_t count = 0;
    for (; count < g_timers.size(); ++count) {
        const auto id = kernel::kern_event_post(
            kernel::after(lib::milliseconds(90'000)), [](void*) {}, nullptr);
        if (!id.ok()) {
            check(id.error() == lib::Error::no_space, "no timer event is left");
            break;
        }
        g_timers[count] = id.value();
    }
    return count;
}

// Makes three tasks and two timer events, or nothing at all.
bool attempt() {
    const std::array<kernel::TaskModel, 3> models{
        kernel::HardModel{lib::milliseconds(1), lib::milliseconds(10), {}, {}},
        kernel::SoftModel{.budget = lib::milliseconds(1), .period = lib::milliseconds(10)}, kernel::NrtModel{}};
    std::array<kernel::Pid, 3> tasks{};
    std::array<kernel::TimerId, 2> timers{};
    std::size_t made = 0;
    std::size_t posted = 0;
    bool through = true;
    for (std::size_t i = 0; through && i < models.size(); ++i) {
        const auto pid = make(models[i]);
        through = pid.ok();
        check(through || pid.error() == lib::Error::no_space, "the reason is room");
        if (through) {
            tasks[made++] = pid.value();
        }
    }
    for (std::size_t i = 0; through && i < timers.size(); ++i) {
        const auto id = kernel::kern_event_post(
            kernel::after(lib::milliseconds(90'000)), [](void*) {}, nullptr);
        through = id.ok();
        check(through || id.error() == lib::Error::no_space, "the reason is room");
        if (through) {
            timers[posted++] = id.value();
        }
    }
    for (std::size_t i = 0; i < made; ++i) {
        must(kernel::task_kill(tasks[i]));
    }
    for (std::size_t i = 0; i < posted; ++i) {
        must(kernel::kern_event_delete(timers[i]));
    }
    return through;
}

// Tries with room for 0, 1, 2, ... of one kind until the scenario goes through, and returns how many that were.
template <typename T, std::size_t Size>
std::size_t with_every_room(std::size_t (*fill_all)(), lib::Result<void> (*release)(T), std::array<T, Size>& filling) {
    const std::size_t capacity = fill_all();
    for (std::size_t room = 0; room < capacity; ++room) {
        for (std::size_t i = 0; i < room; ++i) {
            must(release(filling[capacity - 1 - i]));
        }
        const bool through = attempt();
        for (std::size_t i = 0; i < capacity - room; ++i) {
            must(release(filling[i]));
        }
        if (through) {
            return room;
        }
        check(fill_all() == capacity, "nothing has leaked");
    }
    return capacity;
}

int no_more_objects(const kernel::AppArguments&) {
    check(with_every_room(&fill_tasks, &kernel::task_kill, g_tasks) == 3, "three tasks need three places");
    check(with_every_room(&fill_timers, &kernel::kern_event_delete, g_timers) == 2, "two events need two");
    check(attempt(), "and all is as before");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_chunk_alone", "one chunk, of 1 to 16 slots, in every mode", &checked<&one_chunk>, true},
    {"t_chunk_no_next", "the next chunk, where there is none", &checked<&no_next>, true},
    {"t_chunk_none", "no chunk at all", &checked<&no_chunk>, true},
    {"t_chunk_no_more", "numbers and arena of chunks are used up", &checked<&no_more_chunks>, true},
    {"t_limit_every_room", "tasks and timer events run out at every place", &checked<&no_more_objects>, true},
};

} // namespace scarce_cases

} // namespace
