/* Repeatable random numbers for tests: xoshiro256** (Blackman, Vigna, "Scrambled linear pseudorandom number generators", 2018).
 *
 * The seed comes from the environment variable CUZK_TEST_SEED or from the system, and is printed, so that a failure can be run
 * again.  Not for secrets: the product uses base/rng.h. */
#ifndef CUZK_TESTS_PRNG_H
#define CUZK_TESTS_PRNG_H

#include "base/dialect.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct prng {
    uint64_t s[4];
};

/* Any seed gives a usable state: splitmix64 spreads it. */
static inline void prng_seed(struct prng *p, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        uint64_t z = seed += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        p->s[i] = z ^ (z >> 31);
    }
}

/* Seeds from CUZK_TEST_SEED, else at random; prints the seed either way. */
static inline void prng_init(struct prng *p)
{
    const char *given = getenv("CUZK_TEST_SEED");
    uint64_t seed = 0;
    if (given != NULL && *given != '\0')
        seed = strtoull(given, NULL, 0);
    else if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        abort();
    printf("CUZK_TEST_SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout);
    prng_seed(p, seed);
}

static inline uint64_t prng_u64(struct prng *p)
{
    uint64_t *s = p->s;
    uint64_t x = s[1] * 5, result = ((x << 7) | (x >> 57)) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return result;
}

/* Even over [0, bound), bound > 0: the product's low half rejects what would be drawn too often (Lemire, 2019). */
static inline uint64_t prng_below(struct prng *p, uint64_t bound)
{
    uint64_t reject_below = (0 - bound) % bound;
    for (;;) {
        unsigned __int128 m = (unsigned __int128)prng_u64(p) * bound;
        if ((uint64_t)m >= reject_below) return (uint64_t)(m >> 64);
    }
}

static inline void prng_bytes(struct prng *p, void *out, size_t bytes)
{
    uint8_t *o = (uint8_t *)out;
    while (bytes > 0) {
        uint64_t word = prng_u64(p);
        size_t n = bytes < sizeof word ? bytes : sizeof word;
        memcpy(o, &word, n);
        o += n;
        bytes -= n;
    }
}

#endif
