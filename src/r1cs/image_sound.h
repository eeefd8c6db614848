/* Whether an image from a file is safe to interpret. */
#ifndef CUZK_R1CS_IMAGE_SOUND_H
#define CUZK_R1CS_IMAGE_SOUND_H

#include "r1cs/image.h"

/** Walks every template as the interpreters do and checks each index, count and sum; recomputes depth_words and depth_imports.
 * Errors  CUZK_MALFORMED with the template and what is wrong. */
cuzk_status image_sound(struct circuit_image *m, struct task *t) MUST_CHECK;

#endif
