/* Neutral names of a device field element, off. */
#include "field/fe_unnames.h"
#undef fe_raw
#undef fe_cneg
#undef fe_dot
#undef fe_canon
#undef fe_read
#undef fe_read_const
#undef fe_write
#undef fe_select
#undef fe_dot4
#undef fe_canon_once
