/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <inttypes.h>
#include <pthread.h>
#include <time.h>

#include "observer-json.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *out;

void json_open(FILE *output)
{
	out = output;
}

static void quote(const char *text)
{
	fputc('"', out);
	for (const unsigned char *c = (const unsigned char *) text; *c; c++)
		if (*c == '"' || *c == '\\')
			fprintf(out, "\\%c", *c);
		else if (*c < 0x20)
			fprintf(out, "\\u%04x", *c);
		else
			fputc(*c, out);
	fputc('"', out);
}

static void key_of(const char *key)
{
	fputc(',', out);
	quote(key);
	fputc(':', out);
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

struct arrival arrival_now(void)
{
	return (struct arrival) { clock_ns(CLOCK_MONOTONIC), clock_ns(CLOCK_REALTIME) / 1000 };
}

void json_begin(const char *kind)
{
	pthread_mutex_lock(&lock);
	fputs("{\"kind\":", out);
	quote(kind);
}

void json_end(void)
{
	fputs("}\n", out);
	fflush(out);
	pthread_mutex_unlock(&lock);
}

void json_begin_event(struct arrival at, virDomainPtr domain, const char *kind)
{
	char uuid[VIR_UUID_STRING_BUFLEN];

	pthread_mutex_lock(&lock);
	fprintf(out, "{\"mono_ns\":%" PRId64 ",\"real_us\":%" PRId64, at.mono_ns, at.real_us);
	if (domain) {
		if (virDomainGetUUIDString(domain, uuid) == 0)
			json_text("uuid", uuid);
		json_text("name", virDomainGetName(domain));
	}
	json_text("kind", kind);
}

void json_text(const char *key, const char *value)
{
	key_of(key);
	quote(value ? value : "");
}

void json_number(const char *key, int64_t value)
{
	key_of(key);
	fprintf(out, "%" PRId64, value);
}

void json_raw(const char *key, const char *value)
{
	key_of(key);
	fputs(value ? value : "null", out);
}

static void param_value(const virTypedParameter *param)
{
	switch (param->type) {
	case VIR_TYPED_PARAM_INT:
		fprintf(out, "%d", param->value.i);
		break;
	case VIR_TYPED_PARAM_UINT:
		fprintf(out, "%u", param->value.ui);
		break;
	case VIR_TYPED_PARAM_LLONG:
		fprintf(out, "%lld", param->value.l);
		break;
	case VIR_TYPED_PARAM_ULLONG:
		fprintf(out, "%llu", param->value.ul);
		break;
	case VIR_TYPED_PARAM_DOUBLE:
		fprintf(out, "%g", param->value.d);
		break;
	case VIR_TYPED_PARAM_BOOLEAN:
		fprintf(out, "%d", param->value.b);
		break;
	case VIR_TYPED_PARAM_STRING:
		quote(param->value.s);
		break;
	default:
		fputs("null", out);
	}
}

void json_params(const char *key, const virTypedParameter *params, int n)
{
	key_of(key);
	fputc('{', out);
	for (int i = 0; i < n; i++) {
		if (i > 0)
			fputc(',', out);
		quote(params[i].field);
		fputc(':', out);
		param_value(&params[i]);
	}
	fputc('}', out);
}
