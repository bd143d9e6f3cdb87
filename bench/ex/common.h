/* Shared by the programs of bench/ex. They use the public API of GASNet-EX alone, so that the same sources are
 * built over other implementations (bench/beside_ex.py). Each prints one JSON object a line:
 *
 *   {"test": "np", "operation": "Medium, fixed", "bytes": 1024, "unit": "GB/s", "value": 3.25}
 *   {"test": "np", "operation": "Long, fixed", "bytes": 65536, "note": "why there is no value"}
 *
 * Every operation's effect is checked before it is measured; what is wrong ends the job with a sentence and code 1. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <gasnetex.h>

extern gex_TM_t team;
extern gex_Rank_t me, ranks;
extern double seconds; /* of a measurement, at least: --seconds */

/* Starts the job with these handlers and a segment; reads the command line. Indices are set in `table`. */
void begin(const char *test, int argc, char **argv, gex_AM_Entry_t *table, size_t entries, size_t segment_bytes);
/* The segment of a rank, with its address there. Collective. */
void *segment_of(gex_Rank_t rank);
/* All ranks meet, and leave. */
void end(void);

double now_s(void);
/* Seconds for each; `work` does `count` of them to the end. For one rank alone. */
double seconds_each(void (*work)(uint64_t count));

void row(const char *operation, size_t bytes, const char *unit, double value);
void row_without_value(const char *operation, size_t bytes, const char *note);
/* The job ends if it is not so. */
void expect(int is_so, const char *sentence);

/* Rank 0 measures, and the others serve it meanwhile; then all leave. */
void measure_alone(void (*measure_all)(void));
