// SPDX-License-Identifier: MIT
// One processor: a task, control operations, an interrupt and an NMI, strictly nested, over the record path. One
// process steps the running level; at every step another level may interrupt. README.md describes the usage and the
// assumptions.
c_decl {
    static int sizes_of[4], kinds_of[4], operations, armed_action, armed_after;
}

#include "mutants.pml"
#include "state.pml"
#include "path.pml"
#include "labels.pml"
#include "step.pml"
#include "check.pml"
#include "control.pml"

// An entry stub: the rewind checks only the immediately interrupted context.
inline enter_level(level) {
    d_step {
        if
        :: in_region(pc[top]) && !MUTANT(NOFIX) && !(MUTANT(NMI_NOFIX) && level == NMI) &&
           !(MUTANT(RANGE_SHORT) && pc[top] == P_COMMIT) && !(MUTANT(RANGE_LATE) && pc[top] <= P_WORD) ->
            k = (MUTANT(TS_OUTSIDE) -> rt[top] : 0);
            if
            :: MUTANT(ACTIVE_OUTSIDE) -> k = ra[top]; forget(top); ra[top] = k; pc[top] = P_WORD
            :: else -> forget(top); pc[top] = restart_of(top); rt[top] = k
            fi;
            forget_garbage()
        :: MUTANT(RANGE_LONG) && pc[top] == P_RET -> forget(top); pc[top] = restart_of(top)
        :: else
        fi;
        top = level;
        k = 0
    }
}

// Slots that a rewound attempt wrote and no reader uses: all garbage is treated as equal.
inline forget_garbage() {
    k = 0;
    do
    :: k < CHUNKS * SLOTS * 4 ->
        if
        :: ser[k / 4] == 0 -> quarter[k] = 0
        :: else
        fi;
        k++
    :: else -> break
    od;
    k = 0;
    do
    :: k < CHUNKS * EMERGENCY_SLOTS * 4 ->
        if
        :: eser[k / 4] == 0 -> equarter[k] = 0
        :: else
        fi;
        k++
    :: else -> break
    od
}

// Which event: slots and kind, as the variant allows. SIZES_x: bit n = n slots; KINDS_x: bit k = kind k.
#define picks(set, bit) (c_expr { (set[now.top] & bit) })
inline begin_event(me) {
    if
    :: picks(sizes_of, 2) -> n[me] = 1;
        if
        :: picks(kinds_of, 1) -> kind[me] = 0
        :: picks(kinds_of, 2) -> kind[me] = K_EMERGENCY
        :: picks(kinds_of, 4) -> kind[me] = K_MATCH
        fi;
        pc[me] = P_MASK
    :: picks(sizes_of, 4) -> n[me] = 2; pc[me] = P_MASK
    :: picks(sizes_of, 8) -> n[me] = 3; pc[me] = P_MASK
    :: picks(sizes_of, 16) -> pc[me] = C_NEXT // next_chunk
    fi
}

inline begin_operation() {
    if
    :: allowed(1) && any_chunk(startable) -> pick_chunk(startable); back[CONTROL] = C_SELECT; pc[CONTROL] = C_START
    :: allowed(2) && any_chunk(startable) ->
        pick_chunk(startable);
        if
        :: rx[CONTROL] != 0 -> ra[CONTROL] = 0
        :: rx[CONTROL] != 1 && size[1] > 0 -> ra[CONTROL] = 1
        :: rx[CONTROL] != 2 && size[2] > 0 -> ra[CONTROL] = 2
        fi;
        back[CONTROL] = C_LINK; pc[CONTROL] = C_START
    :: allowed(4) && mask -> pc[CONTROL] = C_DISABLE
    :: allowed(8) && !mask -> pc[CONTROL] = C_ENABLE
    :: allowed(16) -> pc[CONTROL] = C_NEXT
    :: allowed(32) && any_chunk(freezable) -> pick_chunk(freezable); pc[CONTROL] = C_FREEZE
    :: allowed(64) && any_chunk(releasable) -> pick_chunk(releasable); pc[CONTROL] = C_RELEASE
    :: allowed(128) && (mask || selected != NONE) -> back[CONTROL] = C_ARM; pc[CONTROL] = C_DISARM
    :: allowed(256) -> back[CONTROL] = C_END; pc[CONTROL] = C_DISARM
    :: left[CONTROL] = 0; pc[CONTROL] = IDLE // no further one
    fi
}

inline set_up() {
    d_step {
        c_code {
            mutant = option_of("MUTANT", 0);
            sizes_of[0] = option_of("SIZES_TASK", 6); kinds_of[0] = option_of("KINDS_TASK", 1);
            sizes_of[2] = option_of("SIZES_IRQ", 2); kinds_of[2] = option_of("KINDS_IRQ", 1);
            sizes_of[3] = option_of("SIZES_NMI", 2); kinds_of[3] = option_of("KINDS_NMI", 1);
            now.left[0] = option_of("TASKS", 2); now.left[1] = option_of("CONTROLS", 0);
            now.left[2] = option_of("IRQS", 1); now.left[3] = option_of("NMIS", 1);
            now.size[0] = option_of("SIZE0", 3); now.size[1] = option_of("SIZE1", 2);
            now.size[2] = option_of("SIZE2", 0);
            now.elimit[0] = option_of("EMERGENCY0", 1); now.elimit[1] = option_of("EMERGENCY1", 1);
            now.elimit[2] = option_of("EMERGENCY2", 1);
            now.mode[0] = option_of("MODE0", 0); now.mode[1] = option_of("MODE1", 0); now.mode[2] = option_of("MODE2", 0);
            now.next[0] = option_of("NEXT0", 4); now.next[1] = option_of("NEXT1", 4); now.next[2] = option_of("NEXT2", 4);
            now.is_free[1] = option_of("FREE1", 0); now.is_free[2] = option_of("FREE2", 0);
            operations = option_of("OPS", 0);
            armed_action = option_of("ARM_ACTION", 2); armed_after = option_of("ARM_AFTER", 1);
            now.action = option_of("ACTION", 0); now.after = option_of("AFTER", 0);
            now.g_armed = option_of("ARMED_AT_FIRST", 0);
        };
        mode[NUL] = NO_MODE; next[NUL] = NONE;
        limit[0] = size[0]; limit[1] = size[1]; limit[2] = size[2];
        fl[0] = (g_armed -> ARMED : 0)
    }
}

// One line per step when a counter-example is replayed (./replay.sh).
inline announce_step() {
    printf("STEP %d %d chunk %d current %d | %d/%d/%d %d/%d/%d\n", top, pc[top], ra[top], current, pos[0], fl[0], eopen[0],
           pos[1], fl[1], eopen[1])
}

active proctype machine() {
    set_up();
    do
    // The running level continues, or begins, or returns to the one below.
    :: d_step { pc[top] != IDLE && pc[top] < C_FIRST -> announce_step(); path_step(top); check_all() }
    :: d_step { pc[top] >= C_FIRST -> announce_step(); control_step(top); check_all() }
    :: d_step {
            pc[top] == IDLE && top != TASK ->
            if
            :: top == NMI && pc[IRQ] != IDLE -> top = IRQ
            :: top >= IRQ && !(top == NMI && pc[IRQ] != IDLE) && pc[CONTROL] != IDLE -> top = CONTROL
            :: else -> top = TASK
            fi
        }
    :: atomic { pc[top] == IDLE && top == TASK && left[TASK] > 0 -> begin_event(TASK) }
    // Another level interrupts.
    :: atomic { top < CONTROL && left[CONTROL] > 0 -> enter_level(CONTROL); begin_operation() }
    :: atomic { top < IRQ && left[IRQ] > 0 -> enter_level(IRQ); begin_event(IRQ) }
    :: atomic { top < NMI && left[NMI] > 0 -> enter_level(NMI); begin_event(NMI) }
    :: top == TASK && pc[TASK] == IDLE && left[TASK] == 0 && left[CONTROL] == 0 && left[IRQ] == 0 && left[NMI] == 0 -> break
    od
}
