/* pinwire_tools_system.h: the process and its host, bytes, the end of a program. Included by
 * gasnet_tools.h only. */
#ifndef PINWIRE_TOOLS_SYSTEM_H
#define PINWIRE_TOOLS_SYSTEM_H

GASNETT_BEGIN_EXTERNC

/* ---- Host and process. Strings are owned by the library --------------------------------------------- */

const char *gasnett_gethostname(void);
const char *gasnett_exe_name(void); /* "" if unknown */
int gasnett_cpu_count(void);        /* processors of the host; 0 if unknown */
/* Bytes; 0 if unknown, or the end if that is fatal. */
uint64_t gasnett_getPhysMemSz(int is_failure_fatal);
int gasnett_isLittleEndian(void);
const char *gasnett_performance_warning_str(void); /* "" but in debug builds */
const char *gasnett_release_version_str(void);
uint64_t gasnett_release_version(void); /* major * 1000000 + minor * 10000 + patch */

/* Binds the calling thread to processor `rank` modulo their count; 0, or not if it cannot be. */
#define GASNETT_SET_AFFINITY_SUPPORT 1
int gasnett_set_affinity(int rank);

/* Raises soft limits to the hard ones; non-zero on success. GASNET_MAXIMIZE_<name>=no leaves one alone. */
int gasnett_maximize_rlimits(void);
int gasnett_maximize_rlimit(int resource, const char *name);

/* Fresh zeroed memory, whole pages; fatal if there is none. */
void *gasnett_mmap(uintptr_t bytes);

typedef void (*gasnett_sighandlerfn_t)(int);
/* Returns the handler before. */
gasnett_sighandlerfn_t gasnett_reghandler(int signal_number, gasnett_sighandlerfn_t handler);

void gasnett_flush_streams(void);
void gasnett_close_streams(void);

/* The same, by names inside GASNet-EX that clients call. */
#define gasneti_gethostname gasnett_gethostname
#define gasneti_cpu_count gasnett_cpu_count
#define gasneti_getenv gasnett_getenv
#define gasneti_getenv_withdefault gasnett_getenv_withdefault
#define gasneti_getenv_int_withdefault gasnett_getenv_int_withdefault
#define gasneti_getenv_yesno_withdefault gasnett_getenv_yesno_withdefault
#define gasneti_fatalerror gasnett_fatalerror
#define gasneti_flush_streams gasnett_flush_streams
#define gasneti_print_backtrace gasnett_print_backtrace
#define gasneti_reghandler gasnett_reghandler

/* ---- Bytes ---------------------------------------------------------------------------------------- */

uint64_t gasnett_checksum(const void *data, int bytes); /* of no cryptographic use */
int gasnett_count0s_uint32_t(uint32_t value);           /* bytes that are 0 */
int gasnett_count0s_uint64_t(uint64_t value);
int gasnett_count0s_uintptr_t(uintptr_t value);
size_t gasnett_count0s(const void *data, size_t bytes);
size_t gasnett_count0s_copy(void *GASNETT_RESTRICT to, const void *GASNETT_RESTRICT from, size_t bytes);

/* ---- The end of a program --------------------------------------------------------------------------- */

/* Says the sentence and where it happened, prints a backtrace or waits for a debugger if the environment
 * asks for it (GASNET_BACKTRACE, GASNET_FREEZE_ON_ERROR), and aborts. */
#define gasnett_fatalerror(...) pinwire_fatal_at(__func__, __FILE__, __LINE__, __VA_ARGS__)
GASNETT_FORMAT_PRINTF(pinwire_fatal_at, 4, 5,
                      void pinwire_fatal_at(const char *function, const char *file, int line,
                                            const char *format, ...)) GASNETT_NORETURN;
GASNETT_FORMAT_PRINTF(gasnett_fatalerror_nopos, 1, 2,
                      void gasnett_fatalerror_nopos(const char *format, ...)) GASNETT_NORETURN;
void gasnett_killmyprocess(int exitcode) GASNETT_NORETURN; /* at once, all threads, no exit handlers */

/* A text that tells this place; the caller frees it. */
#define gasnett_current_loc pinwire_current_location(__func__, __FILE__, __LINE__)
char *pinwire_current_location(const char *function, const char *file, int line);

/* Sets *flag to 1 and waits until a debugger sets it to 0, or SIGCONT comes; the second only if
 * GASNET_FREEZE_ON_ERROR is set. */
void gasnett_freezeForDebuggerNow(volatile int *flag, const char *flag_name);
void gasnett_freezeForDebuggerErr(void);

/* Call init early, with argv[0]. print: 0 if a backtrace was written to the descriptor. The mechanisms are
 * the client's, GDB and EXECINFO, or those of GASNET_BACKTRACE_TYPE in its order. */
void gasnett_backtrace_init(const char *program);
int gasnett_print_backtrace(int fd);
extern int (*gasnett_print_backtrace_ifenabled)(int fd);

/* A client may define gasnett_backtrace_user: a mechanism of its own. */
typedef struct {
  const char *name;
  int (*fnp)(int fd);
  int threadsupport;
} gasnett_backtrace_type_t;
extern gasnett_backtrace_type_t gasnett_backtrace_user;

GASNETT_END_EXTERNC

#endif
