// SPDX-License-Identifier: MIT
// Sums of the verdicts, and the relaxations.
#include "host/analyse/oracle/verdicts.hpp"

#include <utility>

namespace host::analyse::oracle {

void Verdicts::note(const trace::Names& names) {
    m_names_version = names.version();
    for (const auto& [unit, family] : {std::pair(tracer::Unit::mutex, tracer::Family::mutex),
                                       std::pair(tracer::Unit::semaphore, tracer::Family::mutex),
                                       std::pair(tracer::Unit::server, tracer::Family::server)}) {
        if (const auto* const named = names.entries(unit); named != nullptr && !named->empty()) {
            m_expected |= 1U << static_cast<unsigned>(family);
        }
    }
}

void Verdicts::relax(std::string why) {
    if (m_reasons.insert(why).second) { // there may be one for each chunk
        m_relaxations.push_back(std::move(why));
    }
}

namespace {

void add(Tally& sum, const Tally& part) {
    sum.checked += part.checked;
    sum.undecided += part.undecided;
    sum.violations += part.violations;
}

} // namespace

Tally Verdicts::of(Subject subject) const {
    Tally sum;
    for (const RuleRow& row : kRules) {
        if (row.subject == subject) {
            add(sum, of(row.rule));
        }
    }
    return sum;
}

Tally Verdicts::total() const {
    Tally sum;
    for (const Tally& tally : m_tallies) {
        add(sum, tally);
    }
    return sum;
}

} // namespace host::analyse::oracle
