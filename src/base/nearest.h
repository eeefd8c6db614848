/* The known word that a misspelt one may have meant. */
#ifndef CUZK_BASE_NEAREST_H
#define CUZK_BASE_NEAREST_H

#include "base/dialect.h"

/** Index of the candidate nearest to word by edit distance, or -1 if none is near. */
int nearest_word(const char *word, const char *const *candidates, size_t count);

#endif
