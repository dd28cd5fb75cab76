# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Suites: one boot a line of suites/NAME.list, "MODEL [OPTIONS] : TEST...".

# matrix SUITE [OPTIONS]: the options are put before those of each line
verb_matrix() {
	local suite=${1:-} results rc=0

	[ -n "$suite" ] || die "matrix: expected a suite; 'lab list' shows them"
	[ -f "$LAB_DIR/suites/$suite.list" ] || die "no suites/$suite.list"
	shift
	results=$(mktemp)
	run_suite "$suite" "$@" | tee "$results"
	count_results "$results" || rc=1
	rm -f "$results"
	return $rc
}

# run_suite SUITE [OPTIONS]: RESULT lines; never fails, the lines tell
run_suite() {
	local suite=$1 model options tests began
	shift

	while IFS=: read -r options tests; do
		read -r model options <<<"$options"
		began=$SECONDS
		say "suite $suite: $model $options $*"
		# a boot that cannot even be prepared is a failure of its own
		# shellcheck disable=SC2086
		"$LAB_DIR/lab" run "$model" "$@" $options $tests </dev/null || [ $? -eq 1 ] ||
			echo "RESULT $model/${options:-default} fail could not be run"
		say "suite $suite: $model took $((SECONDS - began)) s"
	done < <(sed -E 's/#.*//; /^[[:space:]]*$/d' "$LAB_DIR/suites/$suite.list")
}

# the closing line that people and machines read; 1 if something failed or nothing ran
count_results() {
	awk '/^RESULT / { n[$3]++ }
		END {
			printf "%d passed, %d failed, %d skipped\n", n["pass"], n["fail"], n["skip"]
			exit n["fail"] > 0 || n["pass"] == 0
		}' "$1"
}

verb_list() {
	local m f

	echo "models:"
	for m in $MODELS; do
		printf '  %-18s %s%s\n' "$m" "$(model_about "$m")" "$(model_missing "$m" | sed 's/^/ -- missing: /')"
	done
	echo "flavours: stock$(have_series && echo ' patched mutation:NAME')"
	echo "tests (tests.list):"
	awk 'NF && !/^#/ { printf "  %-20s %4s s %-8s", $1, $2, $4; for (i = 5; i <= NF; i++) printf " %s", $i; print "" }' \
		"$LAB_DIR/tests.list"
	echo "suites:"
	for f in "$LAB_DIR"/suites/*.list; do
		[ ! -f "$f" ] || printf '  %s\n' "$(basename "$f" .list)"
	done
	echo "mutations:"
	for f in "$MUTATIONS_DIR"/*.patch; do
		[ ! -f "$f" ] || printf '  %s\n' "$(basename "$f" .patch)"
	done
}
