// SPDX-License-Identifier: MIT
// Ends every case of the test kernel, whether it recorded by itself or not: when the run level has exited, so after the
// last record of the run, the tracer's account is compared with
//   - the attempts, counted before the tracer saw them (tests/support/attempts/):
//       attempts = committed + dropped + refused;
//   - what is really in the chunks, slot by slot:
//       records found = committed + tracer_made - overwritten, none of them empty, stamps never falling within an area;
//   - the losses that are recorded in them: the sum of all blackout_end found, and of what an open blackout has still
//   to
//     record, is `dropped` (at most `dropped` if records were overwritten: a blackout_end may be among them).
// A case that fails here ends in a panic that names the sums.
#pragma once

#include "kernel/run/app.hpp"

namespace guest {

// Has the account checked at the end of this run. A case must call it first.
void check_account_at_exit();

// Usage: {"t_name", "what it shows", &guest::checked<&body>, false}
template <int (*Body)(const kernel::AppArguments&)>
int checked(const kernel::AppArguments& arguments) {
    check_account_at_exit();
    return Body(arguments);
}

} // namespace guest
