// SPDX-License-Identifier: MIT
// How fast the memory of a running machine is followed. The machine is a thread: the kernel's record path writes into a
// whole tracer in a file that is mapped, as a guest's memory is, and the follower of `remora attach` reads the file.
// Prints FIGURE and GOAL lines. The loss does not depend on how fast the host is only if it has two processors.
#include "host/formats/memory/memory.hpp"
#include "host/trace/diagnostics.hpp"
#include "tracer/black_box/black_box.hpp"
#include "tracer/black_box/memory.hpp"
#include "tracer/instance.hpp"
#include "tracer/log.hpp"

#include <asm/prctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <new>
#include <thread>
#include <vector>

namespace {

using namespace host;

constexpr std::size_t kArenaBytes = std::size_t{64} << 20;
constexpr std::size_t kChunkBytes = std::size_t{48} << 20;
constexpr std::uint64_t kRecordsPerSecond = 20'000'000;
constexpr std::uint64_t kRecords = 2 * kRecordsPerSecond;
constexpr int kRounds = 5;
constexpr double kMega = 1e6;

struct World {
    static constexpr tracer::black_box::Places kPlaces = tracer::black_box::places_of({});

    alignas(tracer::black_box::kAlignment) std::array<std::byte, kPlaces.arena + kArenaBytes> bytes;
    tracer::black_box::Memory memory{bytes, {}, kPlaces};
    tracer::Instance& tracer = memory.construct(memory.construct_names());
    tracer::black_box::Descriptor& descriptor = memory.descriptor();
};

World* g_world = nullptr;

double processor_time_s() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// This thread is the machine's processor. So many records, no faster than the given rate; 0: as fast as it can.
void record(std::uint64_t records, std::uint64_t per_second) {
    syscall(SYS_arch_prctl, ARCH_SET_GS, &g_world->tracer.cpu);
    constexpr std::uint64_t kAtOnce = 1'000;
    const auto begin = std::chrono::steady_clock::now();
    for (std::uint64_t written = 0; written < records; written += kAtOnce) {
        for (std::uint64_t i = 0; i < kAtOnce; ++i) {
            tracer::log<"ipoint">(static_cast<std::uint16_t>(i), static_cast<std::uint32_t>(written));
        }
        const auto due = per_second != 0 ? std::chrono::nanoseconds((written + kAtOnce) * 1'000'000'000 / per_second)
                                         : std::chrono::nanoseconds(0);
        while (std::chrono::steady_clock::now() - begin < due) {
        }
    }
}

std::unique_ptr<formats::memory::Follower> follower(int file, std::size_t bytes) {
    trace::Diagnostics diagnostics(
        [](std::string_view line) { std::fprintf(stderr, "%s\n", std::string(line).c_str()); });
    auto box = formats::memory::BlackBox::open(
        {.name = "memory", .bytes = std::make_shared<trace::ByteSource>(file, false, bytes)}, diagnostics);
    return box ? std::make_unique<formats::memory::Follower>(std::move(box.value())) : nullptr;
}

// A chunk that is full of records, taken at once; and its bytes, copied.
void measure_capacity(int file) {
    record(kChunkBytes / tracer::kRecordBytes, 0);
    double follow_s = 1e9;
    double copy_s = 1e9;
    std::uint64_t records = 0;
    std::vector<std::byte> copied(kChunkBytes);
    for (int round = 0; round < kRounds; ++round) {
        const auto each = follower(file, sizeof(World));
        double begin = processor_time_s();
        while (each->step([](std::span<const std::byte>) { return true; }) == formats::memory::Follower::Step::more) {
        }
        follow_s = std::min(follow_s, processor_time_s() - begin);
        records = each->records();
        begin = processor_time_s();
        std::memcpy(copied.data(), g_world->tracer.store.arena().data(), copied.size());
        copy_s = std::min(copy_s, processor_time_s() - begin);
    }
    const double rate = static_cast<double>(records) / kMega / follow_s;
    const double copy_rate = static_cast<double>(kChunkBytes / tracer::kRecordBytes) / kMega / copy_s;
    std::printf("FIGURE attach_memcpy %.1f M_records/s\n", copy_rate);
    std::printf("FIGURE attach_of_memcpy %.2f ratio\n", rate / copy_rate);
    std::printf("GOAL attach.rate %.1f >=%.1f %s\n", rate, static_cast<double>(kRecordsPerSecond) / kMega,
                rate * kMega >= static_cast<double>(kRecordsPerSecond) ? "met" : "missed");
}

void measure_loss(int file) {
    const auto live = follower(file, sizeof(World));
    const auto nothing = [](std::span<const std::byte>) { return true; };
    while (live->step(nothing) == formats::memory::Follower::Step::more) {
    }
    const std::uint64_t before = live->records();
    const std::uint64_t lost_before = live->lost();
    std::thread machine([] {
        record(kRecords, kRecordsPerSecond);
        g_world->descriptor.state = tracer::black_box::State::ended;
    });
    while (live->step(nothing) != formats::memory::Follower::Step::ended) {
    }
    machine.join();
    const std::uint64_t taken = live->records() - before;
    const std::uint64_t lost = live->lost() - lost_before;
    std::printf("GOAL attach.lost %llu_of_%llu =0 %s\n", static_cast<unsigned long long>(lost),
                static_cast<unsigned long long>(kRecords), lost == 0 && taken == kRecords ? "met" : "missed");
}

} // namespace

tracer::Instance& tracer::instance() {
    return g_world->tracer;
}

int main() {
    const int file = ::memfd_create("machine", MFD_CLOEXEC);
    if (file < 0 || ::ftruncate(file, sizeof(World)) != 0) {
        return 1;
    }
    void* const memory = ::mmap(nullptr, sizeof(World), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) {
        return 1;
    }
    g_world = ::new (memory) World;
    g_world->tracer.exporter.configure({.tsc_khz = 1'000'000});
    const auto chunk = g_world->tracer.store.create(kChunkBytes, 0, tracer::kFlagFree | tracer::kFlagCyclic);
    if (!chunk || !g_world->tracer.control.select(*chunk.value()) || !g_world->tracer.control.enable()) {
        return 1;
    }
    tracer::black_box::describe(g_world->tracer, g_world->descriptor);
    measure_capacity(file);
    measure_loss(file);
    return 0;
}
