// SPDX-License-Identifier: MIT
// The labels of control operations. All of them are above the record path's labels (path.pml).
#define C_START 61 // ChunkStore::start(rx), returns to `back`
#define C_START_ACTIVE 62
#define C_START_CLOSE 63
#define C_UNDO 64
#define C_UNDO_OPEN 65
#define C_START_EMPTY 66
#define C_START_OPEN 67
#define C_SELECT 68
#define C_SELECT_EXCHANGE 69
#define C_SELECT_TRIGGER 70
#define C_SELECT_BLACKOUT 71
#define C_SELECT_OFF 72
#define C_SELECT_OFF2 73
#define C_TRIGGER 74 // hand_over_trigger(ra, rx)
#define C_TRIGGER_DISARM 75
#define C_TRIGGER_STOP_AT 76
#define C_TRIGGER_FIRE 77
#define C_TRIGGER_ARM 78
#define C_SETTLE 79 // settle(ra)
#define C_SETTLE_ENDS 80
#define C_SETTLE_OPEN 81
#define C_SETTLE_FLAG 82
#define C_BLACKOUT 83 // hand_over_blackout(ra, rx)
#define C_BLACKOUT_MARK 84
#define C_DISABLE 85
#define C_DISABLE_EXCHANGE 86
#define C_DISABLE_SELECTED 87
#define C_ENABLE 88
#define C_ENABLE_SELECTED 89
#define C_ENABLE_MASK 90
#define C_LINK 91
#define C_NEXT 92
#define C_NEXT_CLOSE 93
#define C_FREEZE 94 // Exporter::request_for(rx), ChunkStore::freeze(rx)
#define C_FREEZE_CLOSE 95
#define C_FREEZE_ACTIVE 96
#define C_RELEASE 97 // set_flags(FREE): by the exporter, or by the application
#define C_DISARM 98
#define C_DISARM_CURRENT 99
#define C_DISARM_AGAIN 100
#define C_DISARM_ALL 101
#define C_DISARM_TRIGGER 102
#define C_ARM 103
#define C_ARM_WATCH 104
#define C_ARM_SET 105
#define C_ARM_AGAIN 106
#define C_ARM_ALIVE 107
#define C_END 108
#define C_FIRST C_START
