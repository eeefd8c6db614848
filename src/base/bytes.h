/* Loads and stores of fixed byte order at any alignment. */
#ifndef CUZK_BASE_BYTES_H
#define CUZK_BASE_BYTES_H

#include "base/dialect.h"
#include <string.h>

static inline uint32_t load_le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t load_le64(const uint8_t *p)
{
    return (uint64_t)load_le32(p) | (uint64_t)load_le32(p + 4) << 32;
}
static inline uint32_t load_be32(const uint8_t *p)
{
    return (uint32_t)p[3] | (uint32_t)p[2] << 8 | (uint32_t)p[1] << 16 | (uint32_t)p[0] << 24;
}
static inline uint64_t load_be64(const uint8_t *p)
{
    return (uint64_t)load_be32(p + 4) | (uint64_t)load_be32(p) << 32;
}

static inline void store_le32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(v >> (8 * i));
}
static inline void store_le64(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 8; i++) p[i] = (uint8_t)(v >> (8 * i));
}
static inline void store_be32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(v >> (24 - 8 * i));
}
static inline void store_be64(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 8; i++) p[i] = (uint8_t)(v >> (56 - 8 * i));
}

/* Little-endian words <-> big-endian bytes, count 64-bit words. */
static inline void words_from_be(uint64_t *w, const uint8_t *p, size_t count)
{
    for (size_t i = 0; i < count; i++) w[i] = load_be64(p + 8 * (count - 1 - i));
}
static inline void words_to_be(uint8_t *p, const uint64_t *w, size_t count)
{
    for (size_t i = 0; i < count; i++) store_be64(p + 8 * (count - 1 - i), w[i]);
}
static inline void words_from_le(uint64_t *w, const uint8_t *p, size_t count)
{
    for (size_t i = 0; i < count; i++) w[i] = load_le64(p + 8 * i);
}
static inline void words_to_le(uint8_t *p, const uint64_t *w, size_t count)
{
    for (size_t i = 0; i < count; i++) store_le64(p + 8 * i, w[i]);
}

/** Sets bytes to zero in a way that the compiler may not remove. */
static inline void wipe(void *p, size_t bytes) { explicit_bzero(p, bytes); }

#endif
