/* Colours and marks of methods, the same on every page: a colour says how a method adds. */
#include <stdio.h>

#include "reports/page/report.h"

enum { FAMILIES = 9, OTHERS = 8, MARKS = 13 };

/* What follows the slash of a method's name, with blanks between; the last family is of all
 * others: libraries, users' subjects, and what moves bits only. */
static const struct {
    const char *says, *methods;
} family[FAMILIES] = {
    {"one element after another",
     " serial textbook running welford naive "
     "rank_order linear online split plain nccl_tree_simple nccl_tree_ll "
     "nccl_tree_ll128 "},
    {"in the order of arrival",
     " atomic warp_atomic block_atomic block_local lookback split_k_atomic "},
    {"other fixed trees",
     " pairwise tree blelloch hillis_steele shuffle coarsened two_kernel last_block host_finish "
     "three_kernel chan sort split_k double_tree recursive_doubling rabenseifner ring "
     "ring_to_owner level_tree promoted flash recursive_halving butterfly binomial binary_tree "
     "quaternary_tree mma sequential interleaved wgmma split_k_rounded split_k_stored "},
    {"tiled: one tree for each n", " tiled segmented ordered padded nccl_ring_simple nccl_ring_ll "
                                   "nccl_ring_ll128 "},
    {"compensated", " kahan neumaier compensated scaled two_pass "},
    {"several words", " sum2 sumk sumk4 sumk5 double_word blocked widened two_words "},
    {"exact", " exact "},
    {"binned", " binned binned2 binned4 "},
    {"libraries and others", " "},
};

/* The place of a word among those of a family, from 0; MARKS: it is not there. */
static size_t place_in(const char *words, const char *name)
{
    char wanted[64];
    size_t place = 0;
    snprintf(wanted, sizeof wanted, " %.60s ", name);
    const char *found = strstr(words, wanted);
    for (const char *c = words + 1; found && c <= found; c++)
        place += *c == ' ';
    return found ? place % MARKS : MARKS;
}

static size_t family_of(const char *method, size_t *mark)
{
    const char *slash = strchr(method, '/');
    /* What a weight is updated by has a name without a slash. */
    bool ours = method_named(method) || !strpbrk(method, "/:.");
    for (size_t i = 0; ours && i < OTHERS; i++)
        if ((*mark = place_in(family[i].methods, slash ? slash + 1 : method)) < MARKS) {
            *mark = (*mark + i) % MARKS;
            return i;
        }
    *mark = 0;
    for (const char *c = method; *c; c++)
        *mark = (*mark * 31 + (unsigned char)*c) % MARKS;
    return OTHERS;
}

struct ink page_ink(const char *method)
{
    struct ink ink;
    ink.colour = family_of(method, &ink.mark) + 1;
    ink.mark++;
    return ink;
}

void page_inks(struct text *to)
{
    text_add(to,
             "<p class=\"how inks\">Colours, the same on every page (where methods of a picture "
             "share one, every other one is of another shade; their marks differ too):");
    for (size_t i = 0; i < FAMILIES; i++)
        text_format(to, " <span class=\"i%zu\">%s</span>%s", i + 1, family[i].says,
                    i + 1 < FAMILIES ? "," : ".");
    text_add(to, "</p>\n");
}
