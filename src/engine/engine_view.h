/* The core's state as others may see it. */
#ifndef CUZK_ENGINE_ENGINE_VIEW_H
#define CUZK_ENGINE_ENGINE_VIEW_H

#include "engine/engine_core.h"
#include "engine/lane_thread.h"

/** Calls told with a view that lives until it returns.  Where memory is short, lists are empty.  Thread  the engine's. */
void engine_view_tell(const struct engine_core *c, const struct lane_thread *threads, view_told *told,
                      void *context, uint64_t now_ns);

#endif
