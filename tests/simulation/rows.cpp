// SPDX-License-Identifier: MIT
#include "tests/simulation/rows.hpp"

namespace simulation {

const std::array<Row, 20> rows = {{
    {"F1", "loss of 0, 1, 10, 30 and 50 % in both directions", &loss, &judge_loss},
    {"F2", "a burst of 200 lost packets", &burst},
    {"F3", "each packet twice to ten times", &duplicates},
    {"F4", "reordering by more than a window, delays beyond the timeout", &reordering, &judge_reordering},
    {"F5", "flipped bits, truncation, trailing bytes", &damage},
    {"F6", "no answer for 10 s", &silence},
    {"F7", "the collector is killed at any message and starts again", &restarts},
    {"F8", "killed between write and sync; its directory removed", &lost_tail},
    {"F9", "no collector at the start, or ever", &absent},
    {"F10", "the guest is reset", &guest_resets},
    {"F11", "two guests with one session number; a forged HELLO", &two_guests},
    {"F12", "answers about the future, the past, another session", &nonsense_answers},
    {"F13", "the disk is full for 60 s", &disk_full},
    {"F14", "packets of an earlier session", &replay},
    {"F15", "FIN or FIN_ACK is lost", &lost_ends},
    {"F16", "no answer to ARP, for a time or ever", &no_address},
    {"F17", "the network card stops for a time", &card_stops},
    {"F19", "a machine opens sessions, fills windows and forges packets as fast as it can", &flood},
    {"F20", "the path carries no packet of more than 400 bytes", &short_path},
    {"F18", "any of these, then none: the transfer ends within 5 s", &liveness},
}};

} // namespace simulation
