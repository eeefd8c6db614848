/* Neutral names of a device field element, on: field/fe_names.h and the names that only the device's fields have. */
#include "field/fe_names.h"
#define fe_raw CAT(FE, _raw)
#define fe_cneg CAT(FE, _cneg)
#define fe_dot CAT(FE, _dot)
#define fe_canon CAT(FE, _canon)
#define fe_read CAT(FE, _read)
#define fe_read_const CAT(FE, _read_const)
#define fe_write CAT(FE, _write)
#define fe_select CAT(FE, _select)
#define fe_dot4 CAT(FE, _dot4)
#define fe_canon_once CAT(FE, _canon_once)
