# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The common part of the boot scripts: messages, checks of the host, the kernel's command line, the marker lines on its
# serial port. It is sourced, never run. Nothing here starts a process that outlives the call.

OVMF=${OVMF:-/usr/share/ovmf/OVMF.fd}
GDB_PORT=${GDB_PORT:-1234} TIMEOUT_S=${TIMEOUT_S:-120}

# The script ends by a signal if nothing reads what it says; the shell need not report that, too.
say() { printf '%s\n' "$*" 2>/dev/null; }

# die MESSAGE [REMEDY]: ends the script with exit code 1.
die() {
    printf 'error: %s\n' "$1" >&2
    if [[ $# -gt 1 ]]; then
        printf 'remedy: %s\n' "$2" >&2
    fi
    exit 1
}

need_tool() { command -v "$1" >/dev/null || die "$1 is not installed" 'make deps'; }

need_file() { [[ -f $1 ]] || die "$1 does not exist" "$2"; }

# A comma separates QEMU's suboptions; inside a value it is doubled.
quoted() { printf '%s' "${1//,/,,}"; }

# list_apps: name and description of each application. It registers itself:
# kernel::App kName{"name", "description", ...}.
list_apps() {
    # shellcheck disable=SC2016 # Perl's variables
    perl -0ne 'while (/\bApp k\w+\s*=?\s*\{\s*"([^"]+)",\s*"([^"]*)"/g) { printf "  %-18s %s\n", $1, $2 }' \
        "$(dirname "${BASH_SOURCE[0]}")"/../apps/*.cpp
}

# The sources in which an application has the name APP.
app_files() {
    # shellcheck disable=SC2016 # Perl's variables
    NAME=$APP perl -0ne 'print "$ARGV\n" if /\bApp k\w+\s*=?\s*\{\s*"\Q$ENV{NAME}\E"/' \
        "$(dirname "${BASH_SOURCE[0]}")"/../apps/*.cpp
}

# no_more A B: A <= B, for decimal numbers of any length without leading zeros.
no_more() { ((${#1} < ${#2})) || { ((${#1} == ${#2})) && [[ ! $1 > $2 ]]; }; }

# check_number KEY LOW HIGH: the variable KEY holds a number of that range.
check_number() {
    local value=${!1}
    if [[ ! $value =~ ^(0|[1-9][0-9]*)$ ]] || ! no_more "$2" "$value" || ! no_more "$value" "$3"; then
        die "$1=$value is not valid" "$1=n with n from $2 to $3"
    fi
}

# Checks a number like check_number, if the variable is set at all.
check_given() {
    if [[ -n ${!1:-} ]]; then
        check_number "$@"
    fi
}

# Refuses the values that make cannot check. The kernel's command line has the same ranges.
check_values() {
    if ! list_apps | awk -v app="$APP" '$1 == app {found = 1} END {exit !found}'; then
        die "APP=$APP is no application" "make apps lists them:$(list_apps | awk '{printf " %s", $1}')"
    fi
    if (($(app_files | wc -l) > 1)); then
        die "two applications have the name $APP" "rename one: $(app_files | tr '\n' ' ')"
    fi
    [[ $PORT == auto ]] || check_number PORT 1 65535
    check_number SEED 0 18446744073709551615
    check_number TIMEOUT_S 1 1000000
    check_number GDB_PORT 1 65535
    check_given DURATION_MS 0 4294967295
    check_given LIMIT_MS 1 4294967295
    check_given WATCHDOG_MS 0 4294967295
    case ${ITRACE:-none} in
    none | instructions | blocks) ;;
    *) die "ITRACE=$ITRACE is not valid" 'ITRACE=none, instructions or blocks' ;;
    esac
    if [[ -n ${KEY:-} && ! -f $KEY ]]; then
        die "KEY=$KEY does not exist" '(umask 077; openssl rand -hex 16 >FILE), and KEY=FILE'
    fi
    if [[ -n ${SHIFT:-} && ! $SHIFT =~ ^[^,]+:[0-9]+(,[^,]+:[0-9]+)*$ ]]; then
        die "SHIFT=$SHIFT is not valid" 'SHIFT=task:ticks,task:ticks,...'
    fi
    check_given EVENT_SHIFT 0 4294967295
    case ${OBSERVE:-off} in
    off) ;;
    on) [[ $CLOCK == icount ]] || die 'OBSERVE=on counts instructions, and so must the clock' 'CLOCK=icount' ;;
    *) die "OBSERVE=$OBSERVE is not valid" 'OBSERVE=on or off' ;;
    esac
    check_given CLOCK_STEP 0 18446744073709551615
    check_given CLOCK_TRIGGER 0 4294967294
    check_given CLOCK_MAX_DELTA 1 18446744073709551615
    check_given CLOCK_NEAR_ZERO 1 18446744073709551615
    if [[ -n ${CLOCK_STEP:-} && $CLOCK_STEP != 0 && ${COMPENSATION:-OFF} != ON ]]; then
        die "CLOCK_STEP=$CLOCK_STEP needs a kernel that can set its clock back" 'COMPENSATION=ON'
    fi
    case ${CLOCK_RECORDS:-off} in
    off) ;;
    on)
        [[ ${COMPENSATION:-OFF} == ON ]] ||
            die 'CLOCK_RECORDS=on needs a kernel that can set its clock back' 'COMPENSATION=ON'
        ;;
    *) die "CLOCK_RECORDS=$CLOCK_RECORDS is not valid" 'CLOCK_RECORDS=on or off' ;;
    esac
}

# A name that starts with - would be an option of the programs that get it.
if [[ ${OUT:-} == -* ]]; then
    OUT=./$OUT
fi

sink_has() { [[ $SINK == "$1" || $SINK == both || $SINK == auto ]]; }

# Refuses a combination that cannot work. Uses BOOT ACCEL CLOCK NIC SINK.
check_machine() {
    need_tool qemu-system-x86_64
    if [[ $BOOT == uefi ]]; then
        [[ -f $OVMF ]] || die "the UEFI firmware $OVMF does not exist" 'make deps, or BOOT=pvh, which needs no firmware'
    fi
    if [[ $CLOCK == icount ]]; then
        [[ $ACCEL == tcg ]] || die 'CLOCK=icount counts emulated instructions: KVM emulates none' 'ACCEL=tcg'
    fi
    if [[ $ACCEL == kvm ]]; then
        [[ -e /dev/kvm ]] || die 'ACCEL=kvm, but this machine has no /dev/kvm' 'ACCEL=tcg'
        [[ -r /dev/kvm && -w /dev/kvm ]] || die 'ACCEL=kvm, but /dev/kvm may not be opened' 'join the group kvm'
    fi
    if [[ $NIC == none && $SINK != auto ]] && sink_has udp; then
        die "SINK=$SINK sends over the network, but NIC=none" 'SINK=disk'
    fi
}

# The port of a run that has not chosen one.
# shellcheck disable=SC2034 # the scripts that source this file use it
kPort=20000

# kernel_words EXIT: the command line of the run described by the environment.
kernel_words() {
    local words="app=$APP sink=$SINK local=192.168.1.10 target=192.168.1.1"
    words+=" port=${PORT/#auto/$kPort} seed=$SEED exit=$1 nic=$NIC"
    if [[ $ACCEL == kvm ]]; then
        words+=' clock=kvm'
    else
        words+=" clock=$CLOCK"
    fi
    if [[ -n ${DURATION_MS:-} ]]; then
        words+=" duration_ms=$DURATION_MS"
    fi
    if [[ ${INTERRUPTS:-full} != full ]]; then
        words+=" interrupts=$INTERRUPTS"
    fi
    if [[ ${CLI_STI:-OFF} == ON ]]; then
        words+=' cli_sti=on'
    fi
    # Reading one more word takes instructions, so default values are left out.
    if [[ ${COMPACT:-OFF} != OFF ]]; then
        words+=" compact=$COMPACT"
    fi
    if [[ ${WATCHDOG_MS:-30000} != 30000 ]]; then
        words+=" watchdog_ms=$WATCHDOG_MS"
    fi
    if [[ ${STREAM:-OFF} == ON ]]; then
        words+=' stream=on'
    fi
    if [[ ${PROTOCOL:-auto} != auto ]]; then
        words+=" protocol=$PROTOCOL"
    fi
    local option
    for option in LIMIT_MS SHIFT EVENT_SHIFT ITRACE CLOCK_STEP CLOCK_TRIGGER CLOCK_MAX_DELTA CLOCK_NEAR_ZERO \
        CLOCK_RECORDS; do
        if [[ -n ${!option:-} ]]; then
            words+=" ${option,,}=${!option}"
        fi
    done
    printf '%s' "$words"
}

# The size of the machine's memory, as qemu/boot.sh has it.
kRamBytes=$((128 << 20))

# check_ram FILE: refuses a file that is not the memory of an earlier run.
check_ram() {
    [[ ! -e $1 && ! -L $1 ]] || [[ -f $1 && ! -L $1 && $(stat -c %s "$1") =~ ^(0|$kRamBytes)$ ]] ||
        die "$1 is no memory of an earlier run: it is left alone" 'OUT=dir, another directory'
}

# has_room_for_ram DIR: whether the disk takes the machine's memory even if all of it is written. On a full disk the
# machine would be killed.
has_room_for_ram() { (($(df -kP "$1" | awk 'NR == 2 {print $4}') > kRamBytes >> 10)); }

# claim_out: creates OUT and locks it until the last process of the run has ended.
claim_out() {
    [[ -d $OUT ]] || mkdir -p "$OUT" || die "OUT=$OUT cannot be made" 'OUT=dir, a directory that may be written to'
    local found
    found=$(find "$OUT" -mindepth 1 -maxdepth 1 -printf '%f\n' -quit 2>/dev/null)
    if [[ -n $found && ! -e $OUT/.lock ]]; then
        die "OUT=$OUT holds $found and no earlier run: it is left alone" 'OUT=dir, an empty or a new directory'
    fi
    { : >>"$OUT/.lock"; } 2>/dev/null || die "OUT=$OUT may not be written to" 'OUT=dir, a directory of yours'
    exec 9>>"$OUT/.lock"
    flock -n 9 || die "another run writes to OUT=$OUT" 'wait for its end, or OUT=dir, another directory'
    local free_kib
    free_kib=$(df -kP "$OUT" | awk 'NR == 2 {print $4}')
    ((free_kib >= kFreeKibMin)) || die "the disk of OUT=$OUT is full" 'make room, or OUT=dir on another disk'
}

# The minimum that a run writes: logs, and a ramdisk or the ESP's copy of the kernel.
kFreeKibMin=4096

# The files of a run in a session, in what a collector that was killed left beside it, in the directory of what an
# unfinished run has received, and in the ESP: one letter of find's %y and a path, as an extended regular expression.
session='(([0-9]+|end)trace\.dat|(manifest|formats)\.json(\.new)?|collector\.lock)'
journal='[0-9a-f]{16}-[0-9a-f]{8}-[0-9]+(\.journal|-[0-9]+\.trc)'
# shellcheck disable=SC2034 # the scripts that source this file use it
kSessionFiles="f $session" kJournalFiles="f $journal"
# shellcheck disable=SC2034
kNewFiles="d (udp(-[0-9a-f]{16}-[0-9]+)?|udp\.journal|disk)|f ((udp(-[0-9a-f]{16}-[0-9]+)?|disk)/$session"
# The application may have named the files of the ramdisk.
kNewFiles+="|disk/([0-9]+|end)[^/]+|udp\.journal/$journal|raises\.csv)"
# shellcheck disable=SC2034
kEspFiles='d EFI(/BOOT)?|f (EFI/BOOT/BOOTX64\.EFI|kernel\.elf|cmdline\.txt|remora\.key|NvVars)'

# check_folder DIR REGEX: ends the script if DIR exists and contains anything but the files of a run.
check_folder() {
    [[ -e $1 || -L $1 ]] || return 0
    [[ -d $1 && ! -L $1 ]] || die "$1 is not a directory of an earlier run" 'OUT=dir, another directory'
    local entry
    while IFS= read -r -d '' entry; do
        if [[ ! $entry =~ ^($2)$ ]]; then
            die "$1 holds ${entry:2}, which no run wrote: it is left alone" 'OUT=dir, another directory'
        fi
    done < <(find "$1" -mindepth 1 -printf '%y %P\0')
}

# clear_folder DIR REGEX: removes only the files of an earlier run. Call check_folder first.
clear_folder() {
    [[ -d $1 ]] || return 0
    local entry
    while IFS= read -r -d '' entry; do
        case $entry in
        'd '*) rmdir "$1/${entry:2}" ;;
        *) rm -f "$1/${entry:2}" ;;
        esac
    done < <(find "$1" -depth -mindepth 1 -printf '%y %P\0' | grep -zxE "$2")
    rmdir "$1" || die "$1 cannot be removed" 'OUT=dir, another directory'
}

kRamdiskBytes=67108864

# check_ramdisk FILE: ends the script if FILE exists and is not a volume of make_ramdisk, according to its size and the
# label and type of its FAT16 boot sector (bytes 43 and 54).
check_ramdisk() {
    [[ -e $1 || -L $1 ]] || return 0
    if [[ -f $1 && ! -L $1 && $(stat -c %s "$1") -eq $kRamdiskBytes ]] &&
        [[ $(dd if="$1" bs=1 skip=43 count=16 status=none | tr -d '\0') == 'REMORA     FAT16' ]]; then
        return
    fi
    die "$1 is not a ramdisk of an earlier run: it is left alone" 'OUT=dir, another directory'
}

# make_ramdisk FILE: an empty FAT volume that QEMU shows to the guest as an NVDIMM. Always the same bytes.
make_ramdisk() {
    check_ramdisk "$1"
    rm -f "$1" "$1.new"
    if ! truncate -s "$kRamdiskBytes" "$1.new" || ! mkfs.fat --invariant -F 16 -n REMORA "$1.new" >/dev/null ||
        ! mv "$1.new" "$1"; then
        die "$1 cannot be made" 'make room, or OUT=dir on another disk'
    fi
}

# markers SERIAL_LOG: the kernel's lines without their prefix. The firmware writes control sequences around them.
markers() { tr -d '\r' <"$1" 2>/dev/null | sed -n 's/^.*REMORA: //p'; }

# marker SERIAL_LOG PATTERN: the last marker line that matches the basic regular expression, or nothing.
marker() { markers "$1" | grep -e "$2" | tail -n 1 || true; }

# how_it_ended SESSION: prints how a run ended badly, or the first deadline that was missed. A machine that could not
# export the record of its panic has printed it on the console. SESSION may be empty.
how_it_ended() {
    local shown=
    if [[ -n $1 && -e $1/manifest.json ]]; then
        shown=$("$REMORA" --no-pager why "$1" --kernel "$KERNEL" 2>/dev/null || true)
    fi
    if [[ -n $(marker "$SERIAL" '^panic') && $shown != *'  where '* ]]; then
        shown+=${shown:+$'\n'}$("$REMORA" --no-pager why "$SERIAL" --crash --kernel "$KERNEL" 2>/dev/null || true)
    fi
    if [[ -n $shown ]]; then
        printf '\nhow it ended:\n%s\n' "$shown"
    fi
}
