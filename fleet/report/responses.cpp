// SPDX-License-Identifier: MIT
#include "fleet/report/responses.hpp"

#include "fleet/questions/cells.hpp"
#include "fleet/questions/selection.hpp"
#include "host/text/format.hpp"

namespace host::fleet::report {

namespace {

using Done = lib::Result<void, StoreFailure>;

Done read_classes(Responses& responses, const std::string& where, Database& database) {
    const auto answer = database.query(fmt::format("SELECT task, class_ns, sum(jobs) AS n_jobs FROM response_classes{} "
                                                   "GROUP BY task, class_ns ORDER BY task, class_ns",
                                                   where));
    if (!answer) {
        return answer.error();
    }
    for (const std::vector<Value>& row : answer.value().rows) {
        questions::Cells cells(row);
        ResponseClass& one = responses.classes.emplace_back();
        one.task = cells.text();
        one.class_ns = cells.count();
        one.jobs = cells.count();
        responses.of_tasks[one.task].add(one.class_ns, one.jobs);
    }
    return {};
}

Done read_nodes(Responses& responses, const std::string& where, std::uint64_t rows_max, Database& database) {
    const std::string groups = fmt::format("SELECT site, node, task, class_ns, sum(jobs) AS n_jobs FROM "
                                           "response_classes{} GROUP BY site, node, task, class_ns",
                                           where);
    const auto number = database.query(fmt::format("SELECT count(*) AS n FROM ({})", groups));
    if (!number) {
        return number.error();
    }
    responses.without_nodes =
        !number.value().rows.empty() && questions::Cells(number.value().rows.front()).count() > rows_max;
    if (responses.without_nodes) {
        return {};
    }
    const auto answer = database.query(groups);
    if (!answer) {
        return answer.error();
    }
    for (const std::vector<Value>& row : answer.value().rows) {
        questions::Cells cells(row);
        std::string site = cells.text();
        std::string node = cells.text();
        std::string task = cells.text();
        const std::uint64_t class_ns = cells.count();
        responses.of_nodes[{std::move(site), std::move(node), std::move(task)}].add(class_ns, cells.count());
    }
    return {};
}

} // namespace

lib::Result<Responses, StoreFailure> responses_of(const questions::Selection& selection, Database& database,
                                                  std::uint64_t nodes_max) {
    const std::string where = questions::where(selection, database, {.has_task = true});
    Responses responses;
    if (auto read = read_classes(responses, where, database); !read) {
        return read.error();
    }
    if (auto read = read_nodes(responses, where, nodes_max, database); !read) {
        return read.error();
    }
    return responses;
}

} // namespace host::fleet::report
