# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Packages of another suite or architecture, unpacked under the cache: the
# machine's own apt and dpkg never see them.

# The machine's own Debian mirror, taken from its sources at run time.
debian_mirror() {
	local f

	for f in /etc/apt/sources.list.d/*.sources /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		[ -f "$f" ] || continue
		sed -nE -e 's/^URIs:[[:space:]]*([^[:space:]]+\/debian\/?).*/\1/p' \
			-e 's/^deb[[:space:]]+(\[[^]]*\][[:space:]]+)?([^[:space:]]+\/debian\/?)[[:space:]].*/\2/p' "$f"
	done | grep -v security | head -n1
}

# private_apt DIR ARCH SUITE... writes a private configuration with an empty status
private_apt() {
	local dir=$1 arch=$2 mirror suite
	shift 2

	mirror=$(debian_mirror)
	[ -n "$mirror" ] || die "no Debian mirror found in /etc/apt: expected a source whose URI ends in /debian"
	mkdir -p "$dir"/{lists/partial,archives/partial,etc}
	: >"$dir/status"
	: >"$dir/etc/sources.list"
	for suite; do
		echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >>"$dir/etc/sources.list"
	done
	cat >"$dir/apt.conf" <<-END
	APT::Architecture "$arch";
	APT::Architectures { "$arch"; };
	APT::Install-Recommends "false";
	APT::Sandbox::User "root";
	Dir::State::lists "$dir/lists";
	Dir::State::status "$dir/status";
	Dir::Cache::archives "$dir/archives";
	Dir::Cache::pkgcache "";
	Dir::Cache::srcpkgcache "";
	Dir::Etc::sourcelist "$dir/etc/sources.list";
	Dir::Etc::sourceparts "/dev/null";
	Dir::Etc::preferences "/dev/null";
	Dir::Etc::preferencesparts "/dev/null";
	END
	APT_CONFIG=$dir/apt.conf apt-get -qq update
}

# private_download DIR PACKAGE...: these packages alone, no dependencies
private_download() {
	local dir=$1
	shift

	(cd "$dir/archives" && APT_CONFIG=$dir/apt.conf apt-get -qq download "$@")
}
