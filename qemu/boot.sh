#!/bin/bash
# SPDX-License-Identifier: MIT
# Starts QEMU with the machine that Remora runs on: the only script with QEMU's command line. `make run`, `make debug`
# and the integration tests all boot through it.
#
#   qemu/boot.sh 'kernel command line' [QEMU option ...]
#
# environment   KERNEL=file WORK=dir (required; WORK takes serial.log and the ESP directory)
#               BOOT=pvh|uefi ACCEL=tcg|kvm CLOCK=tcg|icount NIC=pci|isa|none EFI_LOADER=file
#               SINGLESTEP=1 (ACCEL=tcg: one instruction at a time, so that an interrupt can come between any two)
#               KEY=file (of the acknowledged export: 32 hexadecimal digits, for the guest as opt/remora/key)
#               LOADER_KEY=file (BOOT=uefi: the same key as \remora.key beside the kernel, for the loader)
#               RAMDISK=file (shown as an NVDIMM) PCAP=file (what crosses the wire) OVMF=file
#               OBSERVER=plugin RAISES=file (CLOCK=icount: host/observer writes there when devices raised interrupts)
#               ICOUNT_SHIFT=n (CLOCK=icount: an instruction takes 2^n ticks, n from 0 to 10, so that long waits are few
#               instructions; BOOT=uefi has 3)
#               RAM=file (the machine's memory: offset = address; it outlives QEMU)
# exit code     isa-debug-exit: 2 * value + 1 (33 = ok); ACPI power-off, triple fault: 0; QEMU's own failure: 1
set -euo pipefail
# shellcheck source=qemu/lib.sh
source "$(dirname "$0")/lib.sh"

: "${KERNEL:?the kernel image}" "${WORK:?a directory for serial.log}"
BOOT=${BOOT:-pvh} ACCEL=${ACCEL:-tcg} CLOCK=${CLOCK:-tcg} NIC=${NIC:-pci}
SINGLESTEP=${SINGLESTEP:-} RAMDISK=${RAMDISK:-} RAM=${RAM:-} PCAP=${PCAP:-} RAISES=${RAISES:-}
EFI_LOADER=${EFI_LOADER:-build/uefi/BOOTX64.EFI}
words=$1
shift

options=(
    -nodefaults -display none -no-reboot
    -chardev "file,id=serial,path=$(quoted "$WORK/serial.log")" -serial chardev:serial
    -device 'isa-debug-exit,iobase=0xf4,iosize=4'
)

if [[ -n $RAMDISK ]]; then
    options+=(
        -M 'q35,nvdimm=on' -m '128,slots=2,maxmem=1G'
        -object "memory-backend-file,id=ramdisk,size=$(stat -c %s "$RAMDISK"),mem-path=$(quoted "$RAMDISK"),share=on"
        -device 'nvdimm,memdev=ramdisk'
    )
else
    options+=(-M q35 -m 128)
fi

if [[ -n $RAM ]]; then
    options+=(
        -object "memory-backend-file,id=ram,size=128M,mem-path=$(quoted "$RAM"),share=on"
        -machine 'memory-backend=ram'
    )
fi

case $ACCEL in
# Nested hypervisors offer the MSR of arch-capabilities and then refuse to set it.
kvm) options+=(-accel kvm -cpu 'host,arch-capabilities=off') ;;
tcg) options+=(-accel tcg -cpu max) ;;
*) die "ACCEL=$ACCEL is not valid" 'ACCEL=tcg or ACCEL=kvm' ;;
esac

# No host clock is used anywhere, so two runs are the same run. An instruction takes one tick (1 ns), and 2^3 ticks with
# the firmware, which waits by the clock: that is a processor of 125 million instructions per second, about as fast as
# the emulator.
case $CLOCK in
icount)
    shift_bits=${ICOUNT_SHIFT:-0}
    [[ $shift_bits =~ ^([0-9]|10)$ ]] || die "ICOUNT_SHIFT=$shift_bits is not valid" 'a number from 0 to 10'
    if [[ $BOOT == uefi ]]; then
        [[ -z ${ICOUNT_SHIFT:-} ]] || die 'the firmware sets the speed of BOOT=uefi itself' 'leave out ICOUNT_SHIFT'
        shift_bits=3
    fi
    options+=(-icount "shift=$shift_bits,sleep=off" -rtc 'base=2026-01-01T00:00:00,clock=vm')
    if [[ -n $RAISES ]]; then
        log=$(quoted "$WORK/observer.log")
        options+=(
            -plugin "$(quoted "$(realpath "$OBSERVER")"),log=$log,out=$(quoted "$RAISES"),shift=$shift_bits"
            -D "$WORK/observer.log"
            -d 'int,trace:apic_local_deliver,trace:apic_deliver_irq,trace:apic_*_write*'
        )
    fi
    ;;
tcg) ;;
*) die "CLOCK=$CLOCK is not valid" 'CLOCK=tcg or CLOCK=icount' ;;
esac

# From QEMU 8.1 on it is a property of the accelerator, and QEMU 10 does not know the older option.
if [[ -n $SINGLESTEP ]]; then
    if qemu-system-x86_64 -help | grep -q one-insn-per-tb; then
        options+=(-accel "tcg,one-insn-per-tb=on")
    else
        options+=(-singlestep)
    fi
fi

if [[ -n ${KEY:-} ]]; then
    options+=(-fw_cfg "name=opt/remora/key,file=$(quoted "$KEY")")
fi

if [[ $NIC != none ]]; then
    options+=(-netdev 'user,id=net,net=192.168.1.0/24,host=192.168.1.1,dhcpstart=192.168.1.15')
    if [[ -n $PCAP ]]; then
        options+=(-object "filter-dump,id=dump,netdev=net,file=$(quoted "$PCAP")")
    fi
fi
case $NIC in
pci) options+=(-device 'ne2k_pci,netdev=net,romfile=') ;;
isa) options+=(-device 'ne2k_isa,netdev=net,iobase=0x300,irq=9') ;;
none) ;;
*) die "NIC=$NIC is not valid" 'NIC=pci, NIC=isa or NIC=none' ;;
esac

# QEMU copies the words into 4096 bytes and over what follows them. The kernel reports that itself, unless there are so
# many words that they overwrite the kernel.
kWordsMax=8192
if [[ $BOOT == pvh ]] && ((${#words} > kWordsMax)); then
    die "a command line of ${#words} characters leaves no machine to boot: the kernel reads at most 1023"
fi

case $BOOT in
pvh) options+=(-kernel "$KERNEL" -append "$words") ;;
uefi)
    # The firmware sees a directory as a FAT volume; it may leave its own files there, hence a fresh one.
    check_folder "$WORK/esp" "$kEspFiles"
    clear_folder "$WORK/esp" "$kEspFiles"
    mkdir -p "$WORK/esp/EFI/BOOT"
    cp "$EFI_LOADER" "$WORK/esp/EFI/BOOT/BOOTX64.EFI"
    cp "$KERNEL" "$WORK/esp/kernel.elf"
    printf '%s\n' "$words" >"$WORK/esp/cmdline.txt"
    if [[ -n ${LOADER_KEY:-} ]]; then
        cp "$LOADER_KEY" "$WORK/esp/remora.key"
    fi
    options+=(
        -bios "$OVMF"
        -drive "file.driver=vvfat,file.dir=$(quoted "$WORK/esp"),file.rw=on,format=raw,if=ide"
    )
    ;;
*) die "BOOT=$BOOT is not valid" 'BOOT=uefi or BOOT=pvh' ;;
esac

exec qemu-system-x86_64 "${options[@]}" "$@" </dev/null
