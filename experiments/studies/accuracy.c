/* run accuracy: how wrong is a sum? */
#include <math.h>
#include <stdlib.h>

#include "experiments/studies/accuracy_cells.h"
#include "experiments/studies/accuracy_says.h"
#include "experiments/options/subject_name.h"
#include "experiments/sweep/breaks.h"
#include "experiments/cases/experiment.h"

/* More format pairs than this are shown in a table for each storage format. */
enum { PAIRS_WIDE = 8 };

/* The pairs of one table: those of a storage format, or all. */
static void pairs_of(struct pairs *to, const struct pairs *all, enum format storage)
{
    to->count = 0;
    for (size_t i = 0; i < all->count; i++)
        if (storage == FORMATS || all->item[i].storage == storage)
            to->item[to->count++] = all->item[i];
}

void accuracy_pairs(struct pairs *pairs, const struct plan *plan)
{
    bool used[FORMATS][FORMATS] = {0};
    for (size_t i = 0; i < plan->case_count; i++)
        used[plan->source[plan->cases[i].source].array.format][plan->cases[i].accumulator] = true;
    pairs->count = 0;
    for (enum format s = 0; s < FORMATS; s++)
        for (enum format a = 0; a < FORMATS; a++)
            if (used[s][a])
                pairs->item[pairs->count++] = (struct format_pair){s, a};
}

static void header(struct table *table, const struct pairs *pairs, const char *const *name)
{
    for (; *name; name++)
        table_cell(table, "%s", *name);
    for (size_t i = 0; i < pairs->count; i++)
        table_cell(table, "%s/%s", format_facts[pairs->item[i].storage].name,
                   format_facts[pairs->item[i].accumulator].name);
}

bool accuracy_seen_before(const struct plan *plan, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (plan->source[k].array.n == plan->source[i].array.n &&
            strcmp(plan->source[k].name, plan->source[i].name) == 0)
            return true;
    return false;
}

/* The largest condition number of an input of this length. */
static struct figure cond_of(const struct plan *plan, const struct source *like)
{
    struct figure most = {0};
    for (size_t i = 0; i < plan->sources; i++) {
        const struct source *s = &plan->source[i];
        struct figure cond = plan->cases[s->first].cond_log2;
        bool same = s->array.n == like->array.n && strcmp(s->name, like->name) == 0;
        if (same && cond.known && !(most.known && most.value >= cond.value))
            most = cond;
    }
    return most;
}

static void by_input(struct text *to, const struct plan *plan, const struct pairs *pairs)
{
    static const char *const name[] = {"input", "n", "cond", NULL};
    struct table table = {0};
    char align[3 + FORMATS * FORMATS + 1] = "lrr";
    memset(align + 3, 'r', pairs->count);
    table.align = align;
    header(&table, pairs, name);
    for (size_t i = 0; i < plan->sources; i++) {
        const struct source *s = &plan->source[i];
        if (accuracy_seen_before(plan, i))
            continue;
        struct figure cond = cond_of(plan, s);
        table_cell(&table, "%s", s->name);
        table_cell(&table, "%zu", s->array.n);
        if (cond.known)
            table_cell(&table, isinf(cond.value) ? "inf" : "2^%.0f", cond.value);
        else
            table_cell(&table, "%s", "");
        for (size_t k = 0; k < pairs->count; k++)
            accuracy_digits(
                &table, &(struct accuracy_view){plan, pairs->item[k], s->name, s->array.n, NULL});
    }
    table_draw(to, &table);
    table_free(&table);
}

static bool has_cases(const struct plan *plan, const struct method *m, const struct pairs *pairs)
{
    for (size_t k = 0; k < pairs->count; k++)
        for (size_t i = 0; i < plan->case_count; i++)
            if (accuracy_sees(&(struct accuracy_view){plan, pairs->item[k], NULL, 0, m},
                              &plan->cases[i]))
                return true;
    return false;
}

/* Rows behind `first` with its cells, the name apart: they are taken out of the table, and their
 * names put behind its own. */
static void merge_rows(struct table *table, size_t columns, size_t first)
{
    enum { NAMED = 2 };
    size_t same = 0, kept = first + columns;
    struct text name = {0};
    text_add(&name, table->cell[first]);
    for (size_t row = first + columns; row < table->cells; row += columns) {
        bool equal = true;
        for (size_t i = 1; i < columns; i++)
            equal = equal && strcmp(table->cell[row + i], table->cell[first + i]) == 0;
        equal = equal && !name_is_foreign(table->cell[row]);
        if (equal && ++same < NAMED)
            text_format(&name, ", %s", table->cell[row]);
        for (size_t i = 0; i < columns; i++)
            if (equal)
                free(table->cell[row + i]);
            else
                table->cell[kept++] = table->cell[row + i];
    }
    table->cells = kept;
    if (same >= NAMED)
        text_format(&name, " and %zu more", same + 1 - NAMED);
    if (text_string(&name)) {
        free(table->cell[first]);
        table->cell[first] = name.data;
    } else {
        text_free(&name);
        table->failed = true;
    }
}

/* Below the header; those of the user's own stay. */
static void merge_equal(struct table *table)
{
    size_t columns = strlen(table->align);
    for (size_t row = columns; !table->failed && row < table->cells; row += columns)
        if (!name_is_foreign(table->cell[row]))
            merge_rows(table, columns, row);
}

/* Methods that there is room for on one screen, each in a row; beside the user's own. */
enum { METHODS_SHOWN = 6, METHODS_BESIDE = 12 };
enum shown_of { BOTH, WORST, WORST_OF_FOREIGN };

/* Median and worst of each method; or the worst, many methods with equal cells in one row, or of
 * the user's own. How many rows there are. */
static size_t by_method(struct text *to, const struct plan *plan, const struct pairs *pairs,
                        enum shown_of of)
{
    static const char *const name[] = {"method", NULL};
    struct table table = {0};
    char align[1 + FORMATS * FORMATS + 1] = "l";
    memset(align + 1, 'R', pairs->count);
    table.align = align;
    header(&table, pairs, name);
    for (size_t i = 0; i < plan->axes->methods; i++) {
        if (!has_cases(plan, plan->axes->method[i], pairs) ||
            (of == WORST_OF_FOREIGN && !plan->axes->method[i]->foreign))
            continue;
        table_cell(&table, "%s%s", plan->axes->method[i]->name,
                   breaks_mark_method(plan, plan->axes->method[i]));
        for (size_t k = 0; k < pairs->count; k++)
            accuracy_backward(
                &table,
                &(struct accuracy_view){plan, pairs->item[k], NULL, 0, plan->axes->method[i]},
                of == BOTH);
    }
    if (of == WORST && table.cells / strlen(align) - 1 > METHODS_SHOWN)
        merge_equal(&table);
    size_t rows = table.cells / strlen(align) - 1;
    table_draw(to, &table);
    table_free(&table);
    return rows;
}

void accuracy_by_method(struct text *to, const struct plan *plan)
{
    struct pairs all, some;
    accuracy_pairs(&all, plan);
    bool wide = all.count <= PAIRS_WIDE;
    for (enum format s = wide ? FORMATS : 0; s <= FORMATS; s++) {
        pairs_of(&some, &all, s);
        if (some.count > 0 && (wide || s < FORMATS)) {
            by_method(to, plan, &some, BOTH);
            text_add(to, "\n");
        }
    }
}

/* Every pair and every length, worst..best method; each method. */
static void all_tables(struct text *to, const struct plan *plan)
{
    struct pairs all, some;
    accuracy_pairs(&all, plan);
    bool wide = all.count <= PAIRS_WIDE;
    text_add(to, "Correct decimal digits, worst..best method, by storage/accumulator\n");
    for (enum format s = wide ? FORMATS : 0; s <= FORMATS; s++) {
        pairs_of(&some, &all, s);
        if (some.count > 0 && (wide || s < FORMATS)) {
            by_input(to, plan, &some);
            text_add(to, "\n");
        }
    }
    text_add(to,
             "|error| / (u sum|x|), u of the accumulator: median and worst over these inputs\n");
    accuracy_by_method(to, plan);
}

static size_t methods_seen(const struct plan *plan, const struct pairs *pairs)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->axes->methods; i++)
        count += has_cases(plan, plan->axes->method[i], pairs);
    return count;
}

/* "n = 1000, 262144", the lengths that a row is the worst of. */
static void add_lengths(struct text *to, const struct plan *plan)
{
    size_t count = 0;
    for (size_t i = 0; i < plan->sources; i++) {
        size_t n = plan->source[i].array.n, k = 0;
        while (k < i && plan->source[k].array.n != n)
            k++;
        if (k == i)
            text_format(to, "%s%zu", count++ ? ", " : "; the worst of n = ", n);
    }
}

static void typical_digits(struct text *to, const struct plan *plan)
{
    size_t rows;
    struct pairs shown;
    struct accuracy_row *row = accuracy_rows(&rows, plan);
    static const char *const name[] = {"input", "n", "cond", NULL};
    struct table table = {0};
    char align[3 + FORMATS * FORMATS + 1] = "lrr", digits[16];
    accuracy_shown(&shown, plan);
    memset(align + 3, 'R', shown.count);
    table.align = align;
    header(&table, &shown, name);
    for (size_t i = 0; row && i < rows; i++) {
        table_cell(&table, "%s", row[i].input);
        table_count(&table, row[i].n);
        if (row[i].cond_log2.known)
            table_cell(&table, isinf(row[i].cond_log2.value) ? "inf" : "2^%.0f",
                       row[i].cond_log2.value);
        else
            table_cell(&table, "%s", "");
        for (size_t k = 0; k < shown.count; k++) {
            accuracy_typical_text(digits, accuracy_typical(plan, shown.item[k], &row[i]));
            table_cell(&table, "%s", digits);
        }
    }
    size_t methods = methods_seen(plan, &shown);
    struct text title = {0};
    text_add(&title, "Correct decimal digits by storage/accumulator");
    if (methods > 1)
        text_format(&title, ", median of %zu methods", methods);
    if (accuracy_seeds(plan) > 1)
        text_format(&title, "%s %zu seeds", methods > 1 ? " and" : ", median of",
                    accuracy_seeds(plan));
    if (rows > 0 && row[0].n == 0)
        add_lengths(&title, plan);
    text_wrapped(to, &title, TABLE_COLUMNS, 2);
    table_draw(to, &table);
    table_free(&table);
    to->failed |= !row;
    free(row);
}

enum status accuracy_table(struct text *to, const struct plan *plan, const char *out,
                           struct problem *p)
{
    (void)out, (void)p;
    struct pairs shown;
    struct text methods = {0};
    if (table_wide()) {
        all_tables(to, plan);
        return STATUS_OK;
    }
    accuracy_shown(&shown, plan);
    accuracy_headline(to, plan);
    text_add(to, "\n");
    typical_digits(to, plan);
    size_t rows = by_method(&methods, plan, &shown, WORST);
    size_t all = rows;
    bool own = false;
    for (size_t i = 0; i < plan->axes->methods; i++)
        own |= plan->axes->method[i]->foreign;
    if (rows > (own ? METHODS_BESIDE : METHODS_SHOWN)) {
        text_clear(&methods);
        rows = by_method(&methods, plan, &shown, WORST_OF_FOREIGN);
        if (rows > 0)
            text_format(&methods, "and %zu rows of other methods (--wide)\n", all - rows);
    }
    if (rows > 0) {
        text_add(to, "\nWorst |error| / (u sum|x|), u of the accumulator\n");
        text_join(to, &methods);
    }
    text_add(to, "\n");
    accuracy_conclusion(to, plan);
    text_free(&methods);
    return STATUS_OK;
}

#define INPUTS "uniform,symmetric,cancellation,cond,anderson,stagnation,lognormal,harmonic,sine"

const struct experiment experiment_accuracy = {
    .name = "accuracy",
    .summary = "how wrong a sum is: error over method, formats, input, n and condition number",
    .operation = {&operation_sum},
    .axes =
        {
            [DEVICE_CPU] = {.formats = FORMATS_USUAL, .input = INPUTS, .n = "1000,2^18", .runs = 1},
            [DEVICE_CUDA] = {.formats = "all", .input = INPUTS, .n = "1000,2^18", .runs = 1},
        },
    .table = accuracy_table,
};
