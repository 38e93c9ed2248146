// SPDX-License-Identifier: MIT
// Tests releases, deadlines and servers: each case shows what one theory promises, with the order computed by hand, and
// is traced from outside: `remora check` must agree, and must object to the kernels of tests/mutants. The main task is
// round robin: every other task here precedes it. Times are in milliseconds.
#include "kernel/sched/server.hpp"
#include "kernel/task/task_group.hpp"
#include "kernel/time/timer.hpp"
#include "tests/kernel/working.hpp"

namespace {

namespace theory_job_cases {

using namespace guest;
using lib::microseconds;
using lib::milliseconds;

std::uint64_t completed(kernel::Pid pid) {
    return must(kernel::task_info(pid)).jobs.completed;
}

// --- fixed priorities ----------------------------------------------------------------------------------------------

kernel::HardModel fixed_after(std::uint64_t ms) {
    kernel::HardModel model = due_after(ms);
    model.priority = kernel::HardPriority::fixed;
    return model;
}

int rm_order(const kernel::AppArguments&) {
    return nearest_first<fixed_after>();
}

// fast: 0.2 every 2; slow: 3 every 8, interrupted by fast at 2, and again at 10. Main wakes up at 9.5 and has its turn
// when slow is done, at 11.4.
int periodic(kernel::HardPriority priority) {
    const lib::Ticks origin = kernel::after(milliseconds(1));
    const auto member = [=](std::string_view name, kernel::TaskBody body, const kernel::HardModel& model) {
        const kernel::Pid pid = create(name, model, body);
        must(kernel::task_activate_at(pid, origin));
        return pid;
    };
    const kernel::HardModel often{microseconds(300), milliseconds(2), {}, {}, priority};
    const kernel::HardModel seldom{microseconds(3'100), milliseconds(8), {}, {}, priority};
    const kernel::Pid fast = member("fast", letter_job<200, 'f'>, often);
    const kernel::Pid slow = member("slow", letter_job<3'000, 's'>, seldom);
    kernel::task_delay(kernel::to_nanoseconds(origin + kernel::to_ticks(microseconds(9'500)) - kernel::now()));
    must(kernel::task_kill(fast));
    must(kernel::task_kill(slow));
    check_order("ffsffffs");
    return failures;
}

int rm_periodic(const kernel::AppArguments&) {
    return periodic(kernel::HardPriority::fixed);
}

int edf_periodic(const kernel::AppArguments&) {
    return periodic(kernel::HardPriority::dynamic);
}

// A task is activated at 0 and again at 1, with 5 between two releases: the second one has to wait.
int sporadic_gap(const kernel::AppArguments&) {
    kernel::HardModel model{microseconds(300), milliseconds(5), {}, {}};
    model.arrival = kernel::Arrival::sporadic;
    const kernel::Pid pid = create("sporadic", model, letter_job<200, 's'>);
    must(kernel::task_activate(pid));
    kernel::task_delay(milliseconds(1));
    order.add('m');
    must(kernel::task_activate(pid));
    kernel::task_delay(milliseconds(1));
    order.add('m');
    kernel::task_delay(milliseconds(5));
    check_order("smms");
    check(must(kernel::task_info(pid)).jobs.activation_violations == 1, "the early activation is counted");
    return failures;
}

// --- round robin ---------------------------------------------------------------------------------------------------

// The first job of A leaves 0.5 of its slice of 2. The second one has a whole slice again, and runs for 1.5 of it.
int rr_second_job(const kernel::AppArguments&) {
    const kernel::NrtModel model{.slice = milliseconds(2), .weight = 1};
    const kernel::Pid again = start("A", model, letter_job<1'500, 'a'>);
    start("B", model, letter_job<2'500, 'b'>);
    kernel::task_delay(milliseconds(2));
    must(kernel::task_activate(again));
    kernel::task_delay(milliseconds(10));
    check_order("aba");
    return failures;
}

// --- polling and deferrable servers --------------------------------------------------------------------------------

kernel::ServerId fixed_server(kernel::ServerKind kind) {
    return must(
        kernel::server_create({.name = "server", .kind = kind, .budget = milliseconds(1), .period = milliseconds(10)}));
}

// A request at 2 finds no budget any more: served at 10. What it leaves is lost, too: the one at 13 is served at 20.
int polling_loses(const kernel::AppArguments&) {
    const kernel::ServerId server = fixed_server(kernel::ServerKind::polling);
    const kernel::Pid request = create("request", kernel::ServedModel{.server = server}, letter_job<300, 'r'>);
    for (int i = 0; i < 2; ++i) {
        kernel::task_delay(milliseconds(2));
        must(kernel::task_activate(request));
        order.add('m');
        kernel::task_delay(milliseconds(9));
    }
    kernel::task_delay(milliseconds(30)); // replenished four times more
    check_order("mrmr");
    return failures;
}

// The request served at 10 is killed at 10.4. What it leaves is lost: the next one, at 11, is served at 20.
int polling_killed(const kernel::AppArguments&) {
    static constinit kernel::Pid victim;
    const kernel::ServerId server = fixed_server(kernel::ServerKind::polling);
    victim = create("victim", kernel::ServedModel{.server = server}, letter_job<800, 'v'>);
    const kernel::Pid request = create("request", kernel::ServedModel{.server = server}, letter_job<300, 'r'>);
    must(kernel::kern_event_post(
        kernel::after(microseconds(10'400)), [](void*) { must(kernel::task_kill(victim)); }, nullptr));
    kernel::task_delay(milliseconds(2));
    must(kernel::task_activate(victim));
    kernel::task_delay(milliseconds(9));
    check(must(kernel::server_info(server)).budget.value == 0, "the rest of the budget is lost");
    must(kernel::task_activate(request));
    order.add('m');
    kernel::task_delay(milliseconds(10));
    check_order("mr");
    return failures;
}

// A request of 1.5 at 2: the budget of 1 was kept for it, and the rest waits for the next period.
int deferrable_keeps(const kernel::AppArguments&) {
    const kernel::ServerId server = fixed_server(kernel::ServerKind::deferrable);
    const kernel::Pid request = create("request", kernel::ServedModel{.server = server}, letter_job<1'500, 'r'>);
    kernel::task_delay(milliseconds(2));
    must(kernel::task_activate(request));
    order.add('m');
    check(must(kernel::server_info(server)).exhausted == 1, "the budget is used up");
    kernel::task_delay(milliseconds(30));
    check_order("mr");
    check(completed(request) == 1, "the rest was served, too");
    return failures;
}

// Requests that wait are served in the order in which they came.
int served_in_turn(const kernel::AppArguments&) {
    static constinit kernel::ServedModel model;
    model.server = fixed_server(kernel::ServerKind::deferrable);
    start("launcher", fixed_after(5), [](void*) {
        start("A", model, letter<'A'>);
        start("B", model, letter<'B'>);
        start("C", model, letter<'C'>);
        order.add('L');
    });
    check_order("LABC");
    return failures;
}

// --- constant bandwidth servers, and those that reclaim ------------------------------------------------------------

kernel::SoftModel soft(std::uint64_t budget_ms, std::uint64_t period_ms) {
    return {milliseconds(budget_ms), milliseconds(period_ms)};
}

// Jobs of 0.6 with 2 in every 20: the one at about 1.7 is served with budget 1.4 and the deadline 20 as they are
// (1.4 * 20 < 18.3 * 2); the one at about 16 with new ones (0.8 * 20 >= 4 * 2).
int cbs_arrivals(const kernel::AppArguments&) {
    const kernel::Pid pid = create("soft", soft(2, 20), letter_job<600, 's'>);
    must(kernel::task_activate(pid));
    kernel::task_delay(milliseconds(1));
    order.add('m');
    must(kernel::task_activate(pid));
    kernel::task_delay(milliseconds(14));
    order.add('m');
    must(kernel::task_activate(pid));
    kernel::task_delay(milliseconds(1));
    check_order("smsms");
    check(completed(pid) == 3, "three jobs");
    return failures;
}

// 3 of work with 2 in every 20: then the deadline 20 becomes 40, after the one of the other task.
int cbs_postponed(const kernel::AppArguments&) {
    start("soft", soft(2, 20), [](void*) {
        order.add('s');
        start("hard", due_after(30), letter<'H'>);
        order.add('s');
        compute(milliseconds(3));
        order.add('S');
    });
    check_order("ssHS");
    return failures;
}

// The second activation comes before the first job has run.
int cbs_saved(const kernel::AppArguments&) {
    start("launcher", due_after(5), [](void*) {
        const kernel::Pid pid = start("soft", soft(2, 20), letter_job<100, 's'>);
        must(kernel::task_activate(pid));
        order.add('L');
    });
    check_order("Lss");
    return failures;
}

// early (6 in 20) works for 1 and is inactive from 20 - 5 * 20 / 6 = 3.3 on; late (2 in 40) then has the processor for
// a twentieth of its time.
int grub_reclaims(const kernel::AppArguments&) {
    const auto member = [](std::string_view name, kernel::TaskBody body, kernel::SoftModel model) {
        model.reclaiming = kernel::Reclaiming::grub;
        return must(kernel::task_create({.name = name, .body = body, .argument = nullptr, .model = model, .group = 1}));
    };
    member("early", letter_job<1'000, 'e'>, soft(6, 20));
    member("late", letter_job<4'000, 'l'>, soft(2, 40));
    must(kernel::task_group_activate(1));
    order.add('m');
    kernel::task_delay(milliseconds(20)); // late's time of zero lag is over
    check_order("elm");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_rm_order", "the shortest relative deadline runs first", &checked<&rm_order>, false},
    {"t_rm_periodic", "a schedule of two periodic tasks with fixed priorities", &checked<&rm_periodic>, false},
    {"t_edf_periodic", "a schedule of two periodic tasks with deadlines", &checked<&edf_periodic>, false},
    {"t_sporadic_gap", "an early activation waits for its time", &checked<&sporadic_gap>, false},
    {"t_rr_second_job", "each job begins with a whole slice", &checked<&rr_second_job>, false},
    {"t_polling_loses", "a polling server loses what finds no request", &checked<&polling_loses>, false},
    {"t_polling_killed", "a polling server loses what a killed request leaves", &checked<&polling_killed>, false},
    {"t_deferrable_keeps", "a deferrable server keeps its budget, and no more", &checked<&deferrable_keeps>, false},
    {"t_served_in_turn", "requests of one server in their order", &checked<&served_in_turn>, false},
    {"t_cbs_arrivals", "an arrival keeps the deadline, or makes a new one", &checked<&cbs_arrivals>, false},
    {"t_cbs_postponed", "a used-up budget costs a later deadline", &checked<&cbs_postponed>, false},
    {"t_cbs_saved", "an activation that finds the task busy is served", &checked<&cbs_saved>, false},
    {"t_grub_reclaims", "bandwidth that is not in use slows the charge", &checked<&grub_reclaims>, false},
};

} // namespace theory_job_cases

} // namespace
