// SPDX-License-Identifier: MIT
// A constant bandwidth server is compared with one that reclaims (GRUB), on the same work. Times are in milliseconds.
//
//   task     reservation          uses
//   control  HARD 2 every 10      2 of every 10
//   video    SOFT 2 every 10      8 at once, every 40: four budgets in a row
//   audio    SOFT 5 every 20      works in the first 40 of every 80 only: its bandwidth is unused half of the time
//   batch    SOFT 6 every 20      always has work, and is a constant bandwidth server in both phases
//
// Under CBS a video frame that exhausts its budget continues with a later deadline, after batch, even if audio is idle.
// Under GRUB a server's budget decreases only in proportion to the bandwidth of the active servers: while audio is
// idle, video's budget lasts longer, it is exhausted less often, and its frames complete sooner.
// Source: Lipari, Baruah, "Greedy reclamation of unused bandwidth in constant-bandwidth servers" (2000).
#include "apps/phase.hpp"
#include "apps/work.hpp"
#include "kernel/run/app.hpp"
#include "tracer/ftrace.hpp"

namespace apps {

namespace {

using lib::milliseconds;

constinit lib::Nanoseconds s_length = milliseconds(240);
constexpr lib::Nanoseconds kFrame = milliseconds(40);

struct Frames {
    lib::Ticks begin;
    lib::Ticks longest; // from a frame's release to its end
    lib::Ticks total;
};

constinit Verdict s_servers{"servers"};
constinit Phase s_phase{s_servers};
constinit Frames s_frames;

void control(void*) {
    for (;;) {
        compute(milliseconds(2));
        kernel::task_endcycle();
    }
}

// Waits until a time of the phase; returns at once if it has passed.
void wait_until(lib::Ticks time) {
    const lib::Ticks now = kernel::now();
    if (now < time) {
        kernel::task_delay(kernel::to_nanoseconds(time - now));
    }
}

void video(void*) {
    for (std::uint64_t frame = 0;; ++frame) {
        const lib::Ticks release = s_frames.begin + kernel::to_ticks({kFrame.value * frame});
        wait_until(release);
        compute(milliseconds(8));
        const lib::Ticks response = kernel::now() - release;
        s_frames.total = s_frames.total + response;
        s_frames.longest = response > s_frames.longest ? response : s_frames.longest;
        TRACER_LOGEVENT(FTrace_EVT_user_event_1, frame,
                        static_cast<std::uint32_t>(kernel::to_nanoseconds(response).value / 1'000));
    }
}

void audio(void*) {
    constexpr std::uint64_t kBlocks = 2;
    for (std::uint64_t burst = 0;; ++burst) {
        for (std::uint64_t block = 0; block < kBlocks; ++block) {
            wait_until(s_frames.begin + kernel::to_ticks(milliseconds(burst * 80 + block * 20)));
            compute(lib::microseconds(4'500));
        }
        wait_until(s_frames.begin + kernel::to_ticks(milliseconds((burst + 1) * 80)));
    }
}

void batch(void*) {
    for (;;) {
        compute(milliseconds(10));
    }
}

kernel::SoftModel soft(std::uint64_t budget_ms, std::uint64_t period_ms, kernel::Reclaiming reclaiming) {
    return {.budget = milliseconds(budget_ms), .period = milliseconds(period_ms), .reclaiming = reclaiming};
}

Frames run_phase([[maybe_unused]] std::uint16_t number, kernel::Reclaiming reclaiming) {
    TRACER_LOGEVENT(FTrace_EVT_user_event_0, number, 0);
    s_frames = {.begin = kernel::after(milliseconds(1)), .longest = {}, .total = {}};
    const kernel::HardModel hard{.wcet = lib::microseconds(2'200), .period = milliseconds(10)};
    s_phase.open(s_frames.begin + kernel::to_ticks(s_length));
    s_phase.start("control", &control, hard, s_frames.begin);
    s_phase.start("video", &video, soft(2, 10, reclaiming), s_frames.begin);
    s_phase.start("audio", &audio, soft(5, 20, reclaiming), s_frames.begin);
    s_phase.start("batch", &batch, soft(6, 20, kernel::Reclaiming::none), s_frames.begin);
    static_cast<void>(s_phase.wait());
    kernel::task_delay(milliseconds(50)); // their reservations have ended
    return s_frames;
}

std::uint64_t microseconds_of(lib::Ticks time) {
    return kernel::to_nanoseconds(time).value / 1'000;
}

int start(const kernel::AppArguments& arguments) {
    if (arguments.duration.value != 0) {
        s_length = {arguments.duration.value / 2};
    }
    s_phase.prepare();
    const Frames cbs = run_phase(1, kernel::Reclaiming::none);
    const Frames grub = run_phase(2, kernel::Reclaiming::grub);
    kernel::console().mark("longest video frame: ", microseconds_of(cbs.longest), " us under CBS, ",
                           microseconds_of(grub.longest), " us under GRUB");
    kernel::console().mark("all video frames: ", microseconds_of(cbs.total), " us under CBS, ",
                           microseconds_of(grub.total), " us under GRUB");
    s_servers.check("all frames under GRUB, in us", microseconds_of(grub.total), 1, microseconds_of(cbs.total) - 1,
                    arguments.icount);
    return s_servers.result();
}

} // namespace

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kServers{
    "servers", "constant bandwidth servers against reclaiming ones (GRUB), on the same work", &start, false};

} // namespace apps
