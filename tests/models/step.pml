// SPDX-License-Identifier: MIT
// One step of the record path at level `me`. The labels are those of path.pml.

inline stored(me) { // the event is in its slots
    if
    :: MUTANT(FIRE_APART) && fd[me] != 0 -> fl[ra[me]] = (fl[ra[me]] & ~ARMED) | (fd[me] & FIRED); fd[me] = 0
    :: else
    fi;
    pc[me] = P_COMMIT
}

inline path_step(me) {
    if
    :: pc[me] == P_MASK -> // not an attempt unless it passes
        if
        :: mask == 0 -> n[me] = 0; kind[me] = 0; left[me]--; pc[me] = IDLE
        :: else -> pc[me] = (MUTANT(TS_OUTSIDE) || MUTANT(ACTIVE_OUTSIDE) -> P_EARLY : P_ACTIVE)
        fi
    :: pc[me] == P_EARLY -> rt[me] = commits; ra[me] = current; pc[me] = (MUTANT(ACTIVE_OUTSIDE) -> P_WORD : P_ACTIVE)
    :: pc[me] == P_ACTIVE -> ra[me] = current; pc[me] = P_WORD
    :: pc[me] == P_WORD ->
        wp[me] = pos[ra[me]]; wf[me] = fl[ra[me]];
        if
        :: wf[me] == 0 && wp[me] + n[me] <= limit[ra[me]] -> begin_store(me)
        :: else -> pc[me] = P_SLOW
        fi
    :: pc[me] == P_SLOW -> slow(me)

    // --- a record -----------------------------------------------------------------------------------------------
    :: pc[me] == P_SCRIBBLED ->
        if
        :: lap[ra[me]] > scribbled_lap[ra[me]] ||
           (lap[ra[me]] == scribbled_lap[ra[me]] && wp[me] + n[me] > scribbled_end[ra[me]]) ->
            scribbled_lap[ra[me]] = lap[ra[me]]; scribbled_end[ra[me]] = wp[me] + n[me]
        :: else
        fi;
        pc[me] = (MUTANT(SCRIBBLED_LATE) -> P_COMMIT : P_STAMP)
    :: pc[me] == P_STAMP ->
        rt[me] = (MUTANT(TS_OUTSIDE) -> rt[me] : commits);
        pc[me] = (n[me] > 1 -> P_SLOT_LO : P_STORE)
    :: pc[me] == P_STORE ->
        if
        :: cm[me] == TO_EMERGENCY -> store_emergency(ra[me], wp[me], ri[me], tag(me, 0))
        :: else -> store(ra[me], wp[me], ri[me], tag(me, 0))
        fi;
        ri[me]++;
        if
        :: ri[me] < (MUTANT(EARLY_COMMIT) -> 3 : 4) -> skip
        :: else -> stored(me)
        fi
    :: pc[me] == P_SLOT_LO ->
        store(ra[me], wp[me] + ri[me], 0, tag(me, ri[me])); store(ra[me], wp[me] + ri[me], 1, tag(me, ri[me]));
        pc[me] = ((MUTANT(EARLY_COMMIT) && ri[me] + 1 == n[me]) -> P_COMMIT : P_SLOT_HI)
    :: pc[me] == P_SLOT_HI ->
        store(ra[me], wp[me] + ri[me], 2, tag(me, ri[me])); store(ra[me], wp[me] + ri[me], 3, tag(me, ri[me]));
        ri[me]++;
        if
        :: ri[me] < n[me] && !MUTANT(SLOTS_ALONE) -> pc[me] = P_SLOT_LO
        :: ri[me] == n[me] && MUTANT(SCRIBBLED_LATE) -> pc[me] = P_SCRIBBLED
        :: else -> stored(me)
        fi
    :: pc[me] == P_COMMIT ->
        if
        :: MUTANT(SLOTS_ALONE) && cm[me] == TO_MAIN && n[me] > 1 -> // each slot with a commit of its own
            pos[ra[me]]++; wr[ra[me]]++; commits++;
            ser[slot(ra[me], wp[me] + ri[me] - 1)] = wr[ra[me]];
            begins[slot(ra[me], wp[me] + ri[me] - 1)] = (ri[me] == 1);
            if
            :: ri[me] < n[me] -> pc[me] = P_SLOT_LO
            :: else -> pc[me] = P_RET
            fi
        :: else -> commit(me); pc[me] = P_RET
        fi
    :: pc[me] == P_RET ->
        finished = finished + n[me];
        n[me] = 0; kind[me] = 0; left[me]--;
        forget(me);
        pc[me] = IDLE

    // --- a blackout ends ----------------------------------------------------------------------------------------
    :: pc[me] == P_RESUME ->
        if
        :: MUTANT(REPORT_EARLY) -> rv[me] = dropped - reported; reported = dropped; pending_reported[ra[me]] = dropped
        :: else -> pending_reported[ra[me]] = dropped; rv[me] = dropped - reported
        fi;
        pc[me] = P_RESUME_ENDS
    :: pc[me] == P_RESUME_ENDS -> pending_ends[ra[me]] = ends[ra[me]] + 1; pc[me] = P_RESUME_STAMP
    :: pc[me] == P_RESUME_STAMP -> rt[me] = commits; pc[me] = P_RESUME_STORE
    :: pc[me] == P_RESUME_STORE ->
        store(ra[me], wp[me], ri[me], TAG_OWN + me);
        ri[me]++;
        if
        :: ri[me] < 4 -> skip
        :: else -> pc[me] = (MUTANT(RESUME_APART) -> P_RESUME_COMMIT2 : P_RESUME_COMMIT)
        fi
    :: pc[me] == P_RESUME_COMMIT2 -> // flags and position by two stores
        fl[ra[me]] = (fl[ra[me]] & ~RESUME) | REPORTED;
        pc[me] = P_RESUME_COMMIT
    :: pc[me] == P_RESUME_COMMIT ->
        committed_main(me, ra[me], wp[me], 1, TAG_OWN + me);
        stated = stated + rv[me]; gap_open = 0;
        REQUIRE(stated == dropped, "blackout_end has a wrong number");
        pos[ra[me]] = wp[me] + 1;
        fl[ra[me]] = (wf[me] & ~RESUME) | REPORTED;
        forget(me); pc[me] = restart_of(me)
    :: pc[me] == P_REPORTED ->
        if
        :: MUTANT(REPORTED_FIRST) -> fl[ra[me]] = fl[ra[me]] & ~REPORTED
        :: else -> reported = pending_reported[ra[me]]
        fi;
        pc[me] = P_REPORTED_ENDS
    :: pc[me] == P_REPORTED_ENDS ->
        ends[ra[me]] = (MUTANT(ENDS_TWICE) -> ends[ra[me]] + 1 : pending_ends[ra[me]]);
        pc[me] = P_REPORTED_OPEN
    :: pc[me] == P_REPORTED_OPEN -> eopen[ra[me]] = (MUTANT(OPEN_STAYS) -> eopen[ra[me]] : 0); pc[me] = P_REPORTED_COMMIT
    :: pc[me] == P_REPORTED_COMMIT ->
        if
        :: MUTANT(REPORTED_FIRST) -> reported = pending_reported[ra[me]]
        :: else -> fl[ra[me]] = fl[ra[me]] & ~REPORTED
        fi;
        forget(me); pc[me] = restart_of(me)

    // --- triggers -----------------------------------------------------------------------------------------------
    :: pc[me] == P_FREEZE ->
        fl[ra[me]] = (MUTANT(FREEZE_OPEN) -> wf[me] & ~FIRED : (wf[me] & ~FIRED) | CLOSED);
        g_fired = 0; g_left = 0; ended[ra[me]] = 1;
        forget(me); pc[me] = restart_of(me)
    :: pc[me] == P_STOP_AT ->
        stop_at[ra[me]] = (MUTANT(STOP_AT_SKIPPED) -> stop_at[ra[me]] : written(ra[me], wp[me]) + n[me] + after);
        begin_store(me)

    // --- full ---------------------------------------------------------------------------------------------------
    :: pc[me] == P_LATCH -> limit[ra[me]] = wp[me]; forget(me); pc[me] = restart_of(me)
    :: pc[me] == P_LAP_BASE ->
        rv[me] = written(ra[me], wp[me]);
        lap_base[(MUTANT(LAP_PARITY) -> parity(ra[me]) : other_parity(ra[me]))] = rv[me];
        pc[me] = P_LAP_END
    :: pc[me] == P_LAP_END ->
        lap_end[(MUTANT(LAP_END_PARITY) -> parity(ra[me]) : other_parity(ra[me]))] = wp[me];
        pc[me] = (MUTANT(LAP_APART) -> P_LAP_COMMIT2 : P_LAP_COMMIT)
    :: pc[me] == P_LAP_COMMIT2 -> pos[ra[me]] = 0; pc[me] = P_LAP_COMMIT // position and lap by two stores
    :: pc[me] == P_LAP_COMMIT ->
        lap[ra[me]]++; pos[ra[me]] = 0;
        fl[ra[me]] = (MUTANT(LAP_DROPS_FLAGS) -> 0 : wf[me] & (RESUME | ARMED | FIRED));
        forget(me); pc[me] = restart_of(me)
    :: pc[me] == P_LEAVE -> leave(me)
    :: pc[me] == P_ENTER_STOP_AT ->
        stop_at[rx[me]] = stop_at[ra[me]] - written(ra[me], wp[me]) + written(rx[me], pos[rx[me]]);
        pc[me] = P_ENTER_FLAGS
    :: pc[me] == P_ENTER_FLAGS ->
        fl[rx[me]] = (MUTANT(STALE_TRIGGER) -> fl[rx[me]] : fl[rx[me]] & ~(ARMED | FIRED)) |
                     (MUTANT(TRIGGER_STAYS) -> 0 : wf[me] & (ARMED | FIRED));
        pc[me] = P_BLACKOUT_NEXT
    :: pc[me] == P_BLACKOUT_NEXT ->
        if
        :: (eopen[ra[me]] || (wf[me] & RESUME) || dropped != reported) && !MUTANT(NO_MARK) ->
            pc[me] = (MUTANT(MARK_LATE) -> P_SWITCH : P_MARK)
        :: else -> pc[me] = P_SWITCH
        fi
    :: pc[me] == P_MARK -> fl[rx[me]] = fl[rx[me]] | RESUME; pc[me] = P_SWITCH
    :: pc[me] == P_SWITCH ->
        current = rx[me];
        if
        :: MUTANT(MARK_LATE) && (eopen[ra[me]] || (wf[me] & RESUME) || dropped != reported) -> pc[me] = P_MARK_AFTER
        :: else ->
            pc[me] = (to[me] != NONE -> C_END : restart_of(me)); // tracer_switch: the last instruction of the attempt
            forget(me)
        fi
    :: pc[me] == P_MARK_AFTER -> fl[rx[me]] = fl[rx[me]] | RESUME; forget(me); pc[me] = P_ACTIVE
    :: pc[me] == P_TO -> // tracer_switch
        ra[me] = current; rx[me] = to[me]; wp[me] = pos[ra[me]]; wf[me] = fl[ra[me]];
        if
        :: wf[me] & REPORTED -> pc[me] = P_REPORTED
        :: else -> enter(me)
        fi

    // --- no space -----------------------------------------------------------------------------------------------
    :: pc[me] == P_DROP -> drop(me)
    :: pc[me] == P_START_STAMP -> rt[me] = commits; pc[me] = P_START_STORE
    :: pc[me] == P_START_STORE ->
        store_emergency(ra[me], wp[me], ri[me], TAG_OWN + me);
        ri[me]++;
        if
        :: ri[me] < 4 -> skip
        :: else -> cm[me] = TO_EMERGENCY; pc[me] = P_OPEN
        fi
    :: pc[me] == P_OPEN ->
        if
        :: cm[me] == TO_EMERGENCY ->
            committed_emergency(me, ra[me], wp[me], TAG_OWN + me);
            epos[ra[me]] = wp[me] + 1; estarts[ra[me]]++
        :: else
        fi;
        eopen[ra[me]] = 1; gap_open = 1;
        forget(me); pc[me] = restart_of(me)
    :: pc[me] == P_SET_RESUME -> fl[ra[me]] = fl[ra[me]] | RESUME; forget(me); pc[me] = restart_of(me)
    fi
}
