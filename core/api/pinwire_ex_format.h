/* pinwire_ex_format.h: what GASNet's clients and tests print of its own types; not in the specification. Included by
 * gasnetex.h only. Anywhere. */
#ifndef PINWIRE_EX_FORMAT_H
#define PINWIRE_EX_FORMAT_H

#ifdef __cplusplus
extern "C" {
#endif

/* The names of all that is in a set, with '|' between them, to `buf`; returns the bytes that this takes, the final zero
 * included. buf NULL: only that. A value without a name is a number. */
size_t gasnett_format_dt(char *buf, gex_DT_t dt);
size_t gasnett_format_op(char *buf, gex_OP_t op);
size_t gasnett_format_ti(char *buf, gex_TI_t ti);

/* Lists of transfers of many pieces. ..._bufsz(): bytes that are enough. They return the sum of the pieces. */
size_t gasnett_format_memveclist_bufsz(size_t count);
size_t gasnett_format_memveclist(char *buf, size_t count, gex_Memvec_t const *list);
size_t gasnett_format_addrlist_bufsz(size_t count);
size_t gasnett_format_addrlist(char *buf, size_t count, void *const *list, size_t len);
size_t gasnett_format_putsgets_bufsz(size_t stridelevels);
/* pstats: NULL */
size_t gasnett_format_putsgets(char *buf, void *pstats, gex_TM_t tm, gex_Rank_t rank, void *dstaddr, const ptrdiff_t dststrides[],
                               void *srcaddr, const ptrdiff_t srcstrides[], size_t elemsz, const size_t count[],
                               size_t stridelevels);

#ifdef __cplusplus
}
#endif

#endif
