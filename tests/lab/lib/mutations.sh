# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A mutation is a patch that puts a known bug into the series. A suite that
# still passes tests nothing. mutations/list: "NAME MODEL [OPTIONS] : TEST...".

verb_mutations() {
	local name rest tests results rc=0

	parse_options "$@"
	have_series || die "mutations: no series in $SERIES_DIR"
	results=$(mktemp)
	while IFS=: read -r rest tests; do
		read -r name rest <<<"$rest"
		[ ${#REST[@]} -eq 0 ] || [[ " ${REST[*]} " == *" $name "* ]] || continue
		# shellcheck disable=SC2086
		try_mutation "$name" $rest $tests | tee -a "$results"
	done < <(sed -E 's/#.*//; /^[[:space:]]*$/d' "$LAB_DIR/mutations/list")
	count_results "$results" || rc=1
	rm -f "$results"
	return $rc
}

# try_mutation NAME MODEL ARGUMENT...: one RESULT line
try_mutation() {
	local name=$1 model=$2 out
	shift 2

	say "mutation $name on $model"
	out=$("$LAB_DIR/lab" run "$model" --flavour "mutation:$name" "$@" </dev/null) || [ $? -eq 1 ] || out=''
	if [ -z "$out" ]; then
		echo "RESULT mutation/$name fail could not be built or booted"
	elif grep -q '^RESULT [^ ]* skip no newer' <<<"$out"; then
		echo "RESULT mutation/$name skip $(head -n1 <<<"$out" | cut -d' ' -f4-)"
	elif grep -q '^RESULT [^ ]* fail' <<<"$out"; then
		echo "RESULT mutation/$name pass caught by $(awk '$3 == "fail" { print $2; exit }' <<<"$out")"
	else
		echo "RESULT mutation/$name fail not caught: $# test(s) passed"
	fi
}
