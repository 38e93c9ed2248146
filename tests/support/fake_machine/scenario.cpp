// SPDX-License-Identifier: MIT
// Scenarios as texts: see scenario.hpp for their words.
#include "tests/support/fake_machine/scenario.hpp"

#include "kernel/sched/level.hpp"
#include "kernel/sched/server.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <vector>

namespace hosted {

namespace {

using Words = std::vector<std::string>;
using Steps = std::vector<std::string>;
using Result = lib::Result<void>;

const std::string* s_text = nullptr;
kernel::ServerId s_server; // that was made last

[[noreturn]] void wrong(std::string_view step) {
    std::fprintf(stderr, "scenario: no step: %s\n", std::string(step).c_str());
    std::abort();
}

// The value of this name; another name is no step.
template <typename T>
T named(std::string_view name, const std::map<std::string_view, T>& values) {
    const auto found = values.find(name);
    return found == values.end() ? (wrong(name), T{}) : found->second;
}

std::string trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \n");
    const auto last = text.find_last_not_of(" \n");
    return first == std::string_view::npos ? "" : std::string(text.substr(first, last - first + 1));
}

std::vector<std::string> parts(std::string_view text, char separator) {
    std::vector<std::string> all;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(separator, at), text.size());
        if (std::string part = trimmed(text.substr(at, end - at)); !part.empty()) {
            all.push_back(std::move(part));
        }
        at = end + 1;
    }
    return all;
}

bool begins_task(const std::string& step) {
    return step.starts_with("start ") || step.starts_with("create ");
}

bool has_task(const std::string& line) {
    return begins_task(line.starts_with("? ") ? line.substr(2) : line);
}

// Without comments, and with lines that end with a semicolon joined to the next.
std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    bool continues = false;
    for (const std::string& whole : parts(text, '\n')) {
        const std::string line = trimmed(std::string_view(whole).substr(0, whole.find("//")));
        if (line.empty()) {
            continue;
        }
        if (continues) {
            lines.back() += ' ' + line;
        } else {
            lines.push_back(line);
        }
        continues = line.back() == ';';
    }
    return lines;
}

// The steps of the text; those of a task stay one with its beginning.
Steps steps_of(std::string_view text) {
    Steps steps;
    for (const std::string& line : lines_of(text)) {
        const std::size_t colon = line.starts_with("at ") ? line.find(':') + 1 : 0;
        for (std::string& step : has_task(trimmed(line.substr(colon))) ? Steps{line} : parts(line, ';')) {
            steps.push_back(std::move(step));
        }
    }
    return steps;
}

// Texts that live as long as the scenario.
const std::string& kept(std::string_view text) {
    static std::set<std::string, std::less<>> s_texts;
    return *s_texts.emplace(text).first;
}

std::uint64_t number(std::string_view word) {
    std::uint64_t value = 0;
    for (const char digit : word) {
        if (digit < '0' || digit > '9') {
            wrong(word);
        }
        value = value * 10 + static_cast<std::uint64_t>(digit - '0');
    }
    return value;
}

// "3" milliseconds, or "3 ns".
lib::Nanoseconds time_of(const Words& words, std::size_t at) {
    const std::uint64_t count = number(words.at(at));
    return words.size() > at + 1 && words[at + 1] == "ns" ? lib::Nanoseconds{count} : ms(count);
}

std::string joined(const Words& words, std::size_t from) {
    std::string text;
    for (std::size_t i = from; i < words.size(); ++i) {
        text += (i == from ? "" : " ") + words[i];
    }
    return text;
}

// "4/100/90+1" as the four numbers.
std::array<std::uint64_t, 4> times_of(std::string_view text) {
    std::array<std::uint64_t, 4> times{};
    const std::size_t plus = std::min(text.find('+'), text.size());
    std::size_t i = 0;
    for (const std::string& time : parts(text.substr(0, plus), '/')) {
        times.at(i++) = number(time);
    }
    times[3] = plus == text.size() ? 0 : number(text.substr(plus + 1));
    return times;
}

kernel::TaskModel model_of(const std::string& kind, const std::string& text) {
    if (kind == "nrt") {
        return text.empty() ? kernel::NrtModel{} : kernel::NrtModel{.slice = ms(number(text))};
    }
    if (kind == "served") {
        return kernel::ServedModel{.server = s_server};
    }
    if (kind == "background") {
        return kernel::BackgroundModel{};
    }
    const auto [first, second, third, offset] = times_of(text);
    if (kind == "hard" || kind == "fixed") {
        return kind == "hard" ? hard(first, second, third, offset) : fixed(first, second, third, offset);
    }
    if (kind == "sporadic") {
        kernel::HardModel model = sporadic(first, second, third);
        model.offset = ms(offset);
        return model;
    }
    if (kind == "job") {
        return kernel::JobModel{ms(first), ms(second)};
    }
    if (kind == "grub") {
        return grub(first, second);
    }
    using enum kernel::Overlap;
    return soft(first, second,
                named<kernel::Overlap>(kind, {{"soft", save}, {"soft-skip", skip}, {"soft-refuse", refuse}}));
}

void play_kept(void* text) {
    play(*static_cast<const std::string*>(text));
}

void* argument(std::string_view steps) {
    return const_cast<std::string*>(&kept(steps));
}

// "miss=abort", "wcet=kill"
void set_reaction(kernel::Reactions& reactions, std::string_view word) {
    using enum kernel::Reaction;
    const auto reaction = named<kernel::Reaction>(
        word.substr(word.find('=') + 1),
        {{"count", count}, {"abort", abort}, {"kill", kill}, {"panic", panic}, {"handler", handler}});
    (word.starts_with("miss") ? reactions.deadline_miss : reactions.wcet) = reaction;
}

// "create NAME MODEL REACTION..: STEPS"
lib::Result<kernel::Pid> create_of(const std::string& step) {
    const std::size_t colon = std::min(step.find(':'), step.size());
    const Words words = parts(std::string_view(step).substr(0, colon), ' ');
    const bool has_times = words.size() > 3 && words[3].find('=') == std::string::npos;
    kernel::TaskOptions options{.name = kept(words.at(1)),
                                .body = &play_kept,
                                .argument = argument(step.substr(std::min(colon + 1, step.size()))),
                                .model = model_of(words.at(2), has_times ? words[3] : "")};
    for (std::size_t i = has_times ? 4 : 3; i < words.size(); ++i) {
        set_reaction(options.reactions, words[i]);
    }
    const auto created = kernel::task_create(options);
    if (created.ok()) {
        remember(words[1], created.value());
    }
    return created;
}

// "server KIND Q/T"
Result make_server(const Words& words) {
    const auto [budget, period, third, offset] = times_of(words.at(2));
    const auto server = kernel::server_create(
        {.name = "S",
         .kind = named<kernel::ServerKind>(
             words[1], {{"polling", kernel::ServerKind::polling}, {"deferrable", kernel::ServerKind::deferrable}}),
         .budget = ms(budget),
         .period = ms(period)});
    if (!server.ok()) {
        return server.error();
    }
    s_server = server.value();
    return {};
}

void note_counts(const Words& words) {
    const kernel::JobCounts jobs = must(kernel::task_info(task(words.at(1)))).jobs;
    const std::map<std::string, std::uint64_t> counts{
        {"released", jobs.released},          {"completed", jobs.completed}, {"missed", jobs.deadline_misses},
        {"violated", jobs.wcet_violations},   {"skipped", jobs.skipped},     {"aborted", jobs.aborted},
        {"early", jobs.activation_violations}};
    std::string text;
    for (std::size_t i = 2; i < words.size(); ++i) {
        text += (i == 2 ? "" : " ") + words[i] + " " + std::to_string(counts.at(words[i]));
    }
    note(text);
}

void note_readiness(const Words& words) {
    const auto state = must(kernel::task_info(task(words.at(1)))).state;
    note(words[1] + (state == kernel::TaskState::ready ? " ready" : " waits"));
}

void note_ceiling(const Words& words) {
    const auto level = mutex(words.at(1)).ceiling();
    note(level == kernel::kPreemptionLevelNone ? "none" : std::to_string(level / 1'000'000));
}

void note_contentions(const Words& words) {
    std::string text;
    for (std::size_t i = 1; i < words.size(); ++i) {
        text += std::to_string(mutex(words[i]).contentions());
    }
    note(text);
}

kernel::MutexProtocol protocol_of(const Words& words) {
    using enum kernel::MutexProtocol;
    return words.size() < 3
               ? inheritance
               : named<kernel::MutexProtocol>(
                     words[2], {{"inheritance", inheritance}, {"none", none}, {"ceiling", ceiling}, {"stack", stack}});
}

Result remove_server(const Words& words) {
    return kernel::server_remove({static_cast<std::uint16_t>(number(words.at(1)))});
}

void note_server(const Words& words) {
    const auto info = must(kernel::server_info({static_cast<std::uint16_t>(number(words.at(1)))}));
    note("left " + std::to_string(info.budget.value / 1'000'000) + " exhausted " + std::to_string(info.exhausted) +
         " tasks " + std::to_string(info.tasks));
}

void say_and_work(std::uint8_t signo, void*) {
    stamp("signal " + std::to_string(signo));
    work("s", 2);
    stamp("end " + std::to_string(signo));
}

void handle_by(kernel::SignalHandler handler, const Words& signals) {
    for (std::size_t i = 1; i < signals.size(); ++i) {
        handle({static_cast<std::uint8_t>(number(signals[i]))}, handler);
    }
}

using Action = Result (*)(const Words&);

// What has a result.
const std::map<std::string, Action>& actions() {
    static const std::map<std::string, Action> all{
        {"mutex",
         [](const Words& w) {
             return kernel::mutex_init(mutex(w.at(1)), {.protocol = protocol_of(w), .name = kept(w[1])});
         }},
        {"semaphore",
         [](const Words& w) {
             return kernel::sem_init(semaphore(w.at(1)), kept(w[1]), static_cast<std::uint32_t>(number(w.at(2))));
         }},
        {"server", &make_server},
        {"remove-server", &remove_server},
        {"condition", [](const Words& w) { return kernel::cond_init(condition(w.at(1)), kept(w[1])); }},
        {"lock", [](const Words& w) { return kernel::mutex_lock(mutex(w.at(1))); }},
        {"trylock", [](const Words& w) { return kernel::mutex_trylock(mutex(w.at(1))); }},
        {"timedlock", [](const Words& w) { return kernel::mutex_timedlock(mutex(w.at(1)), time_of(w, 2)); }},
        {"unlock", [](const Words& w) { return kernel::mutex_unlock(mutex(w.at(1))); }},
        {"consistent", [](const Words& w) { return kernel::mutex_consistent(mutex(w.at(1))); }},
        {"user",
         [](const Words& w) {
             return mutex(w.at(1)).has_ceiling() ? kernel::mutex_declare_user(mutex(w[1]), task(w.at(2))) : Result{};
         }},
        {"wait", [](const Words& w) { return kernel::sem_wait(semaphore(w.at(1))); }},
        {"trywait", [](const Words& w) { return kernel::sem_trywait(semaphore(w.at(1))); }},
        {"timedwait", [](const Words& w) { return kernel::sem_timedwait(semaphore(w.at(1)), time_of(w, 2)); }},
        {"post", [](const Words& w) { return kernel::sem_post(semaphore(w.at(1))); }},
        {"await",
         [](const Words& w) {
             return w.size() > 3 ? kernel::cond_timedwait(condition(w[1]), mutex(w[2]), time_of(w, 3))
                                 : kernel::cond_wait(condition(w.at(1)), mutex(w.at(2)));
         }},
        {"signal", [](const Words& w) { return kernel::cond_signal(condition(w.at(1))); }},
        {"broadcast", [](const Words& w) { return kernel::cond_broadcast(condition(w.at(1))); }},
        {"kill", [](const Words& w) { return kernel::task_kill(task(w.at(1))); }},
        {"activate", [](const Words& w) { return kernel::task_activate(task(w.at(1))); }},
        {"suspend", [](const Words& w) { return kernel::task_suspend(task(w.at(1))); }},
        {"resume", [](const Words& w) { return kernel::task_resume(task(w.at(1))); }},
        {"deadline", [](const Words& w) { return kernel::task_set_deadline(task(w.at(1)), time_of(w, 2)); }},
        {"raise",
         [](const Words& w) {
             return kernel::signal_raise(task(w.at(1)), static_cast<std::uint8_t>(number(w.at(2))));
         }},
    };
    return all;
}

// What has none.
const std::map<std::string, void (*)(const Words&)>& plain_actions() {
    static const std::map<std::string, void (*)(const Words&)> all{
        {"end", [](const Words&) { kernel::task_endcycle(); }},
        {"sleep", [](const Words&) { kernel::task_sleep(); }},
        {"exit", [](const Words&) { kernel::task_exit(); }},
        {"delay", [](const Words& w) { kernel::task_delay(ms(number(w.at(1)))); }},
        {"until", [](const Words& w) { pause_until(number(w.at(1))); }},
        {"note", [](const Words& w) { note(joined(w, 1)); }},
        {"stamp", [](const Words& w) { stamp(joined(w, 1)); }},
        {"owner", [](const Words& w) { note(mutex(w.at(1)).owner() == nullptr ? "free" : "taken"); }},
        {"state", [](const Words& w) { note(kernel::mutex_abandoned(mutex(w.at(1))) ? "abandoned" : "whole"); }},
        {"is-ready", &note_readiness},
        {"ceiling", &note_ceiling},
        {"contentions", &note_contentions},
        {"counts", &note_counts},
        {"server-state", &note_server},
        {"alive", [](const Words& w) { note(kernel::task_info(task(w.at(1))).ok() ? "lives" : "gone"); }},
        {"handle", [](const Words& w) { handle_by(&say, w); }},
        {"handle-and-work", [](const Words& w) { handle_by(&say_and_work, w); }},
    };
    return all;
}

void take(const std::string& step);

Result result_of(const std::string& step) {
    const Words words = parts(step, ' ');
    if (words.at(0) == "create") {
        const auto created = create_of(step);
        return created.ok() ? Result{} : created.error();
    }
    const auto action = actions().find(words[0]);
    return action == actions().end() ? (wrong(step), Result{}) : action->second(words);
}

void start_of(const std::string& step) {
    const auto pid = must(create_of(step));
    if (step.starts_with("start ")) {
        must(kernel::task_activate_at(pid, at(0)));
    }
}

// "at 3: STEP"
void at_of(const std::string& step) {
    const std::size_t colon = step.find(':');
    must(kernel::kern_event_post(at(number(trimmed(step.substr(3, colon - 3)))), &play_kept,
                                 argument(step.substr(colon + 1))));
}

void take(const std::string& step) {
    if (step.starts_with("at ")) {
        return at_of(step);
    }
    if (begins_task(step)) {
        return start_of(step);
    }
    const Words words = parts(step, ' ');
    if (const auto mark = step.find("? "); mark != std::string::npos && words[0] != "note") {
        const std::string name = step.substr(0, mark);
        const Result result = result_of(step.substr(mark + 2));
        return note((name.empty() ? "" : name + ": ") + std::string(result_text(result)));
    }
    if (const auto action = plain_actions().find(words[0]); action != plain_actions().end()) {
        return action->second(words);
    }
    if (actions().contains(words[0])) {
        return must(result_of(step));
    }
    if (words.size() == 2) {
        return work(kept(words[0]).c_str(), number(words[1]));
    }
    if (words.size() != 3 || words[2] != "ns") {
        wrong(step);
    }
    work_ns(kept(words[0]).c_str(), number(words[1]));
}

} // namespace

std::string run(std::string_view text) {
    s_text = &kept(text);
    return run([] { play(*s_text); });
}

void play(std::string_view text) {
    const Steps steps = steps_of(text);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (steps[i] == "again") {
            i = static_cast<std::size_t>(-1);
        } else if (steps[i].starts_with("each ")) {
            for (;;) {
                take(steps[i].substr(5));
                kernel::task_endcycle();
            }
        } else {
            take(steps[i]);
        }
    }
}

kernel::Pid start(std::string_view name, std::string_view steps, const kernel::TaskModel& model) {
    return start(kept(name), &play_kept, model, argument(steps));
}

kernel::Pid create(std::string_view name, std::string_view steps, const kernel::TaskModel& model) {
    return create(kept(name), &play_kept, model, argument(steps));
}

kernel::Mutex& mutex(std::string_view name) {
    static std::map<std::string, kernel::Mutex> s_mutexes;
    return s_mutexes[std::string(name)];
}

kernel::Semaphore& semaphore(std::string_view name) {
    static std::map<std::string, kernel::Semaphore> s_semaphores;
    return s_semaphores[std::string(name)];
}

kernel::Condition& condition(std::string_view name) {
    static std::map<std::string, kernel::Condition> s_conditions;
    return s_conditions[std::string(name)];
}

} // namespace hosted
