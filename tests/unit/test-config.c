/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Argument: docs/rollbackd.conf. */

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>

#include <glib.h>
#include <glib/gstdio.h>

#include "config.h"

static const char *documented;

struct place {
	char *dir, *file, *folder;
};

static void place_make(struct place *p)
{
	p->dir = g_dir_make_tmp("rollbackd-config-XXXXXX", NULL);
	g_assert_nonnull(p->dir);
	p->file = g_build_filename(p->dir, "x.conf", NULL);
	p->folder = g_build_filename(p->dir, "x.conf.d", NULL);
}

static void write_text(const char *folder, const char *name, const char *text, gssize len)
{
	char *path = name ? g_build_filename(folder, name, NULL) : g_strdup(folder);

	g_assert_true(g_file_set_contents(path, text, len, NULL));
	g_free(path);
}

static void place_remove(struct place *p)
{
	GDir *dir = g_dir_open(p->folder, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		char *path = g_build_filename(p->folder, name, NULL);

		g_remove(path);
		g_free(path);
	}
	if (dir)
		g_dir_close(dir);
	g_rmdir(p->folder);
	g_remove(p->file);
	g_assert_cmpint(g_rmdir(p->dir), ==, 0);
	g_free(p->dir);
	g_free(p->file);
	g_free(p->folder);
}

static void assert_loads(const char *file, struct config *c)
{
	char error[512] = "";

	if (config_load(file, c, error, sizeof(error)) < 0)
		g_error("%s", error);
}

static void test_defaults(void)
{
	struct place p;
	struct config c;

	place_make(&p);
	write_text(p.file, NULL, "", 0);
	assert_loads(p.file, &c);
	g_assert_cmpuint(g_strv_length(c.uris), ==, 1);
	g_assert_cmpstr(c.uris[0], ==, "qemu:///system");
	g_assert_cmpstr(c.status_dir, ==, "/run/libvirt/qemu");
	g_assert_cmpuint(c.call_timeout, ==, 10 * NSEC_PER_SEC);
	g_assert_cmpuint(c.reconnect_max, ==, 30 * NSEC_PER_SEC);
	g_assert_cmpstr(c.state_dir, ==, "/var/lib/rollbackd");
	g_assert_cmpuint(c.max_reports, ==, 10000);
	g_assert_cmpuint(c.max_bytes, ==, UINT64_C(256) << 20);
	g_assert_cmpuint(c.left_paused_after, ==, 30 * NSEC_PER_SEC);
	g_assert_cmpint(c.log_level, ==, LOG_INFO);
	config_done(&c);
	config_done(&c);
	place_remove(&p);
}

static void test_every_key(void)
{
	struct place p;
	struct config c;

	place_make(&p);
	write_text(p.file, NULL,
		   "# comment\n[Libvirt]\nUris = qemu:///system ; qemu+unix:///session?socket=/run/x;\nStatusDirectory=/run/my libvirt\n"
		   "CallTimeoutSec=1\nReconnectMaxSec=3600\n\n[Reports]\nDirectory=/srv/r\nMaxReports=1\nMaxBytes=1024G\n"
		   "[Watch]\nLeftPausedAfterSec=5\n[Log]\nLevel=debug\n", -1);
	assert_loads(p.file, &c);
	g_assert_cmpuint(g_strv_length(c.uris), ==, 2);
	g_assert_cmpstr(c.uris[0], ==, "qemu:///system");
	g_assert_cmpstr(c.uris[1], ==, "qemu+unix:///session?socket=/run/x");
	g_assert_cmpstr(c.status_dir, ==, "/run/my libvirt");
	g_assert_cmpuint(c.call_timeout, ==, NSEC_PER_SEC);
	g_assert_cmpuint(c.reconnect_max, ==, 3600 * NSEC_PER_SEC);
	g_assert_cmpstr(c.state_dir, ==, "/srv/r");
	g_assert_cmpuint(c.max_reports, ==, 1);
	g_assert_cmpuint(c.max_bytes, ==, UINT64_C(1) << 40);
	g_assert_cmpuint(c.left_paused_after, ==, 5 * NSEC_PER_SEC);
	g_assert_cmpint(c.log_level, ==, LOG_DEBUG);
	config_done(&c);
	place_remove(&p);
}

static const struct {
	const char *text, *say; /* after the file's name */
} bad[] = {
	{ "[Libvirt]\nUris=\n", ": [Libvirt] Uris=: expected 1 to 16 different libvirt URIs" },
	{ "[Libvirt]\nUris=qemu\n", ": [Libvirt] Uris=qemu: expected 1 to 16" },
	{ "[Libvirt]\nUris=:///x\n", ": [Libvirt] Uris=:///x: expected 1 to 16" },
	{ "[Libvirt]\nUris=qemu:///system;qemu:///system\n", ": [Libvirt] Uris=qemu:///system;qemu:///system: expected 1 to 16 different" },
	{ "[Libvirt]\nUris=a:1;a:2;a:3;a:4;a:5;a:6;a:7;a:8;a:9;a:10;a:11;a:12;a:13;a:14;a:15;a:16;a:17\n", ": [Libvirt] Uris=a:1;a:2" },
	{ "[Libvirt]\nUris=qemu:///sys tem\n", ": [Libvirt] Uris=qemu:///sys tem: expected" },
	{ "[Libvirt]\nStatusDirectory=run\n", ": [Libvirt] StatusDirectory=run: expected an absolute path" },
	{ "[Libvirt]\nCallTimeoutSec=0\n", ": [Libvirt] CallTimeoutSec=0: expected whole seconds, 1 to 300" },
	{ "[Libvirt]\nCallTimeoutSec=301\n", ": [Libvirt] CallTimeoutSec=301: expected whole seconds" },
	{ "[Libvirt]\nCallTimeoutSec=10s\n", ": [Libvirt] CallTimeoutSec=10s: expected whole seconds" },
	{ "[Libvirt]\nCallTimeoutSec=+10\n", ": [Libvirt] CallTimeoutSec=+10: expected whole seconds" },
	{ "[Libvirt]\nCallTimeoutSec=0x10\n", ": [Libvirt] CallTimeoutSec=0x10: expected whole seconds" },
	{ "[Libvirt]\nCallTimeoutSec=99999999999999999999999\n", ": [Libvirt] CallTimeoutSec=9999" },
	{ "[Libvirt]\nReconnectMaxSec=3601\n", ": [Libvirt] ReconnectMaxSec=3601: expected whole seconds, 1 to 3600" },
	{ "[Reports]\nDirectory=\n", ": [Reports] Directory=: expected an absolute path" },
	{ "[Reports]\nMaxReports=1000001\n", ": [Reports] MaxReports=1000001: expected a whole number, 1 to 1000000" },
	{ "[Reports]\nMaxBytes=1048575\n", ": [Reports] MaxBytes=1048575: expected bytes" },
	{ "[Reports]\nMaxBytes=1023K\n", ": [Reports] MaxBytes=1023K: expected bytes" },
	{ "[Reports]\nMaxBytes=1025G\n", ": [Reports] MaxBytes=1025G: expected bytes" },
	{ "[Reports]\nMaxBytes=G\n", ": [Reports] MaxBytes=G: expected bytes" },
	{ "[Reports]\nMaxBytes=1T\n", ": [Reports] MaxBytes=1T: expected bytes" },
	{ "[Reports]\nMaxBytes=18446744073709551615G\n", ": [Reports] MaxBytes=1844" },
	{ "[Watch]\nLeftPausedAfterSec=4\n", ": [Watch] LeftPausedAfterSec=4: expected whole seconds, 5 to 3600" },
	{ "[Log]\nLevel=Info\n", ": [Log] Level=Info: expected error, warning, notice, info or debug" },
	{ "[Log]\nLevel=\n", ": [Log] Level=: expected error" },
	{ "[Log]\nLevel[de]=info\n", ": [Log]: unknown key Level[de], expected" },
	{ "[Log]\nlevel=info\n", ": [Log]: unknown key level, expected" },
	{ "[Logs]\nLevel=info\n", ": unknown group [Logs], expected [Libvirt], [Reports], [Watch] or [Log]" },
	{ "[Empty]\n", ": unknown group [Empty], expected" },
	{ "Level=info\n", ": Key file does not start with a group; expected [Group]" },
	{ "[Log]\nLevel info\n", ": Key file contains line" },
	{ "[Log]\nLevel=in\\qfo\n", ": [Log] Level=in\\qfo: found an escape that is none" },
	{ "[Log]\nLevel=in\xff" "fo\n", ": [Log] Level=in\357\277\275fo: found an escape that is none or bytes that are no UTF-8" },
	{ "[Log]\nLevel=\x1b[2Jx\n", ": [Log] Level=?[2Jx: expected error" },
	{ "[Log", ": Key file contains line" },
};

static void test_bad(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		struct config c = { .log_level = 12345 };
		struct place p;
		char error[512] = "", *say;

		place_make(&p);
		write_text(p.file, NULL, bad[i].text, -1);
		if (config_load(p.file, &c, error, sizeof(error)) != -EINVAL)
			g_error("%s: accepted", bad[i].text);
		g_assert_cmpint(c.log_level, ==, 12345);
		say = g_strconcat(p.file, bad[i].say, NULL);
		if (!g_str_has_prefix(error, say) || strchr(error, '\n'))
			g_error("got \"%s\", want \"%s\"", error, say);
		g_free(say);
		g_assert_cmpint(config_load(p.file, &c, NULL, 0), ==, -EINVAL);
		place_remove(&p);
	}
}

static void assert_refused(const char *file, int r, const char *part)
{
	struct config c;
	char error[512] = "";

	g_assert_cmpint(config_load(file, &c, error, sizeof(error)), ==, r);
	if (!strstr(error, part))
		g_error("\"%s\" lacks \"%s\"", error, part);
}

static void test_files(void)
{
	struct place p;
	char *big = g_strnfill((1 << 20) + 1, '#');

	place_make(&p);
	assert_refused(p.file, -ENOENT, "x.conf: cannot be opened: No such file");
	g_assert_cmpint(g_mkdir(p.file, 0755), ==, 0);
	assert_refused(p.file, -EINVAL, "x.conf: expected a regular file");
	g_rmdir(p.file);
	g_assert_cmpint(mkfifo(p.file, 0644), ==, 0);
	assert_refused(p.file, -EINVAL, "x.conf: expected a regular file");
	g_remove(p.file);
	write_text(p.file, NULL, big, (1 << 20) + 1);
	assert_refused(p.file, -EINVAL, "x.conf: expected at most 1 MiB");
	write_text(p.file, NULL, "[Log]\n\0Level=x\n", 15);
	assert_refused(p.file, -EINVAL, "x.conf: found a NUL byte, expected text");
	write_text(p.file, NULL, "[Log]\n", -1);
	write_text(p.folder, NULL, "", 0);
	assert_refused(p.file, -EIO, "x.conf.d");
	g_remove(p.folder);
	g_free(big);
	place_remove(&p);
}

static void test_drop_ins(void)
{
	struct place p;
	struct config c;

	place_make(&p);
	write_text(p.file, NULL, "[Reports]\nMaxReports=1\nMaxReports=2\n[Log]\nLevel=error\n[Reports]\nMaxBytes=2M\n", -1);
	g_assert_cmpint(g_mkdir(p.folder, 0755), ==, 0);
	assert_loads(p.file, &c); /* the last of two in one file */
	g_assert_cmpuint(c.max_reports, ==, 2);
	g_assert_cmpuint(c.max_bytes, ==, 2 << 20);
	config_done(&c);
	write_text(p.folder, "20-b.conf", "[Reports]\nMaxReports=20\n", -1);
	write_text(p.folder, "10-a.conf", "[Reports]\nMaxReports=10\nMaxBytes=3M\n", -1);
	write_text(p.folder, ".hidden.conf", "nonsense", -1);
	write_text(p.folder, "README", "nonsense", -1);
	write_text(p.folder, "30-c.conf.old", "nonsense", -1);
	assert_loads(p.file, &c);
	g_assert_cmpuint(c.max_reports, ==, 20);
	g_assert_cmpuint(c.max_bytes, ==, 3 << 20);
	g_assert_cmpint(c.log_level, ==, LOG_ERR);
	config_done(&c);
	write_text(p.folder, "15.conf", "[Reports]\nMaxReports=x\n", -1);
	assert_refused(p.file, -EINVAL, "x.conf.d/15.conf: [Reports] MaxReports=x: expected");
	place_remove(&p);
}

/* The documentation with the '#' before each key taken away. */
static char *uncommented(const char *text)
{
	GRegex *key = g_regex_new("^#([A-Z][A-Za-z]*=)", G_REGEX_MULTILINE, 0, NULL);
	char *open = g_regex_replace(key, text, -1, 0, "\\1", 0, NULL);

	g_regex_unref(key);
	return open;
}

/* Each key stands there once, in its group, with a comment right before it. */
static void assert_documents_keys(const char *open)
{
	GKeyFile *file = g_key_file_new();
	const char *group, *key;
	unsigned n = 0;
	gsize stand = 0;

	g_assert_true(g_key_file_load_from_data(file, open, strlen(open), G_KEY_FILE_KEEP_COMMENTS, NULL));
	for (; config_key_nth(n, &group, &key); n++) {
		char *comment = g_key_file_get_comment(file, group, key, NULL);

		if (!comment || !strstr(comment, "Default:"))
			g_error("%s: [%s] %s= is not explained", documented, group, key);
		g_free(comment);
	}
	g_assert_cmpuint(n, >=, 9);
	for (const char *s = open; (s = strchr(s, '\n')); s++)
		stand += s[1] >= 'A' && s[1] <= 'Z';
	g_assert_cmpuint(stand, ==, n);
	g_key_file_free(file);
}

static void assert_equal(const struct config *c, const struct config *d)
{
	g_assert_true(g_strv_equal((const char *const *) c->uris, (const char *const *) d->uris));
	g_assert_cmpstr(c->status_dir, ==, d->status_dir);
	g_assert_cmpstr(c->state_dir, ==, d->state_dir);
	g_assert_cmpuint(c->call_timeout, ==, d->call_timeout);
	g_assert_cmpuint(c->reconnect_max, ==, d->reconnect_max);
	g_assert_cmpuint(c->max_reports, ==, d->max_reports);
	g_assert_cmpuint(c->max_bytes, ==, d->max_bytes);
	g_assert_cmpuint(c->left_paused_after, ==, d->left_paused_after);
	g_assert_cmpint(c->log_level, ==, d->log_level);
}

/* rollbackd.conf as shipped changes nothing; with its keys in force it still changes nothing, so the defaults it names
 * are the real ones. */
static void test_documentation(void)
{
	char *text, *open;
	struct config c, d, none;
	struct place p;

	place_make(&p);
	write_text(p.file, NULL, "", 0);
	assert_loads(p.file, &none);
	assert_loads(documented, &c);
	g_assert_true(g_file_get_contents(documented, &text, NULL, NULL));
	open = uncommented(text);
	write_text(p.file, NULL, open, -1);
	assert_loads(p.file, &d);
	assert_equal(&c, &none);
	assert_equal(&d, &none);
	assert_documents_keys(open);
	config_done(&none);
	config_done(&c);
	config_done(&d);
	place_remove(&p);
	g_free(open);
	g_free(text);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	if (argc < 2)
		return 2;
	documented = argv[1];
	g_test_add_func("/config/defaults", test_defaults);
	g_test_add_func("/config/every-key", test_every_key);
	g_test_add_func("/config/bad", test_bad);
	g_test_add_func("/config/files", test_files);
	g_test_add_func("/config/drop-ins", test_drop_ins);
	g_test_add_func("/config/documentation", test_documentation);
	return g_test_run();
}
