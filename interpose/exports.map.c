/* The export map of libadsm-preload.so, made by the preprocessor. */
{
global:
#define ADSM_HOOK_STUB(name, family)                    name;
#define ADSM_HOOK_LIBC(returns, name, params)           name;
#define ADSM_HOOK_ALIAS(alias, name)                    alias;
#define ADSM_HOOK_CUDA(name, api, since, flags, params) name;
#include "interpose/hooks.def"
    adsm_hooks_list;
    adsm_hooks_mpi;

local:
    *;
};
