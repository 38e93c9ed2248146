// SPDX-License-Identifier: MIT
// Two processors, two tasks that are suspended at any instruction and continue on any processor, and an interrupt on
// each processor: the per-processor base is read again after every restart. Only the fast path, a full chunk and the
// jump: the rest is in record_path.pml, and no processor accesses another one's chunk.
//
// Both processors' steps interleave freely. A processor runs one context at a time: a task, or its interrupt on top.

c_decl {
\#include <stdlib.h>
\#include <stdio.h>
    static int mutant, count_of[2], interrupts;
    static int number_of(const char* name, int fallback) {
        const char* text = getenv(name);
        return text ? atoi(text) : fallback;
    }
}
#include "mutants.pml"
#define MUTANT(number) (c_expr { mutant == number })
#define REQUIRE(condition, what) \
    if \
    :: (condition) -> skip \
    :: else -> c_code { printf("BROKEN " what "\n"); }; assert(false) \
    fi

// Contexts: 0, 1 tasks; 2, 3 the interrupt of processor 0, 1.
#define CONTEXTS 4
#define NO_TASK 4
#define SLOTS 3
#define SUSPENDED 2 // no processor

#define IDLE 0
#define BASE 1 // mutants: the base is read here, before the region
#define ACTIVE 2 // the region begins: gs:
#define WORD 3
#define STAMP 4
#define STORE 5 // one of the four stores of a record a step
#define LEAVE 6
#define SWITCH 7
#define COMMIT 8 // the region ends after it
#define RET 9
#define in_region(where) ((where) >= ACTIVE && (where) <= COMMIT)

// Chunks: processor * 2, and its successor.
byte pos[4], current[2], dropped[2];
byte quarter[48]; // [(chunk * SLOTS + slot) * 4 + quarter]
byte clock[2]; // of each processor: the number of its commits
byte finished, committed, k;
byte moves; // how often a task may still be suspended

byte pc[4], place[4], left[4], base[4], chunk[4], word[4], rt[4], part[4], below[4];
byte runs[2] = NO_TASK;

#define tag(me) (me + 1 + 4 * (left[me] & 1))

#define cpu_of(me) (MUTANT(GS_OUTSIDE) -> base[me] : place[me])

inline forget(me) { chunk[me] = 0; word[me] = 0; rt[me] = 0; part[me] = 0 }

// Suspended or interrupted: the stub's rule.
inline rewind(me) {
    if
    :: in_region(pc[me]) && !MUTANT(MIGRATION_NOFIX) -> forget(me); pc[me] = ACTIVE
    :: else
    fi
}

inline step(me) {
    if
    :: pc[me] == BASE -> base[me] = place[me]; pc[me] = ACTIVE
    :: pc[me] == ACTIVE -> chunk[me] = current[cpu_of(me)]; pc[me] = WORD
    :: pc[me] == WORD -> word[me] = pos[chunk[me]]; pc[me] = (word[me] < SLOTS -> STAMP : LEAVE)
    :: pc[me] == STAMP -> rt[me] = clock[place[me]]; pc[me] = STORE // rdtsc: of the processor it runs on
    :: pc[me] == STORE ->
        quarter[(chunk[me] * SLOTS + word[me]) * 4 + part[me]] = tag(me);
        part[me]++;
        pc[me] = (part[me] < 4 -> STORE : COMMIT)
    :: pc[me] == COMMIT ->
        if
        :: word[me] == SLOTS -> dropped[cpu_of(me)]++
        :: else ->
            k = (chunk[me] * SLOTS + word[me]) * 4;
            REQUIRE(chunk[me] / 2 == place[me], "record in the chunk of another processor");
            REQUIRE(quarter[k] == tag(me) && quarter[k + 1] == tag(me) && quarter[k + 2] == tag(me) &&
                    quarter[k + 3] == tag(me), "torn slot");
            REQUIRE(pos[chunk[me]] == word[me], "record lost");
            REQUIRE(rt[me] == clock[place[me]], "stamp order");
            k = 0;
            pos[chunk[me]]++; clock[place[me]]++; committed++
        fi;
        pc[me] = RET
    :: pc[me] == LEAVE -> pc[me] = (chunk[me] % 2 == 0 -> SWITCH : COMMIT) // no successor: the drop
    :: pc[me] == SWITCH -> current[cpu_of(me)] = chunk[me] + 1; forget(me); pc[me] = ACTIVE
    :: pc[me] == RET ->
        finished++; left[me]--; base[me] = 0; forget(me); pc[me] = IDLE;
        REQUIRE(finished <= committed + dropped[0] + dropped[1], "attempts = committed + dropped")
    fi
}

#define begins(me) pc[me] = (MUTANT(GS_OUTSIDE) -> BASE : ACTIVE)

// A processor's turn: its running context steps; its interrupt occurs or returns; a task is suspended or resumed.
inline turn(cpu) {
    if
    :: d_step { runs[cpu] != NO_TASK && pc[runs[cpu]] != IDLE -> step(runs[cpu]) }
    :: d_step { runs[cpu] < 2 && pc[runs[cpu]] == IDLE && left[runs[cpu]] > 0 -> begins(runs[cpu]) }
    :: d_step { runs[cpu] < 2 && left[2 + cpu] > 0 -> // the interrupt, on top of a task
        rewind(runs[cpu]); below[2 + cpu] = runs[cpu]; place[2 + cpu] = cpu; runs[cpu] = 2 + cpu; begins(2 + cpu) }
    :: d_step { runs[cpu] == 2 + cpu && pc[2 + cpu] == IDLE -> runs[cpu] = below[2 + cpu]; below[2 + cpu] = 0 }
    :: d_step { runs[cpu] < 2 && moves > 0 -> // suspended
        moves--; rewind(runs[cpu]); place[runs[cpu]] = SUSPENDED; runs[cpu] = NO_TASK }
    :: d_step { runs[cpu] == NO_TASK && place[0] == SUSPENDED && left[0] > 0 -> place[0] = cpu; runs[cpu] = 0 }
    :: d_step { runs[cpu] == NO_TASK && place[1] == SUSPENDED && left[1] > 0 -> place[1] = cpu; runs[cpu] = 1 }
    :: d_step { runs[cpu] < 2 && pc[runs[cpu]] == IDLE && left[runs[cpu]] == 0 ->
        place[runs[cpu]] = SUSPENDED; runs[cpu] = NO_TASK }
    fi
}

active proctype machine() {
    d_step {
        c_code {
            mutant = number_of("MUTANT", 0);
            now.left[0] = number_of("TASKS", 2); now.left[1] = number_of("TASKS", 2);
            now.left[2] = number_of("IRQS", 1); now.left[3] = number_of("IRQS", 1);
            now.moves = number_of("MOVES", 3);
        };
        current[1] = 2; place[0] = SUSPENDED; place[1] = SUSPENDED
    };
    do
    :: turn(0)
    :: turn(1)
    :: d_step { left[0] == 0 && left[1] == 0 && runs[0] == NO_TASK && runs[1] == NO_TASK ->
        REQUIRE(finished == committed + dropped[0] + dropped[1], "attempts = committed + dropped") }; break
    od
}
