# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Does the lab itself notice? Canned consoles and counts, each with one thing
# wrong, against the scripts that judge real ones. No boot; a second.

verb_selfcheck() {
	local results

	[ $# -eq 0 ] || die "selfcheck takes no arguments"
	RUN_DIR=$(mktemp -d "${TMPDIR:-/tmp}/rollbackd-lab.XXXXXX")
	trap 'rm -rf "$RUN_DIR"' EXIT
	results=$RUN_DIR/results
	{
		selfcheck_consoles
		selfcheck_counts
	} >"$results"
	sed 's/^/RESULT lab\//' "$results"
	sed 's/^/RESULT /' "$results" >"$results.full"
	count_results "$results.full" >&2
}

# expect_line NAME PATTERN TEXT: does TEXT hold a line that matches?
expect_line() {
	if grep -qE "$2" <<<"$3"; then
		echo "$1 pass"
	else
		echo "$1 fail no line like '$2' in: $(tr '\n' ';' <<<"$3")"
	fi
}

# judge_console TEXT: RESULT lines for a plan of one test, "t"
judge_console() {
	printf 't\t60\t0\t./t\n' >"$RUN_DIR/plan"
	awk -v plan="$RUN_DIR/plan" -v label=m -v splat="$SPLAT" -v qemu_rc=124 -v log_file=x \
		-f "$LAB_DIR/lib/results.awk" <<<"$1" 2>/dev/null || true
}

selfcheck_consoles() {
	local begin=$'lab: READY after 1 s\nlab: BEGIN t ./t' end=$'lab: RESULT t pass exit 0 after 1 s\nlab: DONE after 2 s'

	expect_line good-run '^RESULT m/t pass' "$(judge_console "$begin"$'\n'"$end")"
	expect_line splat-is-failure '^RESULT m/t fail kernel: WARNING' \
		"$(judge_console "$begin"$'\nWARNING: CPU: 0 PID: 9 at x.c:1\n'"$end")"
	expect_line lockdep-is-failure '^RESULT m/t fail kernel' \
		"$(judge_console "$begin"$'\nWARNING: possible circular locking dependency detected\n'"$end")"
	expect_line splat-at-boot-is-failure '^RESULT m/kernel-log fail boot' \
		"$(judge_console $'BUG: KASAN: use-after-free in f\n'"$begin"$'\n'"$end")"
	expect_line talk-of-splats-is-none '^RESULT m/t pass' \
		"$(judge_console "$begin"$'\nlab: OUT t BUG: in words only\n'"$end")"
	expect_line dead-machine-is-failure '^RESULT m/t fail no result' "$(judge_console "$begin")"
	expect_line no-power-off-is-failure '^RESULT m/power-off fail' "$(judge_console "$begin"$'\n'"${end%%$'\n'*}")"
	expect_line no-init-is-failure '^RESULT m/boot fail' "$(judge_console 'Booting Linux')"
}

# judge_counts RANGE FWB METHOD MARK-WORDS [FLUSHES HOLDS]: of 64 MiB in 32 blocks, every page written, 1 GiB aligned
judge_counts() {
	echo "MARK 10 $4" >"$RUN_DIR/marks"
	printf '%s\n' "lab: OUT t CELL number=1 backing=pmd mib=64 density=100 access=ro method=$3 blocks=32 dirtied=16384 op_tag=10 logoff_tag=10" \
		"lab: OUT t CELL2 number=1 stall=0 x_holds=${6:-1} x_flushes=${5:-1}" |
		awk -v marks="$RUN_DIR/marks" -v label=m -v range="$1" -v fwb="$2" -v page=4096 -v has_log_off=1 \
			-f "$LAB_DIR/lib/counts.awk" || true
}

selfcheck_counts() {
	local n1='VMALLE1IS=16417 IPAS2E1IS=16417 DC_CIVAC=1048576'

	expect_line slot-by-leaf ' pass' "$(judge_counts 0 0 slot "$n1")"
	expect_line slot-one-flush-short ' fail .*IPAS2E1IS=16416' "$(judge_counts 0 0 slot "${n1/=16417 D/=16416 D}")"
	expect_line slot-clean-forgotten ' fail .*DC_CIVAC=0' "$(judge_counts 0 0 slot "${n1% *}")"
	expect_line slot-by-range ' pass' "$(judge_counts 1 1 slot 'VMALLE1IS=34 IPAS2E1IS=33 RIPAS2E1IS=1')"
	expect_line fault-by-block ' pass' "$(judge_counts 0 0 fault 'VMALLS12E1IS=32')"
	expect_line inplace-one-flush ' pass' "$(judge_counts 0 0 inplace 'VMALLS12E1IS=1')"
	expect_line inplace-no-flush ' fail .*VMALLS12E1IS=0' "$(judge_counts 0 0 inplace '')"
	expect_line inplace-two-flushes ' fail .*VMALLS12E1IS=2' "$(judge_counts 0 0 inplace 'VMALLS12E1IS=2')"
	expect_line inplace-two-holds ' pass' "$(judge_counts 0 0 inplace 'VMALLS12E1IS=2' 2 2)"
	expect_line inplace-two-flushes-a-hold ' fail .*flush calls=2' "$(judge_counts 0 0 inplace 'VMALLS12E1IS=2' 2 1)"
	expect_line inplace-nothing-done ' fail nothing' "$(judge_counts 0 0 inplace '' 0 0)"
	expect_line logoff-no-flush ' fail .*RIPAS2E1IS=0' "$(judge_counts 1 1 logoff '')"
}
