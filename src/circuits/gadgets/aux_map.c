/* Which variables are numbers, by rank over a bitmap of one part. */
#include "circuits/gadgets/assign.h"

#include <stdlib.h>

cuzk_status aux_map_create(struct aux_map *out, struct task *t, const struct circuit_image *m)
{
    memset(out, 0, sizeof *out);
    out->image = m;
    out->part_first = image_circuit(m)->aux_count;
    if (m->part_count == 0) return CUZK_OK;
    const struct circuit_template *c = &m->templates[m->parts[0].template_id];
    const size_t words = (size_t)c->aux_count / 64 + 1;
    out->part_first = m->parts[0].first_aux;
    out->part_aux = c->aux_count;
    for (uint32_t i = 0; i < m->part_count; i++)
        if (c->aux_count == 0 || m->parts[i].template_id != m->parts[0].template_id ||
            m->parts[i].first_aux != out->part_first + i * c->aux_count)
            return FAIL(t, CUZK_UNSUPPORTED, "the parts of circuit %s differ", m->name);
    out->is_number = calloc(words, sizeof *out->is_number);
    out->rank = calloc(words, sizeof *out->rank);
    if (out->is_number == NULL || out->rank == NULL) {
        aux_map_fini(out);
        return FAIL(t, CUZK_NO_MEMORY, "no memory for the variables of circuit %s", m->name);
    }
    for (uint32_t i = 0; i < c->number_count; i++) {
        const uint32_t aux = m->number_aux[c->numbers_begin + i];
        out->is_number[aux / 64] |= (uint64_t)1 << aux % 64;
    }
    uint32_t sum = 0;
    for (size_t i = 0; i < words; i++) {
        out->rank[i] = sum;
        sum += (uint32_t)__builtin_popcountll(out->is_number[i]);
    }
    return CUZK_OK;
}

void aux_map_fini(struct aux_map *map)
{
    free(map->is_number);
    free(map->rank);
    memset(map, 0, sizeof *map);
}

/* The circuit's own numbers are few: binary search. */
static uint32_t find_own(const struct circuit_image *m, uint32_t aux)
{
    bool found;
    const uint32_t rank = image_number_rank(m, image_circuit(m), aux, &found);
    return found ? rank : AUX_IS_BIT;
}

uint32_t aux_map_find(const struct aux_map *map, uint32_t aux)
{
    const struct circuit_image *m = map->image;
    if (aux < map->part_first) return find_own(m, aux);
    const uint32_t part = (aux - map->part_first) / map->part_aux;
    if (part >= m->part_count) return find_own(m, aux);
    const uint32_t at = aux - m->parts[part].first_aux;
    const uint64_t word = map->is_number[at / 64], bit = (uint64_t)1 << at % 64;
    if ((word & bit) == 0) return AUX_IS_BIT;
    return m->parts[part].first_number + map->rank[at / 64] +
           (uint32_t)__builtin_popcountll(word & (bit - 1));
}

void assignment_value(const struct assignment *a, const struct aux_map *map, bls12_381_fr_int *out,
                      uint32_t var)
{
    if ((var & VAR_AUX) == 0) {
        *out = a->inputs[var];
        return;
    }
    const uint32_t aux = var & ~VAR_AUX, slot = aux_map_find(map, aux);
    if (slot != AUX_IS_BIT) {
        *out = a->numbers[slot];
        return;
    }
    memset(out, 0, sizeof *out);
    out->l[0] = assignment_bit(a, aux);
}

void assignment_values(const struct assignment *a, const struct aux_map *map, bls12_381_fr_int *out)
{
    const struct circuit_template *c = image_circuit(map->image);
    for (uint32_t i = 0; i < c->input_count; i++) out[i] = a->inputs[i];
    for (uint32_t i = 0; i < c->aux_count; i++)
        assignment_value(a, map, &out[c->input_count + i], i | VAR_AUX);
}
