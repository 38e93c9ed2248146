// SPDX-License-Identifier: MIT
// The state that the record path and the control operations share, and the state that only the model has (ghosts: they
// never affect a step, they are only compared). Sizes are in slots instead of bytes. A chunk's word is three variables,
// always written in one step where the code writes one word: pos, fl, lap (or turn).

c_decl {
\#include <stdlib.h>
\#include <stdio.h>
    // Constants of one run, from the environment: one compiled model serves every variant and every mutant.
    static int option_of(const char* name, int fallback) {
        const char* text = getenv(name);
        return text ? atoi(text) : fallback;
    }
    static int mutant;
}

// Mutants: the algorithm with one error; variants.py describes each.
#define MUTANT(number) (c_expr { mutant == number })

#define REQUIRE(condition, what) \
    if \
    :: (condition) -> skip \
    :: else -> c_code { printf("BROKEN " what "\n"); }; assert(false) \
    fi

// --- sizes -----------------------------------------------------------------------------------------------------------
#define CHUNKS 3 // plus the null chunk
#define NUL 3
#define NONE 4 // no chunk
#define SLOTS 4
#define EMERGENCY_SLOTS 2
#define LEVELS 4

#define TASK 0
#define CONTROL 1
#define IRQ 2
#define NMI 3

// --- flags of a chunk's word, modes, trigger actions, kinds of event ---------------------------------------------------
#define CLOSED 1
#define RESUME 2
#define REPORTED 4
#define ARMED 8
#define FIRED 16

#define CYC 0
#define JTN 1
#define STOP 2
#define NO_MODE 3

#define ON_START 1
#define ON_STOP 2
#define ON_FREEZE 3

#define K_EMERGENCY 1 // may use the emergency area
#define K_MATCH 2     // matches the trigger
#define TAG_OWN 64    // blackout_start, blackout_end

// What P_COMMIT adds to.
#define TO_MAIN 0
#define TO_EMERGENCY 1
#define TO_DROPPED 2
#define TO_REFUSED 3

// --- chunks (ChunkControl) ---------------------------------------------------------------------------------------------
byte pos[4], fl[4], lap[4];
byte limit[4], size[4], mode[4], next[4];
byte epos[4], estarts[4], elimit[4];
bit eopen[4];
byte ends[4], pending_reported[4], pending_ends[4];
short stop_at[4];
byte lap_base[8], lap_end[8]; // [chunk * 2 + parity]
byte scribbled_lap[4], scribbled_end[4];
bit is_free[4];

// Slots: a record is four 32-bit stores, a slot of a long event two 64-bit ones, so each slot has four quarters. A
// quarter holds the tag of the event that stored it; 0 = garbage.
byte quarter[48];  // [(chunk * SLOTS + slot) * 4 + quarter]
byte equarter[24]; // [(chunk * EMERGENCY_SLOTS + slot) * 4 + quarter]

// --- processor (CpuTrace) ----------------------------------------------------------------------------------------------
byte current, selected = NONE;
bit mask = 1;
byte dropped, refused, reported;
byte action, after;
bit inert; // of the trigger: its keys match no event yet

// --- contexts ----------------------------------------------------------------------------------------------------------
byte top;        // the level that runs
byte pc[4];      // the label of each; IDLE = between events
byte n[4];       // slots of its event
byte kind[4];    // K_...
byte left[4];    // events (operations) that it may still begin
byte to[4] = NONE; // rsi of tracer_switch: the chunk to enter
// Registers. Those of interrupted levels are dead: a rewind clears them.
byte ra[4];      // r8: the chunk
byte wp[4];      // ecx, r9d: position as loaded
byte wf[4];      // ecx: flags as loaded
byte rx[4];      // rax: the next chunk, or an operation's second chunk
byte rv[4];      // a value between load and store
byte ri[4];      // slot of the copy loop; of a single record: its stores so far
byte cm[4];      // TO_...
byte fd[4];      // flags that the commit clears (ARMED) and sets (FIRED)
byte rt[4];      // stamp: the number of commits so far, see README.md
byte back[4];    // where an operation's subroutine returns to

// --- ghosts ------------------------------------------------------------------------------------------------------------
byte commits;                          // records that became visible: the clock
byte ser[12], eser[6];                 // serial within its chunk of the committed record in a slot; 0 = none
byte wr[4], ewr[4];                    // records committed to main and emergency area since start()
bit begins[12];                        // that record begins an event
byte retired;                          // user records of chunks that were emptied
byte finished;                         // slots of events that returned
byte stated;                             // losses that blackout_end records stated
bit gap_open;                          // a blackout_start (or open bit) since the last blackout_end
bit ended[4];                          // an event did not fit into this chunk: nothing may enter any more
bit frozen[4];                         // queued for the exporter
bit quiet;                             // disable() has returned
bit g_armed, g_fired;                  // the trigger, as it should be
bit arming, disarming, g_met;          // arm(), disarm() is in progress; the trigger has fired
byte emptying = NONE;                  // the chunk whose figures start() is resetting
byte g_left;                           // remaining records of its window

byte k;                                // of the loops inside one step; 0 between steps

#define slot(c, s) ((c) * SLOTS + (s))
#define eslot(c, s) ((c) * EMERGENCY_SLOTS + (s))
#define tag(me, i) (1 + (me) + 4 * (left[me] & 1) + 8 * (i))
#define parity(c) ((c) * 2 + (lap[c] & 1))
#define other_parity(c) ((c) * 2 + 1 - (lap[c] & 1))
#define written(c, p) (lap_base[parity(c)] + (p))
