// SPDX-License-Identifier: MIT
// The record path, tracer/record/record_path.S, label by label: every store, every rdtsc and every commit is a step of its
// own, and an interrupt may come before each. Loads are in one step with the decision that follows them: on one
// processor any change of the loaded values has interrupted this sequence, and rewinds it.

#define IDLE 0
#define P_MASK 1 // the inline test, outside the region
#define P_EARLY 2 // mutants: their steps before the region
// --- the region [tracer_region_begin, tracer_region_end) ---
#define P_TO 3 // tracer_switch: its restart
#define P_ACTIVE 4 // tracer_record, tracer_record_long: their restart
#define P_WORD 5
#define P_SLOW 6
#define P_RESUME 7
#define P_RESUME_ENDS 8
#define P_RESUME_STAMP 9
#define P_RESUME_STORE 10
#define P_RESUME_COMMIT 11
#define P_RESUME_COMMIT2 12
#define P_REPORTED 13
#define P_REPORTED_ENDS 14
#define P_REPORTED_OPEN 15
#define P_REPORTED_COMMIT 16
#define P_FREEZE 17
#define P_STOP_AT 18
#define P_LATCH 19
#define P_LAP_BASE 20
#define P_LAP_END 21
#define P_LAP_COMMIT 22
#define P_LAP_COMMIT2 23
#define P_LEAVE 24
#define P_ENTER_STOP_AT 25
#define P_ENTER_FLAGS 26
#define P_BLACKOUT_NEXT 27
#define P_MARK 28
#define P_SWITCH 29
#define P_MARK_AFTER 30 // mutant
#define P_DROP 31
#define P_START_STAMP 32
#define P_START_STORE 33
#define P_OPEN 34
#define P_SET_RESUME 35
#define P_SCRIBBLED 36
#define P_STAMP 37
#define P_STORE 38 // a record: one of its four stores a step
#define P_SLOT_LO 39 // a slot of a long event: two stores
#define P_SLOT_HI 40
#define P_COMMIT 41
// --- end of the region ---
#define P_RET 42 // tracer_region_end or tracer_region_exit

#define in_region(where) ((where) >= P_TO && (where) <= P_COMMIT)

// tracer_region_restart identifies the operation by rdi.
#define restart_of(me) (pc[me] >= P_TO && to[me] != NONE -> P_TO : P_ACTIVE)

inline forget(me) {
    ra[me] = 0; wp[me] = 0; wf[me] = 0; rx[me] = 0; rv[me] = 0; ri[me] = 0; cm[me] = 0; fd[me] = 0; rt[me] = 0;
    back[me] = 0
}

// A slot that is being stored is not a record: before a commit it is garbage to a reader.
inline store(c, s, q, value) {
    REQUIRE(!frozen[c], "write after freeze");
    quarter[slot(c, s) * 4 + (q)] = value; ser[slot(c, s)] = 0; begins[slot(c, s)] = 0
}
inline store_emergency(c, s, q, value) {
    equarter[eslot(c, s) * 4 + (q)] = value; eser[eslot(c, s)] = 0
}
#define whole(quarters, s, value) \
    (quarters[(s) * 4] == value && quarters[(s) * 4 + 1] == value && quarters[(s) * 4 + 2] == value && \
     quarters[(s) * 4 + 3] == value)

// A record of the main area becomes visible: `count` slots at `p`, all of event `value0`.
inline committed_main(me, c, p, count, value0) {
    REQUIRE(!quiet, "record after quiescence");
    REQUIRE(!frozen[c], "record after freeze");
    REQUIRE(!ended[c], "prefix not closed");
    REQUIRE(!(fl[c] & CLOSED), "record in a closed chunk");
    REQUIRE(rt[me] == commits, "stamp order");
    k = 0;
    do
    :: k < count ->
        REQUIRE(p + k < size[c], "record outside the area");
        REQUIRE(whole(quarter, slot(c, p + k), value0 + 8 * k), "torn slot");
        wr[c]++;
        ser[slot(c, p + k)] = wr[c];
        begins[slot(c, p + k)] = (k == 0);
        k++
    :: else -> break
    od;
    commits++;
    if
    :: g_fired ->
        REQUIRE(g_left >= count, "trigger window too long");
        g_left = g_left - count
    :: else
    fi
}

inline committed_emergency(me, c, p, value) {
    REQUIRE(!quiet, "record after quiescence");
    REQUIRE(!frozen[c], "record after freeze");
    REQUIRE(rt[me] == commits, "stamp order");
    REQUIRE(p < elimit[c], "record outside the area");
    REQUIRE(whole(equarter, eslot(c, p), value), "torn slot");
    ewr[c]++;
    eser[eslot(c, p)] = ewr[c];
    commits++
}

inline begin_store(me) { // .Lwrite, .Lstore_any
    if
    :: n[me] > 1 && !MUTANT(NO_SCRIBBLED) && !MUTANT(SCRIBBLED_LATE) -> pc[me] = P_SCRIBBLED
    :: else -> pc[me] = P_STAMP
    fi
}

inline slow(me) { // .Lslow: only loads
    if
    :: mode[ra[me]] == NO_MODE -> cm[me] = TO_REFUSED; pc[me] = P_COMMIT
    :: else ->
        if
        :: wf[me] & REPORTED -> pc[me] = P_REPORTED
        :: !(wf[me] & REPORTED) && (wf[me] & FIRED) &&
           written(ra[me], wp[me]) + n[me] > stop_at[ra[me]] + (MUTANT(WINDOW_PLUS_ONE) -> 1 : 0) ->
            if
            :: action == ON_FREEZE -> pc[me] = P_FREEZE
            :: else -> cm[me] = TO_REFUSED; pc[me] = P_COMMIT
            fi
        :: else -> // .Lin_window
            if
            :: (wf[me] & CLOSED) && !MUTANT(CLOSED_UNSEEN) -> pc[me] = P_LEAVE
            :: else ->
                if
                :: wp[me] + n[me] > limit[ra[me]] -> // .Lfull
                    if
                    :: mode[ra[me]] == CYC ->
                        if
                        :: n[me] > limit[ra[me]] -> pc[me] = P_DROP
                        :: else -> pc[me] = P_LAP_BASE
                        fi
                    :: else ->
                        if
                        :: wp[me] < limit[ra[me]] && !MUTANT(NO_LATCH) -> pc[me] = P_LATCH
                        :: else ->
                            if
                            :: mode[ra[me]] == STOP -> pc[me] = P_DROP
                            :: else -> pc[me] = P_LEAVE
                            fi
                        fi
                    fi
                :: else ->
                    if
                    :: wf[me] & RESUME -> pc[me] = P_RESUME
                    :: !(wf[me] & RESUME) && (wf[me] & ARMED) -> // .Larmed
                        if
                        :: ((kind[me] & K_MATCH) || action == 0) && !inert -> // without a trigger the masks are 0
                            fd[me] = ARMED;
                            if
                            :: action == ON_START -> begin_store(me)
                            :: else -> fd[me] = ARMED | FIRED; pc[me] = P_STOP_AT
                            fi
                        :: else ->
                            if
                            :: action == ON_START -> cm[me] = TO_REFUSED; pc[me] = P_COMMIT
                            :: else -> begin_store(me)
                            fi
                        fi
                    :: else -> begin_store(me)
                    fi
                fi
            fi
        fi
    fi
}

inline enter(me) { // .Lenter: flags of an earlier trigger are cleared, too
    if
    :: (wf[me] | (MUTANT(STALE_TRIGGER) -> 0 : fl[rx[me]])) & (ARMED | FIRED) -> pc[me] = P_ENTER_STOP_AT
    :: else -> pc[me] = P_BLACKOUT_NEXT
    fi
}

inline leave(me) { // .Lleave: only loads
    rx[me] = next[ra[me]];
    if
    :: rx[me] == NONE -> rx[me] = 0; pc[me] = P_DROP
    :: else ->
        if
        :: (fl[rx[me]] & CLOSED) && !MUTANT(ENTER_CLOSED) -> rx[me] = 0; pc[me] = P_DROP
        :: else ->
            if
            :: mode[rx[me]] != CYC && pos[rx[me]] >= limit[rx[me]] -> rx[me] = 0; pc[me] = P_DROP
            :: else -> enter(me)
            fi
        fi
    fi
}

inline drop(me) { // .Ldrop: only loads
    if
    :: (kind[me] & K_EMERGENCY) && epos[ra[me]] < elimit[ra[me]] ->
        wp[me] = epos[ra[me]]; cm[me] = TO_EMERGENCY; pc[me] = P_STAMP
    :: else -> // .Lordinary
        if
        :: !eopen[ra[me]] && !MUTANT(NO_OPEN) ->
            wp[me] = epos[ra[me]];
            if
            :: epos[ra[me]] < elimit[ra[me]] -> pc[me] = P_START_STAMP
            :: else -> pc[me] = P_OPEN
            fi
        :: else -> // .Lopened
            if
            :: mode[ra[me]] == CYC && !(wf[me] & (RESUME | CLOSED)) && !MUTANT(NO_CYCLIC_RESUME) ->
                pc[me] = P_SET_RESUME
            :: else -> cm[me] = TO_DROPPED; pc[me] = P_COMMIT
            fi
        fi
    fi
}

// The commit: add qword ptr [r8], 16 or r9, the last instruction of the attempt.
inline commit(me) {
    if
    :: cm[me] == TO_MAIN ->
        if
        :: mode[ra[me]] != NO_MODE -> committed_main(me, ra[me], wp[me], n[me], tag(me, 0))
        :: else
        fi;
        pos[ra[me]] = pos[ra[me]] + n[me];
        REQUIRE(stated == dropped, "gap not ended by blackout_end before the next record");
        REQUIRE(!(fd[me] & FIRED) || !(fl[ra[me]] & FIRED), "fired twice");
        REQUIRE(!fd[me] || (fl[ra[me]] & ARMED), "fired unarmed");
        if
        :: fd[me] & ARMED ->
            REQUIRE(g_armed || arming || disarming, "fired without a trigger");
            g_armed = 0; g_met = !disarming; g_fired = !disarming && (fd[me] & FIRED); g_left = (g_fired -> after : 0)
        :: else ->
            REQUIRE(!g_armed || !(kind[me] & K_MATCH), "trigger missed");
            REQUIRE(!g_armed || action != ON_START, "record before the trigger's start")
        fi;
        fl[ra[me]] = (fl[ra[me]] & ~(fd[me] & ARMED)) | (fd[me] & FIRED)
    :: cm[me] == TO_EMERGENCY ->
        committed_emergency(me, ra[me], wp[me], tag(me, 0));
        epos[ra[me]]++
    :: cm[me] == TO_DROPPED ->
        REQUIRE(gap_open, "gap not begun before the loss");
        dropped = dropped + n[me];
        ended[ra[me]] = (mode[ra[me]] != CYC)
    :: cm[me] == TO_REFUSED ->
        REQUIRE(current == NUL || (g_fired && g_left < n[me]) || (g_armed && action == ON_START) || arming || disarming,
                "refused without a reason");
        refused = refused + n[me]
    fi
}
