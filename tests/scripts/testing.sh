# shellcheck shell=bash
# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Counting in a test script. To be sourced; a script ends with `tests_end`, whose last line is the count.

TESTS_PASSED=0
TESTS_FAILED=0
TESTS_SKIPPED=0

ok() { TESTS_PASSED=$((TESTS_PASSED + 1)); printf 'ok   %s\n' "$1"; }
not_ok() { TESTS_FAILED=$((TESTS_FAILED + 1)); printf 'FAIL %s: %s\n' "$1" "$2"; }
skip() { TESTS_SKIPPED=$((TESTS_SKIPPED + 1)); printf 'skip %s: %s\n' "$1" "$2"; }

# Test $1: text $2 matches the extended regular expression $3.
expect_match() {
	if [[ $2 =~ $3 ]]; then ok "$1"; else not_ok "$1" "expected /$3/, found: $2"; fi
}

# Test $1: $2 is $3.
expect_equal() {
	if [[ $2 == "$3" ]]; then ok "$1"; else not_ok "$1" "expected '$3', found '$2'"; fi
}

tests_end() {
	printf '%d passed, %d failed, %d skipped\n' "$TESTS_PASSED" "$TESTS_FAILED" "$TESTS_SKIPPED"
	((TESTS_FAILED == 0 && TESTS_PASSED > 0))
}
