/* The points of a key that stand on the host, sent piece by piece under the sums that read them, through two places in device memory.
 *
 * The sums of one piece run while the next is sent.  Streams wait for each other on the device: the sums' for the piece, the copies' for
 * the sums that read what they write over.  What a place holds is remembered, so that a piece that is wanted again while it is there is
 * not sent twice. */
#ifndef CUZK_GROTH16_KEY_FEED_H
#define CUZK_GROTH16_KEY_FEED_H

#include "groth16/key_split.h"

enum { FEED_PLACES = 2 };

/* Points [first, first + count) of those that a query's sums walk. */
struct key_piece {
    enum groth16_query query;
    uint64_t first, count;
    bool kept; /* it is on the device for good */
};

/* What the places hold.  By itself it tells what a sequence of pieces will send. */
struct feed_places {
    struct key_piece of[FEED_PLACES]; /* count 0: nothing */
    unsigned last;                    /* the place that the last use was of */
};
/** The place that a piece is in, or FEED_PLACES. */
unsigned feed_find(const struct feed_places *p, const struct key_piece *piece);
/** The place that a piece is to be sent to: never that of the last use. */
static inline unsigned feed_free(const struct feed_places *p) { return p->last == 0 ? 1 : 0; }

struct key_feed {
    const struct key_split *split;
    struct stream *copies;
    struct buffer place[FEED_PLACES];
    struct feed_places places;
};

/** In  places  two buffers of at least the longest piece that is sent; nothing under way reads them */
void key_feed_begin(struct key_feed *f, const struct key_split *split, struct stream *copies,
                    const struct buffer places[FEED_PLACES]);

/** The points of a piece: what is enqueued on `sums` from now on may read them, until the next use of another piece that is not kept.
 * Out     *points, from *offset on */
cuzk_status key_feed_use(struct key_feed *f, struct task *t, struct stream *sums,
                         const struct key_piece *piece, struct buffer *points, size_t *offset) MUST_CHECK;
/** Begins to send a piece that will be used next, after the sums of the last use have been enqueued.  One that is kept or there costs
 * nothing. */
cuzk_status key_feed_ahead(struct key_feed *f, struct task *t, const struct key_piece *piece) MUST_CHECK;

#endif
