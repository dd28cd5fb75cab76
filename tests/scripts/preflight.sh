# shellcheck shell=bash
# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What a run needs of the machine, one line a need, each failure with its remedy. To be sourced, with rig.sh and packages.sh.
#
#   preflight_begin; need_root; need_...; preflight_end     (1 if a need is not met)
#
# Parameters, for tests and unusual machines:
#   PREFLIGHT_ROOT   prefix of /etc/os-release, /var/lib/dpkg and /var/lib/apt ("")
#   PREFLIGHT_KVM    the KVM device (/dev/kvm)
#   PREFLIGHT_WAIT   longest wait for somebody else's apt, s (120)

PREFLIGHT_ROOT=${PREFLIGHT_ROOT:-}
PREFLIGHT_KVM=${PREFLIGHT_KVM:-/dev/kvm}
PREFLIGHT_WAIT=${PREFLIGHT_WAIT:-120}
PREFLIGHT_FAILED=0
# Left free beside what a run takes, MiB: the compiler's and QEMU's own.
PREFLIGHT_SPARE_MIB=768

preflight_begin() { PREFLIGHT_FAILED=0; }
preflight_end() { ((PREFLIGHT_FAILED == 0)); }

need_ok() { printf '    ok    %-13s %s\n' "$1" "$2"; }

# Not needed, but worth knowing. The remedy may be empty.
need_note() {
	printf '    note  %-13s %s\n' "$1" "$2"
	[[ -z ${3:-} ]] || printf '          %-13s remedy: %s\n' '' "$3"
}

need_fail() {
	PREFLIGHT_FAILED=$((PREFLIGHT_FAILED + 1))
	printf '    FAIL  %-13s %s\n' "$1" "$2"
	printf '          %-13s remedy: %s\n' '' "$3"
}

need_root() {
	if ((EUID == 0)); then
		need_ok root 'running as root'
	else
		need_fail root "running as $(id -un 2>/dev/null || echo "uid $EUID"); namespaces and huge pages need root" 'sudo, or su'
	fi
}

need_architecture() {
	local machine=${PREFLIGHT_MACHINE:-$(uname -m)}
	case $machine in
	x86_64|aarch64) need_ok architecture "$machine; the guest is of the same" ;;
	*) need_fail architecture "$machine; expected x86_64 or aarch64" 'use an x86-64 or arm64 host' ;;
	esac
}

# Sets PREFLIGHT_DEBIAN12.
preflight_distribution() {
	local line
	PREFLIGHT_DEBIAN12=0 PREFLIGHT_DISTRIBUTION='an unknown distribution'
	local id='' version='' pretty=''
	{ while IFS= read -r line; do
		case $line in
		ID=*) id=${line#ID=} ;;
		VERSION_ID=*) version=${line#VERSION_ID=} ;;
		PRETTY_NAME=*) pretty=${line#PRETTY_NAME=} ;;
		esac
	done <"$PREFLIGHT_ROOT/etc/os-release"; } 2>/dev/null
	pretty=${pretty//\"/}
	[[ -n $pretty ]] && PREFLIGHT_DISTRIBUTION=$pretty
	[[ ${id//\"/} == debian && ${version//\"/} == 12 ]] && PREFLIGHT_DEBIAN12=1
	return 0
}

# Packages $@. With PREFLIGHT_INSTALL=0 nothing is installed, and what is missing shows as missing programs, on any distribution.
need_packages() {
	local missing
	preflight_distribution
	if [[ ${PREFLIGHT_INSTALL:-1} == 0 ]]; then
		need_note packages 'not looked at, as asked'
		return
	fi
	if ((!PREFLIGHT_DEBIAN12)); then
		need_fail packages "this is $PREFLIGHT_DISTRIBUTION; packages are installed on Debian 12 only" \
			'install what these are called here, then add --no-install:'
		printf '%s\n' "$@" | sort -u | paste -sd' ' | fold -sw 100 | sed 's/^/                          /'
		return
	fi
	mapfile -t missing < <(packages_missing "$@")
	# shellcheck disable=SC2034 # read by whoever installs
	PREFLIGHT_MISSING=("${missing[@]}")
	if ((${#missing[@]} == 0)); then
		need_ok packages "$PREFLIGHT_DISTRIBUTION; all $# are installed"
		return
	fi
	need_ok packages "$PREFLIGHT_DISTRIBUTION; to be installed: ${missing[*]}"
	need_apt_free
}

# Process that holds a lock on file $1, "?" if it is not one of ours to see, nothing if there is none. dpkg and apt lock with
# fcntl(2), which /proc/locks shows by device and inode.
preflight_lock_holder() {
	local inode
	inode=$(stat -c %i "$1" 2>/dev/null) || return 0
	awk -v inode="$inode" '$2 != "->" && $4 == "WRITE" { split($6, id, ":"); if (id[3] == inode) { print ($5 > 0 ? $5 : "?"); exit } }' /proc/locks
}

preflight_apt_locked_by() {
	local lock pid
	for lock in var/lib/dpkg/lock-frontend var/lib/dpkg/lock var/lib/apt/lists/lock; do
		pid=$(preflight_lock_holder "$PREFLIGHT_ROOT/$lock")
		[[ -z $pid ]] || { printf '%s' "$pid"; return; }
	done
}

need_apt_free() {
	local pid waited=0
	while pid=$(preflight_apt_locked_by) && [[ -n $pid ]]; do
		((waited == 0 && PREFLIGHT_WAIT > 0)) &&
			printf '    ...   %-13s waiting up to %d s for process %s, which holds its lock\n' apt "$PREFLIGHT_WAIT" "$pid"
		((waited++ >= PREFLIGHT_WAIT)) && break
		sleep 1
	done
	if [[ -n $pid ]]; then
		need_fail apt "locked by process $pid ($(cat "/proc/$pid/comm" 2>/dev/null || echo unknown))" \
			'wait until it has ended (on a new machine: its first update), then run this again'
	else
		need_ok apt 'not locked'
	fi
}

need_unshare() {
	local said
	if ! command -v unshare >/dev/null; then
		need_fail namespaces 'unshare(1) is not here' 'install util-linux'
	elif said=$(unshare -m -u true 2>&1); then
		need_ok namespaces 'mount and UTS namespaces can be made'
	else
		need_fail namespaces "mount and UTS namespaces cannot be made (${said#unshare: })" \
			'CAP_SYS_ADMIN: run the container privileged, or use a virtual machine (in a chroot: make its root a mount)'
	fi
}

# Folder $1 lets programs run that are put there.
preflight_may_exec() {
	local probe status=0
	probe=$(mktemp "$1/exec.XXXXXX") || return 2
	printf '#!/bin/sh\nexit 0\n' >"$probe"
	chmod 0700 "$probe"
	"$probe" 2>/dev/null || status=1
	rm -f "$probe"
	return $status
}

# Folder $2 for purpose $1 can be written and run from.
need_exec() {
	mkdir -p "$2" 2>/dev/null
	preflight_may_exec "$2" 2>/dev/null
	case $? in
	0) need_ok "$1" "$2: programs may run from there" ;;
	1) need_fail "$1" "$2 is on a file system mounted noexec" "mount -o remount,exec $(df --output=target "$2" | tail -1), or set another folder${3:+ ($3)}" ;;
	*) need_fail "$1" "$2 cannot be written" "free space there or set another folder${3:+ ($3)}" ;;
	esac
}

# Socket addresses have room for 107 characters: libvirtd's longest name, and the rig's own folder, come after this one.
need_short_tmp() {
	local room=$((RIG_PATH_MAX - 21))
	if ((${#1} > room)); then
		need_fail sockets "$1 is too long a path for sockets: ${#1} characters, expected at most $room" 'TMPDIR=/tmp'
	fi
}

# At least $3 MiB are free where folder $2 is; $1 says for what.
need_disk() {
	local free
	mkdir -p "$2" 2>/dev/null
	free=$(df --output=avail -m "$2" 2>/dev/null | tail -1)
	if [[ -z $free ]]; then
		need_fail disk "$2 ($1): its file system does not say what is free" 'another folder'
	elif ((free < $3)); then
		need_fail disk "$2 ($1): $((free)) MiB free, expected at least $3" "free space there${4:+, or set another folder ($4)}"
	else
		need_ok disk "$2 ($1): $((free)) MiB free of at least $3 needed"
	fi
}

# Is VM creation possible? Prints why not. perl is in every Debian; without it the answer comes once QEMU is here.
preflight_kvm_trouble() {
	perl -e '
		open(my $kvm, "+<", $ARGV[0]) or do { print "open: $!"; exit 1 };
		my $version = ioctl($kvm, 0xAE00, 0);
		defined $version or do { print "KVM_GET_API_VERSION: $!"; exit 1 };
		defined ioctl($kvm, 0xAE01, 0) or do { print "KVM_CREATE_VM: $!"; exit 1 };' "$PREFLIGHT_KVM" 2>/dev/null
}

need_kvm() {
	local why
	if [[ ${RIG_ACCEL:-} == tcg ]]; then
		need_note kvm 'software emulation, as asked (RIG_ACCEL=tcg)'
	elif [[ ! -e $PREFLIGHT_KVM ]]; then
		need_note kvm "no $PREFLIGHT_KVM: software emulation is used, slower and with no stage-2 tables" \
			'not needed here; for KVM, use a bare machine or turn nested virtualization on'
	elif ! command -v perl >/dev/null; then
		need_note kvm "$PREFLIGHT_KVM is there; whether it works shows when QEMU tries"
	elif why=$(preflight_kvm_trouble); then
		need_ok kvm "$PREFLIGHT_KVM gives VMs"
	else
		need_note kvm "$PREFLIGHT_KVM is there but gives no VM ($why): software emulation is used" \
			"$(preflight_kvm_remedy "$why")"
		# The rig takes it for working otherwise, where it only looks.
		export RIG_ACCEL=tcg
	fi
}

preflight_kvm_remedy() {
	case $1 in
	*denied*|*permitted*) printf "allow the device in this container's device rules (char 10:232)" ;;
	*'No such device'*) printf 'load kvm_intel or kvm_amd; turn virtualization on in the firmware, or nested virtualization in the host' ;;
	*busy*) printf 'another hypervisor holds the CPU: end it' ;;
	*) printf 'it is no KVM device, or a broken one: modprobe -r and modprobe the kvm modules' ;;
	esac
}

# Two copies of guests of $1 MiB each, on huge pages. Takes them for a moment, by way of a rig that holds nothing else: a kill
# meanwhile leaves what every rig leaves, which the next one gives back.
need_hugepages() {
	local mib=$1 kib want free said
	if ! kib=$(rig_hugepage_kib 2>/dev/null); then
		need_fail hugepages 'this kernel has no hugetlb pages' 'a kernel with CONFIG_HUGETLBFS'
		return
	fi
	want=$(((mib * 1024 + kib - 1) / kib))
	free=$(awk '$1 == "MemAvailable:" { print int($2 / 1024) }' /proc/meminfo)
	if ((free < mib + PREFLIGHT_SPARE_MIB)); then
		need_fail hugepages "$free MiB of memory are available, expected at least $((mib + PREFLIGHT_SPARE_MIB))" \
			'free memory, or take a larger machine'
	elif said=$(preflight_try_hugepages "$kib" "$want" 2>&1); then
		need_ok hugepages "$want of $kib KiB can be had beside those that are there"
	else
		need_fail hugepages "${said##*rig: }" "reserve them at boot: hugepages=$want on the kernel's command line; /sys must be writable"
	fi
}

preflight_try_hugepages() (
	local self=$BASHPID
	mkdir -p "$RIG_REGISTRY" || return 1
	RIG=$(mktemp -d "${TMPDIR:-/tmp}/rollbackd-rig.XXXXXX") || return 1
	printf '%s %s %s\n' "$self" "$(rig_start_time "$self")" "$(rig_boot)" >"$RIG/owner"
	rig_locked rig_register || { rm -rf "$RIG"; return 1; }
	# No process of its own is to be looked for.
	trap 'rig_locked rig_hugepages_give "$RIG"; rm -rf "$RIG" "$RIG_REGISTRY/slot.$RIG_SLOT"' EXIT
	rig_locked rig_hugepages_take "$1" "$2"
)

# Guests of this host that no rig of ours made, as "PID NAME" lines: whoever holds a KVM VM, and emulators without one.
preflight_guests() {
	local pid dir ours='' rigs=()
	for dir in "$RIG_REGISTRY"/slot.*; do
		[[ -L $dir ]] && rigs+=(-e "/$(basename "$(readlink "$dir")")/")
	done
	((${#rigs[@]})) && ours=$(grep -lsF "${rigs[@]}" /proc/[0-9]*/mountinfo | cut -d/ -f3)
	{
		grep -sE '^(qemu-system-.*|qemu-kvm|kvm|cloud-hyperviso.*|firecracker|VBoxHeadless|VirtualBoxVM)$' /proc/[0-9]*/comm
		find /proc/[0-9]*/fd -maxdepth 1 -lname 'anon_inode:kvm-vm' 2>/dev/null
	} | cut -d/ -f3 | sort -nu | while read -r pid; do
		grep -qx "$pid" <<<"$ours" || printf '%s %s\n' "$pid" "$(cat "/proc/$pid/comm" 2>/dev/null)"
	done
}

# $1: yes to go on in spite of them.
need_no_guests() {
	local guests
	guests=$(preflight_guests)
	if [[ -z $guests ]]; then
		need_ok guests 'this host runs none'
	elif [[ $1 == yes ]]; then
		need_note guests "this host runs $(wc -l <<<"$guests"); going on, as asked: they are not touched"
	else
		need_fail guests "this host runs $(wc -l <<<"$guests"): $(head -5 <<<"$guests" | sed 's/\(.*\) \(.*\)/\2 (process \1)/' | paste -sd, | sed 's/,/, /g')" \
			'use another host; or --yes: they are not touched, but memory and CPU are shared with them'
	fi
}

# Programs $@ are here: what a package list is for, where packages were not looked at.
need_programs() {
	local program missing=()
	for program; do
		command -v "$program" >/dev/null || missing+=("$program")
	done
	if ((${#missing[@]})); then
		need_fail programs "not found: ${missing[*]}" 'install them, or leave out --no-install on Debian 12'
	else
		need_ok programs "all $# are here"
	fi
}
