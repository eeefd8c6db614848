/* Binding: the CPU's operations for bn254 with mulx, adcx and adox. */
#define CUZK_FIELD_ADX 1
#include "field/bn254_fields.h"
#include "field/field_cpu.h"

#define CPU_FR      bn254_fr
#define CPU_FP      bn254_fp
#define CPU_FP2     bn254_fp2
#define CPU_TABLE   cpu_bn254_adx
#define CPU_VARIANT "mulx/adx"
#define CPU_USABLE  field_cpu_has_adx
#include "backend/cpu/cpu_kernels.inc.c"
