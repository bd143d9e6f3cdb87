/* pinwire_tools_environment.h: settings from the environment, and numbers as people write them. Included
 * by gasnet_tools.h only. A value that cannot be read ends the program with a sentence. */
#ifndef PINWIRE_TOOLS_ENVIRONMENT_H
#define PINWIRE_TOOLS_ENVIRONMENT_H

GASNETT_BEGIN_EXTERNC

/* In a job, after gasnet_init: the environment that spawned it; else this process's. */
char *gasnett_getenv(const char *name);
/* Change this process only. */
void gasnett_setenv(const char *name, const char *value);
void gasnett_unsetenv(const char *name);

/* The value, or the default if there is none. In verbose mode each name is reported, once. */
char *gasnett_getenv_withdefault(const char *name, const char *fallback);
int gasnett_getenv_yesno_withdefault(const char *name, int fallback);
/* memory_unit 0: a plain number, decimal or 0x hexadecimal. Otherwise bytes with an optional suffix K, M, G, T, and
 * memory_unit is that of numbers that have none. */
int64_t gasnett_getenv_int_withdefault(const char *name, int64_t fallback, uint64_t memory_unit);
/* Also fractions: 3/8. */
double gasnett_getenv_dbl_withdefault(const char *name, double fallback);

/* GASNET_VERBOSEENV; in a job, on its first node only. */
int gasnett_verboseenv(void);
/* Reports a setting in verbose mode. */
void gasnett_envstr_display(const char *name, const char *value, int is_default);
void gasnett_envint_display(const char *name, int64_t value, int is_default, int is_memory);
void gasnett_envdbl_display(const char *name, double value, int is_default);

/* "64 MB", or "0x400" for plain numbers that are easier to read so; exact: parse_int gives it back. */
char *gasnett_format_number(int64_t value, char *text, size_t text_bytes, int is_memory);
int64_t gasnett_parse_int(const char *text, uint64_t memory_unit);

GASNETT_END_EXTERNC

#endif
