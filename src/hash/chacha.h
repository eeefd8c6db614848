/* The ChaCha block function with a number of rounds of choice: Filecoin's graphs use 8, its synthetic challenges 20. */
#ifndef CUZK_HASH_CHACHA_H
#define CUZK_HASH_CHACHA_H

#include "base/dialect.h"

/** One block of 16 words.  In: key 8 words; tail words 12..15 of the state (counter and nonce as the variant lays them out). */
void chacha_block(uint32_t out[16], const uint32_t key[8], const uint32_t tail[4], unsigned rounds);

#endif
