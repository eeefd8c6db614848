/* The points of a key that stand on the host, sent piece by piece under the sums that read them. */
#include "groth16/key_feed.h"

unsigned feed_find(const struct feed_places *p, const struct key_piece *piece)
{
    for (unsigned i = 0; i < FEED_PLACES; i++)
        if (p->of[i].query == piece->query && p->of[i].first == piece->first &&
            p->of[i].count == piece->count)
            return i;
    return FEED_PLACES;
}

void key_feed_begin(struct key_feed *f, const struct key_split *split, struct stream *copies,
                    const struct buffer places[FEED_PLACES])
{
    const struct key_feed fresh = { .split = split, .copies = copies, .place = { places[0], places[1] } };

    *f = fresh;
}

static size_t point_bytes(const struct key_feed *f, enum groth16_query q)
{
    return f->split->key->curve->group[f->split->rows[q].group]->aff_bytes;
}

/* It counts as there only when its copy has been enqueued. */
static cuzk_status send(struct key_feed *f, struct task *t, const struct key_piece *piece)
{
    const struct split_row *row = &f->split->row[piece->query];
    const size_t each = point_bytes(f, piece->query);
    const unsigned i = feed_free(&f->places);

    TRY(task_poll(t));
    f->places.of[i].count = 0;
    TRY(f->split->backend->upload(f->copies, t, &f->place[i], 0,
                                  row->host + (piece->first - row->kept_count) * each, piece->count * each));
    f->places.of[i] = *piece;
    return CUZK_OK;
}

cuzk_status key_feed_use(struct key_feed *f, struct task *t, struct stream *sums,
                         const struct key_piece *piece, struct buffer *points, size_t *offset)
{
    const struct backend *be = f->split->backend;
    const struct split_row *row = &f->split->row[piece->query];

    *offset = 0;
    if (piece->kept) {
        *points = row->kept;
        *offset = (row->skip + piece->first) * point_bytes(f, piece->query);
        return CUZK_OK;
    }
    /* Copies from here on write over what sums have read that are enqueued by now. */
    TRY(be->stream_wait(f->copies, t, sums));
    if (feed_find(&f->places, piece) == FEED_PLACES) TRY(send(f, t, piece));
    TRY(be->stream_wait(sums, t, f->copies));
    f->places.last = feed_find(&f->places, piece);
    *points = f->place[f->places.last];
    return CUZK_OK;
}

cuzk_status key_feed_ahead(struct key_feed *f, struct task *t, const struct key_piece *piece)
{
    if (piece->kept || feed_find(&f->places, piece) != FEED_PLACES) return CUZK_OK;
    return send(f, t, piece);
}
