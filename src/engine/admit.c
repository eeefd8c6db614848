/* Admission: all of a stage or nothing. */
#include "engine/admit.h"

/* GO if need fits now; else which key to evict, or to wait. */
static enum admit_verdict room_for(struct stored_key **victim, const struct budget *b, struct key_store *s,
                                   const struct bytes *need, const struct admit_request *r)
{
    struct bytes room;

    budget_free(b, &room);
    if (bytes_lacking(need, &room) < 0) return ADMIT_GO;
    bytes_add(&room, &s->evicting);
    room.of[BYTES_HEAP] += r->giving;
    if (bytes_lacking(need, &room) < 0) return ADMIT_WAIT; /* enough is on its way back */
    if (r->kept > 0 && need->of[BYTES_HEAP] > room.of[BYTES_HEAP]) return ADMIT_GIVE;
    *victim = key_store_victim(s, r->key, r->rank, r->impatient ? 0 : r->min_idle_ns, r->now_ns);
    return *victim != NULL ? ADMIT_EVICT : ADMIT_WAIT;
}

/* Whether what lasts leaves room for the proofs that use it. */
static bool leaves_room(const struct budget *b, const struct admit_request *r)
{
    struct bytes all;

    if (r->lasting == NULL) return true;
    all = *r->lasting;
    bytes_add(&all, r->reserve);
    return bytes_lacking(&all, &b->total) < 0;
}

enum admit_verdict admit_key(struct stored_key **victim, const struct budget *b, struct key_store *s,
                             const struct admit_request *r)
{
    struct bytes need = *key_store_wants(r->key);

    if (r->key->state != KEY_COLD || r->key->retry_ns > r->now_ns) return ADMIT_KEY;
    if (r->need != NULL) bytes_add(&need, r->need); /* a key alone is of no use */
    const enum admit_verdict verdict = room_for(victim, b, s, &need, r);
    return verdict == ADMIT_GO ? ADMIT_LOAD : verdict;
}

enum admit_verdict admit_part(struct stored_key **victim, const struct budget *b, struct key_store *s,
                              const struct admit_request *r)
{
    if (!leaves_room(b, r)) return ADMIT_WAIT;
    if (r->key->state != KEY_RESIDENT) return admit_key(victim, b, s, r);
    if (r->key->lost && !r->holds) return ADMIT_KEY; /* to be loaded again, once nobody holds it */
    return room_for(victim, b, s, r->need, r);
}
