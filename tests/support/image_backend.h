/* A backend that makes witnesses of circuit images itself and evaluates them, on the CPU: what GPUs do, by the interpreters that they are
 * compared with.  For tests of what stands above, at the CPU's speed. */
#ifndef CUZK_TESTS_IMAGE_BACKEND_H
#define CUZK_TESTS_IMAGE_BACKEND_H

#include "backend/backend.h"

/** base with these operations: the CPU backend, or one made of it.  Its buffers are in host memory, whatever their kind.
 * The map of one image is kept until image_backend_end. */
const struct backend *image_backend(const struct backend *base);
void image_backend_end(void);

#endif
