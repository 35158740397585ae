/* A results directory as one HTML page, with pictures by gnuplot. */
#pragma once

#include "reports/results/gathered.h"
#include "reports/page/html.h"

/* A row of times.csv, as far as it is shown. */
struct page_time {
    char *field[TIMES_COLUMNS];
    struct figure time_us, gb_per_s, of_raw;
};

/* A row of recommend.csv, as far as it is drawn. */
struct page_candidate {
    /* What tells it from others, with what it adds in; that without folders (page_short_name); the
     * same for a picture, which has little room: "sum/widened in fp32 to bf16". How many arrays it
     * was tried on. */
    char name[192], shown[192], label[192], method[128], quantity[16], arrays[24];
    enum format accumulator;
    /* The largest error on what all candidates were tried on; on all that this one was tried on. */
    struct figure error, most;
    struct figure limit, gb_per_s, timed_n; /* gb_per_s: where it compares with those of others */
    struct figure short_gb_per_s;           /* where it was timed on fewer elements than others */
    bool recommended, frontier;
};

/* A file of the study, whole, as words. */
struct page_rows {
    size_t count, columns;
    char **cell; /* row after row */
};

struct page;

/* What the page of a study asks, and what answers it. */
struct page_study {
    const char *experiment, *question;
    void (*lead)(struct text *to, const struct page *r); /* the findings said first; may be NULL */
    /* Those that are drawn, the first beside the findings; the rest NULL. */
    enum status (*picture[8])(struct page *r, struct problem *p);
};

/* How a page is to be written. */
struct page_options {
    const char *out;   /* a directory; NULL: DIR/report */
    const char *index; /* what the page links back to; NULL: nothing */
    const char
        *figures; /* "pdf,svg,png": what pictures are written as beside the page; NULL: svg */
};

struct page {
    struct gathered g;
    const struct page_study *study;
    const struct page_options *options;
    const struct operation *only; /* of the experiment; NULL: it has several, or is not known */
    size_t operations;            /* of its cases: 0, 1, or 2 for several */
    char *folder;                 /* where everything is written */
    struct page_time *time;
    size_t times;
    struct page_candidate *candidate; /* where it is a directory of `recommend` */
    size_t candidates;
    struct page_rows recommend;       /* recommend.csv: row i is candidate i */
    struct page_rows trial;           /* trial.csv */
    struct page_rows atomics, growth; /* atomics.csv and growth.csv */
    struct page_rows steps;           /* steps.csv */
    bool several_devices;
    struct text hero, pictures; /* HTML: the first, and all others */
    size_t drawn;
    struct problem undrawn; /* why there are no pictures: no gnuplot, say */
};

/* --- files of rows --- */

/* Gives `take` each row of a file of the directory; none where it is not there. */
enum status page_file(const struct page *r, const char *name, column_at *column, size_t columns,
                      csv_take take, void *context, struct problem *p);

const char *page_cell(const struct page_rows *rows, size_t row, size_t column);
double page_number(const struct page_rows *rows, size_t row, size_t column); /* NaN: none */

/* --- pictures --- */

/* A picture being made: NAME.gp and NAME.dat in the folder, of each panel NAME-1.svg, ..., and for
 * who reads on, NAME.csv: what is drawn, as it was measured. */
struct plot {
    const char *name;
    struct text script, data, rows;
    bool begun;            /* has the row of NAME.csv a cell? */
    double least, most;    /* heights of panels */
    size_t panels, blocks; /* data sets in NAME.dat so far */
    struct text title[64]; /* of panels */
};
enum { PANELS_MOST = 6 };
enum { OTHERS_NAMED = 6 }; /* points that are greyed are named where they are so few */

/* Begins; appends a panel of a size in pixels, whose title is escaped; then the caller appends to
 * the script. Text for gnuplot in single quotes goes through plot_quote. */
void plot_begin(struct plot *p, const char *name, const char *columns);
void plot_panel(struct plot *p, double height, const char *title);
void plot_quote(struct text *to, const char *text);
/* The same, shortened in its middle where it has more bytes than `longest`. */
void plot_label(struct text *to, const char *text, size_t longest);
/* The same for `set xtics` and `set ytics`, to which a percent sign begins a format. */
void plot_axis_name(struct text *to, const char *text, size_t longest);
/* How much of the width of a picture it takes as the name of a row: a digit of 11 pixels is 7 of
 * 420 wide. */
double plot_room(const char *label);
/* The same of its first line of so many bytes; returns what is left. */
const char *plot_line(struct text *to, const char *text, size_t longest);
/* Cells of NAME.csv, and the end of a row. */
void plot_cell(struct plot *p, const char *text);
/* Whole numbers as they are, others to five digits; NaN: an empty cell. */
void plot_number(struct plot *p, double value);
void plot_row_end(struct plot *p);
/* Labels at 1, 2 and 5 of each power of ten, for a logarithmic axis of x. */
void plot_tics(struct text *script, double left, double right);
/* A map of cells in so many columns and rows, whose names are set: of a data set of column, row,
 * shade from 0 to 1, and text. `beside` is the share of the width, `above` and `below` of the
 * height, that are around it. */
struct plot_map {
    size_t block, columns, rows;
    double beside, above, below;
    const char *x_label;
    double drop; /* of that, in lines */
};
void plot_map(struct plot *p, const struct plot_map *map);
/* Ends a data set, whose number is returned: `index` of gnuplot. */
size_t plot_data_end(struct plot *p);
/* Writes both files, has gnuplot draw, and appends the picture to the report. `caption` is HTML.
 * STATUS_DATA where a file cannot be written; what is wrong with gnuplot goes to r->undrawn. */
enum status plot_end(struct plot *p, struct page *r, const char *heading, const char *caption,
                     struct problem *problem);

/* What is drawn of a case or an output. */
struct sample {
    const char *storage, *accumulator, *method, *device;
    double x, y, bound;                /* NaN: none */
    const struct operation *operation; /* where the study has several; NULL: one alone */
    const char *chip, *promote;        /* of the case, as page_name has them */
    const char *workspace, *algorithm; /* as page_asked has them */
    /* NULL: a panel is a pair of formats, a series a method. Else the name of the panel, and of the
     * series in it, which formats may tell from others; colour 0: that of the method, which other
     * shades it. */
    const char *panel, *label;
    const char *methods; /* that share the series; NULL: one */
    size_t colour;
    bool shade;
};
/* What a panel's title tells of its series: the last values; from which x on values are not below
 * 1; which x is the largest, and which y the smallest; the last values, as factors. */
enum shows { SHOWS_LAST, SHOWS_CLIFF, SHOWS_BEST, SHOWS_SHORT };

/* How samples are drawn: a panel for each pair of formats and operation, a series for each method
 * on a device; of samples with one x, the largest y and bound. y is on a logarithmic axis, where
 * what is 0 stands on the lower edge. */
struct look {
    const char *name, *heading;
    const char *caption; /* HTML; of bounds, nested marks and exact results there is more to say */
    const char *x_label, *y_label;
    const char *unit; /* of y, in a title */
    enum shows shows;
    const char *x_name, *y_name;    /* columns of NAME.csv */
    const char *x_before, *x_after; /* in a title; NULL: "at NAME = " and nothing */
    bool log_x, lines, bounds;
    bool bounds_whole;   /* the axis reaches the largest bound, up to top_most */
    bool factors;        /* y is 1 or more, nearly: its axis begins there */
    bool nested;         /* marks that would cover each other are nested */
    bool so_far;         /* of y the largest up to x */
    bool worst_first;    /* panels stand in the order of their largest y */
    bool frontier;       /* a line along what no other sample beats: larger x, smaller y */
    double x_span;       /* of a logarithmic axis: its right end over its left, where what is less
                          * stands; 0: whole powers of ten */
    double decades_most; /* of y, from the top: what is below stands on the lower edge too */
    double top_most;     /* exponent of the upper edge, where what is above stands */
    double drawn_most;   /* a larger y is in NAME.csv alone; 0: all are drawn */
    size_t series_most;  /* the first few in the order of interest */
    double level;        /* a dotted line at this y, where it passes; its name: NULL: none */
    const char *level_says;
    const char *grows; /* x in a legend: x and its root are drawn where they pass; NULL: neither */
};
/* Those of one value, as it is printed: of `count` the first few names. */
enum { SEEN_NAMES = 4 };
struct seen_names {
    double value;
    const char *name[SEEN_NAMES];
    size_t count;
};
/* What was seen of the series so far: of `shows`. */
struct seen {
    double x;
    struct seen_names least, most; /* count 0: nothing so far */
};
/* "a, b and c", "a, b and 7 more": of `count` the first `shown` are known. */
void names_say(struct text *to, const char *const name[], size_t shown, size_t count);
void seen_add(struct seen *s, const struct look *look, const char *method, const double *x,
              const double *y, size_t count);
/* An input's name, as it may be typed too: with 2^40 for 1099511627776, 2^-14
 * for 6.103515625e-05, and 10 for 1e+01. */
void page_input(struct text *to, const char *input);
/* ": ", and what was seen, if anything. */
void seen_say(struct text *to, const struct look *look, const struct seen *s);

enum status page_samples(struct page *r, const struct look *look, const struct sample *sample,
                         size_t count, struct problem *p);

/* Each appends its picture where the directory has the data for it. */
enum status page_growth(struct page *r, struct problem *p);
enum status page_instructions(struct page *r, struct problem *p);
enum status page_promotion(struct page *r, struct problem *p);
enum status page_splits(struct page *r, struct problem *p);
enum status page_cond(struct page *r, struct problem *p);
enum status page_distinct(struct page *r, struct problem *p);
enum status page_prices(struct page *r, struct problem *p);
enum status page_pareto(struct page *r, struct problem *p);
enum status page_frontier(struct page *r, struct problem *p);
enum status page_candidates_by_cost(struct page *r, struct problem *p);
enum status page_reach(struct page *r, struct problem *p);
enum status page_ulps(struct page *r, struct problem *p);
enum status page_differing(struct page *r, struct problem *p);
enum status page_same(struct page *r, struct problem *p);
enum status page_heat(struct page *r, struct problem *p);
enum status page_drift(struct page *r, struct problem *p);
enum status page_trial(struct page *r, struct problem *p);
enum status page_steps(struct page *r, struct problem *p);
enum status page_trees(struct page *r, struct problem *p);
enum status page_spread(struct page *r, struct problem *p);
enum status page_distinct_growth(struct page *r, struct problem *p);

/* --- words and tables, as HTML --- */

/* Of the experiment of this name, or what stands for those that are not listed. */
const struct page_study *page_study(const char *experiment);

/* How the points of a method are drawn: the numbers of its colour and of its mark, from 1. */
struct ink {
    size_t colour, mark;
};
struct ink page_ink(const char *method);
void page_inks(struct text *to); /* what each colour means */

void page_head(struct text *to, const struct page *r); /* up to the body's first section */
void page_findings(struct text *to, const struct page *r);
void page_error_findings(struct text *to, const struct page *r);
void page_product_findings(struct text *to, const struct page *r);
void page_ranks_findings(struct text *to, const struct page *r);
void page_statistic_findings(struct text *to, const struct page *r);
void page_cost_findings(struct text *to, const struct page *r);
void page_cliff_findings(struct text *to, const struct page *r);
void page_distinct_findings(struct text *to, const struct page *r);
void page_recommended_findings(struct text *to, const struct page *r);
void page_reach_findings(struct text *to, const struct page *r);
void page_trial_findings(struct text *to, const struct page *r);
void page_steps_findings(struct text *to, const struct page *r);
void page_atomics_findings(struct text *to, const struct page *r);
void page_methods(struct text *to, const struct page *r);
void page_recommended(struct text *to, const struct page *r);
/* Which candidate is enough, as a picture's title, by the error that the picture has of it. */
void page_say_recommended(struct text *to, const struct page *r);
void page_cliffs(struct text *to, const struct page *r);
/* log2 of the least condition number tried at which no digit is right, of a method in a pair of
 * formats; INFINITY: none is so bad. *most: of the largest tried; -INFINITY: none was. */
double page_cliff(const struct page *r, const struct gathered_case *like, double *most);
void page_times(struct text *to, const struct page *r);
void page_subjects(struct text *to, const struct page *r);
void page_exponents(struct text *to, const struct page *r);
void page_provenance(struct text *to, const struct page *r);
enum status page_files(struct text *to, const struct page *r, struct problem *p);

/* Reads recommend.csv, where there is one. */
enum status page_candidates(struct page *r, struct problem *p);

/* The only operation of an experiment of this name, for subjects that the registry does not know;
 * NULL: it has several, or there is no such experiment. */
typedef const struct operation *page_operation(const char *experiment);

/* Reads a directory, and writes its page, report.html, to a directory, which is made where it is
 * not there. *path, which the caller frees, is the page's. STATUS_DATA also where there is a page
 * but, for want of gnuplot, no picture. */
enum status page_write(char **path, const char *directory, const struct page_options *o,
                       page_operation *only, struct problem *p);

/* --- what is asked of the cases --- */

/* Of how many terms an output of the case is, and what they are called. */
struct page_terms {
    double count;
    const char *heading, *label, *name, *symbol; /* of a picture; of an axis; of a column; short */
    const char *before, *after;                  /* of the number, in a sentence: "at ", " ranks" */
};
struct page_terms page_terms(const struct page *r, const struct gathered_case *c);

/* 2^-p of the accumulator of this name; NaN where it is none. */
double page_unit(const char *accumulator);
/* Formats and methods in the order of interest: smaller is first. */
size_t page_pair_rank(const char *storage, const char *accumulator);
size_t page_method_rank(const char *method);
enum promise page_promise_of(const struct page *r, const char *method);
/* The fastest method of those that promise a rung, of what was timed with `like`, NULL: with the
 * first that promises any. */
const struct page_time *page_fastest(const struct page *r, const struct page_time *like,
                                     enum promise rung);
/* Are there inputs `cond` whose condition numbers lie a thousand times apart? */
bool page_has_conditions(const struct page *r);
bool page_same_series(const struct gathered_case *a, const struct gathered_case *b);
/* The same method, of the same chip, promoted as often, its heuristic asked for the same? */
bool page_same_method(const struct gathered_case *a, const struct gathered_case *b);
/* What distinguishes the series of a case: "gemm/promoted (h100, every 128)". */
/* Appends a user's function as FILE:FUNCTION: the folders that it lies in stand in the page's
 * tables. Other names, also with something behind them, are left as they are. */
void page_short_name(struct text *to, const char *name);
void page_name(struct text *to, const char *method, const char *chip, const char *promote);
/* " (workspace 0, algorithm 3)": what a library's heuristic was asked for; else nothing. */
void page_asked(struct text *to, const char *workspace, const char *algorithm);
void page_case_name(struct text *to, const struct gathered_case *c);
/* "lognormal, n = 4096, zipf keys in 1000 bins, cpu": on what it ran, and where. */
void page_case_place(struct text *to, const struct gathered_case *c);
/* Is there a candidate of `recommend` with a time? Else none is called cheaper than another. */
bool page_candidates_timed(const struct page *r);
/* What a candidate or a case adds in, as the terminal says it: "added in fp32, result in fp16",
 * "added exactly, result in fp32", "added in fp32" where the result has that format too. */
void page_added_in(struct text *to, const char *before, const char *added_in, const char *result);
/* "fp16 added in fp32", "fp16 added in fp32, result in bf16" or, where it is not known what adds,
 * "fp16 with fp32 asked for"; then `behind`. Of a pair: asked for once that is not known of one of
 * its cases, else added in the accumulator, whatever single methods do beside that. */
void page_formats(struct text *to, const char *storage, const char *accumulator,
                  const char *added_in, const char *behind);
void page_case_formats(struct text *to, const struct gathered_case *c, const char *behind);
void page_time_formats(struct text *to, const struct page_time *t, const char *behind);
/* Of all that was timed in its pair of formats. */
void page_times_formats(struct text *to, const struct page_time *t, const char *behind);
void page_pair_formats(struct text *to, const struct page *r, const char *storage,
                       const char *accumulator, const char *behind);
void page_pair_head(struct text *to, const struct page *r, const struct gathered_case *pair);
/* Is case i the first of its series? */
bool page_is_first(const struct page *r, size_t i);
/* The largest err_ulp of a case; not known where it is inf because the exact sum is beyond the
 * accumulator's range: such a result is as right as can be. */
/* The operation of a case's method; of a user's subject that of the experiment, NULL if unknown. */
const struct operation *page_operation_of(const struct page *r, const struct gathered_case *c);
/* The i-th operation in the order that a page tells of them: softmax and norms, which have a result
 * for each element, before the statistics that they are made of. NULL behind the last. */
const struct operation *page_operation_at(size_t i);
struct figure page_err_ulp(const struct gathered_case *c);
/* The first case that breaks a promise of the same bits from run to run; NULL: none does. */
const struct gathered_case *page_first_broken(const struct page *r);
