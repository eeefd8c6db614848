/* A circuit image laid out for a device: no calls, no search; every instance, and every row of a template, found by its number.
 *
 * What an interpreter of the image does on its way (bind imports, tell bits from numbers, count rows) is done once here.  All arrays are
 * plain integers and are copied to a device as they stand. */
#ifndef CUZK_R1CS_IMAGE_FLAT_H
#define CUZK_R1CS_IMAGE_FLAT_H

#include "r1cs/image.h"

struct image_flat {
    const struct circuit_image *image; /* borrowed */
    uint32_t *rows;                    /* image->rows with references as above */
    struct flat_template *templates;
    struct flat_instance *instances; /* template by template */
    struct flat_row *directory;
    struct flat_segment *segments;
    uint32_t *imports;    /* places; each instance's behind each other */
    uint32_t *number_aux; /* the aux of each of the circuit's numbers */
    uint32_t instance_count, row_count, segment_count, import_count;
};

/** Errors  CUZK_NO_MEMORY; CUZK_TOO_LARGE: more instances or imports than 32 bits name.  Out: to be ended with image_flat_fini.
 * Cost    32 GiB: 25 MB, 30 ms. */
cuzk_status image_flat_create(struct image_flat *out, struct task *t,
                              const struct circuit_image *m) MUST_CHECK;
void image_flat_fini(struct image_flat *f); /* legal on a zeroed one */

#endif
