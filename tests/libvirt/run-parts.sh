# shellcheck shell=bash
# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What a case of tests/libvirt/run is made of: a private bus, rollbackd under test, an observer a side, the drive, and the
# comparison. Everything that runs is the rig's (rig_spawn), so that whatever happens it is cleaned up with it.

BUS_NAME=org.rollbackd1

# How long rollbackd may take to connect, to finish its reports once a fixture is over, and to stop; tenths of a second. It is
# patience with a busy machine, not a measure: that is what tests/bench is for.
CONNECT_TENTHS=300 FINISH_TENTHS=200 STOP_TENTHS=100

complain() { printf '%s\n' "$*" >>"$RIG/case.why"; return 1; }

# Try a command until it succeeds, for $1 tenths of a second.
wait_until() {
	local end=$((${EPOCHREALTIME/./} + $1 * 100000))
	shift
	while ((${EPOCHREALTIME/./} < end)); do
		"$@" && return 0
		sleep 0.1
	done
	"$@"
}

start_bus() {
	rm -f "$RIG/bus"
	cat >"$RIG/bus.conf" <<-CONF
		<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
		 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
		<busconfig>
		  <listen>unix:path=$RIG/bus</listen>
		  <auth>EXTERNAL</auth>
		  <policy context="default">
		    <allow own="$BUS_NAME"/><allow send_destination="*"/><allow receive_type="method_call"/>
		    <allow receive_type="method_return"/><allow receive_type="error"/><allow receive_type="signal"/>
		    <allow send_type="signal"/>
		  </policy>
		</busconfig>
	CONF
	rig_spawn bus dbus-daemon --nofork --nopidfile --config-file="$RIG/bus.conf"
	wait_until 100 test -S "$RIG/bus" || complain "the private bus does not start"
}

stop_bus() {
	local pid start
	read -r pid start <<<"$(rig_proc bus)"
	rig_end "$pid" "$start"
}

ctl() { "$BUILD/client/rollbackctl" --address "unix:path=$RIG/bus" "$@"; }

# Configuration for URIs "$@" and state directory $RIG/state.
configure() {
	local IFS=';' uris
	uris="$*"
	cat >"$RIG/rollbackd.conf" <<-CONF
		[Libvirt]
		Uris=$uris
		ReconnectMaxSec=1
		[Reports]
		Directory=$RIG/state
		[Watch]
		LeftPausedAfterSec=10
		[Log]
		Level=debug
	CONF
}

launch_rollbackd() {
	setsid "$BUILD/daemon/rollbackd" --config "$RIG/rollbackd.conf" --address "unix:path=$RIG/bus" \
		</dev/null >>"$RIG/rollbackd.log" 2>&1 9>&- &
	ROLLBACKD=$!
	ROLLBACKD_START=$(rig_start_time "$ROLLBACKD")
	rig_record "$ROLLBACKD" rollbackd
}

# How many of rollbackd's connections are up.
connected() { ctl status --json 2>/dev/null | grep -oE '"state": ?"up"' | wc -l; }

is_connected() { (($(connected) == $1)); }

# Start rollbackd; returns when $1 (2) of its connections are up.
start_rollbackd() {
	launch_rollbackd
	wait_until "$CONNECT_TENTHS" is_connected "${1:-2}" && return 0
	rig_alive "$ROLLBACKD" "$ROLLBACKD_START" || complain "rollbackd has ended: $(tail -1 "$RIG/rollbackd.log")" || return
	complain "rollbackd has $(connected) connections; expected ${1:-2}"
}

# It has to stop when asked to, with status 0 (a sanitizer's finding gives another).
stop_rollbackd() {
	local status=0
	rig_alive "$ROLLBACKD" "$ROLLBACKD_START" || complain "rollbackd has ended by itself"
	rig_signal TERM "$ROLLBACKD" "$ROLLBACKD_START"
	if ! rig_wait_gone "$STOP_TENTHS" "$ROLLBACKD" "$ROLLBACKD_START"; then
		complain "rollbackd did not stop $((STOP_TENTHS / 10)) s after SIGTERM"
		rig_signal ABRT "$ROLLBACKD" "$ROLLBACKD_START"
		rig_wait_gone 50 "$ROLLBACKD" "$ROLLBACKD_START"
	fi
	wait "$ROLLBACKD" 2>/dev/null || status=$?
	((status == 0)) || complain "rollbackd ended with status $status"
}

kill_rollbackd() {
	rig_signal KILL "$ROLLBACKD" "$ROLLBACKD_START"
	rig_wait_gone 50 "$ROLLBACKD" "$ROLLBACKD_START"
	wait "$ROLLBACKD" 2>/dev/null
	return 0
}

# Start the observer of side $1 for case $2; returns when it listens.
observe() {
	rm -f "$RIG/seen-$1.jsonl"
	rig_spawn "observer-$1" "$BUILD/tests/libvirt/observer" --uri "$(rig_uri "$1")" --side "$1" --case "$2" "$RIG/seen-$1.jsonl"
	wait_until 200 grep -qs '"kind":"connection"' "$RIG/seen-$1.jsonl" || complain "the observer of $1 does not start"
}

unobserve() {
	local pid start
	read -r pid start <<<"$(rig_proc "observer-$1")"
	rig_end "$pid" "$start"
}

drive() {
	"$BUILD/tests/libvirt/drive" --rig "$RIG" --rig-command "$RIG_HOME/rig" "$@" >>"$RIG/drive.log" 2>&1 ||
		complain "drive $*: $(tail -1 "$RIG/drive.log")"
}

# Finished reports on disk and reports of what is under way.
on_disk() { find "$RIG/state/reports" -name '*.json' 2>/dev/null | wc -l; }
under_way() { find "$RIG/state/inflight" -type f 2>/dev/null | wc -l; }
settled() { (($(on_disk) >= $1 && $(under_way) == 0)); }

# How many reports case $1 is to have.
reports_of() {
	(cd "$RIG_HOME" && python3 -c 'import sys; from expected import EXPECTED; print(sum(map(len, EXPECTED[sys.argv[1]])))' "$1")
}

# Every report, whole, as the client gives it: one a line.
fetch_reports() {
	local id
	ctl list --json --limit 0 | grep -oE '"id": ?"[0-9a-f]{16}"' | grep -oE '[0-9a-f]{16}' | sort -u | while read -r id; do
		ctl show --json "id:$id" | tr -d '\n' || return
		echo
	done
}

# Hold the reports against the observers. $1: case, and then the URIs that rollbackd watches (source, destination).
judge() {
	local count line
	count=$(reports_of "$1")
	wait_until "$FINISH_TENTHS" settled "$count" ||
		complain "$(on_disk) finished reports and $(under_way) under way $((FINISH_TENTHS / 10)) s after the end; expected $count"
	unobserve src
	unobserve dst
	fetch_reports >"$RIG/reports.jsonl" 2>"$RIG/fetch.log" || complain "rollbackctl: $(tail -1 "$RIG/fetch.log")"
	(($(wc -l <"$RIG/reports.jsonl") == $(on_disk))) ||
		complain "rollbackctl lists $(wc -l <"$RIG/reports.jsonl") reports; there are $(on_disk) files"
	python3 "$RIG_HOME/compare.py" "$1" "$RIG/reports.jsonl" "$RIG/seen-src.jsonl" "$2" "$RIG/seen-dst.jsonl" "$3" >"$RIG/compare.log" 2>&1 ||
		while read -r line; do complain "$line"; done <"$RIG/compare.log"
}
