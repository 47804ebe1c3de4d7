/*
 * The programs ranges-data makes files for. Sizes are no round numbers where
 * that makes parts uneven.
 */
#include "adi/adi.h"
#include "blackscholes/blackscholes.h"
#include "common/data.h"
#include "common/images.h"
#include "fdtd/fdtd.h"
#include "floyd/floyd.h"
#include "heat/heat.h"
#include "heat3d/heat3d.h"
#include "lu/lu.h"
#include "mandel/mandel.h"
#include "matmul/matmul.h"
#include "mvt/mvt.h"
#include "nbody/nbody.h"
#include "sph/sph.h"

#define SIZES(...) ((const uint32_t[]){__VA_ARGS__})
#define KIND(name, fields, small, medium, large)                               \
    &(const struct data_kind)                                                  \
    {                                                                          \
        name, fields, sizeof(fields) / sizeof *(fields), small, medium, large, \
            NULL, data_write_numbers                                           \
    }

const struct data_kind *const data_kinds[] = {
    KIND("adi", adi_fields, SIZES(131, 5, 1), SIZES(512, 20, 1),
         SIZES(4096, 50, 1)),
    KIND("blackscholes", blackscholes_fields, SIZES(10007, 1),
         SIZES(1 << 20, 1), SIZES(1 << 24, 1)),
    KIND("fdtd", fdtd_fields, SIZES(193, 131, 20, 1), SIZES(1024, 1024, 100, 1),
         SIZES(4096, 4096, 200, 1)),
    KIND("floyd", floyd_fields, SIZES(101, 1, 0), SIZES(384, 1, 0),
         SIZES(1024, 1, 0)),
    KIND("heat", heat_fields, SIZES(193, 131, 40, 8, 1),
         SIZES(1024, 1024, 200, 20, 1), SIZES(4096, 4096, 500, 50, 1)),
    KIND("heat3d", heat3d_fields, SIZES(43, 37, 31, 20, 1),
         SIZES(128, 128, 128, 50, 1), SIZES(256, 256, 256, 200, 1)),
    KIND("lu", lu_fields, SIZES(101, 1), SIZES(384, 1), SIZES(1024, 1)),
    KIND("mandel", mandel_fields, SIZES(193, 131, 5, 40, 0),
         SIZES(1024, 768, 10, 100, 8), SIZES(4096, 3072, 20, 200, 8)),
    KIND("matmul", matmul_fields, SIZES(101, 67, 83, 1),
         SIZES(768, 768, 768, 1), SIZES(4096, 4096, 4096, 1)),
    KIND("mse", images_fields, SIZES(643, 479, 1), SIZES(2048, 2048, 1),
         SIZES(8192, 8192, 1)),
    KIND("mvt", mvt_fields, SIZES(401, 307, 3, 1), SIZES(2048, 1024, 5, 1),
         SIZES(8192, 8192, 5, 1)),
    KIND("nbody", nbody_fields, SIZES(509, 10, 1), SIZES(2048, 50, 1),
         SIZES(16384, 100, 1)),
    KIND("ppmcc", images_fields, SIZES(643, 479, 1), SIZES(2048, 2048, 1),
         SIZES(8192, 8192, 1)),
    KIND("sph", sph_fields, SIZES(509, 10, 1), SIZES(1024, 600, 1),
         SIZES(4096, 2000, 1)),
};
const int data_kind_count = sizeof data_kinds / sizeof *data_kinds;
