/* The axes that only some operations read. */
#include <stdlib.h>

#include "experiments/cases/axes.h"
#include "experiments/cases/experiment.h"
#include "experiments/inputs/mask.h"
#include "experiments/operations/quantise.h"
#include "experiments/options/subject_name.h"
#include "experiments/subjects/mpi.h"
#include "kernels/mma/mma.h"
#include "reference/base/grow.h"
#include "reports/text/near.h"

_Static_assert((int)AXIS_SCALES - (int)AXIS_SCAN == (int)SETTING_SCALES, "an axis for each option");

/* The experiments that read it. */
static void experiments_reading(char *text, size_t size, enum setting_option option)
{
    *text = 0;
    for (size_t i = 0; experiments[i]; i++) {
        size_t used = strlen(text);
        if (experiments[i]->operation[0] && !experiments[i]->run &&
            experiment_reads(experiments[i], option))
            snprintf(text + used, size - used, "%s%s", used ? ", " : "", experiments[i]->name);
    }
}

static enum status refuse(const struct axes *axes, const struct request *r, struct problem *p)
{
    const struct experiment *e = axes->experiment;
    char others[128];
    for (enum setting_option i = 0; i < SETTING_OPTIONS; i++) {
        const struct list *asked = &r->axis[AXIS_SCAN + i];
        experiments_reading(others, sizeof others, i);
        if (asked->count > 0 && !experiment_reads(e, i))
            return problem(p, STATUS_USAGE,
                           "option --%s: found '%s' with %s, which runs no %s: expected it with an "
                           "experiment that does: %s",
                           setting_options[i].name, asked->item[0], e->name,
                           setting_options[i].plural, others);
    }
    experiments_reading(others, sizeof others, SETTING_PRODUCT);
    for (size_t i = 0; i < axes->inputs && !experiment_reads(e, SETTING_PRODUCT); i++)
        if (axes->input[i].family->pair)
            return problem(p, STATUS_USAGE,
                           "option --input: found %s, two arrays, with %s, which runs no dot "
                           "products: expected it with an experiment that does: %s",
                           axes->input[i].family->name, e->name, others);
    return STATUS_OK;
}

enum { NAMES = 2 };
_Static_assert((int)SCAN_KINDS == NAMES && (int)OUTPUT_KINDS == NAMES, "names of an axis");

static enum status unknown(enum axis axis, const char *text, const char *const name[NAMES],
                           struct problem *p)
{
    char expected[64];
    snprintf(expected, sizeof expected, "%s or %s", name[0], name[1]);
    return near_unknown_option(p, axis_name[axis], text, expected);
}

enum status axes_names(size_t which[NAMES], size_t *count, const char *const name[NAMES],
                       const struct request *r, enum axis axis, const char *otherwise,
                       struct problem *p)
{
    struct list list;
    enum status status = axes_words(&list, &r->axis[axis], otherwise, p);
    *count = 0;
    for (size_t i = 0; status == STATUS_OK && i < list.count; i++) {
        size_t found = 0;
        while (found < NAMES && strcmp(list.item[i], name[found]) != 0)
            found++;
        if (found == NAMES)
            status = unknown(axis, list.item[i], name, p);
        else if (*count == 0 || (*count == 1 && which[0] != found))
            which[(*count)++] = found;
    }
    list_free(&list);
    return status;
}

static enum status resolve_scans(struct axes *axes, const struct request *r, struct problem *p)
{
    struct setting_axes *to = &axes->setting;
    size_t scan[NAMES];
    enum status status = axes_names(scan, &to->scans, scan_name, r, AXIS_SCAN, "inclusive", p);
    for (size_t i = 0; status == STATUS_OK && i < to->scans; i++)
        to->scan[i] = (enum scan_kind)scan[i];
    return status;
}

static enum status resolve_outputs(struct axes *axes, const struct request *r, struct problem *p)
{
    struct setting_axes *to = &axes->setting;
    const char *own = axes->experiment->output;
    size_t output[NAMES];
    enum status status =
        axes_names(output, &to->outputs, output_name, r, AXIS_OUTPUT, own ? own : "accumulator", p);
    for (size_t i = 0; status == STATUS_OK && i < to->outputs; i++)
        to->output[i] = (enum output_kind)output[i];
    return status;
}

/* Where one method takes no C, no method is given one: so that all multiply the same. */
static void leave_c_out(struct axes *axes)
{
    struct setting_axes *to = &axes->setting;
    for (size_t i = 0; i < axes->methods; i++)
        to->no_c |= axes->method[i]->no_c;
    for (size_t i = 0; i < to->shapes; i++)
        to->shape[i].no_c |= to->no_c;
}

/* Does the experiment multiply such matrices on a GPU? Of what is asked of A and B there, methods
 * take scales alone. */
static bool scales_on_gpu(const struct axes *axes, const struct gemm_shape *s)
{
    return axes->experiment->rounds_matrices && s->scaling != GEMM_UNSCALED && !s->mixed &&
           !s->tf32;
}

/* Matrices that are rounded or scaled are multiplied by what reads them from us, on the CPU and,
 * where they are scaled alone, on a GPU. */
static enum status hold_rounded(const struct axes *axes, struct problem *p)
{
    const struct setting_axes *of = &axes->setting;
    char text[SHAPE_NAME], device[DEVICE_TEXT];
    for (size_t i = 0; i < of->shapes; i++) {
        const char *expected = shape_expected(&of->shape[i]);
        if (!expected)
            continue;
        shape_name(text, &of->shape[i]);
        if (!axes->experiment->rounds_matrices &&
            !(axes->experiment->takes_scales && of->shape[i].given))
            return problem(p, STATUS_USAGE, "option --shape: found '%s', expected %s", text,
                           expected);
        for (size_t d = 0; d < axes->devices; d++)
            if (axes->device[d].kind != DEVICE_CPU && !scales_on_gpu(axes, &of->shape[i])) {
                device_name(axes->device[d], device);
                return problem(p, STATUS_USAGE,
                               "option --shape: found '%s' on %s, expected --device cpu: %s", text,
                               device, shape_asked(&of->shape[i]));
            }
        for (size_t m = 0; m < axes->methods; m++) {
            if (axes->method[m]->foreign)
                return problem(p, STATUS_USAGE, "option --shape: found '%s' for %s, expected %.*s",
                               text, axes->method[m]->name, (int)strcspn(expected, ":"), expected);
            if (axes->method_named && axes->method[m]->whole_scales &&
                !method_scales(axes->method[m], of->shape[i].scaling, 0))
                return problem(p, STATUS_USAGE,
                               "option --shape: found '%s' for %s, expected :scale=SxT or "
                               ":scale=auto: it takes one scale of each matrix",
                               text, axes->method[m]->name);
        }
    }
    return STATUS_OK;
}

/* The first shape whose scales change along k; NULL: there is none. */
static const struct gemm_shape *scaled_along(const struct axes *axes)
{
    for (size_t i = 0; i < axes->setting.shapes; i++)
        if (axes->setting.shape[i].scaling == GEMM_SCALED_BLOCKS)
            return &axes->setting.shape[i];
    return NULL;
}

/* Methods that were named, and intervals, must be able to take such scales; methods that were not
 * are left out where they cannot. */
static enum status hold_blocks(const struct axes *axes, struct problem *p)
{
    const struct gemm_shape *s = scaled_along(axes);
    const struct numbers *promote = &axes->setting.promote;
    struct text able = {0};
    char text[SHAPE_NAME];
    enum status status = STATUS_OK;
    if (!s)
        return STATUS_OK;
    shape_name(text, s);
    for (size_t i = 0; i < method_count; i++)
        if (method_registry[i]->parts)
            text_format(&able, "%s%s", able.length > 0 ? ", " : "", method_registry[i]->name);
    for (size_t i = 0; i < axes->methods && status == STATUS_OK; i++) {
        const struct method *m = axes->method[i];
        if (axes->method_named && !method_scales(m, GEMM_SCALED_BLOCKS, 0))
            status = problem(p, STATUS_USAGE,
                             "option --shape: found '%s' for %s, which adds up all products before "
                             "it scales them, expected one of %s: scales change every %d products",
                             text, m->name, text_string(&able), GEMM_SCALE_BLOCK);
        const bool named = axes->promote_named && m->promotes;
        for (size_t k = 0; k < promote->count && named && status == STATUS_OK; k++)
            if (!method_scales(m, GEMM_SCALED_BLOCKS, promote->item[k]))
                status = problem(p, STATUS_USAGE,
                                 "option --promote: found %llu with %s, expected a divisor of %d: "
                                 "scales change every %d products",
                                 (unsigned long long)promote->item[k], text, GEMM_SCALE_BLOCK,
                                 GEMM_SCALE_BLOCK);
    }
    text_free(&able);
    return status;
}

enum status axes_hold_shapes(const struct axes *axes, struct problem *p)
{
    enum status status = hold_rounded(axes, p);
    return status == STATUS_OK ? hold_blocks(axes, p) : status;
}

/* Scales from files are of A and B from files, or from one in the shape asked for. */
static enum status resolve_scales(struct axes *axes, const struct request *r, struct problem *p)
{
    struct list *files = &axes->setting.scales;
    enum status status = axes_words(files, &r->axis[AXIS_SCALES], NULL, p);
    if (status != STATUS_OK || files->count == 0)
        return status;
    if (axes->data.count == 0 || axes->inputs > 0)
        return problem(p, STATUS_USAGE,
                       "option --scales: found '%s' %s --data, expected --data A.npy --data B.npy, "
                       "or --data A-B-C.npy --shape MxNxK, alone",
                       files->item[0], axes->data.count == 0 ? "without" : "with --input beside");
    if (axes->data.count == 1 && r->axis[AXIS_SHAPE].count != 1)
        return problem(p, STATUS_USAGE,
                       "option --scales: found '%s' with %zu shapes of one --data, expected one "
                       "--shape MxNxK, or --data A.npy --data B.npy",
                       files->item[0], r->axis[AXIS_SHAPE].count);
    return files->count == 2
               ? STATUS_OK
               : problem(p, STATUS_USAGE,
                         "option --scales: found %zu file%s, expected two: --scales OF_A.npy "
                         "--scales OF_B.npy",
                         files->count, files->count == 1 ? "" : "s");
}

bool axes_quantise(const struct axes *axes)
{
    bool by_amax = false;
    for (size_t i = 0; i < axes->setting.shapes; i++)
        by_amax |= quantise_by_amax(&axes->setting.shape[i]);
    return by_amax;
}

/* Of matrix products alone, generated inputs are as long as their shapes take, where no option says
 * how long: of each length one. */
static enum status follow_shapes(struct axes *axes, const struct request *r, struct problem *p)
{
    const struct setting_axes *of = &axes->setting;
    bool alone = of->shapes > 0 && r->axis[AXIS_N].count == 0 && axes->inputs > 0;
    for (size_t i = 0; i < axes->methods; i++)
        alone = alone && operation_asks(axes->method[i]->operation, SETTING_SHAPE);
    if (!alone)
        return STATUS_OK;
    numbers_free(&axes->n);
    for (size_t i = 0; i < of->shapes; i++) {
        size_t earlier = 0, n = gemm_elements(&of->shape[i]);
        while (earlier < axes->n.count && axes->n.item[earlier] != n)
            earlier++;
        if (earlier < axes->n.count)
            continue;
        if (!grow(&axes->n.item, axes->n.count, sizeof *axes->n.item))
            return problem(p, STATUS_MEMORY, "out of memory for the lengths of shapes");
        axes->n.item[axes->n.count++] = n;
    }
    return STATUS_OK;
}

static enum status add_product(struct setting_axes *to, const char *name, struct problem *p)
{
    enum product_kind k = PRODUCT_ROUNDED;
    while (k <= PRODUCT_EXACT && strcmp(name, product_name[k]) != 0)
        k++;
    for (size_t i = 0; i < to->products; i++)
        if (to->product[i] == k)
            return STATUS_OK;
    if (k > PRODUCT_EXACT)
        return near_unknown_option(p, "product", name, "rounded, fused or exact");
    to->product[to->products++] = k;
    return STATUS_OK;
}

static enum status add_keys(struct setting_axes *to, const char *text, struct problem *p)
{
    struct keys *k = &to->key[to->keys];
    enum status status = keys_parse(k, text, p);
    for (size_t i = 0; status == STATUS_OK && i < to->keys; i++)
        if (strcmp(to->key[i].asked, k->asked) == 0) {
            keys_free(k);
            return STATUS_OK;
        }
    to->keys += status == STATUS_OK;
    return status;
}

static enum status add_layout(struct setting_axes *to, const char *text, struct problem *p)
{
    return layout_parse(&to->layout[to->layouts++], text, p);
}

static enum status add_chip(struct setting_axes *to, const char *text, struct problem *p)
{
    const char *chip;
    enum status status = chip_parse(&chip, text, p);
    for (size_t i = 0; status == STATUS_OK && i < to->chips; i++)
        if (to->chip[i] == chip)
            return STATUS_OK;
    if (status == STATUS_OK)
        to->chip[to->chips++] = chip;
    return status;
}

static enum status add_shape(struct setting_axes *to, const char *text, struct problem *p)
{
    return shape_parse_all(&to->shape[to->shapes++], text, p);
}

/* Each word of an axis, for which `room` entries of `size` bytes are made. */
static enum status resolve_words(struct axes *axes, const struct request *r, enum axis axis,
                                 const char *otherwise, void **room, size_t size,
                                 enum status (*add)(struct setting_axes *, const char *,
                                                    struct problem *),
                                 struct problem *p)
{
    struct list list;
    enum status status = axes_words(&list, &r->axis[axis], otherwise, p);
    if (room && !(*room = calloc(list.count + 1, size)))
        status = problem(p, STATUS_MEMORY, "out of memory for the words of --%s", axis_name[axis]);
    for (size_t i = 0; status == STATUS_OK && i < list.count; i++)
        status = add(&axes->setting, list.item[i], p);
    list_free(&list);
    return status;
}

static bool divides_all(uint64_t d, const struct numbers *n)
{
    for (size_t i = 0; i < n->count; i++)
        if (n->item[i] % d != 0)
            return false;
    return true;
}

/* They stay in order, and different. */
static void fit_lengths(struct axes *axes)
{
    uint64_t least = 0;
    for (size_t i = 0; i < axes->n.count; i++) {
        uint64_t n = axes->n.item[i] > least ? axes->n.item[i] : least;
        axes->n.item[i] = setting_length(axes->experiment->operation[0], &axes->setting, (size_t)n);
        least = axes->n.item[i] + 1;
    }
}

static bool any_reads(const struct axes *axes, enum setting_option option)
{
    for (size_t i = 0; i < axes->methods; i++)
        if (setting_read(axes->method[i], option))
            return true;
    return false;
}

/* Of ranks that nobody asked for those that divide every length; where none do, all, which no
 * method may read. */
static enum status fit_ranks(struct axes *axes, struct problem *p)
{
    struct numbers *ranks = &axes->setting.ranks;
    size_t kept = 0;
    for (size_t i = 0; i < ranks->count; i++) {
        uint64_t d = ranks->item[i];
        if (divides_all(d, &axes->n) && divides_all(d, &axes->data_n))
            ranks->item[kept++] = d;
    }
    ranks->count = kept > 0 ? kept : ranks->count;
    return kept > 0 || !any_reads(axes, SETTING_RANKS)
               ? STATUS_OK
               : problem(p, STATUS_USAGE,
                         "option --ranks: found none, and no usual number of ranks divides every "
                         "n: name a divisor of them");
}

/* So many ranks none of the methods can be asked to start. */
static enum status hold_ranks(const struct axes *axes, struct problem *p)
{
    const struct numbers *ranks = &axes->setting.ranks;
    bool all = axes->methods > 0;
    uint64_t most = 0;
    for (size_t i = 0; i < axes->methods; i++)
        all = all && name_is_mpi(axes->method[i]->name);
    for (size_t i = 0; i < ranks->count; i++)
        most = ranks->item[i] > most ? ranks->item[i] : most;
    return all && most > MPI_RANKS_MOST
               ? problem(p, STATUS_USAGE,
                         "option --ranks: found %llu with %s, expected at most %d, or a method "
                         "that needs no processes, such as allreduce/ring",
                         (unsigned long long)most, axes->method[0]->name, (int)MPI_RANKS_MOST)
               : STATUS_OK;
}

static bool any_device_has(const struct axes *axes, const struct method *m)
{
    for (size_t d = 0; d < axes->devices; d++)
        for (size_t i = 0; i < axes->pairs.count; i++)
            if (method_supports(m, axes->device[d].kind, axes->pairs.item[i].storage,
                                axes->pairs.item[i].accumulator))
                return true;
    return false;
}

/* A method must read what its heuristic is asked for: one that was named, or that a device has. */
static enum status hold_heuristic(const struct axes *axes, enum setting_option option,
                                  const char *text, struct problem *p)
{
    struct text able = {0};
    for (size_t i = 0; i < axes->methods; i++)
        if (setting_read(axes->method[i], option) &&
            (axes->method_named || any_device_has(axes, axes->method[i])))
            return STATUS_OK;
    for (size_t i = 0; i < method_count; i++)
        if (setting_read(method_registry[i], option))
            text_format(&able, "%s%s", able.length > 0 ? ", " : "", method_registry[i]->name);
    enum status status =
        problem(p, STATUS_USAGE,
                "option --%s: found '%s', which no method of this study reads: expected --device "
                "cuda and --method with one of %s",
                setting_options[option].name, text, text_string(&able));
    text_free(&able);
    return status;
}

enum status axes_resolve_setting(struct axes *axes, const struct request *r, struct problem *p)
{
    const struct experiment *e = axes->experiment;
    struct setting_axes *to = &axes->setting;
    const char *rows = e->rows && r->axis[AXIS_DATA].count == 0 ? e->rows : "0"; /* a file's own */
    const bool joins = axes_joins(e, r->axis[AXIS_DATA].count); /* the files' own shape */
    const struct {
        enum setting_option option;
        struct numbers *to;
        const char *otherwise; /* NULL: none */
        uint64_t least, most;
        enum range range;
    } numbers[] = {
        {SETTING_SEGMENT, &to->segment, "1000", 0, MEMORY_ELEMENTS_MAX, RANGE_DOUBLING},
        {SETTING_SHIFT, &to->shift, "1", 0, MEMORY_ELEMENTS_MAX, RANGE_DOUBLING},
        {SETTING_BINS, &to->bins, "1000", 1, KEYS_BINS_MAX, RANGE_DOUBLING},
        {SETTING_ROWS, &to->rows, rows, 0, LAYOUT_ROWS_MAX, RANGE_DOUBLING},
        {SETTING_KEEP, &to->keep, "50", 0, MASK_ALL, RANGE_DOUBLING},
        {SETTING_RANKS, &to->ranks, e->ranks ? e->ranks : "4", 1, RANKS_MOST, RANGE_DOUBLING},
        {SETTING_PROMOTE, &to->promote, e->promote ? e->promote : "128", 1, SHAPE_MOST,
         RANGE_DOUBLING},
        {SETTING_WORKSPACE, &to->workspace, NULL, 0, WORKSPACE_MOST, RANGE_BYTES},
        {SETTING_ALGORITHM, &to->algorithm, NULL, 0, HEURISTIC_NAMES - 1, RANGE_EVERY},
    };
    enum status status = refuse(axes, r, p);
    if (status == STATUS_OK && experiment_reads(e, SETTING_SCAN))
        status = resolve_scans(axes, r, p);
    if (status == STATUS_OK && experiment_reads(e, SETTING_OUTPUT))
        status = resolve_outputs(axes, r, p);
    if (status == STATUS_OK && experiment_reads(e, SETTING_SHAPE))
        status = resolve_words(axes, r, AXIS_SHAPE, joins ? NULL : e->shape, (void **)&to->shape,
                               sizeof *to->shape, add_shape, p);
    leave_c_out(axes);
    axes->promote_named = r->axis[AXIS_PROMOTE].count > 0;
    if (status == STATUS_OK)
        status = resolve_scales(axes, r, p);
    if (status == STATUS_OK)
        status = hold_rounded(axes, p);
    if (status == STATUS_OK)
        status = follow_shapes(axes, r, p);
    if (status == STATUS_OK && experiment_reads(e, SETTING_PRODUCT))
        status = resolve_words(axes, r, AXIS_PRODUCT, NULL, NULL, 0, add_product, p);
    if (status == STATUS_OK && experiment_reads(e, SETTING_KEYS))
        status = resolve_words(axes, r, AXIS_KEYS, e->keys, (void **)&to->key, sizeof *to->key,
                               add_keys, p);
    if (status == STATUS_OK && experiment_reads(e, SETTING_LAYOUT))
        status = resolve_words(axes, r, AXIS_LAYOUT, "row,column", (void **)&to->layout,
                               sizeof *to->layout, add_layout, p);
    if (status == STATUS_OK && experiment_reads(e, SETTING_CHIP))
        status = resolve_words(axes, r, AXIS_CHIP, MMA_CHIP, (void **)&to->chip, sizeof *to->chip,
                               add_chip, p);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (status == STATUS_OK && experiment_reads(e, numbers[i].option))
            status =
                axes_numbers(numbers[i].to, r, AXIS_SCAN + numbers[i].option, numbers[i].otherwise,
                             numbers[i].range, numbers[i].least, numbers[i].most, p);
    if (status == STATUS_OK)
        status = hold_blocks(axes, p);
    if (status == STATUS_OK && e->fits && r->axis[AXIS_N].count == 0)
        fit_lengths(axes);
    if (status == STATUS_OK && r->axis[AXIS_RANKS].count == 0)
        status = fit_ranks(axes, p);
    if (status == STATUS_OK)
        status = hold_ranks(axes, p);
    for (enum setting_option i = SETTING_WORKSPACE; i <= SETTING_ALGORITHM; i++)
        if (status == STATUS_OK && r->axis[AXIS_SCAN + i].count > 0)
            status = hold_heuristic(axes, i, r->axis[AXIS_SCAN + i].item[0], p);
    return status;
}
