# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What rollbackd has to say of each case: the reports of each side in order, a dict of keys of the report each.

Written from what is done in the case (drive --list), not from what rollbackd answers. "outcome", "operation", "side",
"driver" and "cause" are compared; "paused" too; "notes" must all be there. A key that is not named is not compared.
"""


def source(outcome, driver="direct", **more):
    return {"side": "source", "operation": "migration", "outcome": outcome, "driver": driver, **more}


def destination(outcome, **more):
    return {"side": "destination", "operation": "migration", "outcome": outcome, **more}


def own(operation, outcome):
    """QEMU migrates, but nobody does: to a file, and the guest may stay."""
    return {"operation": operation, "outcome": outcome}


CANCELLED = {"cause": "cancel", "paused": False}
PAUSED_CANCELLED = {"cause": "cancel", "paused": True}

EXPECTED = {
    "success": ([source("completed")], [destination("completed")]),
    "success-p2p": ([source("completed", "p2p")], [destination("completed")]),
    "success-moved": ([source("completed", "p2p")], [destination("completed")]),
    "F1-direct": ([source("cancelled", **PAUSED_CANCELLED)], [destination("failed")]),
    "F1-p2p": ([source("cancelled", "p2p", **PAUSED_CANCELLED)], [destination("failed")]),
    "F2": ([source("failed", cause="finish-failed", paused=True)], [destination("failed")]),
    "F3-cut": ([source("failed", cause="qemu-failed", paused=True)], [destination("failed")]),
    "F3-kill": ([source("failed", cause="qemu-failed", paused=True)], [destination("failed")]),
    "F4-abort": ([source("cancelled", **CANCELLED)], [destination("failed")]),
    "F4-abort-p2p": ([source("cancelled", "p2p", **CANCELLED)], [destination("failed")]),
    "F4-kill": ([source("failed", cause="qemu-failed", paused=False)], [destination("failed")]),
    "paused-abort": ([source("cancelled", cause="cancel", notes=["paused-before"])], [destination("failed")]),
    "twice": (
        [source("cancelled", **CANCELLED), source("cancelled", **PAUSED_CANCELLED)],
        [destination("failed"), destination("failed")],
    ),
    "two-at-once": (
        [source("cancelled", **PAUSED_CANCELLED), source("cancelled", **PAUSED_CANCELLED)],
        [destination("failed"), destination("failed")],
    ),
    "postcopy": ([source("postcopy")], [destination("postcopy")]),
    "postcopy-recover": ([source("postcopy-recovered")], [destination("postcopy-recovered")]),
    "save": ([own("save", "completed"), own("restore", "completed")], []),
    "managedsave": ([own("save", "completed"), own("restore", "completed")], []),
    "snapshot-memory": ([own("snapshot", "completed-but-here")], []),
    "dump-live": ([own("dump", "completed-but-here")], []),
    "storage-copy": ([source("completed", notes=["storage-copy"])], [destination("completed")]),
    # Memory was never touched: QEMU's migration did not begin on the source.
    "storage-abort": ([], [destination("failed")]),
    # Libvirt was away when the cancel came: the report must say so, whatever it makes of the end.
    "restart-precopy": ([source(None, "p2p", notes=["connection-lost"])], [destination("failed")]),
    "restart-paused": ([source(None, "p2p", paused=True, notes=["connection-lost"])], [destination("failed")]),
}

# Cases of the runner that perform one of these fixtures while something happens to rollbackd, its bus or its libvirts.
EXPECTED["bus-restarted"] = EXPECTED["F1-direct"]
EXPECTED["late"] = ([source("cancelled", cause="cancel", notes=["joined-late"])], [destination("failed")])
EXPECTED["killed"] = ([source("cancelled", cause="cancel", notes=["daemon-restarted"])], [destination("failed")])
EXPECTED["killed-through"] = ([source(None, notes=["daemon-restarted"])], [destination(None)])
EXPECTED["no-libvirtd"] = EXPECTED["F4-abort"]
EXPECTED["no-qmp"] = ([source(None, paused=True, notes=["qmp-refused"])], [destination(None, notes=["qmp-refused"])])

# What happened while nobody of rollbackd looked cannot be in its reports: stamps are not compared for these.
GAPS = {"restart-precopy", "restart-paused", "late", "killed", "killed-through", "no-qmp"}
