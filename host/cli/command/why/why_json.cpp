// SPDX-License-Identifier: MIT
// Writes everything that is known of the job, for scripts; docs/json.md describes it.
#include "host/cli/command/why/why_view.hpp"

#include "host/cli/event/event_lines.hpp"
#include "host/text/escape.hpp"
#include "host/text/json_writer.hpp"
#include "host/trace/value_text.hpp"

#include <optional>

namespace host::cli {

namespace {

using analyse::why::Cause;
using analyse::why::Finding;
using analyse::why::JobCase;
using analyse::why::Link;
using schedule::Part;
using text::JsonDocument;

class WhyJson {
  public:
    WhyJson(const WhyView& view, fmt::memory_buffer& out)
        : m_view(view)
        , m_json(out)
        , m_khz(view.trace.facts().clock.khz) {}

    void write() {
        m_json.begin_object();
        m_json.member("version", kJsonVersion);
        m_json.member("clock_is_the_hosts", m_view.trace.facts().clock.mode == tracer::ClockMode::emulated);
        m_json.member("damaged", m_view.damaged);
        m_json.member("jobs", m_view.found.jobs);
        m_json.member("jobs_late", m_view.found.late);
        m_json.member("jobs_unknown", m_view.found.unknown);
        m_json.key("job");
        job(m_view.asked);
        m_json.key("first_of_row");
        m_view.first ? job(*m_view.first) : m_json.value(nullptr);
        m_json.member("row", m_view.first ? std::optional(m_view.found.row) : std::nullopt);
        const auto& diagnosis = m_view.explained().diagnosis;
        const bool named = diagnosis && !diagnosis->findings.empty() &&
                           (!diagnosis->lateness || diagnosis->needed != 0 ||
                            (diagnosis->is_late() && diagnosis->findings.front().cause == Cause::unknown));
        m_json.member("cause", named ? std::optional(analyse::why::cause_name(diagnosis->findings.front().cause))
                                     : std::nullopt);
        m_json.end_object();
        m_json.blank("\n");
    }

  private:
    [[nodiscard]] std::optional<std::uint64_t> ns(lib::Ticks ticks) const {
        return m_khz != 0 ? std::optional(lib::TickRate{m_khz}.to_nanoseconds(ticks).value) : std::nullopt;
    }

    void time(const char* name, lib::Ticks ticks) {
        m_json.member(std::string_view(fmt::format("{}_ticks", name)), ticks.value);
        m_json.member(std::string_view(fmt::format("{}_ns", name)), ns(ticks));
    }

    void moment(const char* name, const std::optional<schedule::Moment>& moment) {
        m_json.member(std::string_view(fmt::format("{}_ticks", name)),
                      moment ? std::optional(moment->ticks.value) : std::nullopt);
        m_json.member(std::string_view(fmt::format("{}_ns", name)), moment ? moment->ns : std::nullopt);
    }

    void place(const char* name, const schedule::RecordPlace& place) {
        m_json.begin_object(std::string_view(name));
        m_json.member("cpu", place.cpu);
        m_json.member("chunk", place.chunk);
        m_json.member("record", place.record);
        m_json.end_object();
    }

    void job(const ExplainedJob& explained) {
        const JobCase& job = explained.job;
        const schedule::Job& facts = job.account.job;
        m_json.begin_object();
        m_json.member("task", text::escaped(job.names->find(tracer::Unit::context, facts.context)));
        m_json.member("context", facts.context);
        m_json.member("job", facts.number);
        m_json.member("missed", facts.is_late());
        m_json.member("known", explained.diagnosis.has_value());
        moment("release", facts.release);
        moment("deadline", job.account.job.deadline);
        moment("end", facts.end);
        place("released_by", job.released);
        if (explained.diagnosis) {
            known(explained);
        }
        m_json.end_object();
    }

    void known(const ExplainedJob& explained) {
        const JobCase& job = explained.job;
        place("ended_by", job.ended);
        time("response", job.account.response());
        m_json.begin_object("parts");
        for (const Part part : {Part::jitter, Part::execution, Part::interference, Part::blocking, Part::suspension}) {
            time(part_name(part).data(), job.account.part(part));
        }
        m_json.end_object();
        m_json.member("residue_ticks", job.account.residue);
        m_json.member("records", job.account.records);
        m_json.member("lateness_ticks", explained.diagnosis->lateness);
        m_json.objects("passages", job.story.passages(), [&](const auto& passage) {
            m_json.member("begin_ticks", passage.begin.value);
            time("length", passage.length());
            place("from", passage.place);
            m_json.array("portions", passage.portions,
                         [&](const auto& portion) { culprit(job, portion.culprit, portion.ticks); });
        });
        m_json.array("shares", job.account.shares,
                     [&](const schedule::Share& share) { culprit(job, share.culprit, share.ticks); });
        m_json.array("findings", explained.diagnosis->findings,
                     [&](const Finding& finding) { add(explained, finding); });
        m_json.member("needed", explained.diagnosis->needed);
        time("together", explained.diagnosis->together);
    }

    void culprit(const JobCase& job, const schedule::Culprit& culprit, lib::Ticks ticks) {
        m_json.begin_object();
        m_json.member("part", part_name(culprit.part));
        m_json.member("by", by_name(culprit.by));
        m_json.member("who", culprit.who != schedule::kUnknownContext ? std::optional(culprit.who) : std::nullopt);
        if (culprit.part == Part::blocking) {
            m_json.member("mutex", culprit.object);
            m_json.member("holder",
                          culprit.holder != schedule::kUnknownContext ? std::optional(culprit.holder) : std::nullopt);
            m_json.member("inversion", inversion_name(culprit.inversion));
        }
        time("time", ticks);
        m_json.member("text", text_of(*job.names, culprit));
        m_json.end_object();
    }

    void add(const ExplainedJob& explained, const Finding& finding) {
        const FindingText text = text_of(m_view, explained, finding);
        m_json.begin_object();
        m_json.member("cause", analyse::why::cause_name(finding.cause));
        time("gain", finding.gain);
        time("took", finding.took);
        m_json.member("who", finding.who != schedule::kUnknownContext ? std::optional(finding.who) : std::nullopt);
        if (finding.chain) {
            m_json.member("mutex", finding.object);
            m_json.objects("chain", *finding.chain, [this](const Link& link) {
                m_json.member("mutex", link.mutex);
                m_json.member("holder",
                              link.holder != schedule::kUnknownContext ? std::optional(link.holder) : std::nullopt);
            });
        }
        m_json.array("tasks", finding.tasks, [&](const std::uint32_t task) { m_json.value(task); });
        if (finding.longest.value != 0) {
            place("from", finding.place);
        } else { // it is at no place
            m_json.member("from", nullptr);
        }
        m_json.member("text", text.what);
        m_json.member("without", text.without);
        m_json.end_object();
    }

    const WhyView& m_view;
    JsonDocument m_json;
    std::uint32_t m_khz;
};

} // namespace

void print_why_json(Output& out, const WhyView& view) {
    WhyJson(view, out.buffer()).write();
    out.flush_if_full();
}

} // namespace host::cli
