/* Hard c-means: u = 1 for the nearest centre. */
static void hard_memberships(struct tile *tile, const struct centres *centres) {
    label_nearest(tile, centres->clusters);
    for (int64_t j = 0; j < centres->clusters; j++)
        ACROSS(t) store(tile->u + j * TILE + t, where(equal_whole(load_whole(tile->label + t), all_whole((whole)j)), all(1), all(0)));
}

#define FEW 16 /* clusters up to which all are looked for in every vector, rather than row after row */

static double hard_sums(struct tile *tile, const struct centres *centres, double *mass, double *spread) {
    if (centres->clusters <= FEW) {
        for (int64_t j = 0; j < centres->clusters; j++) {
            lanes m = all(0), s = all(0);
            ACROSS(t) {
                lanes w = where(equal_whole(load_whole(tile->label + t), all_whole((whole)j)), load(tile->weight + t), all(0));
                m = add(m, w);
                s = fused(w, load(tile->low + t), s);
            }
            mass[j] += sum(m);
            spread[j] += sum(s);
        }
        return 0;
    }
    for (int64_t t = 0; t < tile->count; t++) {
        mass[tile->label[t]] += tile->weight[t];
        spread[tile->label[t]] += tile->weight[t] * tile->low[t];
    }
    return 0;
}

/* Without a cluster, its rows would go to their second nearest centre. */
static void hard_utilities(struct tile *tile, const struct centres *centres, double *utility) {
    ACROSS(t) store(tile->spare + t, second_smallest(tile, centres->clusters, t));
    for (int64_t t = 0; t < tile->count; t++)
        if (tile->weight[t] > 0)
            utility[tile->label[t]] += tile->weight[t] * (tile->spare[t] - tile->low[t]);
}
