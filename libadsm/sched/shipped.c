/* The shipped operators: their names, and their kernels as text. */
#include "sched/shipped.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
const struct adsm_shipped adsm_shipped[ADSM_SHIPPED] = {
    {"sum_i32", 4,
#include <sum_i32_ptx.inc>
    },
    {"product_i32", 4,
#include <product_i32_ptx.inc>
    },
    {"min_i32", 4,
#include <min_i32_ptx.inc>
    },
    {"max_i32", 4,
#include <max_i32_ptx.inc>
    },
    {"and_i32", 4,
#include <and_i32_ptx.inc>
    },
    {"or_i32", 4,
#include <or_i32_ptx.inc>
    },
    {"xor_i32", 4,
#include <xor_i32_ptx.inc>
    },
    {"sum_i64", 8,
#include <sum_i64_ptx.inc>
    },
    {"product_i64", 8,
#include <product_i64_ptx.inc>
    },
    {"min_i64", 8,
#include <min_i64_ptx.inc>
    },
    {"max_i64", 8,
#include <max_i64_ptx.inc>
    },
    {"and_i64", 8,
#include <and_i64_ptx.inc>
    },
    {"or_i64", 8,
#include <or_i64_ptx.inc>
    },
    {"xor_i64", 8,
#include <xor_i64_ptx.inc>
    },
    {"min_u32", 4,
#include <min_u32_ptx.inc>
    },
    {"max_u32", 4,
#include <max_u32_ptx.inc>
    },
    {"min_u64", 8,
#include <min_u64_ptx.inc>
    },
    {"max_u64", 8,
#include <max_u64_ptx.inc>
    },
    {"sum_f32", 4,
#include <sum_f32_ptx.inc>
    },
    {"product_f32", 4,
#include <product_f32_ptx.inc>
    },
    {"min_f32", 4,
#include <min_f32_ptx.inc>
    },
    {"max_f32", 4,
#include <max_f32_ptx.inc>
    },
    {"sum_f64", 8,
#include <sum_f64_ptx.inc>
    },
    {"product_f64", 8,
#include <product_f64_ptx.inc>
    },
    {"min_f64", 8,
#include <min_f64_ptx.inc>
    },
    {"max_f64", 8,
#include <max_f64_ptx.inc>
    },
};
/* clang-format on */

/* By adsmOp and adsmType. Where the bits are the same unsigned operators are
 * the signed ones. */
int adsm_shipped_find(adsmOp op, adsmType type)
{
    static const char *const ops[] = {
        [ADSM_SUM] = "sum", [ADSM_PRODUCT] = "product", [ADSM_MIN] = "min",
        [ADSM_MAX] = "max", [ADSM_AND] = "and",         [ADSM_OR] = "or",
        [ADSM_XOR] = "xor"};
    static const char *const types[] = {
        [ADSM_I32] = "i32", [ADSM_U32] = "u32", [ADSM_I64] = "i64",
        [ADSM_U64] = "u64", [ADSM_F32] = "f32", [ADSM_F64] = "f64"};
    char name[16];
    if (op < ADSM_SUM || op > ADSM_XOR || type < ADSM_I32 || type > ADSM_F64)
        return -1;
    bool ordered = op == ADSM_MIN || op == ADSM_MAX;
    if (type == ADSM_U32 && !ordered)
        type = ADSM_I32;
    if (type == ADSM_U64 && !ordered)
        type = ADSM_I64;
    snprintf(name, sizeof name, "%s_%s", ops[op], types[type]);
    for (int i = 0; i < ADSM_SHIPPED; i++)
        if (strcmp(adsm_shipped[i].name, name) == 0)
            return i;
    return -1;
}
