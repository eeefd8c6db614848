/* All operations of one curve for one instruction set.
 *
 * Takes  CPU_FR, CPU_FP, CPU_FP2  prefixes of the fields, whose binding is included before
 *        CPU_G1, CPU_G1_UPPER  prefixes of the first group and of its constants (params_curve_*.h, included before)
 *        CPU_LANES  optional: points are added eight at a time, the fields have lanes.inc.h
 *        CPU_TABLE, CPU_VARIANT, CPU_USABLE  name of the table, its text, and the test of the processor */
#include "backend/cpu/cpu_kernels.h"

#include "base/arena.h"
#include "msm/digits.h"

#define FE CPU_FR
#include "poly/butterfly.inc.h"
#include "backend/cpu/cpu_eval.inc.c"
#include "backend/cpu/cpu_ntt.inc.c"
#undef FE

#define FE  CPU_FP
#define AFF cpu_g1
#include "backend/cpu/cpu_affine.inc.c"
#if defined(CPU_LANES)
#define AFF_DEGREE 1
#include "backend/cpu/cpu_affine_lanes.inc.c"
#undef AFF_DEGREE
#endif
#include "backend/cpu/cpu_msm.inc.c"
#include "backend/cpu/cpu_bits.inc.c"
#include "backend/cpu/cpu_fixed_base.inc.c"
#undef FE
#undef AFF

#define FE  CPU_FP2
#define AFF cpu_g2
#include "backend/cpu/cpu_affine.inc.c"
#if defined(CPU_LANES)
#define AFF_DEGREE 2
#include "backend/cpu/cpu_affine_lanes.inc.c"
#undef AFF_DEGREE
#endif
#include "backend/cpu/cpu_msm.inc.c"
#include "backend/cpu/cpu_bits.inc.c"
#include "backend/cpu/cpu_fixed_base.inc.c"
#undef FE
#undef AFF

#define FE       CPU_FP
#define PT       CPU_G1
#define PT_UPPER CPU_G1_UPPER
#include "curve/point.inc.h"
#include "curve/glv.inc.h"
#undef FE
#undef PT
#undef PT_UPPER
#include "backend/cpu/cpu_group_ntt.inc.c"

const struct cpu_kernels CPU_TABLE = {
    .variant = CPU_VARIANT,
    .usable = CPU_USABLE,
    .ntt_table = ntt_table,
    .ntt = ntt_natural,
    .quotient = quotient_run,
    .eval = eval_matrix,
    .msm = { cpu_g1_msm_run, cpu_g2_msm_run },
    .bit_sum = { cpu_g1_bits_all, cpu_g2_bits_all },
    .fixed_base = { cpu_g1_fixed_run, cpu_g2_fixed_run },
    .group_ntt = group_ntt_run,
};
