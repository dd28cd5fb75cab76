# shellcheck shell=bash
# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The guest of a rig: Debian's cloud kernel, an initramfs that dirties memory, a domain on huge pages. What is slow to make
# is kept in $RIG_CACHE under a name made of what it was made from.

RIG_CACHE=${RIG_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/rollbackd-rig}
RIG_GUEST_MIB=${RIG_GUEST_MIB:-128}
RIG_DIRTY_MIB=${RIG_DIRTY_MIB:-32}
RIG_DIRTY_MIB_S=${RIG_DIRTY_MIB_S:-16}
RIG_ARCH=${RIG_ARCH:-$(uname -m)}

# The same for ever, for each slot: no two guests of a machine may share one, and the recordings hold those of slot 0.
rig_guest_uuid() { printf '6d1f7a52-5d0c-4c1e-9d7b-0000000%s000%s' "$RIG_SLOT" "${1#guest}"; }

rig_emulator() { command -v "qemu-system-$RIG_ARCH"; }

rig_debian_arch() {
	case $RIG_ARCH in
	x86_64) printf amd64 ;;
	aarch64) printf arm64 ;;
	*) rig_fail "no test guest for $RIG_ARCH hosts: x86_64 and aarch64 are known" ;;
	esac
}

# Does /dev/kvm give a VM, for guests of this architecture? Its presence says nothing (nested, containers).
rig_kvm_works() {
	[[ ${RIG_ACCEL:-} == tcg || $RIG_ARCH != "$(uname -m)" ]] && return 1
	[[ -c /dev/kvm ]] || return 1
	timeout 10 "$(rig_emulator)" -accel kvm -M none -nodefaults -display none -monitor none -serial none \
		-S -daemonize -pidfile "$RIG/kvm.pid" 2>/dev/null || return 1
	kill "$(<"$RIG/kvm.pid")" 2>/dev/null
	return 0
}

# Kernel of the guest: RIG_KERNEL is its path in the cache.
rig_kernel() {
	local arch package work
	arch=$(rig_debian_arch)
	RIG_KERNEL=$RIG_CACHE/vmlinuz-$arch
	[[ -s $RIG_KERNEL ]] && return 0
	rig_say "fetching Debian's cloud kernel for $arch"
	package=$(apt-cache depends "linux-image-cloud-$arch:$arch" 2>/dev/null | awk '$1 == "Depends:" && /linux-image/ { print $2; exit }')
	[[ -n $package ]] ||
		rig_fail "apt knows no linux-image-cloud-$arch: run apt-get update, or put a kernel image at $RIG_KERNEL"
	work=$(mktemp -d "$RIG_CACHE/fetch.XXXXXX")
	if ! (cd "$work" && apt-get -qq download "$package" && dpkg-deb -x ./*.deb tree); then
		rm -rf "$work"
		rig_fail "$package could not be fetched: check the network and apt's sources"
	fi
	mv "$work"/tree/boot/vmlinuz-* "$RIG_KERNEL"
	rm -rf "$work"
}

# Initramfs of the guest: RIG_INITRD is its path in the cache, named after its sources.
rig_initrd() {
	local key cc=cc init
	key=$(cat "$RIG_HOME"/guest/* | sha256sum)
	RIG_INITRD=$RIG_CACHE/initrd-$RIG_ARCH-${key:0:16}
	[[ -s $RIG_INITRD ]] && return 0
	[[ $RIG_ARCH == "$(uname -m)" ]] || cc=$RIG_ARCH-linux-gnu-gcc
	init=$(mktemp "$RIG_CACHE/init.XXXXXX")
	"$cc" -static -O2 -s -o "$init" "$RIG_HOME/guest/init.c" || rig_fail "$cc could not build the guest's init (libc6-dev is needed)"
	python3 "$RIG_HOME/guest/initramfs.py" "$init" "$init.out"
	mv "$init.out" "$RIG_INITRD"
	rm -f "$init"
}

rig_machine() {
	case $RIG_ARCH in
	x86_64)
		RIG_MACHINE=q35 RIG_CONSOLE=ttyS0
		RIG_CPU="<cpu mode='custom'><model>qemu64</model></cpu><features><acpi/></features>" ;;
	aarch64)
		RIG_MACHINE=virt RIG_CONSOLE=ttyAMA0
		RIG_CPU="<cpu mode='custom'><model>cortex-a72</model></cpu><features><gic version='3'/></features>" ;;
	esac
	RIG_TYPE=qemu
	if rig_kvm_works; then
		RIG_TYPE=kvm
		RIG_CPU="<cpu mode='host-passthrough' migratable='on'/><features>$([[ $RIG_ARCH == x86_64 ]] && echo '<acpi/>' || echo "<gic version='host'/>")</features>"
	fi
}

# Domain XML of guest $1 on standard output.
rig_guest_xml() {
	cat <<XML
<domain type='$RIG_TYPE'>
  <name>$1</name><uuid>$(rig_guest_uuid "$1")</uuid>
  <memory unit='MiB'>$RIG_GUEST_MIB</memory>
  <memoryBacking><hugepages/></memoryBacking>
  <vcpu>2</vcpu>
  <os><type arch='$RIG_ARCH' machine='$RIG_MACHINE'>hvm</type>
    <kernel>$RIG_KERNEL</kernel><initrd>$RIG_INITRD</initrd>
    <cmdline>console=$RIG_CONSOLE quiet panic=-1 dirty_mib=$RIG_DIRTY_MIB dirty_mib_s=$RIG_DIRTY_MIB_S</cmdline></os>
  $RIG_CPU
  <on_reboot>destroy</on_reboot><on_crash>destroy</on_crash>
  <devices>
    <emulator>$(rig_emulator)</emulator>
    <disk type='file' device='disk'><driver name='qemu' type='raw'/>
      <source file='$RIG/$1.raw'/><target dev='vda' bus='virtio'/></disk>
    <controller type='usb' model='none'/><memballoon model='none'/>
    <serial type='file'><source path='$RIG/$1.console' append='on'/></serial>
  </devices>
</domain>
XML
}

# Define guest $1 on the source, and start it; returns when its init runs.
rig_guest_start() {
	local i
	[[ -f $RIG/$1.raw ]] || truncate -s 64M "$RIG/$1.raw" "$RIG/$1-other.raw"
	: >"$RIG/$1.console"
	rig_guest_xml "$1" >"$RIG/$1.xml"
	rig_virsh src -q define "$RIG/$1.xml" || rig_fail "the source's libvirtd refused the guest"
	rig_virsh src -q start "$1" || rig_fail "$1 does not start: see $RIG/src/log/qemu/$1.log"
	for ((i = 0; i < 1200; i++)); do
		grep -qs 'test-guest: ready' "$RIG/$1.console" && break
		sleep 0.1
	done
	((i < 1200)) || rig_fail "$1 did not come up in 2 minutes: see $RIG/$1.console"
}

# Take guest $1 away again.
rig_guest_stop() {
	rig_virsh src -q destroy "$1" 2>/dev/null
	rig_virsh src -q undefine "$1"
}
