// SPDX-License-Identifier: MIT
// Reads the texts of scenarios and takes their steps; scenario.hpp has the words.
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
std::string s_step;        // that is read or taken
kernel::ServerId s_server; // that was made last

[[noreturn]] void wrong(std::string_view word) {
    std::fprintf(stderr, "scenario: \"%s\" is wrong in the step \"%s\"\n", std::string(word).c_str(), s_step.c_str());
    std::abort();
}

// Returns the value of this name; another name is wrong.
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

// Returns the parts between the separators; empty ones only if they are asked for.
std::vector<std::string> parts(std::string_view text, char separator, bool with_empty = false) {
    std::vector<std::string> all;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(separator, at), text.size());
        if (std::string part = trimmed(text.substr(at, end - at)); with_empty || !part.empty()) {
            all.push_back(std::move(part));
        }
        at = end + 1;
    }
    return all;
}

// Returns where the step begins whose result "NAME? STEP" or "? STEP" asks for, else 0.
std::size_t after_question(std::string_view step) {
    const std::size_t mark = step.find("? ");
    const bool has_words = step.starts_with("note ") || step.starts_with("stamp ");
    return has_words || mark > step.find_first_of(":;") || mark == std::string_view::npos ? 0 : mark + 2;
}

// Returns whether the step begins a task, at a time or not, with a question or without.
bool begins_task(std::string_view step) {
    if (step.starts_with("at ")) {
        step.remove_prefix(std::min(step.find(':'), step.size() - 1) + 1);
        step.remove_prefix(std::min(step.find_first_not_of(' '), step.size()));
    }
    step.remove_prefix(after_question(step));
    return step.starts_with("start ") || step.starts_with("create ");
}

// Returns the lines without comments; those that end with a semicolon are joined to the next.
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

void check(const std::string& step);

// Returns the steps of the text, after it has checked them. Those of a task are one step with its beginning, so a task
// begins a line.
Steps steps_of(std::string_view text) {
    Steps steps;
    for (const std::string& line : lines_of(text)) {
        for (const std::string& step : begins_task(line) ? Steps{line} : parts(line, ';')) {
            s_step = step;
            if (begins_task(step) && step != line) {
                wrong(step);
            }
            check(step);
            steps.push_back(step);
        }
    }
    return steps;
}

// Returns the text from a store that outlives the scenario.
const std::string& kept(std::string_view text) {
    static std::set<std::string, std::less<>> s_texts;
    return *s_texts.emplace(text).first;
}

std::uint64_t number(std::string_view word) {
    std::uint64_t value = 0;
    if (word.empty()) {
        wrong(word);
    }
    for (const char digit : word) {
        if (digit < '0' || digit > '9') {
            wrong(word);
        }
        value = value * 10 + static_cast<std::uint64_t>(digit - '0');
    }
    return value;
}

// Reads the last words as a time: "3" milliseconds, or "3 ns".
lib::Nanoseconds time_of(const Words& words, std::size_t at) {
    const std::uint64_t count = number(words.at(at));
    if (words.size() == at + 1) {
        return ms(count);
    }
    return words.at(at + 1) == "ns" ? lib::Nanoseconds{count} : (wrong(words[at + 1]), lib::Nanoseconds{});
}

std::string joined(const Words& words, std::size_t from) {
    std::string text;
    for (std::size_t i = from; i < words.size(); ++i) {
        text += (i == from ? "" : " ") + words[i];
    }
    return text;
}

// Reads "4/100" or "4/100/90+1" as the four numbers. Only what can have the third one can have an offset.
std::array<std::uint64_t, 4> times_of(std::string_view text, std::size_t most) {
    std::array<std::uint64_t, 4> times{};
    const std::size_t plus = std::min(text.find('+'), text.size());
    const Words numbers = parts(text.substr(0, plus), '/', true);
    if (numbers.size() < 2 || numbers.size() > most || (plus != text.size() && most < 3)) {
        wrong(text);
    }
    std::ranges::transform(numbers, times.begin(), &number);
    times[3] = plus == text.size() ? 0 : number(text.substr(plus + 1));
    return times;
}

kernel::TaskModel hard_model_of(const std::string& kind, const std::string& text) {
    const auto [wcet, period, deadline, offset] = times_of(text, 3);
    if (kind == "sporadic") {
        kernel::HardModel model = sporadic(wcet, period, deadline);
        model.offset = ms(offset);
        return model;
    }
    return kind == "hard" ? hard(wcet, period, deadline, offset) : fixed(wcet, period, deadline, offset);
}

kernel::TaskModel model_of(const std::string& kind, const std::string& text) {
    if (kind == "nrt") {
        return text.empty() ? kernel::NrtModel{} : kernel::NrtModel{.slice = ms(number(text))};
    }
    if (kind == "served" || kind == "background") {
        if (!text.empty()) {
            wrong(text);
        }
        return kind == "served" ? kernel::TaskModel{kernel::ServedModel{.server = s_server}}
                                : kernel::TaskModel{kernel::BackgroundModel{}};
    }
    if (kind == "hard" || kind == "fixed" || kind == "sporadic") {
        return hard_model_of(kind, text);
    }
    const auto [first, second, third, offset] = times_of(text, 2);
    if (kind == "job") {
        return kernel::JobModel{ms(first), ms(second)};
    }
    if (kind == "grub") {
        return grub(first, second);
    }
    using enum kernel::Overlap;
    return soft(first, second, named<kernel::Overlap>(kind, {{"soft", save}, {"soft-skip", skip}}));
}

void play_kept(void* text) {
    play(*static_cast<const std::string*>(text));
}

void* argument(std::string_view steps) {
    return const_cast<std::string*>(&kept(steps));
}

// Reads "miss=abort" or "wcet=kill".
void set_reaction(kernel::Reactions& reactions, std::string_view word) {
    using enum kernel::Reaction;
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
        wrong(word);
    }
    const auto reaction =
        named<kernel::Reaction>(word.substr(equals + 1), {{"abort", abort}, {"kill", kill}, {"panic", panic}});
    const auto member = named<kernel::Reaction kernel::Reactions::*>(
        word.substr(0, equals), {{"miss", &kernel::Reactions::deadline_miss}, {"wcet", &kernel::Reactions::wcet}});
    reactions.*member = reaction;
}

std::string body_of(const std::string& step) {
    return step.substr(std::min(std::min(step.find(':'), step.size()) + 1, step.size()));
}

// Reads "create NAME MODEL REACTION..: STEPS".
kernel::TaskOptions options_of(const std::string& step) {
    const Words words = parts(std::string_view(step).substr(0, step.find(':')), ' ');
    if (words.size() < 3) {
        wrong(words.back());
    }
    const bool has_times = words.size() > 3 && words[3].find('=') == std::string::npos;
    kernel::TaskOptions options{.name = kept(words[1]),
                                .body = &play_kept,
                                .argument = argument(body_of(step)),
                                .model = model_of(words[2], has_times ? words[3] : "")};
    for (std::size_t i = has_times ? 4 : 3; i < words.size(); ++i) {
        set_reaction(options.reactions, words[i]);
    }
    return options;
}

lib::Result<kernel::Pid> create_of(const std::string& step) {
    const kernel::TaskOptions options = options_of(step);
    const auto created = kernel::task_create(options);
    if (created.ok()) {
        remember(options.name, created.value());
    }
    return created;
}

// Takes "server KIND Q/T".
Result make_server(const Words& words) {
    const auto [budget, period, third, offset] = times_of(words.at(2), 2);
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

// Returns a mutex that is initialised: a report of another one would be that of a misspelt name.
kernel::Mutex& made(const std::string& name) {
    return mutex(name).id() == 0 ? (wrong(name), mutex(name)) : mutex(name);
}

void note_counts(const Words& words) {
    const kernel::JobCounts jobs = must(kernel::task_info(task(words.at(1)))).jobs;
    const std::map<std::string_view, std::uint64_t> counts{
        {"released", jobs.released},          {"completed", jobs.completed}, {"missed", jobs.deadline_misses},
        {"violated", jobs.wcet_violations},   {"skipped", jobs.skipped},     {"aborted", jobs.aborted},
        {"early", jobs.activation_violations}};
    std::string text;
    for (std::size_t i = 2; i < words.size(); ++i) {
        text += (i == 2 ? "" : " ") + words[i] + " " + std::to_string(named(words[i], counts));
    }
    note(text);
}

void note_readiness(const Words& words) {
    const auto state = must(kernel::task_info(task(words.at(1)))).state;
    note(words[1] + (state == kernel::TaskState::ready ? " ready" : " waits"));
}

void note_ceiling(const Words& words) {
    const auto level = made(words.at(1)).ceiling();
    note(level == kernel::kPreemptionLevelNone ? "none" : std::to_string(level / 1'000'000));
}

void note_contentions(const Words& words) {
    std::string text;
    for (std::size_t i = 1; i < words.size(); ++i) {
        text += std::to_string(made(words[i]).contentions());
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

// Is a step: how many words it has, and what it does.
template <typename Returned>
struct Action {
    std::size_t least;
    std::size_t most;
    Returned (*act)(const Words&);
};

constexpr std::size_t kAny = ~std::size_t{0};

// Returns the steps that have a result. One that ends with a time can have a word more, its unit.
const std::map<std::string, Action<Result>>& actions() {
    static const std::map<std::string, Action<Result>> all{
        {"mutex",
         {2, 3,
          [](const Words& w) {
              return kernel::mutex_init(mutex(w[1]), {.protocol = protocol_of(w), .name = kept(w[1])});
          }}},
        {"semaphore",
         {3, 3,
          [](const Words& w) {
              return kernel::sem_init(semaphore(w[1]), kept(w[1]), static_cast<std::uint32_t>(number(w[2])));
          }}},
        {"server", {3, 3, &make_server}},
        {"remove-server", {2, 2, &remove_server}},
        {"condition", {2, 2, [](const Words& w) { return kernel::cond_init(condition(w[1]), kept(w[1])); }}},
        {"lock", {2, 2, [](const Words& w) { return kernel::mutex_lock(mutex(w[1])); }}},
        {"trylock", {2, 2, [](const Words& w) { return kernel::mutex_trylock(mutex(w[1])); }}},
        {"timedlock", {3, 4, [](const Words& w) { return kernel::mutex_timedlock(mutex(w[1]), time_of(w, 2)); }}},
        {"unlock", {2, 2, [](const Words& w) { return kernel::mutex_unlock(mutex(w[1])); }}},
        {"consistent", {2, 2, [](const Words& w) { return kernel::mutex_consistent(mutex(w[1])); }}},
        {"user",
         {3, 3,
          [](const Words& w) {
              return made(w[1]).has_ceiling() ? kernel::mutex_declare_user(mutex(w[1]), task(w[2])) : Result{};
          }}},
        {"wait", {2, 2, [](const Words& w) { return kernel::sem_wait(semaphore(w[1])); }}},
        {"trywait", {2, 2, [](const Words& w) { return kernel::sem_trywait(semaphore(w[1])); }}},
        {"timedwait", {3, 4, [](const Words& w) { return kernel::sem_timedwait(semaphore(w[1]), time_of(w, 2)); }}},
        {"post", {2, 2, [](const Words& w) { return kernel::sem_post(semaphore(w[1])); }}},
        {"await",
         {3, 5,
          [](const Words& w) {
              return w.size() > 3 ? kernel::cond_timedwait(condition(w[1]), mutex(w[2]), time_of(w, 3))
                                  : kernel::cond_wait(condition(w[1]), mutex(w[2]));
          }}},
        {"signal", {2, 2, [](const Words& w) { return kernel::cond_signal(condition(w[1])); }}},
        {"broadcast", {2, 2, [](const Words& w) { return kernel::cond_broadcast(condition(w[1])); }}},
        {"kill", {2, 2, [](const Words& w) { return kernel::task_kill(task(w[1])); }}},
        {"activate", {2, 2, [](const Words& w) { return kernel::task_activate(task(w[1])); }}},
        {"suspend", {2, 2, [](const Words& w) { return kernel::task_suspend(task(w[1])); }}},
        {"resume", {2, 2, [](const Words& w) { return kernel::task_resume(task(w[1])); }}},
        {"deadline", {3, 4, [](const Words& w) { return kernel::task_set_deadline(task(w[1]), time_of(w, 2)); }}},
        {"raise",
         {3, 3,
          [](const Words& w) { return kernel::signal_raise(task(w[1]), static_cast<std::uint8_t>(number(w[2]))); }}},
    };
    return all;
}

// Returns the steps that have none.
const std::map<std::string, Action<void>>& plain_actions() {
    static const std::map<std::string, Action<void>> all{
        {"end", {1, 1, [](const Words&) { kernel::task_endcycle(); }}},
        {"sleep", {1, 1, [](const Words&) { kernel::task_sleep(); }}},
        {"delay", {2, 2, [](const Words& w) { kernel::task_delay(ms(number(w[1]))); }}},
        {"until", {2, 2, [](const Words& w) { pause_until(number(w[1])); }}},
        {"note", {2, kAny, [](const Words& w) { note(joined(w, 1)); }}},
        {"stamp", {2, kAny, [](const Words& w) { stamp(joined(w, 1)); }}},
        {"owner", {2, 2, [](const Words& w) { note(made(w[1]).owner() == nullptr ? "free" : "taken"); }}},
        {"state", {2, 2, [](const Words& w) { note(kernel::mutex_abandoned(made(w[1])) ? "abandoned" : "whole"); }}},
        {"is-ready", {2, 2, &note_readiness}},
        {"ceiling", {2, 2, &note_ceiling}},
        {"contentions", {2, kAny, &note_contentions}},
        {"counts", {3, kAny, &note_counts}},
        {"server-state", {2, 2, &note_server}},
        {"alive", {2, 2, [](const Words& w) { note(kernel::task_info(task(w[1])).ok() ? "lives" : "gone"); }}},
        {"handle", {2, kAny, [](const Words& w) { handle_by(&say, w); }}},
        {"handle-and-work", {2, kAny, [](const Words& w) { handle_by(&say_and_work, w); }}},
    };
    return all;
}

// Returns the action of this name, or null; the wrong number of words is wrong.
template <typename Returned>
const Action<Returned>* action_of(const Words& words, const std::map<std::string, Action<Returned>>& all) {
    const auto found = all.find(words.at(0));
    if (found == all.end()) {
        return nullptr;
    }
    const auto& [least, most, act] = found->second;
    if (words.size() < least || words.size() > most) {
        wrong(words.size() < least ? words.back() : words[most]);
    }
    return &found->second;
}

// Checks a step that begins no task.
void check_action(const std::string& step) {
    const std::size_t asked = after_question(step);
    const Words words = parts(std::string_view(step).substr(asked), ' ');
    if (words.empty()) {
        wrong(step);
    }
    if (action_of(words, actions()) != nullptr || (asked == 0 && action_of(words, plain_actions()) != nullptr)) {
        return;
    }
    if (asked != 0 || words.size() < 2 || words.size() > 3) { // nor is it work
        wrong(words[0]);
    }
    static_cast<void>(time_of(words, 1));
}

void check(const std::string& step) {
    s_step = step;
    if (step.starts_with("at ")) {
        const std::size_t colon = std::min(step.find(':'), step.size());
        static_cast<void>(number(trimmed(step.substr(3, colon - 3))));
        return check(trimmed(body_of(step)));
    }
    if (begins_task(step)) {
        if (after_question(step) != 0 && step.substr(after_question(step)).starts_with("start ")) {
            wrong("start"); // it has no result
        }
        static_cast<void>(options_of(step.substr(after_question(step))));
        static_cast<void>(steps_of(body_of(step)));
        return;
    }
    if (step.starts_with("each ")) {
        return check_action(step.substr(5));
    }
    if (step != "again") {
        check_action(step);
    }
}

Result result_of(const std::string& step) {
    if (begins_task(step)) {
        const auto created = create_of(step);
        return created.ok() ? Result{} : created.error();
    }
    const Words words = parts(step, ' ');
    return actions().at(words.at(0)).act(words);
}

void start_of(const std::string& step) {
    const auto pid = must(create_of(step));
    if (step.starts_with("start ")) {
        must(kernel::task_activate_at(pid, at(0)));
    }
}

// Takes "at 3: STEP".
void at_of(const std::string& step) {
    must(kernel::kern_event_post(at(number(trimmed(step.substr(3, step.find(':') - 3)))), &play_kept,
                                 argument(body_of(step))));
}

// Takes a step that has been checked.
void take(const std::string& step) {
    s_step = step;
    if (step.starts_with("at ")) {
        return at_of(step);
    }
    if (const std::size_t asked = after_question(step); asked != 0) {
        const std::string name = step.substr(0, asked - 2);
        const Result result = result_of(step.substr(asked));
        return note((name.empty() ? "" : name + ": ") + std::string(result_text(result)));
    }
    if (begins_task(step)) {
        return start_of(step);
    }
    const Words words = parts(step, ' ');
    if (const auto* const plain = action_of(words, plain_actions())) {
        return plain->act(words);
    }
    if (const auto* const action = action_of(words, actions())) {
        return must(action->act(words));
    }
    work_ns(kept(words[0]).c_str(), time_of(words, 1).value);
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
