# shellcheck shell=bash
# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The cases of tests/libvirt/run: every fixture of the drive, and fixtures while something happens to rollbackd. A function
# case_NAME runs one; what goes wrong is complained about. Each begins with guests at home and without rollbackd.

# Cases that are not fixtures alone. "what" for --list.
declare -A SPECIAL=(
	[late]="rollbackd is started in the middle of pre-copy."
	[killed]="rollbackd is killed in pre-copy and started again before the migration is aborted."
	[killed-through]="rollbackd is killed in pre-copy and started again when the migration is over."
	[bus-restarted]="The bus is restarted while the guest is suspended."
	[no-libvirtd]="rollbackd is started before the destination's libvirtd is."
	[no-qmp]="rollbackd may not subscribe to QMP events (read-only sockets)."
)

# Longer than rollbackd takes to stop and to start, ms: for fixtures during which it is.
LONG_PAUSE=4000

# Fixture $1 under everybody's eyes, with drive options "$@" after it.
plain() {
	local fixture=$1
	shift
	configure "$RIG_SRC_URI" "$RIG_DST_URI"
	start_rollbackd || return
	observe src "$fixture" && observe dst "$fixture" || return
	drive "$@" "$fixture"
	judge "$fixture" "$RIG_SRC_URI" "$RIG_DST_URI"
	stop_rollbackd
}

# Fixture $2 in the background, for case $1; returns when QEMU has begun to copy memory.
begin_fixture() {
	observe src "$1" && observe dst "$1" || return
	"$BUILD/tests/libvirt/drive" --rig "$RIG" --pause "$LONG_PAUSE" "$2" >>"$RIG/drive.log" 2>&1 9>&- &
	DRIVE=$!
	rig_record "$DRIVE" drive
	wait_until 300 grep -qs '"status":"active"\|"status": "active"' "$RIG/seen-src.jsonl" || complain "the migration does not begin"
}

end_fixture() { wait "$DRIVE" || complain "drive: $(tail -1 "$RIG/drive.log")"; }

case_late() {
	configure "$RIG_SRC_URI" "$RIG_DST_URI"
	begin_fixture late F4-abort || return
	start_rollbackd
	end_fixture
	judge late "$RIG_SRC_URI" "$RIG_DST_URI"
	stop_rollbackd
}

case_killed() {
	configure "$RIG_SRC_URI" "$RIG_DST_URI"
	start_rollbackd || return
	begin_fixture killed F4-abort || return
	# What is under way is on disk soon, not at once.
	wait_until 30 test "$(under_way)" -gt 0
	kill_rollbackd
	start_rollbackd
	end_fixture
	judge killed "$RIG_SRC_URI" "$RIG_DST_URI"
	stop_rollbackd
}

case_killed-through() {
	configure "$RIG_SRC_URI" "$RIG_DST_URI"
	start_rollbackd || return
	begin_fixture killed-through F4-abort || return
	wait_until 30 test "$(under_way)" -gt 0
	kill_rollbackd
	end_fixture
	start_rollbackd
	judge killed-through "$RIG_SRC_URI" "$RIG_DST_URI"
	stop_rollbackd
}

case_bus-restarted() {
	configure "$RIG_SRC_URI" "$RIG_DST_URI"
	start_rollbackd || return
	begin_fixture bus-restarted F1-direct || return
	wait_until 100 grep -qs '"event":"STOP"' "$RIG/seen-src.jsonl"
	stop_bus
	sleep 0.5
	start_bus
	end_fixture
	wait_until "$CONNECT_TENTHS" is_connected 2 || complain "rollbackd does not come back to the bus"
	judge bus-restarted "$RIG_SRC_URI" "$RIG_DST_URI"
	stop_rollbackd
}

case_no-libvirtd() {
	rig_libvirtd_stop dst
	configure "$RIG_SRC_URI" "$RIG_DST_URI"
	start_rollbackd 1
	rig_libvirtd_start dst || complain "the destination's libvirtd does not start"
	wait_until "$CONNECT_TENTHS" is_connected 2 || complain "rollbackd does not find the libvirtd that came late"
	observe src no-libvirtd && observe dst no-libvirtd || return
	drive F4-abort
	judge no-libvirtd "$RIG_SRC_URI" "$RIG_DST_URI"
	stop_rollbackd
}

case_no-qmp() {
	configure "$RIG_SRC_URI-ro" "$RIG_DST_URI-ro"
	# libvirt 9.0 itself loses 40 bytes for each subscription that it refuses, with any client.
	echo 'leak:libvirt.so' >"$RIG/lsan"
	LSAN_OPTIONS=suppressions=$RIG/lsan:print_suppressions=0 start_rollbackd || return
	ctl status >"$RIG/status.log" 2>&1
	grep -qi qmp "$RIG/status.log" || complain "rollbackctl status does not say that QMP events are refused"
	observe src no-qmp && observe dst no-qmp || return
	drive F3-cut
	judge no-qmp "$RIG_SRC_URI-ro" "$RIG_DST_URI-ro"
	stop_rollbackd
}

case_two-at-once() {
	rig_guest_start guest2 2>>"$RIG/drive.log" || { complain "guest2 does not start"; return; }
	plain two-at-once
	rig_guest_stop guest2 2>>"$RIG/drive.log"
}
