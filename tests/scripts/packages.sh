# shellcheck shell=bash disable=SC2034
# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Debian packages that the project needs, and installing those that are missing. To be sourced.

# What builds rollbackd and rollbackctl.
PACKAGES_BUILD=(gcc libc6-dev meson ninja-build pkg-config libglib2.0-dev libvirt-dev libvirt-glib-1.0-dev libxml2-dev
	libsystemd-dev libjson-c-dev)
# What a rig runs on: the daemon alone, without libvirt-daemon-system, which would start one and make a network.
PACKAGES_RIG=(libvirt-daemon libvirt-daemon-driver-qemu libvirt-clients dbus-daemon python3 util-linux procps)
# What the tests need besides.
PACKAGES_CHECK=(git clang llvm libclang-rt-14-dev shellcheck python3-jsonschema libxml2-utils iproute2)
# Longest wait for somebody else's apt, s: a machine's first update takes a few minutes.
APT_PATIENCE=${APT_PATIENCE:-300}

# The emulator's package for guests of this machine's architecture.
package_of_emulator() {
	case $(uname -m) in
	x86_64) printf 'qemu-system-x86' ;;
	aarch64) printf 'qemu-system-arm' ;;
	esac
}

# Those of the packages $@ that are not installed, one a line.
packages_missing() {
	local package
	for package; do
		[[ $(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null) == ?i* ]] || printf '%s\n' "$package"
	done
}

# Quiet, no question, nothing removed, and nothing started by what gets installed is ours to undo. Our token is not handed on:
# a package manager is never killed half-way for being a leftover.
apt_quietly() {
	env -u ROLLBACKD_QUICKSTART_RUN -u ROLLBACKD_CHECK_RUN DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 \
		apt-get -q -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout="$APT_PATIENCE" -o APT::Get::Remove=false "$@" </dev/null
}

# A killed run may have left dpkg in the middle of its work.
packages_mend() {
	[[ -n $(ls -A /var/lib/dpkg/updates 2>/dev/null) || -n $(dpkg --audit 2>/dev/null) ]] || return 0
	env -u ROLLBACKD_QUICKSTART_RUN -u ROLLBACKD_CHECK_RUN DEBIAN_FRONTEND=noninteractive dpkg --configure -a </dev/null
}

# Install the packages $@. Lists are fetched first: a fresh machine has none, an old one has old ones.
packages_install() {
	packages_mend || return
	apt_quietly update || printf 'the package lists could not be fetched: going on with those that are here\n'
	apt_quietly install -y --no-install-recommends "$@"
}
