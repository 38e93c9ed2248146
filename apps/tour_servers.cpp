// SPDX-License-Identifier: MIT
// Station 4 shows the four kinds of servers, each with more work than budget. Times are in milliseconds.
//
//   polling     1 every 10    for the task `polled`, which wants 1.5: its budget is gone when nothing waits
//   deferrable  1 every 10    for the task `deferred`, which wants 1.5: its budget is kept
//   soft        2 every 20    CBS: the task wants 3, exhausts its budget, and gets another deadline
//   lender      6 every 20    GRUB: works for 1 and leaves the rest of its bandwidth ...
//   borrower    2 every 40    GRUB: ... to this one, which wants 4
#include "apps/tour.hpp"
#include "kernel/sched/server.hpp"
#include "kernel/task/task_group.hpp"

namespace apps::tour {

namespace {

constexpr std::uint16_t kReclaimers = 2;

void serve(kernel::ServerKind kind, std::string_view server_name, std::string_view task_name) {
    const auto server = kernel::server_create(
        {.name = server_name, .kind = kind, .budget = milliseconds(1), .period = milliseconds(10)});
    verdict.expect(server, server_name);
    if (!server.ok()) {
        return;
    }
    const kernel::Pid request =
        create({.name = task_name, .body = &periodic<1'500>, .model = kernel::ServedModel{.server = server.value()}});
    kernel::task_delay(milliseconds(2)); // into the first period: a polling server has nothing left
    verdict.expect(kernel::task_activate(request), task_name);
    kernel::task_delay(milliseconds(30));
    kill(request);
    verdict.expect(kernel::server_remove(server.value()), server_name);
}

void exhaust() {
    const kernel::Pid soft = start({.name = "soft",
                                    .body = &periodic<3'000>,
                                    .model = kernel::SoftModel{.budget = milliseconds(2), .period = milliseconds(20)}});
    kernel::task_delay(milliseconds(10));
    kill(soft);
}

void reclaim() {
    const auto model = [](std::uint64_t budget_ms, std::uint64_t period_ms) {
        return kernel::SoftModel{.budget = milliseconds(budget_ms),
                                 .period = milliseconds(period_ms),
                                 .reclaiming = kernel::Reclaiming::grub};
    };
    static_cast<void>(
        create({.name = "lender", .body = &periodic<1'000>, .model = model(6, 20), .group = kReclaimers}));
    static_cast<void>(
        create({.name = "borrower", .body = &periodic<4'000>, .model = model(2, 40), .group = kReclaimers}));
    verdict.expect(kernel::task_group_activate(kReclaimers), "task_group_activate");
    kernel::task_delay(milliseconds(10));
    verdict.expect(kernel::task_group_kill(kReclaimers), "task_group_kill");
}

} // namespace

void visit_servers() {
    serve(kernel::ServerKind::polling, "polling", "polled");
    serve(kernel::ServerKind::deferrable, "deferrable", "deferred");
    exhaust();
    reclaim();
}

} // namespace apps::tour
