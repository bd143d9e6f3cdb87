// The names of libibverbs' static providers, for code that is compiled with RDMA_STATIC_PROVIDERS;
// only their addresses are taken. Apart from verbs.h, which declares them of a type it does not
// show.
extern "C" {

extern const char verbs_provider_all = 0;
extern const char verbs_provider_mlx4 = 0;
extern const char verbs_provider_mlx5 = 0;
extern const char verbs_provider_none = 0;
extern const char verbs_provider_rxe = 0;

}  // extern "C"
