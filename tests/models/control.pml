// SPDX-License-Identifier: MIT
// The control operations, tracer/chunk/control.cpp, chunk_store.cpp and exporter.cpp (request_for), as a
// context of their own that interrupts the task anywhere and is interrupted by interrupt and NMI at every step. It is
// not restartable. next_chunk may also be called by the other contexts.


inline control_step(me) {
    if
    // --- start: an empty, open chunk --------------------------------------------------------------------------------
    :: pc[me] == C_START -> pc[me] = ((current == rx[me]) -> C_END : C_START_CLOSE)
    :: pc[me] == C_START_CLOSE ->
        fl[rx[me]] = (MUTANT(START_OPEN) -> fl[rx[me]] : fl[rx[me]] | CLOSED);
        pc[me] = C_START_ACTIVE
    :: pc[me] == C_START_ACTIVE -> pc[me] = ((current == rx[me]) -> C_UNDO : C_START_EMPTY)
    // A record of an interrupt has entered it meanwhile, and others may have been dropped: this blackout ends.
    :: pc[me] == C_UNDO ->
        fl[rx[me]] = fl[rx[me]] | (MUTANT(UNDO_SILENT) -> 0 : RESUME);
        pc[me] = C_UNDO_OPEN
    :: pc[me] == C_UNDO_OPEN -> ended[rx[me]] = 0; fl[rx[me]] = fl[rx[me]] & ~CLOSED; pc[me] = C_END
    :: pc[me] == C_START_EMPTY -> // several stores; no context can be in it, or enter it
        emptying = rx[me];
        retired = retired + user_records(rx[me]);
        limit[rx[me]] = size[rx[me]];
        epos[rx[me]] = 0; estarts[rx[me]] = 0; eopen[rx[me]] = 0; ends[rx[me]] = 0; stop_at[rx[me]] = 0;
        lap_base[rx[me] * 2] = 0; lap_base[rx[me] * 2 + 1] = 0; lap_end[rx[me] * 2] = 0; lap_end[rx[me] * 2 + 1] = 0;
        scribbled_lap[rx[me]] = 0; scribbled_end[rx[me]] = 0;
        is_free[rx[me]] = 0;
        wr[rx[me]] = 0; ewr[rx[me]] = 0; ended[rx[me]] = 0;
        k = 0;
        do
        :: k < SLOTS -> ser[slot(rx[me], k)] = 0; begins[slot(rx[me], k)] = 0; k++
        :: else -> break
        od;
        k = 0;
        do
        :: k < EMERGENCY_SLOTS -> eser[eslot(rx[me], k)] = 0; k++
        :: else -> break
        od;
        forget_garbage();
        pc[me] = C_START_OPEN
    :: pc[me] == C_START_OPEN ->
        pos[rx[me]] = 0; lap[rx[me]] = 0; fl[rx[me]] = 0; pending_reported[rx[me]] = 0; pending_ends[rx[me]] = 0;
        emptying = NONE;
        pc[me] = back[me]

    // --- select -----------------------------------------------------------------------------------------------------
    :: pc[me] == C_SELECT ->
        if
        :: mask != 0 && !MUTANT(SELECT_APART) -> to[me] = rx[me]; pc[me] = P_TO
        :: mask != 0 && MUTANT(SELECT_APART) -> ra[me] = current; back[me] = C_SELECT_EXCHANGE; pc[me] = C_TRIGGER
        :: else -> ra[me] = (selected == NONE -> NUL : selected); back[me] = C_SELECT_OFF; pc[me] = C_TRIGGER
        fi
    // Mutant SELECT_APART: the exchange, and the steps before and after it.
    :: pc[me] == C_SELECT_EXCHANGE ->
        ra[me] = current; current = rx[me];
        back[me] = C_SELECT_TRIGGER;
        pc[me] = C_SETTLE
    :: pc[me] == C_SELECT_TRIGGER -> back[me] = C_SELECT_BLACKOUT; pc[me] = C_TRIGGER
    :: pc[me] == C_SELECT_BLACKOUT -> back[me] = C_END; pc[me] = C_BLACKOUT
    :: pc[me] == C_SELECT_OFF -> back[me] = C_SELECT_OFF2; pc[me] = C_BLACKOUT
    :: pc[me] == C_SELECT_OFF2 -> selected = rx[me]; pc[me] = C_END

    // --- hand_over_trigger ------------------------------------------------------------------------------------------
    :: pc[me] == C_TRIGGER ->
        wf[me] = fl[ra[me]]; wp[me] = pos[ra[me]]; rv[me] = parity(ra[me]);
        if
        :: wf[me] & FIRED -> pc[me] = C_TRIGGER_DISARM
        :: !(wf[me] & FIRED) && (wf[me] & ARMED) && !(fl[rx[me]] & FIRED) -> pc[me] = C_TRIGGER_ARM
        :: else -> pc[me] = back[me]
        fi
    :: pc[me] == C_TRIGGER_DISARM -> fl[rx[me]] = fl[rx[me]] & ~ARMED; pc[me] = C_TRIGGER_STOP_AT
    :: pc[me] == C_TRIGGER_STOP_AT ->
        stop_at[rx[me]] = written(rx[me], pos[rx[me]]) + stop_at[ra[me]] - (lap_base[rv[me]] + wp[me]);
        pc[me] = C_TRIGGER_FIRE
    :: pc[me] == C_TRIGGER_FIRE -> fl[rx[me]] = fl[rx[me]] | FIRED; pc[me] = back[me]
    :: pc[me] == C_TRIGGER_ARM -> fl[rx[me]] = fl[rx[me]] | ARMED; pc[me] = back[me]

    // --- settle -----------------------------------------------------------------------------------------------------
    :: pc[me] == C_SETTLE ->
        if
        :: (fl[ra[me]] & REPORTED) && !MUTANT(NO_SETTLE) ->
            reported = pending_reported[ra[me]]; pc[me] = C_SETTLE_ENDS
        :: else -> pc[me] = back[me]
        fi
    :: pc[me] == C_SETTLE_ENDS -> ends[ra[me]] = pending_ends[ra[me]]; pc[me] = C_SETTLE_OPEN
    :: pc[me] == C_SETTLE_OPEN -> eopen[ra[me]] = 0; pc[me] = C_SETTLE_FLAG
    :: pc[me] == C_SETTLE_FLAG -> fl[ra[me]] = fl[ra[me]] & ~REPORTED; pc[me] = back[me]

    // --- hand_over_blackout -----------------------------------------------------------------------------------------
    :: pc[me] == C_BLACKOUT ->
        if
        :: (eopen[ra[me]] || (fl[ra[me]] & RESUME) || dropped != reported) && !MUTANT(SELECT_NO_MARK) ->
            pc[me] = C_BLACKOUT_MARK
        :: else -> pc[me] = back[me]
        fi
    :: pc[me] == C_BLACKOUT_MARK -> fl[rx[me]] = fl[rx[me]] | RESUME; pc[me] = back[me]

    // --- disable, enable --------------------------------------------------------------------------------------------
    :: pc[me] == C_DISABLE -> mask = 0; pc[me] = (MUTANT(MASK_ONLY) -> C_DISABLE_SELECTED : C_DISABLE_EXCHANGE)
    :: pc[me] == C_DISABLE_EXCHANGE ->
        ra[me] = current; current = NUL;
        back[me] = C_DISABLE_SELECTED;
        pc[me] = (ra[me] == NUL -> C_END : C_SETTLE)
    :: pc[me] == C_DISABLE_SELECTED -> selected = ra[me]; quiet = 1; pc[me] = C_END
    :: pc[me] == C_ENABLE ->
        if
        :: mask == 0 && selected != NONE -> current = selected; quiet = 0; pc[me] = C_ENABLE_SELECTED
        :: else -> pc[me] = C_END
        fi
    :: pc[me] == C_ENABLE_SELECTED -> selected = NONE; pc[me] = C_ENABLE_MASK
    :: pc[me] == C_ENABLE_MASK -> mask = 1; pc[me] = C_END

    // --- link, next_chunk -------------------------------------------------------------------------------------------
    :: pc[me] == C_LINK -> next[ra[me]] = rx[me]; pc[me] = C_END
    :: pc[me] == C_NEXT ->
        ra[me] = current;
        if
        :: current == NUL || next[current] == NONE -> refused++; finished++; pc[me] = C_END
        :: else -> pc[me] = C_NEXT_CLOSE
        fi
    :: pc[me] == C_NEXT_CLOSE -> fl[ra[me]] = fl[ra[me]] | CLOSED; pc[me] = C_END

    // --- exporter ---------------------------------------------------------------------------------------------------
    :: pc[me] == C_FREEZE -> pc[me] = ((current == rx[me]) -> C_END : C_FREEZE_CLOSE)
    :: pc[me] == C_FREEZE_CLOSE ->
        wf[me] = fl[rx[me]];
        fl[rx[me]] = (MUTANT(FREEZE_UNCLOSED) -> fl[rx[me]] : fl[rx[me]] | CLOSED);
        pc[me] = C_FREEZE_ACTIVE
    :: pc[me] == C_FREEZE_ACTIVE ->
        if
        :: current == rx[me] -> pc[me] = (wf[me] & CLOSED -> C_END : C_UNDO)
        :: else ->
            selected = (selected == rx[me] -> NONE : selected);
            frozen[rx[me]] = 1; pc[me] = C_END
        fi
    :: pc[me] == C_RELEASE ->
        if
        :: current == rx[me] -> skip
        :: else -> frozen[rx[me]] = 0; is_free[rx[me]] = 1; selected = (selected == rx[me] -> NONE : selected)
        fi;
        pc[me] = C_END

    // --- triggers ---------------------------------------------------------------------------------------------------
    :: pc[me] == C_DISARM -> // first where recording is, so that the trigger is not handed on
        disarming = 1; g_armed = 0; g_fired = 0; g_met = 0; g_left = 0;
        ra[me] = (mask -> current : selected);
        pc[me] = ((ra[me] == NONE || MUTANT(DISARM_ONCE)) -> C_DISARM_ALL : C_DISARM_CURRENT)
    :: pc[me] == C_DISARM_CURRENT ->
        fl[ra[me]] = fl[ra[me]] & ~(ARMED | FIRED);
        pc[me] = C_DISARM_AGAIN
    :: pc[me] == C_DISARM_AGAIN -> pc[me] = ((mask && ra[me] != current) -> C_DISARM : C_DISARM_ALL)
    :: pc[me] == C_DISARM_ALL ->
        fl[ri[me]] = fl[ri[me]] & ~(ARMED | FIRED);
        ri[me]++;
        pc[me] = (ri[me] == CHUNKS -> C_DISARM_TRIGGER : C_DISARM_ALL)
    :: pc[me] == C_DISARM_TRIGGER -> disarming = 0; action = 0; after = 0; pc[me] = back[me]
    :: pc[me] == C_ARM -> // a trigger that no event matches
        arming = 1; inert = !MUTANT(ARM_ALIVE);
        c_code { now.action = armed_action; now.after = armed_after; };
        pc[me] = C_ARM_WATCH
    :: pc[me] == C_ARM_WATCH -> ra[me] = (mask -> current : selected); pc[me] = C_ARM_SET
    :: pc[me] == C_ARM_SET -> fl[ra[me]] = fl[ra[me]] | ARMED; pc[me] = (mask -> C_ARM_AGAIN : C_ARM_ALIVE)
    :: pc[me] == C_ARM_AGAIN -> pc[me] = (ra[me] == current -> C_ARM_ALIVE : C_ARM_WATCH)
    :: pc[me] == C_ARM_ALIVE -> inert = 0; arming = 0; g_armed = !g_met; pc[me] = C_END // key2, one store

    :: pc[me] == C_END ->
        n[me] = 0; kind[me] = 0; to[me] = NONE; left[me]--;
        forget(me);
        pc[me] = IDLE
    fi
}

// Which operation comes next: any of those the variant allows, on any chunk that meets its precondition.
#define allowed(bit) (c_expr { (operations & bit) })

#define pick_chunk(condition_of) \
    if \
    :: condition_of(0) -> rx[CONTROL] = 0 \
    :: condition_of(1) -> rx[CONTROL] = 1 \
    :: condition_of(2) -> rx[CONTROL] = 2 \
    fi
#define startable(c) (is_free[c] && size[c] > 0)
#define freezable(c) (!is_free[c] && !frozen[c] && size[c] > 0)
#define releasable(c) (!is_free[c] && size[c] > 0)
#define any_chunk(condition_of) (condition_of(0) || condition_of(1) || condition_of(2))
