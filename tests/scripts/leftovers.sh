# shellcheck shell=bash
# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# One run at a time in a folder, and nothing of a killed run in the way of the next. To be sourced.
#
#   run_claim FOLDER NAME     ends what a killed run in FOLDER left, then takes FOLDER; 1 (said) if somebody else runs there
#   run_release               gives it back
#
# A run hands every process below it a token of its own in the environment (NAME, an environment variable). That finds what
# it started, whatever became of parents and sessions, and nothing else: no process is looked for by its program's name.

RUN_CLAIMED=

# Start time of process $1 in clock ticks since boot, nothing if there is none.
run_start_time() {
	local line
	{ read -r line <"/proc/$1/stat"; } 2>/dev/null || return 0
	line=${line##*) }
	[[ $line == [ZX]* ]] && return 0
	# shellcheck disable=SC2086
	set -- $line
	printf '%s' "${20}"
}

# Pids of the processes whose environment holds $1 (NAME=TOKEN), this shell apart.
run_marked() {
	local pid
	grep -lszxF -- "$1" /proc/[0-9]*/environ | cut -d/ -f3 | while read -r pid; do
		[[ $pid == "$$" || -z $(run_start_time "$pid") ]] || printf '%s\n' "$pid"
	done
}

# End every process that carries $1. Twice round: one may have been forking.
run_reap() {
	local pid i
	for ((i = 0; i < 50; i++)); do
		mapfile -t pids < <(run_marked "$1")
		((${#pids[@]})) || return 0
		for pid in "${pids[@]}"; do kill -KILL "$pid" 2>/dev/null; done
		sleep 0.1
	done
	printf 'process %s of a killed run does not end\n' "${pids[*]}" >&2
}

run_claim_locked() {
	local folder=$1 name=$2 pid start boot token
	if { read -r pid start boot token <"$folder/run"; } 2>/dev/null && [[ $boot == "$(</proc/sys/kernel/random/boot_id)" ]]; then
		if [[ -n $start && $(run_start_time "$pid") == "$start" ]]; then
			printf 'another run is at work here: process %s. Wait for it, or end it.\n' "$pid" >&2
			return 1
		fi
		[[ -n $token ]] && run_reap "$name=$token"
	fi
	token=$(</proc/sys/kernel/random/uuid)
	printf '%s %s %s %s\n' "$$" "$(run_start_time $$)" "$(</proc/sys/kernel/random/boot_id)" "$token" >"$folder/run"
	export "$name=$token"
	RUN_CLAIMED=$folder/run
}

run_claim() {
	local status=0
	mkdir -p "$1" || return 1
	# Held for the look alone, by no child.
	exec 8>"$1/run.lock"
	flock 8
	run_claim_locked "$@" 8>&- || status=$?
	exec 8>&-
	return "$status"
}

run_release() {
	[[ -n $RUN_CLAIMED ]] && rm -f "$RUN_CLAIMED"
	RUN_CLAIMED=
	return 0
}
