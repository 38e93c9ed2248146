// SPDX-License-Identifier: MIT
#include "host/analyse/task_metrics.hpp"

#include "host/schedule/nearest_rank.hpp"

#include <span>

namespace host::analyse {

void TaskMetrics::add(const schedule::JobAccount& account) {
    const schedule::Job& job = account.job;
    if (!job.end || job.end->ticks < job.release.ticks || account.unaccounted == schedule::Unaccounted::early) {
        return;
    }
    const lib::Ticks took = account.response();
    response.add(took);
    m_responses.push_back(took.value);
    if (m_job && *m_job + 1 == job.number) {
        m_relative = std::max(m_relative, took < m_latest ? m_latest - took : took - m_latest);
    }
    m_job = job.number;
    m_latest = took;
    if (job.start && job.start->ticks >= job.release.ticks) {
        start.add(job.start->ticks - job.release.ticks);
    }
    if (!account.is_known()) {
        return;
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
        parts[i].add(account.parts[i]);
    }
    gross.add(account.gross);
    records.add({account.records});
    for (const schedule::Share& share : account.shares) {
        if (share.culprit.part == schedule::Part::blocking) {
            lib::Ticks& sum = blocking_by[static_cast<std::size_t>(share.culprit.inversion)];
            sum = sum + share.ticks;
        }
    }
    dispatches += account.dispatches;
    preemptions += account.preemptions;
    migrations += account.migrations;
}

lib::Ticks TaskMetrics::percentile(std::uint32_t percent) const {
    return {m_responses.empty() ? 0 : schedule::percentile(std::span(m_responses), percent)};
}

} // namespace host::analyse
