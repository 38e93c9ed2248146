// SPDX-License-Identifier: MIT
#include "convert/command/full_program.hpp"

namespace host::cli {

void add_full(CommandLine& line, Context context, const std::shared_ptr<Publishing>& publishing) {
    add_program_options(line, context);
    add_record(line, context, publishing);
    add_print(line, context);
    add_attach(line, context);
    add_top(line, context);
    add_schedule(line, context);
    add_diff(line, context);
    add_summary(line, context);
    add_why(line, context);
    add_goto(line, context);
    add_verify(line, context);
    add_doctor(line, context);
    add_check(line, context, outcomes_of);
    add_report(line, context);
    add_convert(line, context);
    add_adopt(line, context);
    add_count(line, context);
    add_pack(line, context);
    add_unpack(line, context);
    add_sql(line, context);
    add_events(line, context);
    add_dissector(line, context);
    add_completion(line, context);
    add_manual(line, context);
}

} // namespace host::cli
