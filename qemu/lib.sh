# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What the boot scripts share: messages, checks of the host, the kernel's command line, the marker lines on its serial
# port. Sourced, never run. Nothing here starts a process that outlives the call.

OVMF=${OVMF:-/usr/share/ovmf/OVMF.fd}

say() { printf '%s\n' "$*"; }

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

sink_has() { [[ $SINK == "$1" || $SINK == both ]]; }

# Refuses what cannot work before anything is started. Uses BOOT ACCEL CLOCK NIC SINK.
check_machine() {
    need_tool qemu-system-x86_64
    if [[ $BOOT == uefi ]]; then
        [[ -f $OVMF ]] || die "the UEFI firmware $OVMF does not exist" 'make deps, or BOOT=pvh, which needs no firmware'
    fi
    if [[ $CLOCK == icount ]]; then
        [[ $ACCEL == tcg ]] || die 'CLOCK=icount counts emulated instructions: KVM emulates none' 'ACCEL=tcg'
        [[ $BOOT == pvh ]] || die 'CLOCK=icount makes the UEFI firmware take about a minute' 'BOOT=pvh'
    fi
    if [[ $ACCEL == kvm ]]; then
        [[ -e /dev/kvm ]] || die 'ACCEL=kvm, but this machine has no /dev/kvm' 'ACCEL=tcg'
        [[ -r /dev/kvm && -w /dev/kvm ]] || die 'ACCEL=kvm, but /dev/kvm may not be opened' 'join the group kvm'
    fi
    if [[ $NIC == none ]] && sink_has udp; then
        die "SINK=$SINK sends over the network, but NIC=none" 'SINK=disk'
    fi
}

# kernel_words EXIT: the command line of the run that the environment describes.
kernel_words() {
    local words="app=$APP sink=$SINK local=192.168.1.10 target=192.168.1.1 port=$PORT seed=$SEED exit=$1 nic=$NIC"
    if [[ $ACCEL == kvm ]]; then
        words+=' clock=kvm'
    else
        words+=" clock=$CLOCK"
    fi
    if [[ -n ${DURATION_MS:-} ]]; then
        words+=" duration_ms=$DURATION_MS"
    fi
    printf '%s' "$words"
}

# make_ramdisk FILE: an empty FAT volume that QEMU shows to the guest as an NVDIMM. Always the same bytes.
make_ramdisk() {
    rm -f "$1"
    truncate -s 64M "$1"
    mkfs.fat --invariant -F 16 -n REMORA "$1" >/dev/null
}

# markers SERIAL_LOG: the kernel's lines without their prefix. The firmware writes control sequences around them.
markers() { tr -d '\r' <"$1" 2>/dev/null | sed -n 's/^.*REMORA: //p'; }

# marker SERIAL_LOG PATTERN: the last marker line that matches the basic regular expression, or nothing.
marker() { markers "$1" | grep -e "$2" | tail -n 1 || true; }
