// SPDX-License-Identifier: MIT
// How long the responses of each task were: of the whole fleet and, if they are not too many, of each node.
#pragma once

#include "fleet/database.hpp"
#include "fleet/questions/asked.hpp"
#include "fleet/questions/response_classes.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace host::fleet::report {

struct ResponseClass {
    std::string task;
    std::uint64_t class_ns = 0; // its upper end
    std::uint64_t jobs = 0;
};

struct Responses {
    std::vector<ResponseClass> classes; // of the whole fleet, by task and class_ns
    std::map<std::string, questions::ResponseClasses> of_tasks;
    std::map<std::tuple<std::string, std::string, std::string>, questions::ResponseClasses>
        of_nodes;               // site, node, task
    bool without_nodes = false; // they would be too many
};

// nodes_max: rows that are read for of_nodes.
[[nodiscard]] lib::Result<Responses, StoreFailure> responses_of(const questions::Selection& selection,
                                                                Database& database, std::uint64_t nodes_max = 500'000);

} // namespace host::fleet::report
