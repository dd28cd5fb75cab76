# shellcheck shell=bash
# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What a rig owns, written down before it is used, so that it can be given back by whoever comes next: the rig itself,
# a trap, `rig down`, or the next `rig up` after a SIGKILL.
#
#   $RIG_REGISTRY/slot.N   link to the run directory of rig N; the slot also numbers its ports
#   $RIG/owner             "PID START BOOT": who the rig dies with; "-" for one that outlives its maker
#   $RIG/procs             "PID START WHAT" a line: START (clock ticks since boot) keeps a reused PID from harm
#   $RIG/hugepages         "STATE KIB BEFORE TAKEN": how the pool was found and what was added to it

RIG_REGISTRY=${RIG_REGISTRY:-/run/rollbackd-rig}
RIG_SLOTS=8

rig_say() { printf 'rig: %s\n' "$*" >&2; }

rig_fail() { rig_say "$*"; return 1; }

rig_boot() { cat /proc/sys/kernel/random/boot_id; }

# Start time of process $1, or nothing if there is none (a zombie counts as gone).
rig_start_time() {
	local line state rest
	{ read -r line <"/proc/$1/stat"; } 2>/dev/null || return 0
	rest=${line##*) }
	state=${rest%% *}
	[[ $state == [ZX] ]] && return 0
	# The third field is the state, the twenty-second the start.
	set -- $rest
	printf '%s' "${20}"
}

# Is process $1 still the one that started at $2?
rig_alive() { [[ -n ${2:-} && $(rig_start_time "$1") == "$2" ]]; }

# Write down process $1 as $2.
rig_record() { printf '%s %s %s\n' "$1" "$(rig_start_time "$1")" "$2" >>"$RIG/procs"; }

# Send signal $1 to process $2 if it is still the one that started at $3.
rig_signal() {
	rig_alive "$2" "$3" || return 0
	kill "-$1" "$2" 2>/dev/null || true
}

# Wait up to $1 tenths of a second for process $2 (started at $3) to go.
rig_wait_gone() {
	local i
	for ((i = 0; i < $1; i++)); do
		rig_alive "$2" "$3" || return 0
		sleep 0.1
	done
	! rig_alive "$2" "$3"
}

# End process $1, started at $2: politely, then not.
rig_end() {
	rig_signal TERM "$1" "$2"
	rig_wait_gone "${3:-20}" "$1" "$2" && return 0
	rig_signal KILL "$1" "$2"
	rig_wait_gone 50 "$1" "$2"
}

# Start a command of the rig: recorded, in a session of its own (^C is for the rig's owner), no descriptor of ours kept
# but the standard ones. RIG_PID is its pid. Output goes to $RIG/NAME.log.
rig_spawn() {
	local name=$1 i
	shift
	setsid -- "$@" </dev/null >>"$RIG/$name.log" 2>&1 9>&- &
	RIG_PID=$!
	# Or bash would report its end, which is ours to see to.
	disown "$RIG_PID"
	for ((i = 0; i < 50; i++)); do
		[[ -n $(rig_start_time "$RIG_PID") ]] && break
		sleep 0.02
	done
	rig_record "$RIG_PID" "$name"
}

# The pid and start time recorded last for $1, as "PID START".
rig_proc() { awk -v what="$1" '$3 == what { found = $1 " " $2 } END { if (found) print found }' "$RIG/procs"; }

# Processes inside the mount namespaces of rig directory $1, as "PID START" lines: whatever libvirtd started there (QEMU, and
# the QEMUs that it probes). They alone have the run directory among their mounts.
rig_inside() {
	local table pid start
	grep -ls "/${1##*/}/" /proc/[0-9]*/mountinfo | while read -r table; do
		pid=${table#/proc/}
		pid=${pid%/mountinfo}
		start=$(rig_start_time "$pid")
		[[ -n $start ]] && printf '%s %s\n' "$pid" "$start"
	done
	return 0
}

# End everything that rig directory $1 started, last first, then what its libvirtds left behind.
rig_end_all() {
	local pid start what
	[[ -f $1/procs ]] && tac "$1/procs" | while read -r pid start what; do
		case $what in
		# Nothing of theirs is kept, so nothing is gained by asking first.
		libvirtd-*|holder-*) rig_signal KILL "$pid" "$start" ;;
		*) rig_end "$pid" "$start" ;;
		esac
	done
	rig_inside "$1" | while read -r pid start; do
		rig_signal KILL "$pid" "$start"
		rig_wait_gone 50 "$pid" "$start" || rig_say "process $pid does not end"
	done
}

rig_pool() { printf '/sys/kernel/mm/hugepages/hugepages-%skB/nr_hugepages' "$1"; }

# Smallest huge page of this kernel, KiB; 2 MiB where there are such.
rig_hugepage_kib() {
	local kib
	if [[ -d /sys/kernel/mm/hugepages/hugepages-2048kB ]]; then
		printf 2048
		return
	fi
	kib=$(cd /sys/kernel/mm/hugepages 2>/dev/null && ls -d hugepages-*kB | tr -dc '0-9\n' | sort -n | head -1)
	[[ -n $kib ]] || rig_fail "this kernel has no hugetlb pages (CONFIG_HUGETLBFS)"
	printf '%s' "$kib"
}

# Run a command holding the registry's lock.
rig_locked() {
	mkdir -p "$RIG_REGISTRY"
	{ flock 9; "$@"; } 9>"$RIG_REGISTRY/lock"
}

# Add $2 pages of $1 KiB to the pool, beside what is there: those may be promised to somebody's guests.
rig_hugepages_take() {
	local kib=$1 want=$2 pool before now
	pool=$(rig_pool "$kib")
	before=$(<"$pool")
	printf 'asking %s %s %s\n' "$kib" "$before" "$want" >"$RIG/hugepages"
	echo $((before + want)) >"$pool"
	if (($(<"$pool") < before + want)); then
		rig_say "memory is fragmented: dropping caches and compacting it"
		sync
		echo 3 >/proc/sys/vm/drop_caches
		echo 1 >/proc/sys/vm/compact_memory
		echo $((before + want)) >"$pool"
	fi
	now=$(<"$pool")
	printf 'taken %s %s %s\n' "$kib" "$before" $((now - before)) >"$RIG/hugepages"
	((now == before + want)) ||
		rig_fail "only $((now - before)) of $want huge pages of $kib KiB could be had: free memory, or reserve them at boot (hugepages=$want)"
}

# Give back what directory $1 added to the pool, no more.
rig_hugepages_give() {
	local state kib before taken pool now
	[[ -f $1/hugepages ]] || return 0
	read -r state kib before taken <"$1/hugepages"
	pool=$(rig_pool "$kib")
	now=$(<"$pool")
	# Killed while asking: what was had is what the pool has grown by.
	if [[ $state == asking ]]; then
		((taken > now - before)) && taken=$((now - before))
	fi
	((taken > 0)) && echo $((now - taken)) >"$pool"
	rm -f "$1/hugepages"
}

# Is the owner of rig directory $1 gone (or from before a reboot)?
rig_orphan() {
	local pid start boot
	{ read -r pid start boot <"$1/owner"; } 2>/dev/null || return 0
	[[ $boot == "$(rig_boot)" ]] || return 0
	[[ $pid == - ]] && return 1
	! rig_alive "$pid" "$start"
}

# Take a free slot for $RIG; sets RIG_SLOT. Call it with the lock held.
rig_register() {
	for ((RIG_SLOT = 0; RIG_SLOT < RIG_SLOTS; RIG_SLOT++)); do
		ln -sT "$RIG" "$RIG_REGISTRY/slot.$RIG_SLOT" 2>/dev/null && return 0
	done
	rig_fail "$RIG_SLOTS rigs are running already (see $RIG_REGISTRY)"
}

# Undo rig directory $1 of slot link $2: processes, pool, files.
rig_undo() {
	if [[ -d $1 && ${1##*/} == rollbackd-rig.* ]]; then
		rig_end_all "$1"
		rig_locked rig_hugepages_give "$1"
		rm -rf --one-file-system "$1" || rig_say "$1 could not be removed"
	fi
	rm -f "$2"
}

# Undo every rig whose owner is gone.
rig_reap() {
	local link dir
	for link in "$RIG_REGISTRY"/slot.*; do
		[[ -L $link ]] || continue
		dir=$(readlink "$link")
		rig_orphan "$dir" || continue
		[[ -d $dir ]] && rig_say "cleaning up after a rig that was killed ($dir)"
		rig_undo "$dir" "$link"
	done
	return 0
}
