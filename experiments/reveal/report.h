/* What `ulpscope reveal` found, as text and as JSON. */
#pragma once

#include <jansson.h>

#include "experiments/reveal/difference.h"
#include "experiments/reveal/method.h"
#include "reports/tree/text.h"

/* A revealed order beside another one: that declared, or another subject's. */
struct reveal_beside {
    bool asked, shown; /* is there another one, and do both show? */
    struct sum_tree tree;
    struct reveal_difference difference;
};

struct reveal_report {
    struct reveal_case of;
    size_t first, leaves;
    struct reveal found;
    struct reveal_beside declared;
};

/* Reveals and compares with what is declared. Free with reveal_report_free, also after failure. */
enum status reveal_report_make(struct reveal_report *r, const struct reveal_case *c, uint64_t seed,
                               struct problem *p);
void reveal_report_free(struct reveal_report *r);

/* STATUS_FAILED where no tree answers so, or it is not the declared one. */
enum status reveal_report_status(const struct reveal_report *r, struct problem *p);

enum status reveal_report_print(const struct reveal_report *r, struct problem *p);

/* An object, or NULL when memory is short. */
json_t *reveal_report_json(const struct reveal_report *r);

/* Its nodes, and through how many additions each leaf passes. */
json_t *reveal_tree_json(const struct sum_tree *t);

/* "sum/tiled on cpu, fp32/fp32, n = 8". */
enum { REVEAL_TITLE = 512 };
void reveal_title(char text[REVEAL_TITLE], const struct reveal_case *c);

/* Sets beside->difference: of the two trees, `a` first. */
enum status reveal_compare(struct reveal_beside *beside, const struct reveal *a,
                           const struct sum_tree *b, struct problem *p);

/* Where they differ, "a node of 4 elements, 0..3, that B does not have: the smallest of B that has
 * them all has 8, 0..7"; a and b name them. */
enum status reveal_difference_text(char *text, size_t size, const struct reveal_difference *d,
                                   const struct sum_tree *a, const struct sum_tree *b,
                                   const char *a_name, const char *b_name, size_t first,
                                   struct problem *p);

/* "91 calls: M = 2^127, ...", without the end of the line. */
void reveal_print_calls(uint64_t calls, const struct reveal_window *w);

/* What stands in the way of a tree, of a verdict from REVEAL_CONTRADICTION on. */
enum { REVEAL_OBSTACLE = 100 };
const char *reveal_obstacle(char text[REVEAL_OBSTACLE], enum reveal_verdict v,
                            enum format accumulator);

/* By verdict. And what a window asks with: an object, null where there is none. */
extern const char *const reveal_verdict_name[];
json_t *reveal_window_json(const struct reveal_window *w);
