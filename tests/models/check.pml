// SPDX-License-Identifier: MIT
// What must hold at every instant, for a reader that reads at that instant (as the panic dump does):
// ChunkStore::contents() and counts(), compared with the ghosts.

// The contents of one chunk: older, then newer, must be the last records committed, whole, in order, from the beginning
// of an event.
inline inspect_stable(c) {
    REQUIRE(wr[c] == written(c, pos[c]), "number of records of a chunk");
    k = 0;
    do
    :: k < pos[c] ->
        REQUIRE(ser[slot(c, k)] == wr[c] - pos[c] + k + 1, "reader sees a record that is not the next committed one");
        k++
    :: else -> break
    od;
    if
    :: lap[c] > 0 ->
        k = (MUTANT(OLDEST_VALID) -> pos[c] : pos[c] + 1);
        if
        :: scribbled_lap[c] == lap[c] && scribbled_end[c] > k -> k = scribbled_end[c]
        :: else
        fi;
        do
        :: k < lap_end[parity(c)] && !begins[slot(c, k)] && !MUTANT(HALF_EVENT) ->
            REQUIRE(ser[slot(c, k)] != 0, "reader reads an uncommitted record");
            k++
        :: else -> break
        od;
        REQUIRE(k >= lap_end[parity(c)] || begins[slot(c, k)], "reader sees half an event");
        do
        :: k < lap_end[parity(c)] ->
            REQUIRE(ser[slot(c, k)] == wr[c] - pos[c] - lap_end[parity(c)] + k + 1,
                    "reader sees a record that is not the next committed one");
            k++
        :: else -> break
        od
    :: else
    fi;
    REQUIRE(ewr[c] == epos[c], "number of emergency records");
    k = 0;
    do
    :: k < epos[c] -> REQUIRE(eser[eslot(c, k)] == k + 1, "reader sees a torn emergency record"); k++
    :: else -> break
    od
}

inline inspect(c) {
    if
    :: emptying == c -> skip
    :: else -> inspect_stable(c)
    fi
}

#define user_records(c) (written(c, pos[c]) + epos[c] - estarts[c] - (fl[c] & REPORTED -> pending_ends[c] : ends[c]))

// attempts = committed + dropped + refused. An event that has committed but not returned already counts.
inline account() {
    k = 0;
    do
    :: k < LEVELS && pc[k] != P_RET -> k++
    :: else -> break
    od;
    if
    :: k == LEVELS && emptying == NONE ->
        REQUIRE(finished == user_records(0) + user_records(1) + user_records(2) + retired + dropped + refused,
                "attempts = committed + dropped + refused")
    :: else
    fi
}

inline check_all() {
    inspect(0);
    inspect(1);
    inspect(2);
    account();
    k = 0
}
