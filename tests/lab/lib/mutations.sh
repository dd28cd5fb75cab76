# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A mutation is a patch that puts a known bug into the series; a suite that
# still passes tests nothing. The patches lie beside the series, mutations.list
# says where each must be caught: "NAME MODEL [OPTIONS] : TEST...", NAME * for
# patches with no line of their own.

verb_mutations() {
	local patch name results rc=0

	parse_options "$@"
	have_series || die "mutations: no series in $SERIES_DIR"
	results=$(mktemp)
	for patch in "$MUTATIONS_DIR"/*.patch; do
		[ -f "$patch" ] || die "mutations: no *.patch in $MUTATIONS_DIR"
		name=$(basename "$patch" .patch)
		[ ${#REST[@]} -eq 0 ] || [[ " ${REST[*]} " == *" $name "* ]] || continue
		try_mutation "$name" | tee -a "$results"
	done
	count_results "$results" || rc=1
	rm -f "$results"
	return $rc
}

# mutation_lines NAME: its lines of mutations.list without the name
mutation_lines() {
	awk -v name="$1" '!/^#/ && $1 == name { own = 1; sub(/^[^ \t]+[ \t]+/, ""); print }
		!/^#/ && $1 == "*" { sub(/^[^ \t]+[ \t]+/, ""); common = common $0 "\n" }
		END { if (!own) printf "%s", common }' "$LAB_DIR/mutations.list"
}

# try_mutation NAME: one RESULT line; one catching boot is enough
try_mutation() {
	local name=$1 where tests out skipped='' ran=0

	while IFS=: read -r where tests; do
		say "mutation $name: $where"
		# shellcheck disable=SC2086
		out=$("$LAB_DIR/lab" run $where --flavour "mutation:$name" $tests </dev/null) || [ $? -eq 1 ] || out=''
		# a kernel that does not reach its init was caught by nobody
		if ! grep -q '^RESULT [^ ]* \(pass\|fail\)' <<<"$out" || grep -q '^RESULT [^ ]*/boot fail' <<<"$out"; then
			skipped=$where
			continue
		fi
		ran=1
		if grep -q '^RESULT [^ ]* fail' <<<"$out"; then
			echo "RESULT mutation/$name pass caught by $(awk '$3 == "fail" { print $2; exit }' <<<"$out")"
			return
		fi
	done < <(mutation_lines "$name")
	if [ $ran -eq 1 ]; then
		echo "RESULT mutation/$name fail not caught by any test"
	else
		echo "RESULT mutation/$name fail could not be built or booted (${skipped:-no line in mutations.list})"
	fi
}
