// SPDX-License-Identifier: MIT
// Implements hosted_kernel.hpp. Process isolation gives every scenario the static state of a new boot.
#include "tests/support/fake_machine/hosted_kernel.hpp"

#include "kernel/panic/panic.hpp"
#include "kernel/run/run.hpp"
#include "kernel/run/runlevel.hpp"
#include "kernel/sched/level.hpp"
#include "kernel/sched/levels/grub.hpp"
#include "kernel/sched/levels/hard_level.hpp"
#include "kernel/sched/levels/queue_level.hpp"
#include "kernel/sched/levels/served.hpp"
#include "kernel/sched/levels/soft_level.hpp"
#include "kernel/sched/scheduler.hpp"
#include "kernel/sched/upcalls.hpp"
#include "kernel/time/clock.hpp"
#include "kernel/time/timer.hpp"
#include "tests/support/fake_machine/fake_machine.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <map>

namespace hosted {

namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000;
constexpr std::uint64_t kSeed = 17;               // of the run: what its application gets
constexpr std::uint64_t kBootTime = 7 * kNsPerMs; // not zero: absolute times must not be mistaken for relative ones

constinit int s_report_to = -1;
constinit kernel::Reservations s_reservations;
constinit kernel::RmLevel s_rm{s_reservations};
constinit kernel::EdfLevel s_edf{s_reservations};
constinit kernel::RoundRobinLevel s_rr;
constinit kernel::BackgroundLevel s_background;
constinit kernel::CbsLevel s_cbs{s_edf};
constinit kernel::GrubLevel s_grub{s_edf};
constinit kernel::ServedLevel s_served{s_rm};

struct Piece {
    std::string name;
    std::uint64_t from = 0;
    std::uint64_t to = 0;
};

std::string s_report;
Piece s_piece;
lib::Ticks s_begin;
std::map<std::string, kernel::Pid> s_tasks;
void (*s_scenario)() = nullptr;
void (*s_before_run)() = nullptr;
void (*s_before_interrupt)() = nullptr;

std::uint64_t since_begin(std::uint64_t time) {
    return (time - s_begin.value) / kNsPerMs;
}

void append(const std::string& word) {
    s_report += s_report.empty() ? word : " | " + word;
}

void flush_piece() {
    if (!s_piece.name.empty()) {
        append(s_piece.name + " " + std::to_string(since_begin(s_piece.from)) + "-" +
               std::to_string(since_begin(s_piece.to)));
        s_piece.name.clear();
    }
}

void record(void* name, std::uint64_t from, std::uint64_t to) {
    const auto* const text = static_cast<const char*>(name);
    if (s_piece.name == text && s_piece.to == from) {
        s_piece.to = to;
        return;
    }
    flush_piece();
    s_piece = {text, from, to};
}

int start_scenario(const kernel::AppArguments& arguments) {
    if (arguments.seed != kSeed) {
        std::abort();
    }
    s_begin = kernel::now() + lib::Ticks{kNsPerMs};
    remember("self", kernel::task_self());
    s_scenario();
    return 0;
}

void interrupt(arch::Vector vector) {
    if (vector != arch::timer_vector()) {
        std::abort();
    }
    if (s_before_interrupt != nullptr) {
        s_before_interrupt();
    }
    const auto off = kernel::IrqOff::from_entry();
    kernel::interrupt_entered(off);
    kernel::timer_interrupt(off);
    kernel::return_from_interrupt(off);
}

enum class Extent {
    until_run_returns,
    until_after_exit,
};

void boot(Extent extent) {
    static const kernel::App app{"scenario", "", &start_scenario, false};
    arch::fake_cpu.time = kBootTime;
    arch::set_upcalls({.interrupt = &interrupt, .exception = nullptr, .nmi = nullptr});
    for (kernel::Level* const level :
         std::initializer_list<kernel::Level*>{&s_rm, &s_edf, &s_rr, &s_background, &s_cbs, &s_grub, &s_served}) {
        static_cast<void>(kernel::register_level(*level, kernel::IrqOff::from_boot()));
    }
    kernel::use_served_level(s_served);
    if (s_before_run != nullptr) {
        s_before_run();
    }
    const auto outcome = kernel::run(app, {.seed = kSeed}, s_background);
    if (extent == Extent::until_after_exit) {
        kernel::run_level_functions(kernel::RunLevel::after_exit);
        note(!outcome.ok() ? "failed" : outcome.value().aborted ? "aborted" : "end");
        note(std::to_string(outcome.ok() ? outcome.value().result : -1));
    }
    flush_piece();
}

[[noreturn]] void report_and_exit() {
    flush_piece();
    const auto written = write(s_report_to, s_report.data(), s_report.size());
    _exit(written == static_cast<ssize_t>(s_report.size()) ? 0 : 1);
}

std::string in_child(void (*scenario)(), Extent extent) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) {
        return "pipe failed";
    }
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        s_report_to = ends[1];
        s_scenario = scenario;
        boot(extent);
        report_and_exit();
    }
    close(ends[1]);
    std::string report;
    std::array<char, 4096> buffer{};
    for (ssize_t size = 0; (size = read(ends[0], buffer.data(), buffer.size())) > 0;) {
        report.append(buffer.data(), static_cast<std::size_t>(size));
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return status == 0 ? report : report + " | crashed";
}

} // namespace

std::string run(void (*scenario)()) {
    s_before_run = nullptr;
    return in_child(scenario, Extent::until_run_returns);
}

std::string run_to_the_end(void (*scenario)(), void (*before_run)()) {
    s_before_run = before_run;
    return in_child(scenario, Extent::until_after_exit);
}

void fail(lib::Error error) {
    std::fprintf(stderr, "scenario: %s\n", std::string(lib::error_name(error)).c_str());
    std::abort();
}

lib::Ticks at(std::uint64_t count) {
    return {s_begin.value + count * kNsPerMs};
}

void before_each_interrupt(void (*hook)()) {
    s_before_interrupt = hook;
}

void pause_until(std::uint64_t count) {
    kernel::task_delay({at(count).value - kernel::now().value});
}

void work(const char* name, std::uint64_t count_ms) {
    work_ns(name, count_ms * kNsPerMs);
}

void work_ns(const char* name, std::uint64_t count_ns) {
    fake_machine::burn(count_ns, &record, const_cast<char*>(name));
}

void note(std::string_view word) {
    flush_piece();
    append(std::string(word));
}

void stamp(std::string_view word) {
    note(std::string(word) + "@" + std::to_string(since_begin(kernel::now().value)));
}

kernel::Pid task(std::string_view name) {
    return s_tasks.at(std::string(name));
}

void remember(std::string_view name, kernel::Pid pid) {
    s_tasks[std::string(name)] = pid;
}

kernel::Pid create(std::string_view name, kernel::TaskBody body, const kernel::TaskModel& model, void* argument) {
    const kernel::Pid pid =
        must(kernel::task_create({.name = name, .body = body, .argument = argument, .model = model}));
    remember(name, pid);
    return pid;
}

kernel::Pid start(std::string_view name, kernel::TaskBody body, const kernel::TaskModel& model, void* argument) {
    const kernel::Pid pid = create(name, body, model, argument);
    must(kernel::task_activate_at(pid, s_begin));
    return pid;
}

kernel::HardModel hard(std::uint64_t wcet_ms, std::uint64_t period_ms, std::uint64_t deadline_ms,
                       std::uint64_t offset_ms) {
    return {ms(wcet_ms), ms(period_ms), ms(deadline_ms), ms(offset_ms)};
}

} // namespace hosted

// Does what the guest's panic does after printing: the functions of after_exit still run, as in an abort.
void kernel::panic(std::string_view reason) {
    static_cast<void>(arch::irq_save());
    hosted::note("panic: " + std::string(reason));
    kernel::mark_aborted();
    kernel::run_level_functions(kernel::RunLevel::after_exit);
    hosted::report_and_exit();
}
