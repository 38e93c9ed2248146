/* SPDX-License-Identifier: MIT */
/* The types of tlog records, by the names that programs written for the tlog library of the Omni compiler use. Only
 * what a reader of logs needs: nothing here records events. C89. */
#ifndef REMORA_TLOG_H
#define REMORA_TLOG_H

#define TLOG_BLOCK_SIZE 1024

typedef enum tlog_type {
    TLOG_UNDEF = 0, /* an unused slot */
    TLOG_START = 1,
    TLOG_END = 2,

    TLOG_EVENT_1_IN = 10,
    TLOG_EVENT_1_OUT = 11,
    TLOG_EVENT_2_IN = 12,
    TLOG_EVENT_2_OUT = 13,
    TLOG_EVENT_3_IN = 14,
    TLOG_EVENT_3_OUT = 15,
    TLOG_EVENT_4_IN = 16,
    TLOG_EVENT_4_OUT = 17,
    TLOG_EVENT_5_IN = 18,
    TLOG_EVENT_5_OUT = 19,
    TLOG_EVENT_6_IN = 20,
    TLOG_EVENT_6_OUT = 21,
    TLOG_EVENT_7_IN = 22,
    TLOG_EVENT_7_OUT = 23,
    TLOG_EVENT_8_IN = 24,
    TLOG_EVENT_8_OUT = 25,
    TLOG_EVENT_9_IN = 26,
    TLOG_EVENT_9_OUT = 27,

    TLOG_EVENT_1 = 31,
    TLOG_EVENT_2 = 32,
    TLOG_EVENT_3 = 33,
    TLOG_EVENT_4 = 34,
    TLOG_EVENT_5 = 35,
    TLOG_EVENT_6 = 36,
    TLOG_EVENT_7 = 37,
    TLOG_EVENT_8 = 38,
    TLOG_EVENT_9 = 39
} TLOG_TYPE;

#endif
