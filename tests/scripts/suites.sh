# shellcheck shell=bash disable=SC2034
# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The suites of ./check, one function each. To be sourced by it: it has progress.sh and the counters.
#
#   suite_NAME       runs, and counts with pass, fail and skip
#   SUITES_QUICK     those without kernels and guests, in order; SUITES_FULL: the others

SUITES_QUICK=(spdx style scripts layers selftests preflight build-gcc build-clang build-options build-asan units units-asan systemd fuzz)
SUITES_FULL=(libvirt libvirt-asan quickstart lab)

# Every build turns warnings into errors, the sanitizers' apart: gcc warns wrongly of what they add.
OPTIONS_gcc=(--werror)
OPTIONS_clang=(--werror)
# shellcheck disable=SC2054 # meson's own comma
OPTIONS_asan=(-Db_sanitize=address,undefined -Db_lundef=false)
# One a feature: all others on. Quick ones, by clang: gcc without optimisation warns of what it cannot know.
FEATURES=(no-daemon no-client no-doctor no-tests)
OPTIONS_no_daemon=(--werror --optimization=0 -Ddaemon=false)
OPTIONS_no_client=(--werror --optimization=0 -Dclient=false)
OPTIONS_no_doctor=(--werror --optimization=0 -Ddoctor_libvirt=disabled)
OPTIONS_no_tests=(--werror --optimization=0 -Dtests=false)

# A sanitizer's finding ends the program with a status of its own; leaks count.
SANITIZER_ENV=(ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1:exitcode=99
	UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1:exitcode=99 G_SLICE=always-malloc)
# How much slower a test may be there.
SANITIZER_PATIENCE=5
# Longest run of each slow suite, s: what hangs is a failure, and the suites after it still run.
LIMIT_UNITS=600 LIMIT_LIBVIRT=1500 LIMIT_LAB=3600 LIMIT_LAB_LONG=28800 LIMIT_QUICKSTART=1500
# Fuzzing time of each target, s.
FUZZ_SECONDS=6 FUZZ_SECONDS_LONG=300

# Run a command that is one test of the suite. Its log is shown if it fails.
one() {
	local name=$1
	shift
	if run_logged "$LOGS/$SUITE-${name//[^A-Za-z0-9]/-}.log" "$@"; then
		pass "$name"
	else
		fail "$name" "exit status $?"
	fi
}

# Run a script that counts (its exit status 77: all was skipped): its last "N passed, N failed, N skipped" line is taken, its "skip" and "FAIL" lines are shown.
counted() {
	local log=$LOGS/$SUITE.log status=0 line
	run_logged "$log" "$@" || status=$?
	line=$(grep -E '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' "$log" | tail -1)
	if [[ ! $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed(,\ ([0-9]+)\ skipped)?$ ]]; then
		fail "$SUITE" "exit status $status, and no count at the end"
		return
	fi
	local passed=${BASH_REMATCH[1]} failed=${BASH_REMATCH[2]} skipped=${BASH_REMATCH[4]:-0}
	count "$passed" "$failed" "$skipped"
	while read -r line; do
		note "$line"
		PROBLEMS+=("$SUITE: $line")
	done < <(grep -E '^ *(FAIL|fail|SKIP|skip)\b|^[^ ]+: (skipped|FAILED): |^RESULT [^ ]+ (fail|skip)' "$log")
	((status != 0 && status != 77 && failed == 0)) && fail "$SUITE" "exit status $status though nothing is counted as failed"
	((passed + failed + skipped == 0)) && fail "$SUITE" 'no test was run'
	return 0
}

need_root_or_skip() {
	((EUID == 0)) && return 0
	skip "$SUITE" 'needs root'
	return 1
}

suite_spdx() { one 'every file has its licence' tests/scripts/check-spdx; }

suite_style() { one 'house style' tests/scripts/check-style; }

# Shell scripts that git tracks, by their first line.
shell_scripts() {
	git ls-files 2>/dev/null | while read -r file; do
		[[ -f $file ]] && head -n 1 "$file" | grep -qsE '^#!.*\b(ba)?sh$|^# shellcheck shell=' && printf '%s\n' "$file"
	done
	return 0
}

suite_scripts() {
	local file scripts
	mapfile -t scripts < <(shell_scripts)
	((${#scripts[@]})) || { fail scripts 'git names no script here'; return; }
	for file in "${scripts[@]}"; do bash -n "$file" 2>/dev/null || fail "$file" 'bash does not read it'; done
	if ! command -v shellcheck >/dev/null; then
		skip shellcheck 'it is not installed'
		return
	fi
	# SC1090, SC1091: what is sourced is checked by itself. Style and information are left to authors.
	printf '%s\0' "${scripts[@]}" >"$LOGS/scripts.list"
	one "shellcheck of ${#scripts[@]} scripts" xargs -0 -P "$(nproc)" -n 4 -a "$LOGS/scripts.list" \
		shellcheck -S warning -e SC1007,SC1090,SC1091,SC2034,SC2154
}

suite_layers() { counted tests/scripts/check-layers; }

suite_selftests() {
	counted tests/scripts/test-checks
	SUITE=selftests-leftovers
	counted tests/scripts/test-leftovers
}

suite_preflight() {
	need_root_or_skip || return 0
	counted tests/scripts/test-preflight
}

# Build directory $1 with compiler $2, once a run. Later calls say how that went.
declare -A BUILT
build() {
	local name=$1 cc=$2 dir=$BUILDS/$1 want
	local -n options=OPTIONS_${name//-/_}
	[[ -n ${BUILT[$name]:-} ]] && return "${BUILT[$name]}"
	BUILT[$name]=1
	want="$cc ${options[*]} $("$cc" --version | head -1) meson $(meson --version)"
	if [[ ! -f $dir/build.ninja || $(cat "$dir/check-options" 2>/dev/null) != "$want" ]]; then
		rm -rf "$dir"
		run_logged "$LOGS/build-$name.log" env CC="$cc" meson setup "${options[@]}" "$dir" . || return 1
		printf '%s\n' "$want" >"$dir/check-options"
	fi
	run_logged "$LOGS/build-$name.log" ninja -C "$dir" || return 1
	BUILT[$name]=0
}

suite_build_with() {
	command -v "$2" >/dev/null || { fail "$1" "$2 is not installed"; return; }
	if build "$1" "$2"; then pass "$1"; else fail "$1" 'it does not build without warnings'; fi
}

suite_build-gcc() { suite_build_with gcc gcc; }
suite_build-clang() { suite_build_with clang clang; }
suite_build-asan() { suite_build_with asan gcc; }
suite_build-options() {
	local feature
	for feature in "${FEATURES[@]}"; do suite_build_with "$feature" clang; done
}

# Unit and bus tests of build $1; further words are environment.
meson_tests() {
	local name=$1 patience=1 log=$LOGS/$SUITE.log line status=0 any=0
	shift
	build "$name" gcc || { skip "$SUITE" "build $name failed"; return; }
	[[ $name == asan ]] && patience=$SANITIZER_PATIENCE
	rm -f "$BUILDS/$name/meson-logs/testlog.json"
	run_logged "$log" env "$@" timeout "$LIMIT_UNITS" \
		meson test -C "$BUILDS/$name" --no-rebuild --print-errorlogs -t "$patience" || status=$?
	if [[ ! -f $BUILDS/$name/meson-logs/testlog.json ]]; then
		fail "$SUITE" "exit status $status, and meson ran no test"
		return
	fi
	while read -r line; do
		any=1
		case $line in
		pass\ *) pass "${line#pass }" ;;
		skip\ *) skip "${line#skip }" ;;
		fail\ *) fail "${line#fail }" ;;
		esac
	done < <(tests/scripts/count-meson "$BUILDS/$name")
	((any)) || fail "$SUITE" 'no test was run'
	((status == 0 || SUITE_FAILED)) || fail "$SUITE" "meson's exit status $status"
}

suite_units() { meson_tests gcc; }
suite_units-asan() { meson_tests asan "${SANITIZER_ENV[@]}"; }

# The unit file with a program that is there.
suite_systemd() {
	local dir=$BUILDS/systemd policy
	mkdir -p "$dir"
	sed 's#^ExecStart=.*#ExecStart=/bin/true#' systemd/rollbackd.service.in >"$dir/rollbackd.service"
	if command -v systemd-analyze >/dev/null; then
		one 'systemd-analyze verify' systemd-analyze verify --man=no "$dir/rollbackd.service"
		# Of 0 (shut in) to 100: now 16. What makes it larger should be meant.
		one 'systemd-analyze security' systemd-analyze security --offline=true --threshold=20 --no-pager "$dir/rollbackd.service"
	else
		skip 'systemd-analyze verify, security' 'systemd-analyze is not installed'
	fi
	for policy in systemd/*.conf docs/*.xml; do
		one "well-formed: $policy" xmllint --nonet --noout "$policy"
	done
}

suite_fuzz() {
	local seconds=$FUZZ_SECONDS
	((LONG)) && seconds=$FUZZ_SECONDS_LONG
	if [[ ! -x tests/fuzz/run ]]; then
		skip fuzz 'tests/fuzz/run is not in the tree'
		return
	fi
	counted env ROLLBACKD_FUZZ_BUILD="$BUILDS/fuzz" tests/fuzz/run "$seconds"
}

# tests/libvirt/run on build $1.
libvirt_tests() {
	need_root_or_skip || return 0
	if [[ ! -x tests/libvirt/run ]]; then
		skip "$SUITE" 'tests/libvirt/run is not in the tree'
		return
	fi
	build "$1" gcc || { skip "$SUITE" "build $1 failed"; return; }
	counted env "${@:2}" timeout -k 60 "$LIMIT_LIBVIRT" tests/libvirt/run --build "$BUILDS/$1" --logs "$LOGS/$SUITE.d"
}

suite_libvirt() { libvirt_tests gcc; }
suite_libvirt-asan() { libvirt_tests asan "${SANITIZER_ENV[@]}"; }

# The README's first command, whole, interrupted and killed.
suite_quickstart() {
	need_root_or_skip || return 0
	counted timeout -k 60 "$LIMIT_QUICKSTART" tests/scripts/test-quickstart
}

suite_lab() {
	need_root_or_skip || return 0
	local words=()
	if [[ ! -x tests/lab/check ]]; then
		skip lab 'tests/lab/check is not in the tree'
		return
	fi
	((LONG)) && words=(--long) LIMIT_LAB=$LIMIT_LAB_LONG
	counted timeout -k 60 "$LIMIT_LAB" tests/lab/check "${words[@]}"
}
