#!/usr/bin/env python3
# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Write an initramfs (cpio newc) that holds one file, /init: initramfs.py INIT OUTPUT."""

import sys


def entry(name, mode, data):
    # magic, ino, mode, uid, gid, nlink, mtime, filesize, devmajor, devminor, rdevmajor, rdevminor, namesize, check
    fields = (0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
    return head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: initramfs.py INIT OUTPUT")
    with open(sys.argv[1], "rb") as init:
        data = init.read()
    with open(sys.argv[2], "wb") as output:
        output.write(entry("init", 0o100755, data) + entry("TRAILER!!!", 0, b""))


main()
