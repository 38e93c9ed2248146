// SPDX-License-Identifier: MIT
// Format texts of the scheduler's, the interrupts' and our events. What numbers mean is in the texts, too.
#include "convert/linux/kernelshark_formats.hpp"

#include "convert/linux/tracefs_formats.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/trace/names.hpp"
#include "tracer/record/unit_words.hpp"

#include <algorithm>
#include <string_view>

namespace host::convert::linux::kernelshark {

namespace {

// Names of a unit as __print_symbolic takes them; empty if there are none.
std::string symbols(const trace::Names& names, tracer::Unit unit) {
    std::string out;
    const auto add = [&out](std::uint32_t value, std::string_view name) {
        std::string plain = text::escaped(name);
        std::ranges::replace_if(
            plain, [](char character) { return character == '"' || character == '\\'; }, '_');
        out += fmt::format("{}{{ {}, \"{}\" }}", out.empty() ? "" : ", ", value, plain);
    };
    const auto words = tracer::words_of(unit).words;
    for (std::uint32_t value = 0; value < words.size(); ++value) {
        add(value, words[value].empty() ? "none" : words[value]);
    }
    if (!words.empty()) {
        return out;
    }
    for (const auto& [value, name] : trace::sorted_names(names, unit)) {
        if (!name.empty()) {
            add(value, name);
        }
    }
    return out;
}

std::string text_format(std::string_view name, std::uint32_t id) {
    return tracefs::format(tracefs::plain_name(name), id, {{"__data_loc char[] text", 4, false}},
                           "\"%s\", __get_str(text)");
}

} // namespace

std::vector<std::string> scheduler_formats() {
    return {
        tracefs::format("sched_switch", kSwitchId,
                        {{"char prev_comm[16]", kCommBytes, true},
                         {"pid_t prev_pid", 4, true},
                         {"int prev_prio", 4, true},
                         {"long prev_state", 8, true},
                         {"char next_comm[16]", kCommBytes, true},
                         {"pid_t next_pid", 4, true},
                         {"int next_prio", 4, true}},
                        "\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s ==> next_comm=%s next_pid=%d "
                        "next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->prev_prio, "
                        "__print_symbolic(REC->prev_state, { 0, \"R\" }, { 1, \"S\" }, { 2, \"D\" }, { 16, \"X\" }), "
                        "REC->next_comm, REC->next_pid, REC->next_prio"),
        tracefs::format("sched_waking", kWakingId,
                        {{"char comm[16]", kCommBytes, true},
                         {"pid_t pid", 4, true},
                         {"int prio", 4, true},
                         {"int success", 4, true},
                         {"int target_cpu", 4, true}},
                        "\"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, REC->prio, "
                        "REC->target_cpu"),
        tracefs::format("sched_pi_setprio", kPrioId,
                        {{"char comm[16]", kCommBytes, true},
                         {"pid_t pid", 4, true},
                         {"int oldprio", 4, true},
                         {"int newprio", 4, true}},
                        "\"comm=%s pid=%d oldprio=%d newprio=%d\", REC->comm, REC->pid, REC->oldprio, REC->newprio"),
    };
}

std::vector<std::string> interrupt_formats() {
    return {
        tracefs::format("irq_handler_entry", kIrqEntryId, {{"int irq", 4, true}, {"__data_loc char[] name", 4, false}},
                        "\"irq=%d name=%s\", REC->irq, __get_str(name)"),
        tracefs::format("irq_handler_exit", kIrqExitId, {{"int irq", 4, true}, {"int ret", 4, true}},
                        "\"irq=%d ret=%s\", REC->irq, REC->ret ? \"handled\" : \"unhandled\""),
    };
}

std::vector<std::string> own_formats(const trace::Names& names, const std::map<std::string, std::uint32_t>& found) {
    std::map<tracer::Unit, std::string> known;
    const auto of = [&](tracer::Unit unit) -> std::string_view {
        if (const auto place = known.find(unit); place != known.end()) {
            return place->second;
        }
        return known.emplace(unit, symbols(names, unit)).first->second;
    };
    std::vector<std::string> formats;
    for (const tracer::EventRow& row : tracer::kEvents) {
        const std::uint32_t id = kRecordId + row.code;
        formats.push_back(row.shape == tracer::Shape::simple
                              ? tracefs::record_format(row, id, of(row.par1.unit), of(row.par2.unit))
                              : text_format(row.name, id));
    }
    formats.push_back(text_format("damaged", kDamagedId));
    formats.push_back(text_format("lost", kLostId));
    formats.push_back(text_format("other", kOtherId));
    for (const auto& [name, id] : found) {
        formats.push_back(text_format(name, id));
    }
    return formats;
}

} // namespace host::convert::linux::kernelshark
