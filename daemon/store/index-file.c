/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/folders.h"
#include "store/index-file.h"
#include "store/summary.h"

#define INDEX_NAME "index"
#define INDEX_MAX  ((size_t) 512 << 20) /* bytes; a million records have 130 MB */

/* Written as this machine has it: the other byte order reads another number and so an empty index. The last two digits
 * are the version of the layout below. */
static const uint64_t magic = UINT64_C(0x72626b6469647801);

struct packed {
	uint32_t length; /* of the record with both strings, a multiple of 8 */
	uint32_t check;  /* FNV-1a of what follows */
	uint64_t id, inode;
	int64_t mtime_nsec, began;
	uint64_t total, blackout;
	uint32_t bytes;
	uint8_t uuid[16];
	uint8_t side, operation, driver, outcome, cause;
	uint8_t flags;   /* 1 total, 2 blackout known, 4 lower bound, 8 paused */
	uint8_t name_len, uri_len;
	uint8_t unused[4];
};
G_STATIC_ASSERT(sizeof(struct packed) == 88);
G_STATIC_ASSERT(REPORT_NAME_MAX <= 256 && REPORT_URI_MAX <= 256);

struct index_file {
	char *bytes;
	size_t n, records;
	bool is_there;
	GHashTable *offsets; /* of id (8 bytes in the file) to its offset */
};

static uint32_t fnv1a(const void *data, size_t n)
{
	const unsigned char *s = data;
	uint32_t h = UINT32_C(2166136261);

	while (n-- > 0)
		h = (h ^ *s++) * UINT32_C(16777619);
	return h;
}

static uint32_t check_of(const void *record, size_t length)
{
	return fnv1a((const char *) record + offsetof(struct packed, id), length - offsetof(struct packed, id));
}

static size_t length_of(const struct packed *p)
{
	return (sizeof(*p) + (size_t) p->name_len + 1 + (size_t) p->uri_len + 1 + 7) & ~(size_t) 7;
}

static bool is_sane(const struct packed *p, const char *strings)
{
	return p->id != 0 && p->began >= 0 && p->side < SIDE_MAX && p->operation < OP_MAX && p->driver < DRIVER_MAX &&
	       p->outcome < OUTCOME_MAX && p->cause < CAUSE_MAX && p->name_len < REPORT_NAME_MAX && p->uri_len < REPORT_URI_MAX &&
	       strlen(strings) == p->name_len && strlen(strings + p->name_len + 1) == p->uri_len;
}

/* The length of the record at the offset, 0 when there is none that can be trusted. */
static size_t record_at(const struct index_file *f, size_t offset, struct packed *ret_)
{
	struct packed p;

	if (f->n - offset < sizeof(p))
		return 0;
	memcpy(&p, f->bytes + offset, sizeof(p));
	if (p.length != length_of(&p) || p.length > f->n - offset || p.check != check_of(f->bytes + offset, p.length))
		return 0;
	/* Each string ends with a NUL, the second at the latest with the padding's. */
	if (f->bytes[offset + p.length - 1] != '\0' || !is_sane(&p, f->bytes + offset + sizeof(p)))
		return 0;
	*ret_ = p;
	return p.length;
}

struct index_file *index_file_load(int top)
{
	struct index_file *f = g_new0(struct index_file, 1);
	struct packed p;
	size_t length;
	uint64_t found;

	f->offsets = g_hash_table_new(g_int64_hash, g_int64_equal);
	if (file_read(top, INDEX_NAME, INDEX_MAX, &f->bytes, &f->n) < 0 || f->n < sizeof(magic))
		return f;
	memcpy(&found, f->bytes, sizeof(found));
	f->is_there = found == magic;
	if (!f->is_there)
		return f;
	for (size_t offset = sizeof(magic); (length = record_at(f, offset, &p)) > 0; offset += length) {
		g_hash_table_insert(f->offsets, f->bytes + offset + offsetof(struct packed, id), GSIZE_TO_POINTER(offset));
		f->records++;
	}
	return f;
}

void index_file_free(struct index_file *f)
{
	g_hash_table_unref(f->offsets);
	free(f->bytes);
	g_free(f);
}

bool index_file_is_there(const struct index_file *f)
{
	return f->is_there;
}

size_t index_file_records(const struct index_file *f)
{
	return f->records;
}

static int64_t mtime_of(const struct stat *st)
{
	return (int64_t) st->st_mtim.tv_sec * INT64_C(1000000000) + st->st_mtim.tv_nsec;
}

static void unpack(const struct index_file *f, size_t offset, const struct packed *p, struct index_record *ret_)
{
	struct summary *s = &ret_->summary;

	*ret_ = (struct index_record) { .id = p->id, .inode = p->inode, .mtime_nsec = p->mtime_nsec };
	*s = (struct summary) {
		.name = f->bytes + offset + sizeof(*p),
		.side = (enum side) p->side, .operation = (enum operation) p->operation, .driver = (enum driver) p->driver,
		.outcome = (enum outcome) p->outcome, .cause = (enum cause) p->cause,
		.began_usec = p->began, .total_usec = p->total, .blackout_usec = p->blackout, .bytes = p->bytes,
		.total_known = p->flags & 1, .blackout_known = p->flags & 2, .blackout_lower_bound = p->flags & 4, .paused = p->flags & 8,
	};
	s->uri = s->name + p->name_len + 1;
	id_to_text(p->id, s->id);
	uuid_from_bytes(p->uuid, s->uuid);
}

bool index_file_find(const struct index_file *f, uint64_t id, const struct stat *st, struct index_record *ret_)
{
	void *value;
	struct packed p;

	if (!g_hash_table_lookup_extended(f->offsets, &id, NULL, &value) || record_at(f, GPOINTER_TO_SIZE(value), &p) == 0)
		return false;
	if (p.inode != st->st_ino || p.mtime_nsec != mtime_of(st) || p.bytes != st->st_size)
		return false;
	unpack(f, GPOINTER_TO_SIZE(value), &p, ret_);
	return true;
}

void index_file_begin(GByteArray *to)
{
	g_byte_array_append(to, (const guint8 *) &magic, sizeof(magic));
}

void index_file_encode(GByteArray *to, const struct summary *s, const struct stat *st)
{
	static const guint8 zeros[16];
	struct packed p = {
		.id = id_from_text(s->id), .inode = st->st_ino, .mtime_nsec = mtime_of(st), .began = s->began_usec,
		.total = s->total_usec, .blackout = s->blackout_usec, .bytes = (uint32_t) st->st_size,
		.side = (uint8_t) s->side, .operation = (uint8_t) s->operation, .driver = (uint8_t) s->driver,
		.outcome = (uint8_t) s->outcome, .cause = (uint8_t) s->cause,
		.flags = (uint8_t) (s->total_known | s->blackout_known << 1 | s->blackout_lower_bound << 2 | s->paused << 3),
		.name_len = (uint8_t) strlen(s->name), .uri_len = (uint8_t) strlen(s->uri),
	};
	guint start = to->len;

	uuid_to_bytes(s->uuid, p.uuid);
	p.length = (uint32_t) length_of(&p);
	g_byte_array_append(to, (const guint8 *) &p, sizeof(p));
	g_byte_array_append(to, (const guint8 *) s->name, p.name_len + 1u);
	g_byte_array_append(to, (const guint8 *) s->uri, p.uri_len + 1u);
	g_byte_array_append(to, zeros, start + p.length - to->len);
	p.check = check_of(to->data + start, p.length);
	memcpy(to->data + start, &p, sizeof(p));
}

int index_file_write(int top, const GByteArray *whole)
{
	return file_replace(top, INDEX_NAME, whole->data, whole->len, NULL);
}

/* A record that got only half its bytes would hide all that follow: it is cut off again. */
static int append(int fd, const GByteArray *record)
{
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOTSUP;
	n = write(fd, record->data, record->len);
	if (n == (ssize_t) record->len)
		return 0;
	if (n > 0 && ftruncate(fd, st.st_size) < 0)
		return -errno;
	return n < 0 ? -errno : -ENOSPC;
}

int index_file_append(int top, const struct summary *s, const struct stat *st)
{
	int fd = openat(top, INDEX_NAME, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), r;
	GByteArray *record;

	if (fd < 0)
		return -errno;
	record = g_byte_array_new();
	index_file_encode(record, s, st);
	r = append(fd, record);
	close(fd);
	g_byte_array_unref(record);
	return r;
}
