/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The files are GKeyFile's: groups in brackets, Key=Value, '#' begins a comment line. A key that stands twice, in one file
 * or in two, has the value read last; so has a group that is opened twice. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <glib.h>

#include "config.h"
#include "core/report.h"
#include "rollbackd/names.h"

#define FILE_BYTES_MAX ((off_t) 1 << 20) /* what is larger is no configuration */
#define FILES_MAX      1000              /* in the .d folder, likewise */
#define URIS_MAX       16                /* two connections each */
#define PATH_BYTES_MAX 3800              /* leaves room for file names below PATH_MAX */

struct value {
	const char *text;
	GKeyFile *file;
	const char *group, *key;
};

typedef const char *set_fn(struct config *c, const struct value *v); /* NULL, or what was expected instead */

static const char *set_uris(struct config *c, const struct value *v)
{
	static const char expected[] = "1 to 16 different libvirt URIs such as qemu:///system, ';' between, at most 127 bytes each";
	gsize n = 0;
	char **list = g_key_file_get_string_list(v->file, v->group, v->key, &n, NULL);
	bool good = list && n >= 1 && n <= URIS_MAX;

	for (gsize i = 0; good && i < n; i++) {
		const char *colon;

		g_strstrip(list[i]);
		colon = strchr(list[i], ':');
		good = colon && colon > list[i] && strlen(list[i]) < REPORT_URI_MAX;
		for (const char *s = list[i]; good && *s; s++)
			good = *s > ' ' && *s < 0x7f;
		for (gsize k = 0; good && k < i; k++)
			good = strcmp(list[i], list[k]) != 0;
	}
	if (!good) {
		g_strfreev(list);
		return expected;
	}
	g_strfreev(c->uris);
	c->uris = list;
	return NULL;
}

static const char *set_path(char **field, const char *text)
{
	if (text[0] != '/' || strlen(text) > PATH_BYTES_MAX)
		return "an absolute path of at most 3800 bytes";
	g_free(*field);
	*field = g_strdup(text);
	return NULL;
}

static const char *set_status_dir(struct config *c, const struct value *v)
{
	return set_path(&c->status_dir, v->text);
}

static const char *set_state_dir(struct config *c, const struct value *v)
{
	return set_path(&c->state_dir, v->text);
}

/* Digits only: no sign, no blank, no unit. */
static bool number(const char *text, uint64_t min, uint64_t max, uint64_t *ret_)
{
	guint64 n;

	if (!g_ascii_string_to_unsigned(text, 10, min, max, &n, NULL))
		return false;
	*ret_ = n;
	return true;
}

static bool seconds(const char *text, uint64_t min, uint64_t max, nsec_t *field)
{
	uint64_t n;

	if (!number(text, min, max, &n))
		return false;
	*field = n * NSEC_PER_SEC;
	return true;
}

static const char *set_call_timeout(struct config *c, const struct value *v)
{
	return seconds(v->text, 1, 300, &c->call_timeout) ? NULL : "whole seconds, 1 to 300";
}

static const char *set_reconnect_max(struct config *c, const struct value *v)
{
	return seconds(v->text, 1, 3600, &c->reconnect_max) ? NULL : "whole seconds, 1 to 3600";
}

static const char *set_left_paused_after(struct config *c, const struct value *v)
{
	return seconds(v->text, 5, 3600, &c->left_paused_after) ? NULL : "whole seconds, 5 to 3600";
}

static const char *set_max_reports(struct config *c, const struct value *v)
{
	uint64_t n;

	if (!number(v->text, 1, 1000000, &n))
		return "a whole number, 1 to 1000000";
	c->max_reports = (uint32_t) n;
	return NULL;
}

static const char *set_max_bytes(struct config *c, const struct value *v)
{
	static const char expected[] = "bytes, or with K, M or G behind (of 1024), 1M to 1024G";
	static const char units[] = "KMG";
	const uint64_t min = UINT64_C(1) << 20, max = UINT64_C(1) << 40;
	size_t len = strlen(v->text);
	const char *unit = len ? strchr(units, v->text[len - 1]) : NULL;
	unsigned shift = unit ? 10 * (unsigned) (unit - units + 1) : 0;
	g_autofree char *digits = g_strndup(v->text, unit ? len - 1 : len);
	uint64_t n;

	if (!number(digits, 1, max >> shift, &n) || n << shift < min)
		return expected;
	c->max_bytes = n << shift;
	return NULL;
}

static const char *set_log_level(struct config *c, const struct value *v)
{
	static const struct {
		const char *word;
		int level;
	} levels[] = {
		{ "error", LOG_ERR }, { "warning", LOG_WARNING }, { "notice", LOG_NOTICE }, { "info", LOG_INFO }, { "debug", LOG_DEBUG },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(levels); i++)
		if (strcmp(levels[i].word, v->text) == 0) {
			c->log_level = levels[i].level;
			return NULL;
		}
	return "error, warning, notice, info or debug";
}

static const struct {
	const char *group, *key;
	set_fn *set;
} keys[] = {
	{ "Libvirt", "Uris", set_uris },
	{ "Libvirt", "StatusDirectory", set_status_dir },
	{ "Libvirt", "CallTimeoutSec", set_call_timeout },
	{ "Libvirt", "ReconnectMaxSec", set_reconnect_max },
	{ "Reports", "Directory", set_state_dir },
	{ "Reports", "MaxReports", set_max_reports },
	{ "Reports", "MaxBytes", set_max_bytes },
	{ "Watch", "LeftPausedAfterSec", set_left_paused_after },
	{ "Log", "Level", set_log_level },
};

bool config_key_nth(unsigned n, const char **ret_group, const char **ret_key)
{
	if (n >= G_N_ELEMENTS(keys))
		return false;
	*ret_group = keys[n].group;
	*ret_key = keys[n].key;
	return true;
}

static void set_defaults(struct config *c)
{
	*c = (struct config) {
		.uris = g_strsplit("qemu:///system", ";", 0),
		.status_dir = g_strdup("/run/libvirt/qemu"),
		.call_timeout = 10 * NSEC_PER_SEC,
		.reconnect_max = 30 * NSEC_PER_SEC,
		.state_dir = g_strdup(RBD_STATE_DIR),
		.max_reports = 10000,
		.max_bytes = UINT64_C(256) << 20,
		.left_paused_after = 30 * NSEC_PER_SEC,
		.log_level = LOG_INFO,
	};
}

void config_done(struct config *c)
{
	g_strfreev(c->uris);
	g_free(c->status_dir);
	g_free(c->state_dir);
	*c = (struct config) { 0 };
}

struct error {
	char *text;
	size_t size;
};

/* One line, whatever the file holds. */
static int fail(const struct error *e, int r, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int fail(const struct error *e, int r, const char *format, ...)
{
	g_autofree char *raw = NULL, *line = NULL;
	va_list ap;

	va_start(ap, format);
	raw = g_strdup_vprintf(format, ap);
	va_end(ap);
	line = g_utf8_make_valid(raw, -1);
	for (char *s = line; *s; s++)
		if ((unsigned char) *s < ' ' || *s == 0x7f)
			*s = '?';
	if (e->size)
		report_copy_text(e->text, e->size, line);
	return r;
}

/* Any key of the group when key is NULL. */
static set_fn *find_key(const char *group, const char *key)
{
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
		if (strcmp(keys[i].group, group) == 0 && (!key || strcmp(keys[i].key, key) == 0))
			return keys[i].set;
	return NULL;
}

static int apply_key(struct config *c, const char *path, GKeyFile *file, const char *group, const char *key, const struct error *e)
{
	set_fn *set = find_key(group, key);
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;
	const char *expected;

	if (!set)
		return fail(e, -EINVAL, "%s: [%.40s]: unknown key %.40s, expected one that rollbackd.conf documents", path, group, key);
	text = g_key_file_get_string(file, group, key, &error);
	if (error) {
		g_autofree char *raw = g_key_file_get_value(file, group, key, NULL);

		return fail(e, -EINVAL, "%s: [%s] %s=%.80s: found an escape that is none or bytes that are no UTF-8", path, group, key, raw ? raw : "");
	}
	expected = set(c, &(struct value) { .text = text, .file = file, .group = group, .key = key });
	return expected ? fail(e, -EINVAL, "%s: [%s] %s=%.80s: expected %s", path, group, key, text, expected) : 0;
}

static int apply_group(struct config *c, const char *path, GKeyFile *file, const char *group, const struct error *e)
{
	g_auto(GStrv) list = NULL;
	int r = 0;

	if (!find_key(group, NULL))
		return fail(e, -EINVAL, "%s: unknown group [%.40s], expected [Libvirt], [Reports], [Watch] or [Log]", path, group);
	list = g_key_file_get_keys(file, group, NULL, NULL);
	for (char **key = list; key && *key && r == 0; key++)
		r = apply_key(c, path, file, group, *key, e);
	return r;
}

static int apply_text(struct config *c, const char *path, const char *text, size_t len, const struct error *e)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_autoptr(GError) error = NULL;
	g_auto(GStrv) groups = NULL;
	int r = 0;

	if (len == 0)
		return 0;
	if (memchr(text, '\0', len))
		return fail(e, -EINVAL, "%s: found a NUL byte, expected text", path);
	if (!g_key_file_load_from_data(file, text, len, G_KEY_FILE_KEEP_TRANSLATIONS, &error))
		return fail(e, -EINVAL, "%s: %.200s; expected [Group], Key=Value and # comment lines", path, error->message);
	groups = g_key_file_get_groups(file, NULL);
	for (char **group = groups; *group && r == 0; group++)
		r = apply_group(c, path, file, *group, e);
	return r;
}

/* 0 with the whole file, or a negative errno. -EFBIG and -ENOTSUP: too large, no regular file. */
static int read_all(int fd, GByteArray *to)
{
	guint8 piece[4096];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOTSUP;
	while ((n = read(fd, piece, sizeof(piece))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		g_byte_array_append(to, piece, (guint) n);
		if (to->len > FILE_BYTES_MAX)
			return -EFBIG;
	}
	return 0;
}

/* -ENOENT is not told: it may be fine. */
static int apply_file(struct config *c, const char *path, const struct error *e)
{
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), r;

	if (fd < 0 && errno == ENOENT)
		return -ENOENT;
	if (fd < 0)
		return fail(e, -errno, "%s: cannot be opened: %s", path, g_strerror(errno));
	r = read_all(fd, bytes);
	close(fd);
	if (r == -ENOTSUP)
		return fail(e, -EINVAL, "%s: expected a regular file", path);
	if (r == -EFBIG)
		return fail(e, -EINVAL, "%s: expected at most 1 MiB", path);
	if (r < 0)
		return fail(e, r, "%s: cannot be read: %s", path, g_strerror(-r));
	return apply_text(c, path, (const char *) bytes->data, bytes->len, e);
}

static int compare_names(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static int list_folder(const char *folder, GPtrArray *names, const struct error *e)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GDir) dir = g_dir_open(folder, 0, &error);
	const char *name;

	if (!dir) {
		if (g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
			return 0;
		return fail(e, -EIO, "%s: %s", folder, error->message);
	}
	while ((name = g_dir_read_name(dir))) {
		if (name[0] == '.' || !g_str_has_suffix(name, ".conf"))
			continue;
		if (names->len >= FILES_MAX)
			return fail(e, -EINVAL, "%s: expected at most %d files", folder, FILES_MAX);
		g_ptr_array_add(names, g_strdup(name));
	}
	g_ptr_array_sort(names, compare_names);
	return 0;
}

static int apply_folder(struct config *c, const char *folder, const struct error *e)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	int r = list_folder(folder, names, e);

	for (guint i = 0; i < names->len && r == 0; i++) {
		g_autofree char *path = g_build_filename(folder, g_ptr_array_index(names, i), NULL);

		r = apply_file(c, path, e);
		if (r == -ENOENT)
			r = fail(e, r, "%s: cannot be opened: %s", path, g_strerror(ENOENT));
	}
	return r;
}

int config_load(const char *file, struct config *ret_, char *error, size_t error_size)
{
	const struct error e = { .text = error, .size = error_size };
	const char *path = file ? file : RBD_CONFIG_FILE;
	g_autofree char *folder = g_strconcat(path, ".d", NULL);
	struct config c;
	int r;

	set_defaults(&c);
	r = apply_file(&c, path, &e);
	if (r == -ENOENT)
		r = file ? fail(&e, r, "%s: cannot be opened: %s", path, g_strerror(ENOENT)) : 0;
	if (r == 0)
		r = apply_folder(&c, folder, &e);
	if (r < 0) {
		config_done(&c);
		return r;
	}
	*ret_ = c;
	return 0;
}
