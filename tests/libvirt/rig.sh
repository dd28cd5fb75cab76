# shellcheck shell=bash
# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A rig: two private libvirtds ("src" and "dst") on one machine, each in its own mount and UTS namespace with its own
# configuration, state, host name and host UUID, sharing network and process ids; and a guest on huge pages that can be
# migrated live between them. The distribution's libvirtd, its configuration and its guests are not touched.
#
# To be sourced (bash, with set -eu or without):
#
#   . tests/libvirt/rig.sh
#   trap rig_down EXIT                 # INT and TERM: let them exit
#   rig_up guest1                      # or guest1 guest2
#   ... "$RIG_SRC_URI" "$RIG_DST_URI" "$RIG" ...
#
# Settings, all optional: TMPDIR, RIG_CACHE, RIG_GUEST_MIB, RIG_DIRTY_MIB, RIG_DIRTY_MIB_S, RIG_ACCEL=tcg, RIG_ARCH,
# RIG_ROOM (huge pages for so many guests, where more are to be started later).
# Messages go to standard error.

RIG_HOME=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$RIG_HOME/rig-state.sh"
. "$RIG_HOME/rig-guest.sh"

# Away from libvirt's default 49152-49215. Twenty ports a side, a relay's, and some to spare, for each of the slots.
RIG_PORT_BASE=49400
RIG_PORT_STEP=50

# Longest path of a socket's address, less the longest socket name that libvirtd makes below the run directory.
RIG_PATH_MAX=70

rig_uri() { printf 'qemu+unix:///system?socket=%s/%s/run/libvirt-sock' "$RIG" "$1"; }

rig_virsh() {
	local side=$1
	shift
	virsh -c "$(rig_uri "$side")" "$@"
}

rig_need() {
	local tool missing=()
	((EUID == 0)) || rig_fail "namespaces and huge pages need root" || return
	for tool in libvirtd virsh unshare nsenter flock setsid python3 "qemu-system-$RIG_ARCH"; do
		command -v "$tool" >/dev/null || missing+=("$tool")
	done
	((${#missing[@]} == 0)) ||
		rig_fail "not found: ${missing[*]} (Debian: libvirt-daemon libvirt-clients qemu-system-x86 or qemu-system-arm, util-linux, python3)" || return
	unshare -m -u true 2>/dev/null || rig_fail "this machine does not let us make mount namespaces (unshare -m -u)"
}

rig_config() {
	local side=$1 id=$2 port=$3 file
	mkdir -p "$RIG/$side"/{run,lib,etc,cache,log,huge,none,drivers}
	cat >"$RIG/$side/etc/libvirtd.conf" <<-CONF
		unix_sock_dir = "/run/libvirt"
		unix_sock_group = "root"
		unix_sock_rw_perms = "0700"
		auth_unix_rw = "none"
		auth_unix_ro = "none"
		host_uuid = "6d1f7a52-5d0c-4c1e-9d7b-0000000000$id$RIG_SLOT"
		log_outputs = "3:stderr"
	CONF
	cat >"$RIG/$side/etc/qemu.conf" <<-CONF
		user = "root"
		group = "root"
		dynamic_ownership = 0
		remember_owner = 0
		security_driver = "none"
		cgroup_controllers = []
		namespaces = []
		stdio_handler = "file"
		hugetlbfs_mount = "$RIG/$side/huge"
		migration_port_min = $port
		migration_port_max = $((port + 19))
	CONF
	# libvirtd does not start where its default user is unknown, though no guest here runs as that; the host has it only
	# with libvirt-daemon-system.
	for file in passwd group; do
		cat "/etc/$file" >"$RIG/$side/$file"
		getent "$file" libvirt-qemu >/dev/null && continue
		[[ $file == passwd ]] && echo 'libvirt-qemu:x:64055:64055::/nonexistent:/bin/false' >>"$RIG/$side/$file" ||
			echo 'libvirt-qemu:x:64055:' >>"$RIG/$side/$file"
	done
	# Names that are answered here: a resolver without a network takes 5 s to say no.
	{ cat /etc/hosts; echo "127.0.0.1 rig-src rig-dst"; } >"$RIG/$side/hosts"
	# Only the driver that is needed: the others look after the host's bridges, firewall and devices, which are not ours.
	: >"$RIG/$side/drivers/libvirt_driver_qemu.so"
	[[ -d $RIG_CAPS ]] && mkdir -p "$RIG/$side/cache/qemu" && cp -r "$RIG_CAPS" "$RIG/$side/cache/qemu/capabilities"
	return 0
}

# The process that holds a side's namespaces open, so that its libvirtd can be stopped and started again in them.
rig_holder() {
	local side=$1 i
	rig_spawn "holder-$side" unshare -m -u bash -eu -c '
		rig=$1 side=$2 kib=$3 drivers=$4
		echo "rig-$side" >/proc/sys/kernel/hostname
		for pair in run:/run/libvirt lib:/var/lib/libvirt etc:/etc/libvirt cache:/var/cache/libvirt log:/var/log/libvirt; do
			mkdir -p "${pair#*:}"
			mount --bind "$rig/$side/${pair%%:*}" "${pair#*:}"
		done
		mount -t hugetlbfs -o "pagesize=${kib}K" none "$rig/$side/huge"
		# The very file: libvirt forgets what it learned about QEMU when its driver is newer.
		mount --bind "$drivers/libvirt_driver_qemu.so" "$rig/$side/drivers/libvirt_driver_qemu.so"
		mount --rbind "$rig/$side/drivers" "$drivers"
		for file in passwd group hosts; do mount --bind "$rig/$side/$file" "/etc/$file"; done
		# A machine manager on the host bus must not hear of these guests.
		if [ -d /run/dbus ]; then mount --bind "$rig/$side/none" /run/dbus; fi
		: >"$rig/$side/ready"
		exec sleep infinity' rig-holder "$RIG" "$side" "$RIG_HUGE_KIB" "$RIG_DRIVERS"
	for ((i = 0; i < 100; i++)); do
		[[ -e $RIG/$side/ready ]] && return 0
		sleep 0.05
	done
	rig_fail "the namespace of $side could not be set up: $(tail -1 "$RIG/holder-$side.log")"
}

# Start the libvirtd of side $1; returns when it answers.
rig_libvirtd_start() {
	local side=$1 holder i
	read -r holder _ <<<"$(rig_proc "holder-$side")"
	rig_spawn "libvirtd-$side" nsenter -t "$holder" -m -u -- \
		libvirtd --config /etc/libvirt/libvirtd.conf --pid-file /run/libvirt/libvirtd.pid
	for ((i = 0; i < 300; i++)); do
		rig_virsh "$side" -q uri >/dev/null 2>&1 && return 0
		rig_alive "$RIG_PID" "$(rig_start_time "$RIG_PID")" || break
		sleep 0.05
	done
	rig_fail "the libvirtd of $side does not answer: $(tail -1 "$RIG/libvirtd-$side.log")"
}

# Stop the libvirtd of side $1 with signal $2 (TERM); its guests run on.
rig_libvirtd_stop() {
	local pid start
	read -r pid start <<<"$(rig_proc "libvirtd-$1")"
	rig_signal "${2:-TERM}" "$pid" "$start"
	rig_wait_gone 30 "$pid" "$start" || rig_signal KILL "$pid" "$start"
}

# Keep what the source learned about the QEMUs of this machine: the destination, and the next rig, need not probe them again
# (3 to 10 s each). libvirt itself throws away what no longer holds.
rig_keep_capabilities() {
	local made=$RIG/src/cache/qemu/capabilities
	[[ -d $RIG_CAPS ]] && return 0
	rig_say "libvirt probes the QEMUs of this machine, once"
	rig_virsh src capabilities >/dev/null 2>&1 || true
	[[ -d $made ]] || return 0
	mkdir -p "$RIG/dst/cache/qemu"
	cp -r "$made" "$RIG/dst/cache/qemu/"
	cp -r "$made" "$RIG_CAPS.$$"
	mv -T "$RIG_CAPS.$$" "$RIG_CAPS" 2>/dev/null || rm -rf "$RIG_CAPS.$$"
}

rig_caps_name() {
	local key
	key=$({ uname -r; echo "$RIG_TYPE"; cat "$(command -v libvirtd)"; stat -Lc '%n %s %Z' /usr/bin/qemu-system-*; } | sha256sum)
	RIG_CAPS=$RIG_CACHE/capabilities-${key:0:16}
}

rig_make() {
	local guest guests port huge_mib
	RIG_DRIVERS=$(ls -d /usr/lib/*/libvirt/connection-driver /usr/lib*/libvirt/connection-driver 2>/dev/null | head -1)
	[[ -f $RIG_DRIVERS/libvirt_driver_qemu.so ]] || rig_fail "libvirt's QEMU driver is not installed (Debian: libvirt-daemon-driver-qemu)" || return
	rig_machine && rig_kernel && rig_initrd && rig_caps_name || return
	RIG_HUGE_KIB=$(rig_hugepage_kib) || return
	# Each guest twice, source and destination, and a page each for rounding.
	guests=${RIG_ROOM:-$#}
	huge_mib=$((RIG_GUEST_MIB * 2 * guests))
	rig_locked rig_hugepages_take "$RIG_HUGE_KIB" $((huge_mib * 1024 / RIG_HUGE_KIB + 2 * guests)) || return
	port=$((RIG_PORT_BASE + RIG_SLOT * RIG_PORT_STEP))
	echo $((port + 40)) >"$RIG/relay-port"
	rig_config src a "$port"
	rig_config dst b $((port + 20))
	rig_holder src && rig_holder dst || return
	rig_libvirtd_start src && rig_libvirtd_start dst || return
	for guest; do
		rig_guest_start "$guest" || return
	done
	rig_keep_capabilities
}

# Bring a rig up with guests $@ (guest1 if none is named). RIG_KEEP=1: it outlives this shell.
# Sets RIG (run directory), RIG_SRC_URI, RIG_DST_URI, RIG_TYPE (kvm or qemu). On failure nothing is left.
rig_up() {
	(($#)) || set -- guest1
	rig_need || return
	mkdir -p "$RIG_CACHE" "$RIG_REGISTRY"
	rig_reap
	RIG=$(mktemp -d "${TMPDIR:-/tmp}/rollbackd-rig.XXXXXX")
	if ((${#RIG} > RIG_PATH_MAX)); then
		rmdir "$RIG"
		rig_fail "the run directory's path is too long for socket names ($RIG): set a shorter TMPDIR"
		return
	fi
	if [[ ${RIG_KEEP:-} == 1 ]]; then
		echo "- - $(rig_boot)" >"$RIG/owner"
	else
		echo "$$ $(rig_start_time $$) $(rig_boot)" >"$RIG/owner"
	fi
	: >"$RIG/procs"
	rig_locked rig_register || { rm -rf "$RIG"; return 1; }
	RIG_SRC_URI=$(rig_uri src)
	RIG_DST_URI=$(rig_uri dst)
	rig_make "$@" && return 0
	[[ ${RIG_DEBUG:-} == 1 ]] || rig_down
	return 1
}

# Take down this shell's rig. Safe to call twice, and without one.
rig_down() {
	[[ -n ${RIG:-} ]] || return 0
	rig_undo "$RIG" "$RIG_REGISTRY/slot.$RIG_SLOT"
	RIG=
}

# Use the rig in directory $1, made by another shell.
rig_attach() {
	local link
	[[ -f $1/procs ]] || rig_fail "no rig at $1" || return
	RIG=$1
	for link in "$RIG_REGISTRY"/slot.*; do
		[[ $(readlink "$link") == "$RIG" ]] && RIG_SLOT=${link##*.}
	done
	RIG_SRC_URI=$(rig_uri src)
	RIG_DST_URI=$(rig_uri dst)
}
