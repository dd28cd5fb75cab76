#!/usr/bin/env python3
# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hold rollbackd's reports of a case against what the observers wrote down: compare.py CASE REPORTS SRC SRC_URI DST DST_URI

REPORTS is a file of what "rollbackctl show --json" printed, one report a line. Prints what is wrong, one line each; exit status 1 if anything is.
"""

import json
import sys

from expected import EXPECTED, GAPS

# Between two readings of two clocks by two programs, us: the wall clock is slewed, and both round.
CLOCK_SLACK_US = 1000
# What the daemon writes in a timeline of QMP's and libvirt's events; the rest is its own.
OURS = ("MIGRATION ", "PASS ", "STOP", "RESUME", "iteration ", "DEFINED/", "UNDEFINED/", "STARTED/", "SUSPENDED/", "STOPPED/",
        "SHUTDOWN/", "CRASHED/")


class Seen:
    """An event of an observer, as a report's timeline writes it."""

    def __init__(self, line):
        self.uuid = line.get("uuid")
        self.mono_us = line["mono_ns"] // 1000
        self.offset_us = line["real_us"] - self.mono_us
        self.qmp = line["kind"] == "qmp"
        self.stamp = line["sec"] * 1000000 + line["usec"] if self.qmp and line["sec"] >= 0 else None
        self.what = self.words(line)

    @staticmethod
    def words(line):
        if line["kind"] == "lifecycle":
            return line["text"]
        if line["kind"] == "iteration":
            return "iteration %d" % line["iteration"]
        if line["kind"] != "qmp":
            return None
        data = line["data"] or {}
        if line["event"] == "MIGRATION":
            return "MIGRATION " + data.get("status", "?")
        if line["event"] == "MIGRATION_PASS":
            return "PASS %d" % data.get("pass", 0)
        return line["event"] if line["event"] in ("STOP", "RESUME") else None


def observed(path):
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    events = [Seen(line) for line in lines if "mono_ns" in line and "uuid" in line]
    return [event for event in events if event.what is not None]


def migrations(events):
    """Events by migration: each begins with QEMU's setup, unless that only recovers a post-copy."""
    found = {}
    for event in events:
        groups = found.setdefault(event.uuid, [])
        statuses = [e.what for e in groups[-1] if e.what.startswith("MIGRATION ")] if groups else []
        recovers = bool(statuses) and statuses[-1] == "MIGRATION postcopy-paused"
        if event.what == "MIGRATION setup" and not recovers:
            groups.append([])
        if groups:
            groups[-1].append(event)
    return sorted((group for groups in found.values() for group in groups), key=lambda group: (group[0].uuid, group[0].mono_us))


def compare_order(report, group, say):
    """Same events, same order, same stamps; what the report has not must be libvirt's confirmation of an end it knew."""
    told = [entry for entry in report["timeline"] if entry["what"].startswith(OURS)]
    for index, entry in enumerate(told):
        if index >= len(group):
            say("event %d, %s, was not seen by the observer" % (index, entry["what"]))
            return
        seen = group[index]
        if entry["what"] != seen.what:
            say("event %d is %s; the observer saw %s" % (index, entry["what"], seen.what))
            return
        if entry["stamp_us"] != seen.stamp:
            say("%s has the stamp %s; QEMU's was %s" % (entry["what"], entry["stamp_us"], seen.stamp))
        if seen.stamp is not None and entry["source"] != "qmp":
            say("%s had a stamp of QEMU, but its time is from %s" % (entry["what"], entry["source"]))
    missing = [seen.what for seen in group[len(told):] if seen.qmp]
    if missing and not report["timeline_dropped"]:
        say("not in the report: %s" % ", ".join(missing))


def first(group, *words):
    for event in group:
        if event.what in words:
            return event
    return None


def compare_mark(report, name, event, say):
    mark = report["marks"].get(name) or {"monotonic_us": None}
    if event is None:
        if mark["monotonic_us"] is not None and mark.get("source") == "qmp":
            say("%s claims a stamp of QEMU that there was not" % name)
        return
    if mark["monotonic_us"] is None:
        say("%s is missing (%s); it was seen" % (name, mark.get("reason")))
        return
    if mark["source"] != "qmp":
        say("%s is from %s, not from QEMU's stamp" % (name, mark["source"]))
    expected = event.stamp - event.offset_us
    if "clamped" not in mark.get("flags", []) and abs(mark["monotonic_us"] - expected) > CLOCK_SLACK_US:
        say("%s is %d us off the observer's" % (name, mark["monotonic_us"] - expected))


def compare_marks(report, group, say):
    if report["side"] != "source" or report["operation"] != "migration":
        return
    paused_before = any(note["code"] == "paused-before" for note in report["notes"])
    stop, resume = (None, None) if paused_before else (first(group, "STOP"), first(group, "RESUME"))
    compare_mark(report, "T0", first(group, "MIGRATION setup"), say)
    compare_mark(report, "T1", stop, say)
    compare_mark(report, "T3", resume, say)
    known = first(group, "MIGRATION cancelling", "MIGRATION failing", "MIGRATION failed", "MIGRATION cancelled")
    if known:
        compare_mark(report, "T2", known, say)
    blackout = report["blackout"]["us"]
    if stop and resume:
        if blackout is None:
            say("no blackout; the guest stood still for %d us" % (resume.stamp - stop.stamp))
        elif abs(blackout - (resume.stamp - stop.stamp)) > 2:
            say("blackout of %d us; STOP to RESUME is %d us" % (blackout, resume.stamp - stop.stamp))
    elif blackout is not None:
        say("a blackout of %d us, and the guest never stopped and resumed" % blackout)


def compare_sum(report, say):
    known = [phase["us"] for phase in report["phases"] if phase["us"] is not None]
    if report["total_us"] is not None and sum(known) != report["total_us"]:
        say("phases sum to %d us, the total is %d us" % (sum(known), report["total_us"]))


def compare_expected(report, expected, say):
    for key, value in expected.items():
        if key == "notes":
            codes = [note["code"] for note in report["notes"]]
            for code in value:
                if code not in codes:
                    say("the note %s is missing; there are: %s" % (code, ", ".join(codes) or "none"))
        elif value is not None and report[key] != value:
            say("%s is %s; expected %s" % (key, report[key], value))
    if report["outcome"] == "none" or report["ended"] is None and report["outcome"] != "lost":
        say("the report has no end (outcome %s)" % report["outcome"])


def compare_side(case, side, reports, events, expected, say):
    groups = migrations(events)
    # By domain first: of two guests, the one whose job began first may be the second to say setup.
    reports.sort(key=lambda report: (report["domain"]["uuid"], report["began"] or ""))
    if case not in GAPS and len(groups) != len(expected):
        say("%s: the observer saw %d migrations; %d were meant" % (side, len(groups), len(expected)))
    if len(reports) != len(expected):
        say("%s: %d reports; expected %d" % (side, len(reports), len(expected)))
        return
    for index, report in enumerate(reports):
        def tell(text, number=index + 1):
            say("%s, report %d: %s" % (side, number, text))

        compare_expected(report, expected[index], tell)
        compare_sum(report, tell)
        if case in GAPS or index >= len(groups):
            continue
        if report["domain"]["uuid"] != groups[index][0].uuid:
            tell("it is of another domain than the observer's")
            continue
        compare_order(report, groups[index], tell)
        compare_marks(report, groups[index], tell)


def main():
    case, path, *sides = sys.argv[1:]
    wrong = []
    with open(path, encoding="utf-8") as file:
        reports = [json.loads(line)["report"] for line in file if line.strip()]
    for side, events, uri, expected in zip(("source", "destination"), sides[0::2], sides[1::2], EXPECTED[case]):
        mine = [report for report in reports if report["uri"] == uri]
        compare_side(case, side, mine, observed(events), expected, wrong.append)
    others = [report for report in reports if report["uri"] not in sides[1::2]]
    if others:
        wrong.append("%d reports are of no URI that was watched" % len(others))
    for line in wrong:
        print(line)
    return 1 if wrong else 0


sys.exit(main())
