# SPDX-FileCopyrightText: The rollbackd authors
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The plugin that counts TLB and cache maintenance, one build per plugin API.

# ensure_plugin API: sets PLUGIN
ensure_plugin() {
	local key

	key=$(sha256sum "$LAB_DIR/plugin/maintenance.c" | cut -c1-16)
	PLUGIN=$CACHE/plugin/maintenance-$1-$key.so
	[ -f "$PLUGIN" ] && return
	need gcc gcc
	mkdir -p "$CACHE/plugin"
	gcc -O2 -Wall -Wextra -shared -fPIC "-DAPI=$1" -o "$PLUGIN.tmp" "$LAB_DIR/plugin/maintenance.c"
	mv "$PLUGIN.tmp" "$PLUGIN"
}
