# shellcheck shell=bash
# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Saying what is being done and how long it took. To be sourced.
#
#   step "Building rollbackd"          a line now
#   step_done ["a remark"]             the time it took
#   run_logged LOG COMMAND...          output to LOG, a sign of life meanwhile, the log's end when it fails
#
# run_logged runs its command in a session of its own, so that ^C is ours to handle: kill_logged ends it.

PROGRESS_STARTED=0
PROGRESS_CHILD=
# How often a long step says that it is still at work, s: without a terminal each is a line in somebody's log.
PROGRESS_EVERY=30
# Lines of a failed command's log that are shown.
PROGRESS_TAIL=25

now_ms() {
	local t=${EPOCHREALTIME/[.,]/}
	printf '%s' "${t%???}"
}

# Milliseconds $1 as seconds with one digit.
as_seconds() { printf '%d.%d s' $(($1 / 1000)) $(($1 % 1000 / 100)); }

step() {
	PROGRESS_STARTED=$(now_ms)
	printf '==> %s\n' "$*"
}

step_done() {
	printf '    %s%s\n' "${1:+$1, }" "$(as_seconds $(($(now_ms) - PROGRESS_STARTED)))"
}

# The end of log $1, each line set off: nothing in it can be taken for a line of ours.
show_log() {
	[[ -s $1 ]] || return 0
	tail -n "$PROGRESS_TAIL" "$1" | sed 's/^/    | /'
	printf '    | (all of it: %s)\n' "$1"
}

progress_sign() {
	if [[ -t 1 ]]; then
		printf '\r    %d s ' "$1"
	elif (($1 / PROGRESS_EVERY > $2 / PROGRESS_EVERY)); then
		printf '    still at it, %d s\n' "$1"
	fi
}

progress_clear() { if [[ -t 1 ]]; then printf '\r              \r'; fi; }

run_logged() {
	local log=$1 began=$SECONDS last=0 status=0
	shift
	setsid -- "$@" </dev/null >"$log" 2>&1 &
	PROGRESS_CHILD=$!
	while kill -0 "$PROGRESS_CHILD" 2>/dev/null; do
		sleep 0.1
		((SECONDS - began == last)) && continue
		progress_sign $((SECONDS - began)) "$last"
		last=$((SECONDS - began))
	done
	wait "$PROGRESS_CHILD" || status=$?
	PROGRESS_CHILD=
	progress_clear
	((status == 0)) && return 0
	show_log "$log"
	return "$status"
}

# End what run_logged runs now, with all that it started.
kill_logged() {
	[[ -n $PROGRESS_CHILD ]] || return 0
	kill -TERM -- "-$PROGRESS_CHILD" 2>/dev/null || kill -TERM "$PROGRESS_CHILD" 2>/dev/null
	for _ in {1..50}; do
		kill -0 -- "-$PROGRESS_CHILD" 2>/dev/null || break
		sleep 0.1
	done
	kill -KILL -- "-$PROGRESS_CHILD" 2>/dev/null
	wait "$PROGRESS_CHILD" 2>/dev/null
	PROGRESS_CHILD=
}
