/*
 * Inside of a module, for the launcher.
 *
 * Lock: none; read-only once loaded.
 */
#ifndef SOFTCUDA_EXEC_MODULE_H
#define SOFTCUDA_EXEC_MODULE_H

#include "exec/machine.h"
#include "native/build.h"
#include "ptx/ir.h"

struct sc_solve;

struct sc_kernel {
    struct sc_kernel_info info;
    struct sc_code code;
    struct sc_solve *solve;        /* NULL: touched.h is off */
    struct sc_build_kernel native; /* the launcher's, as is what follows */
    bool may_wait;                 /* a CTA may look at what another writes */
    bool has_strayed;              /* it was said what it reads (near.c) */
    bool has_waited;               /* ... that it does not go on (stuck.c) */
    uint64_t cta_ns;               /* of one CTA, lately; 0 = not known */
};

struct sc_module {
    struct sc_load load; /* its arena holds everything below */
    struct sc_space space;
    struct sc_ir *ir;
    struct sc_kernel *kernels;
    size_t kernel_count;
    struct sc_variable_info *variables;
    size_t variable_count;
    uint32_t const_bytes;
    struct sc_heap *heap; /* NULL = the text does not allocate */
    uint64_t workspace;   /* device memory for grid barriers, 0 = none */
};

#endif
