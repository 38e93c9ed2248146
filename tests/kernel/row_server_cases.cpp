// SPDX-License-Identifier: MIT
// Covers rows of the family server, and those of arrivals: what CBS, GRUB, polling and deferrable servers record, in
// which order, and what becomes of activations that come while a task is busy or too early. The main task is round
// robin: every server of these cases runs before it.
#include "kernel/sched/admission/utilisation.hpp"
#include "kernel/sched/server.hpp"
#include "kernel/task/task_group.hpp"
#include "tests/kernel/row_cases.hpp"

#include <initializer_list>

namespace {

namespace row_server_cases {

using namespace guest;
using namespace guest::rows;

constexpr std::uint32_t kEdf = 1;
constexpr std::uint32_t kCbs = 4;

void compute(lib::Nanoseconds time) {
    const lib::Ticks end = kernel::task_cpu_time() + kernel::to_ticks(time);
    spin_until([end] { return kernel::task_cpu_time() >= end; });
}

template <std::uint64_t Microseconds>
void job(void*) {
    for (;;) {
        compute(lib::microseconds(Microseconds));
        kernel::task_endcycle();
    }
}

// Interrupts of the timer would fill the chunk.
int begin_servers() {
    FTrace_set_filter(FTrace_filter_timer, 1);
    FTrace_set_filter(FTrace_filter_interrupt, 1);
    return begin();
}

// Returns the number of the server that serves this context, or 0 if none was recorded.
std::uint16_t server_of(std::uint32_t context) {
    for (const tracer::Record& record : recording.records()) {
        if (record.event_code() == FTrace_EVT_server_attach && record.par2 == context) {
            return record.par1;
        }
    }
    return 0;
}

// Returns whether records with these codes directly follow each other somewhere.
bool in_a_row(std::initializer_list<WORD> codes) {
    const auto records = recording.records();
    for (std::size_t at = 0; at + codes.size() <= records.size(); ++at) {
        std::size_t same = 0;
        while (same < codes.size() && records[at + same].event_code() == codes.begin()[same]) {
            ++same;
        }
        if (same == codes.size()) {
            return true;
        }
    }
    return false;
}

// Returns the last parameter of the first record like this, or 0 if there is none.
std::uint32_t first_par2(WORD code, std::uint16_t par1) {
    for (const tracer::Record& record : recording.records()) {
        if (record.event_code() == code && record.par1 == par1) {
            return record.par2;
        }
    }
    return 0;
}

std::uint32_t ticks(lib::Nanoseconds time) {
    return static_cast<std::uint32_t>(kernel::to_ticks(time).value);
}

// 08 18 28 48 58 78 88 98 A8 B8 C8: a job of 3 ms with 2 in every 20
int cbs(const kernel::AppArguments&) {
    const int chunk = begin_servers();
    const kernel::Pid soft = create("soft", kernel::SoftModel{lib::milliseconds(2), lib::milliseconds(20)}, job<3'000>);
    const auto context = context_of(soft);
    must(kernel::task_activate(soft));
    must(kernel::task_kill(soft));
    end(chunk);
    const std::uint16_t server = server_of(context);
    expect(FTrace_EVT_server_create, 0, server);
    expect(FTrace_EVT_server_kind, 1, server);
    expect(FTrace_EVT_server_capacity, server, 2'000'000);
    expect(FTrace_EVT_server_period, server, 20'000'000);
    expect(FTrace_EVT_server_attach, server, context);
    expect(FTrace_EVT_server_active, context, server);
    expect(FTrace_EVT_server_replenish, 0, server);
    expect(FTrace_EVT_server_budget, server, ticks(lib::milliseconds(2)));
    expect(FTrace_EVT_server_exhaust, 0, server);
    expect(FTrace_EVT_server_remove, 0, server);
    const std::uint32_t deadline = first_par2(FTrace_EVT_server_deadline, server);
    expect(FTrace_EVT_job_deadline, context, deadline);
    expect(FTrace_EVT_server_deadline, server, deadline + ticks(lib::milliseconds(20)));
    expect(FTrace_EVT_job_deadline, context, deadline + ticks(lib::milliseconds(20)));
    check(recording.count(FTrace_EVT_server_exhaust) == 1, "3 ms are one budget and a half");
    check(in_a_row({FTrace_EVT_server_create, FTrace_EVT_server_capacity, FTrace_EVT_server_period,
                    FTrace_EVT_server_kind, FTrace_EVT_server_attach}),
          "what a server is, directly after its creation");
    check(in_a_row({FTrace_EVT_task_activate, FTrace_EVT_server_active, FTrace_EVT_server_replenish,
                    FTrace_EVT_server_budget, FTrace_EVT_server_deadline, FTrace_EVT_job_release,
                    FTrace_EVT_job_deadline}),
          "an arrival at an idle server");
    check(in_a_row({FTrace_EVT_server_budget, FTrace_EVT_server_exhaust, FTrace_EVT_server_replenish,
                    FTrace_EVT_server_budget, FTrace_EVT_server_deadline, FTrace_EVT_job_deadline}),
          "a budget that is used up");
    return failures;
}

// 38 68 D8: an early end leaves time, which the other server uses
int grub(const kernel::AppArguments&) {
    const auto model = [](std::uint64_t budget_ms, std::uint64_t period_ms) {
        kernel::SoftModel soft{lib::milliseconds(budget_ms), lib::milliseconds(period_ms)};
        soft.reclaiming = kernel::Reclaiming::grub;
        return soft;
    };
    const int chunk = begin_servers();
    const auto member = [](std::string_view name, kernel::TaskBody body, const kernel::TaskModel& soft) {
        return must(kernel::task_create({.name = name, .body = body, .argument = nullptr, .model = soft, .group = 1}));
    };
    const kernel::Pid early = member("early", job<1'000>, model(6, 20));
    const kernel::Pid late = member("late", job<4'000>, model(2, 40));
    const auto early_context = context_of(early);
    const auto late_context = context_of(late);
    must(kernel::task_group_activate(1)); // early is done after 1 ms, and inactive soon after
    kernel::task_delay(lib::milliseconds(10));
    must(kernel::task_group_kill(1));
    end(chunk);
    const std::uint16_t early_server = server_of(early_context);
    const std::uint16_t late_server = server_of(late_context);
    const std::uint32_t early_share = kernel::bandwidth_of(6, 20);
    const std::uint32_t late_share = kernel::bandwidth_of(2, 40);
    expect(FTrace_EVT_server_kind, 2, early_server);
    expect(FTrace_EVT_server_reclaiming, 0, early_server);
    expect(FTrace_EVT_server_bandwidth, 0, early_share);
    expect(FTrace_EVT_server_bandwidth, 0, early_share + late_share);
    expect(FTrace_EVT_server_bandwidth, 0, late_share);
    bool used = false;
    for (const tracer::Record& record : recording.records()) {
        used = used || (record.event_code() == FTrace_EVT_server_using_rec && record.par2 == late_server &&
                        record.par1 > 2'000 && record.par1 < 4'000);
    }
    check(used, "FTrace_EVT_server_using_rec: of 4 ms the greater part is not charged");
    check(count(FTrace_EVT_server_exhaust, 0, late_server) == 0, "a budget of 2 ms lasts for 4");
    return failures;
}

// 18 28 58 78 88 of a server that serves several tasks
int aperiodic(const kernel::AppArguments&) {
    static constinit kernel::ServerId server{};
    const int chunk = begin_servers();
    server = must(kernel::server_create({.name = "requests",
                                         .kind = kernel::ServerKind::deferrable,
                                         .budget = lib::milliseconds(1),
                                         .period = lib::milliseconds(10)}));
    const kernel::ServerId polling = must(kernel::server_create({.name = "polled",
                                                                 .kind = kernel::ServerKind::polling,
                                                                 .budget = lib::milliseconds(1),
                                                                 .period = lib::milliseconds(10)}));
    const kernel::Pid request = create("request", kernel::ServedModel{.server = server}, job<1'500>);
    const auto context = context_of(request);
    must(kernel::task_activate(request));
    spin_until([request] { return must(kernel::task_info(request)).jobs.completed == 1; });
    check_error(kernel::server_remove(server), lib::Error::busy, "a server with a task");
    must(kernel::task_kill(request));
    must(kernel::server_remove(server));
    must(kernel::server_remove(polling));
    end(chunk);
    expect(FTrace_EVT_server_create, 0, server.value);
    expect(FTrace_EVT_server_kind, 4, server.value);
    expect(FTrace_EVT_server_kind, 3, polling.value);
    expect(FTrace_EVT_server_attach, server.value, context);
    expect(FTrace_EVT_server_active, context, server.value);
    expect(FTrace_EVT_server_exhaust, 0, server.value);
    expect(FTrace_EVT_server_budget, server.value, ticks(lib::milliseconds(1)));
    expect(FTrace_EVT_server_budget, polling.value, 0);
    expect(FTrace_EVT_server_remove, 0, server.value);
    const std::uint32_t next = first_par2(FTrace_EVT_server_deadline, server.value);
    expect(FTrace_EVT_server_deadline, server.value, next + ticks(lib::milliseconds(10)));
    check(count(FTrace_EVT_server_replenish, 0, server.value) == 2, "at its creation, and a period later");
    check(in_a_row({FTrace_EVT_server_replenish, FTrace_EVT_server_budget, FTrace_EVT_server_deadline}),
          "a replenishment");
    return failures;
}

// 3D 4D 5D
int arrivals(const kernel::AppArguments&) {
    const int chunk = begin_servers();
    const auto waiting = [](void*) { kernel::task_delay(lib::milliseconds(1)); };
    kernel::SoftModel model{lib::milliseconds(1), lib::milliseconds(10)};
    const kernel::Pid saving = create("saving", model, waiting);
    model.overlap = kernel::Overlap::skip;
    const kernel::Pid skipping = create("skipping", model, waiting);
    kernel::HardModel sporadic{lib::milliseconds(1), lib::milliseconds(1'000)};
    sporadic.arrival = kernel::Arrival::sporadic;
    const kernel::Pid early = create("early", sporadic, job<10>);
    for (int i = 0; i < 2; ++i) {
        must(kernel::task_activate(saving));
        must(kernel::task_activate(skipping));
        must(kernel::task_activate(early));
    }
    end(chunk);
    expect(FTrace_EVT_job_queued, context_of(saving), 1);
    expect(FTrace_EVT_job_skipped, context_of(skipping), kCbs);
    expect(FTrace_EVT_activation_violation, context_of(early), kEdf);
    check(must(kernel::task_info(early)).jobs.activation_violations == 1, "the violation is counted");
    check(must(kernel::task_info(skipping)).jobs.skipped == 1, "what was skipped is counted");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_row_cbs", "rows of a constant bandwidth server", &checked<&cbs>, true},
    {"t_row_grub", "rows of a server that reclaims", &checked<&grub>, true},
    {"t_row_aperiodic", "rows of polling and deferrable servers", &checked<&aperiodic>, true},
    {"t_row_arrivals", "rows of activations that find a task busy, or too early", &checked<&arrivals>, true},
};

} // namespace row_server_cases

} // namespace
