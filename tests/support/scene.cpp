// SPDX-License-Identifier: MIT
#include "tests/support/scene.hpp"

#include "host/text/format.hpp"
#include "host/trace/event.hpp"
#include "lib/wire_numbers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

namespace support {

namespace {

// Is a word for one event, with a letter for each argument: 1: a number or the name of a task, in the first parameter;
// in the second one, 2: the same, t: a time, w: what is waited for.
struct Word {
    std::string_view name;
    std::string_view event;
    std::string_view arguments;
};

constexpr auto kWords = std::to_array<Word>({
    {"switch", "context_switch", "1"},
    {"leave", "task_epilogue", "1"},
    {"due", "job_deadline", "1t"},
    {"begin", "task_begin_cycle", "1"},
    {"complete", "task_end_cycle", "1"},
    {"abort", "job_abort", "1"},
    {"miss", "task_deadline_miss", "1"},
    {"overrun", "task_wcet_violation", "1"},
    {"create", "task_create", "1"},
    {"end", "task_end", "1"},
    {"activate", "task_activate", "1"},
    {"sleep", "task_sleep", "1"},
    {"disable", "task_disable", "1"},
    {"wait", "task_block", "1w"},
    {"wake", "task_unblock", "1w"},
    {"lock", "set_mutex_lock", "12"},
    {"acquire", "set_mutex_acquire", "12"},
    {"unlock", "set_mutex_unlock", "12"},
    {"blocked", "set_mutex_block", "12"},
    {"budget", "server_budget", "12"},
    {"exhaust", "server_exhaust", "2"},
    {"replenish", "server_replenish", "2"},
    {"irq", "interrupt_start", "1"},
    {"iret", "interrupt_end", "1"},
    {"timer", "timer_wakeup_start", ""},
    {"timer_end", "timer_wakeup_end", ""},
    {"cli", "CLI", ""},
    {"sti", "STI", ""},
    {"blackout", "blackout_start", ""},
    {"lost", "blackout_end", "2"},
});

struct Task {
    std::string_view name;
    std::uint16_t context;
};

constexpr auto kTasks = std::to_array<Task>(
    {{"idle", kIdle}, {"low", kLow}, {"middle", kMiddle}, {"high", kHigh}, {"served", kServed}, {"dated", kDated}});

// Reads digits, in groups if wanted: 12, 60'000, 0xFF.
std::optional<std::uint64_t> number_of(std::string_view word) {
    std::string digits(word);
    std::erase(digits, '\'');
    const bool is_hexadecimal = digits.starts_with("0x");
    const char* const first = digits.data() + (is_hexadecimal ? 2 : 0);
    const char* const end = digits.data() + digits.size();
    std::uint64_t value = 0;
    const auto [rest, error] = std::from_chars(first, end, value, is_hexadecimal ? 16 : 10);
    return error == std::errc{} && rest == end ? std::optional(value) : std::nullopt;
}

template <typename Kind>
std::uint16_t kind_of(SceneWords& words) {
    return words.kind([](std::uint8_t number) { return lib::word(static_cast<Kind>(number)); });
}

using Records = std::vector<SceneRecord>;

void add(Records& records, std::string_view event, std::uint16_t par1 = 0, std::uint32_t par2 = 0,
         std::uint64_t after = 0) {
    records.push_back({.after = after, .event = event, .par1 = par1, .par2 = par2});
}

// Reads T -> U from the second word on.
void change(Records& records, std::uint16_t from, SceneWords& words) {
    const std::uint16_t to = words.small();
    const std::uint16_t place = words.takes("for") ? words.small() : to;
    const std::uint64_t after = words.takes("in") ? words.small() : 0;
    add(records, "task_epilogue", from);
    add(records, "task_schedule", to, place);
    add(records, "task_dispatch", to);
    if (from != to) {
        add(records, "context_switch", to, 0, after);
    }
}

std::uint16_t choose(Records& records, SceneWords& words) {
    const std::uint16_t task = words.small();
    add(records, "task_schedule", task, words.takes("for") ? words.small() : task);
    return task;
}

void dispatch(Records& records, SceneWords& words) {
    const std::uint16_t task = choose(records, words);
    if (words.takes("first")) {
        add(records, "task_begin_cycle", task);
    }
    add(records, "task_dispatch", task);
}

void release(Records& records, SceneWords& words, std::uint64_t time) {
    const std::uint16_t task = words.small();
    if (words.takes("by")) {
        if (words.next() != "timer") {
            words.fail("a release is by timer");
        }
        add(records, "task_timer", task);
    }
    add(records, "job_release", task, words.takes("at") ? words.time() : static_cast<std::uint32_t>(time));
    if (words.takes("due")) {
        add(records, "job_deadline", task, words.time());
    }
}

void server(Records& records, SceneWords& words) {
    const auto id = words.small();
    add(records, "server_create", 0, id);
    add(records, "server_kind", kind_of<lib::ServerKind>(words), id);
    if (words.takes("capacity")) {
        add(records, "server_capacity", id, words.time());
    }
    if (words.takes("period")) {
        add(records, "server_period", id, words.time());
    }
    if (!words.takes("for")) {
        words.fail("a server is for a task");
    }
    add(records, "server_attach", id, words.small());
}

// Returns which object of which kind it is, as in the second parameter of a wait.
std::uint32_t awaited(SceneWords& words) {
    const std::uint32_t kind = kind_of<lib::WaitKind>(words);
    return kind << 16 | (words.is_empty() ? 0U : words.small());
}

void one_event(Records& records, std::string_view name, SceneWords& words) {
    const auto* const word = std::ranges::find(kWords, name, &Word::name);
    const tracer::EventRow* const row = tracer::find_event(word != kWords.end() ? word->event : name);
    if (row == nullptr) {
        words.fail(fmt::format("no event has the name {}", name));
    }
    SceneRecord record{.event = row->name};
    if (word == kWords.end()) {
        record.par1 = words.is_empty() ? std::uint16_t{0} : words.small();
        record.par2 = words.is_empty() ? 0U : words.large();
    } else {
        for (const char argument : word->arguments) {
            if (argument == '1') {
                record.par1 = words.small();
            } else if (argument == 't') {
                record.par2 = words.time();
            } else {
                record.par2 = argument == 'w' ? awaited(words) : words.large();
            }
        }
    }
    records.push_back(record);
}

std::vector<std::string> split(std::string_view text, std::string_view separators) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
        if (end != at) {
            parts.emplace_back(text.substr(at, end - at));
        }
        at = end + 1;
    }
    return parts;
}

} // namespace

void SceneWords::fail(std::string_view why) const {
    throw std::invalid_argument(fmt::format("scene: \"{}\": {}", fmt::join(m_words, " "), why));
}

std::string_view SceneWords::next() {
    if (is_empty()) {
        fail("an argument is missing");
    }
    return m_words[m_next++];
}

bool SceneWords::takes(std::string_view word) {
    const bool is_next = !is_empty() && m_words[m_next] == word;
    m_next += is_next ? 1 : 0;
    return is_next;
}

std::uint64_t SceneWords::number(std::uint64_t most) {
    for (const Task& task : kTasks) {
        if (takes(task.name)) {
            return task.context;
        }
    }
    const std::string_view text = next();
    const std::optional<std::uint64_t> value = number_of(text);
    if (!value) {
        fail(fmt::format("{} is no number", text));
    }
    if (*value > most) {
        fail(fmt::format("{} is too large", *value));
    }
    return *value;
}

std::uint16_t SceneWords::kind(std::string_view (*word_of)(std::uint8_t number)) {
    constexpr std::uint8_t kMost = 8;
    for (std::uint8_t number = 0; number <= kMost; ++number) {
        if (const std::string_view word = word_of(number); !word.empty() && takes(word)) {
            return number;
        }
    }
    return small();
}

std::vector<SceneStep> steps_of(std::string_view text) {
    std::vector<SceneStep> steps;
    for (const std::string& group : split(text, ";\n")) {
        bool is_first = true;
        for (const std::string& event : split(group, ",")) {
            SceneStep step{.words = split(event, " ")};
            if (step.words.empty()) {
                continue;
            }
            if (step.words.back().starts_with('@')) {
                const std::optional<std::uint64_t> cpu = number_of(std::string_view(step.words.back()).substr(1));
                if (!cpu) {
                    SceneWords(step.words).fail("a processor has a number");
                }
                step.cpu = static_cast<std::uint16_t>(*cpu);
                step.words.pop_back();
            }
            const bool is_arrow = step.words.size() > 1 && step.words[1] == "->";
            const bool falls = step.words.front().starts_with('!');
            const std::optional<std::uint64_t> time = number_of(std::string_view(step.words.front()).substr(falls));
            if (time && !is_arrow) {
                if (!is_first) {
                    SceneWords(step.words).fail("a time begins a group: a semicolon is missing");
                }
                step.time = time;
                step.falls = falls;
                step.words.erase(step.words.begin());
            }
            is_first = false;
            steps.push_back(std::move(step));
        }
    }
    return steps;
}

std::vector<SceneRecord> records_of(const SceneStep& step, std::uint64_t time) {
    Records records;
    SceneWords words(step.words);
    if (step.words.size() > 1 && step.words[1] == "->") {
        const std::uint16_t from = words.small();
        static_cast<void>(words.next());
        change(records, from, words);
    } else if (const std::string_view word = words.next(); word == "dispatch") {
        dispatch(records, words);
    } else if (word == "choose") {
        choose(records, words);
    } else if (word == "finish") {
        const std::uint16_t task = words.small();
        add(records, "task_epilogue", task);
        add(records, "task_end_cycle", task);
    } else if (word == "release") {
        release(records, words, time);
    } else if (word == "server") {
        server(records, words);
    } else if (word == "protocol") {
        const auto mutex = words.small();
        add(records, "set_mutex_protocol", kind_of<lib::MutexProtocol>(words), mutex);
    } else {
        one_event(records, word, words);
    }
    if (!words.is_empty()) {
        words.fail(fmt::format("{} is too much", words.next()));
    }
    return records;
}

host::trace::Event event_of(std::uint64_t stamp, std::string_view name, std::uint16_t par1, std::uint32_t par2,
                            std::uint16_t cpu) {
    host::trace::Event event;
    host::trace::set_meaning(event, {.code = tracer::find_event(name)->code, .par1 = par1, .par2 = par2});
    event.cpu = cpu;
    event.ticks = {stamp};
    event.time_ns = static_cast<std::int64_t>(stamp);
    event.timed = true;
    return event;
}

std::vector<host::trace::Event> SceneReader::read(std::string_view text) {
    std::vector<host::trace::Event> events;
    for (const SceneStep& step : steps_of(text)) {
        m_now = step.time.value_or(m_now);
        for (const SceneRecord& record : records_of(step, m_now)) {
            host::trace::Event event = event_of(m_now + record.after, record.event, record.par1, record.par2, step.cpu);
            event.record = m_records++;
            std::uint64_t& last = m_last[step.cpu];
            if (event.ticks.value < last && !step.falls) {
                SceneWords(step.words).fail(fmt::format("at {}, after {}", event.ticks.value, last));
            }
            last = event.ticks.value;
            events.push_back(event);
        }
    }
    return events;
}

} // namespace support
