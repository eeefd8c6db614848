/* The known word that a misspelt one may have meant. */
#include "base/nearest.h"
#include <string.h>

static unsigned edit_distance(const char *a, const char *b)
{
    unsigned row[65];
    const size_t n = strlen(b);
    if (n >= ARRAY_COUNT(row) || strlen(a) >= ARRAY_COUNT(row)) return 64;
    for (size_t j = 0; j <= n; j++) row[j] = (unsigned)j;
    for (size_t i = 1; a[i - 1]; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= n; j++) {
            const unsigned up = row[j];
            unsigned best = diagonal + (a[i - 1] != b[j - 1]);
            if (up + 1 < best) best = up + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
            diagonal = up;
        }
    }
    return row[n];
}

int nearest_word(const char *word, const char *const *candidates, size_t count)
{
    int nearest = -1;
    unsigned least = (unsigned)strlen(word) / 3 + 2;
    for (size_t i = 0; i < count; i++) {
        const unsigned d = edit_distance(word, candidates[i]);
        if (d < least) {
            least = d;
            nearest = (int)i;
        }
    }
    return nearest;
}
