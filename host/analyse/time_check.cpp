// SPDX-License-Identifier: MIT
#include "host/analyse/time_check.hpp"

#include "host/text/format.hpp"
#include "host/trace/event.hpp"

namespace host::analyse {

void TimeCheck::add(const trace::Event& event) {
    if (event.metadata || event.row == nullptr || !event.is_sound()) {
        return;
    }
    Processor& processor = m_processors[event.cpu];
    if (!processor.first) {
        processor.first = event.ticks;
    }
    if (event.after_hole) {
        processor.sum = processor.sum + processor.time.lose().length();
    }
    if (schedule::ProcessorTime::kEndsStretch[event.code]) {
        processor.sum = processor.sum + processor.time.take(event).length();
    } else {
        processor.time.saw(event.ticks);
    }
}

void TimeCheck::finish() {
    for (auto& [cpu, processor] : m_processors.values()) {
        processor.sum = processor.sum + processor.time.finish().length();
        judge(cpu, processor);
    }
}

void TimeCheck::add(const schedule::JobAccount& account, const trace::Event& event) {
    if (!account.is_known() || account.residue == 0) {
        return;
    }
    std::string parts;
    for (std::size_t i = 0; i < schedule::kPartNames.size(); ++i) {
        parts += fmt::format("{}{} {}", i == 0 ? "" : " + ", schedule::kPartNames[i], account.parts[i].value);
    }
    m_sink({.kind = TimeFault::Kind::residue,
            .event = &event,
            .task = account.job.context,
            .text =
                fmt::format("job {} of context {} has a residue of {} ticks: response time {} = {}", account.job.number,
                            account.job.context, account.residue, account.response().value, parts)});
}

void TimeCheck::judge(std::uint16_t cpu, const Processor& processor) {
    const lib::Ticks whole = processor.time.last() - *processor.first;
    if (processor.sum != whole) {
        m_sink(
            {.kind = TimeFault::Kind::utilisation,
             .event = nullptr,
             .task = {},
             .text = fmt::format("the uses of cpu{} take {} ticks of its {}", cpu, processor.sum.value, whole.value)});
    }
}

} // namespace host::analyse
