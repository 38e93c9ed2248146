#!/bin/bash
# SPDX-License-Identifier: MIT
# The packages of `make deb`: lintian has nothing to say, and in a bare system of this Debian's release they install, do
# what README and docs/porting.md say, and a purge leaves nothing. Needs root and lintian, debootstrap and a mirror.
#
#   tests/soak/packages.sh DIRECTORY VERSION      the directory of the packages, and the version that they have
set -euo pipefail
packages=$(realpath "$1")
version=$2
cd "$(dirname "$0")/../.."

lintian --fail-on error,warning "$packages"/*.deb

root=$packages/chroot
rm -rf "$root"
trap 'rm -rf "$root"' EXIT
# shellcheck disable=SC1091 # a file of the system
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
# shellcheck disable=SC2016 # apt-get replaces $(REPO_URI)
mirror=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $codename" | sed q)
debootstrap --variant=minbase "$codename" "$root" "$mirror" >"$packages/debootstrap.log"
rm "$root/etc/apt/sources.list"
cp -rL /etc/apt /etc/hosts /etc/resolv.conf "$root/etc/"
cp "$packages"/*.deb "$root/tmp/"

in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive bash -euc "$1"; }
in_root 'apt-get -qq update && apt-get -qq install --no-install-recommends gcc libc6-dev make pkg-config cmake man-db'
in_root 'find / -xdev -path /proc -prune -o -path /var -prune -o -print | sort >/var/tmp/before'
in_root 'apt-get -qq install --no-install-recommends /tmp/*.deb' >"$packages/install.log"

in_root "test \"\$(remora --version)\" = 'Remora $version'
    remora-full events | grep -q task_dispatch
    man --warnings -w remora-full traceprinter tlogdump
    test -e /etc/systemd/system/multi-user.target.wants/remora-record.service && exit 1
    ls /lib/systemd/system/remora-record.service"

# What tests/integration/port.py builds in CI against `make install-tracer`, here against the package.
in_root 'cp -r /usr/share/doc/libremora-tracer-dev/examples/tiny /var/tmp/ && make -C /var/tmp/tiny'
cp -r tests/port/cmake "$root/var/tmp/"
# shellcheck disable=SC2016 # the shell of the chroot replaces them
in_root 'cmake -S /var/tmp/cmake -B /var/tmp/cmake/build && cmake --build /var/tmp/cmake/build
    for library in remora-tracer remora-tracer-kernel; do
        cd /var/tmp
        gcc -O2 -ffreestanding -fno-pic -mno-red-zone $(pkg-config --cflags $library) -c cmake/main.c -o main.o
        ld -r main.o $(pkg-config --libs $library) -o linked.o
        nm linked.o | grep -q " T remora_init"
    done'

in_root 'apt-get -qq purge remora libremora-tracer-dev >/dev/null
    find / -xdev -path /proc -prune -o -path /var -prune -o -print | sort >/var/tmp/after
    comm -13 /var/tmp/before /var/tmp/after | grep -i remora && exit 1 || true'
printf 'PASS packages in a bare %s\n' "$codename"
