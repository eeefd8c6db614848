/* The kinds of this build. */
#include "engine/engine.h"
#include "engine/job_kind.h"
#include "base/log.h"
#include <string.h>

#define TABLE_MOST_BYTES (64ull << 20) /* backend/cpu: a device's tables of one curve and convention */

const struct job_kind *job_kind_by_name(const char *name)
{
    static const struct job_kind *const kinds[] = { &kind_circom, &kind_porep };

    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
        if (strcmp(kinds[i]->name, name) == 0) return kinds[i];
    return NULL;
}

void kind_chosen(struct circuit *c, const struct task *t, const struct groth16_key *key,
                 const struct error *refused)
{
    if (refused->status != CUZK_OK)
        log_warn(t, "circuit %s: the derived key is not used: %s (%s)", c->name, refused->text,
                 refused->path);
    log_info(t, "circuit %s: key in its form %s", c->name, groth16_h_mode_name(key->h_mode));
    c->key_mode = key->h_mode == H_LAGRANGE_4 ? KEY_MODE_DERIVED : KEY_MODE_ORIGINAL;
}

void kind_table(struct circuit *c, const struct groth16_key *key)
{
    const uint64_t bytes = 64 * key->domain.size;

    c->table_id = 2 * ((unsigned)key->curve->id - 1) + (unsigned)key->layout;
    c->table_bytes = bytes < TABLE_MOST_BYTES ? bytes : TABLE_MOST_BYTES;
}

uint64_t kind_key_mark(const struct groth16_key *key)
{
    const struct mapfile *files[] = { &key->file, &key->r1cs, &key->derived_file };
    uint64_t mark = 0;

    for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
        const uint64_t words[] = { files[i]->device, files[i]->inode, files[i]->mtime_ns, files[i]->bytes.size };
        for (size_t k = 0; k < ARRAY_COUNT(words); k++) { /* Stafford's mixer 13, a word after the other */
            mark += words[k] + 0x9e3779b97f4a7c15;
            mark = (mark ^ mark >> 30) * 0xbf58476d1ce4e5b9;
            mark = (mark ^ mark >> 27) * 0x94d049bb133111eb;
            mark ^= mark >> 31;
        }
    }
    return mark;
}

void kind_add_plan(struct circuit *c, const struct groth16_plan *plan)
{
    if (plan->backend->reads_host_memory) {
        c->prove_bytes.of[BYTES_HEAP] += plan->block_bytes;
        c->block_bytes = plan->block_bytes;
    } else {
        c->prove_bytes.of[BYTES_DEVICE] += plan->block_bytes;
        c->key_bytes.of[BYTES_DEVICE] += plan->key_bytes;
    }
}

cuzk_status kind_check_grant(struct task *t, const struct groth16_plan *plan, uint64_t host_bytes,
                             const struct bytes *granted)
{
    const bool on_host = plan->backend->reads_host_memory;
    const uint64_t host = host_bytes + (on_host ? plan->block_bytes : 0);
    uint64_t device = 0; /* granted on the lane's own, the only line that is not 0 */

    for (int i = BYTES_DEVICE; i < BYTES_KINDS; i++) device += granted->of[i];
    if (host <= granted->of[BYTES_HEAP] && (on_host || plan->block_bytes <= device)) return CUZK_OK;
    return FAIL(t, CUZK_INTERNAL,
                "the plan takes %llu bytes of heap and %zu of a device; %llu and %llu are granted",
                (unsigned long long)host, on_host ? (size_t)0 : plan->block_bytes,
                (unsigned long long)granted->of[BYTES_HEAP], (unsigned long long)device);
}
