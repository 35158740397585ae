/* A study of scans that is killed or damaged goes on to the same end: results.csv, summary.csv, and
 * profile.csv, whose rows of a case are there before its first in results.csv. */
#include <signal.h>
#include <sys/resource.h>

#include "experiments/inputs/philox.h"
#include "tests/support/study.h"

static study_words small = {{"method", "scan/serial,scan/tiled,scan/segmented"},
                            {"device", "cpu"},
                            {"storage", "fp16,fp64"},
                            {"accumulator", "fp32"},
                            {"scan", "inclusive,exclusive"},
                            {"segment", "7"},
                            {"input", "uniform"},
                            {"n", "0,1,20"},
                            {"runs", "3"},
                            {NULL}};

enum { RESULTS, SUMMARY, PROFILE, FILES };
static const char *const file_name[FILES] = {"results.csv", "summary.csv", "profile.csv"};

/* A finished study, and its files as they were. */
struct base {
    char out[320], path[FILES][340];
    struct bytes was[FILES];
    char *digest;
    size_t rows;
};

static void base_make(struct base *b)
{
    snprintf(b->out, sizeof b->out, "%s", in_folder("out"));
    b->rows = (size_t)study_run_as(scan_experiment(), small, b->out).runs;
    for (size_t k = 0; k < FILES; k++) {
        snprintf(b->path[k], sizeof b->path[k], "%s/%s", b->out, file_name[k]);
        b->was[k] = get_file(b->path[k]);
    }
    b->digest = study_digest_of(b->out, true);
}

static void base_free(struct base *b)
{
    for (size_t k = 0; k < FILES; k++)
        clear_bytes(&b->was[k]);
    free(b->digest);
}

static void spill(const char *path, const struct bytes *b, size_t size)
{
    FILE *file = fopen(path, "wb");
    cr_assert(file && fwrite(b->data, 1, size, file) == size && fclose(file) == 0, "%s", path);
}

static size_t lines_of(const struct bytes *b, size_t size)
{
    size_t lines = 0;
    for (size_t i = 0; i < size; i++)
        lines += b->data[i] == '\n';
    return lines;
}

/* Bytes of profile.csv up to the last row of a case that has a whole one in `results` bytes of
 * results.csv: what was there when that was written. */
static size_t profile_due(const struct base *b, size_t results)
{
    size_t due = 0, line = 0;
    const struct bytes *p = &b->was[PROFILE];
    for (size_t i = 0; i < p->size; i++) {
        if (p->data[i] != '\n')
            continue;
        const char *id = strchr((const char *)p->data + line, ',');
        size_t last = results;
        while (last > 0 && b->was[RESULTS].data[last - 1] != '\n')
            last--;
        if (line == 0 || memmem(b->was[RESULTS].data, last, id, 18))
            due = i + 1;
        line = i + 1;
    }
    return due;
}

/* Puts so many bytes of each file back, resumes, and compares. */
static void expect_same_end(const struct base *b, const size_t size[FILES])
{
    for (size_t k = 0; k < FILES; k++)
        spill(b->path[k], &b->was[k], size[k]);
    struct sweep_outcome o = study_run_as(scan_experiment(), small, b->out);
    size_t whole = lines_of(&b->was[RESULTS], size[RESULTS]);
    struct bytes profile = get_file(b->path[PROFILE]);
    char *digest = study_digest_of(b->out, true);
    cr_assert(strcmp(digest, b->digest) == 0 && profile.size == b->was[PROFILE].size &&
                  memcmp(profile.data, b->was[PROFILE].data, profile.size) == 0,
              "%zu bytes of results.csv, %zu of summary.csv, %zu of profile.csv", size[RESULTS],
              size[SUMMARY], size[PROFILE]);
    cr_assert(o.runs == b->rows - (whole ? whole - 1 : 0),
              "%zu bytes: %zu rows were there, %zu were made", size[RESULTS], whole,
              (size_t)o.runs);
    clear_bytes(&profile);
    free(digest);
}

/* Killed at any moment: at any byte of a file, with what was written before in the others. */
Test(resume_scan, killed_anywhere, .init = make_folder, .fini = remove_folder)
{
    enum { TRIES = 150 };
    const uint64_t seed = 20240608;
    struct base b;
    base_make(&b);
    for (uint64_t i = 0; i < TRIES; i++) {
        struct draw d = random_draw(seed, RANDOM_VALUES, i);
        struct draw e = random_draw(seed, RANDOM_MIXING, i);
        size_t results = (size_t)random_below(d.word[0], b.was[RESULTS].size + 1);
        size_t due = profile_due(&b, results), rest = b.was[PROFILE].size - due;
        size_t more = e.word[1] % 4 == 0 ? 0 : (size_t)random_below(e.word[0], rest + 1);
        expect_same_end(
            &b, (const size_t[]){results, (size_t)random_below(d.word[1], b.was[SUMMARY].size + 1),
                                 due + more});
    }
    expect_same_end(&b, (const size_t[]){0, 0, 0});
    expect_same_end(&b, (const size_t[]){b.was[RESULTS].size, 0, b.was[PROFILE].size});
    base_free(&b);
}

/* Between profile.csv and results.csv: at every byte of the last case's first row, and of the last
 * lines of its profile. */
Test(resume_scan, killed_in_the_last_case, .init = make_folder, .fini = remove_folder)
{
    struct base b;
    base_make(&b);
    size_t at = b.was[RESULTS].size, lines = 0;
    while (lines < 4) /* up to its three rows */
        lines += b.was[RESULTS].data[--at] == '\n';
    size_t before = at + 1, due = profile_due(&b, before);
    cr_assert(due < b.was[PROFILE].size, "the last case has a profile");
    for (size_t p = b.was[PROFILE].size - 300; p <= b.was[PROFILE].size; p += 7)
        expect_same_end(&b, (const size_t[]){before, b.was[SUMMARY].size, p});
    for (size_t r = before; r < before + 400; r += 7)
        expect_same_end(&b, (const size_t[]){r, b.was[SUMMARY].size, b.was[PROFILE].size});
    base_free(&b);
}

/* What was lost of profile.csv although results.csv has the case is not made up: the rest stays. */
Test(resume_scan, a_profile_that_is_gone, .init = make_folder, .fini = remove_folder)
{
    struct base b;
    base_make(&b);
    remove(b.path[PROFILE]);
    struct sweep_outcome o = study_run_as(scan_experiment(), small, b.out);
    cr_expect_eq(o.runs, 0);
    struct rows r = rows_of(b.out, "profile", profile_column, PROFILE_COLUMNS);
    cr_expect_eq(r.count, 0, "a header");
    rows_free(&r);
    base_free(&b);
}

Test(resume_scan, what_is_edited_is_refused, .init = make_folder, .fini = remove_folder)
{
    static const struct {
        size_t file;
        const char *what, *with, *said;
    } edit[] = {{RESULTS, ",0x", ",0y", "result_bits"},
                {RESULTS, ",inclusive,", ",", "fields"},
                {RESULTS, ",0,0,", ",0,x,", "expected a number"},
                {PROFILE, "prefixes,", "prefixes,0", "case_id"},
                {PROFILE, ",inclusive,", ",", "fields"},
                {PROFILE, "index,", "indices,", "expected 'index'"}};
    struct base b;
    base_make(&b);
    for (size_t i = 0; i < sizeof edit / sizeof *edit; i++) {
        struct bytes changed = {0};
        struct study s;
        const struct bytes *was = &b.was[edit[i].file];
        size_t length = strlen(edit[i].what);
        unsigned char *at = memmem(was->data, was->size, edit[i].what, length);
        cr_assert(at);
        if (strcmp(edit[i].what, ",0x") == 0) /* in the first row, of no elements */
            at = memmem(was->data, was->size, ",0x00000000", 11);
        cr_assert(at);
        size_t before = (size_t)(at - was->data);
        add_bytes(&changed, was->data, before);
        add_string(&changed, edit[i].with);
        add_bytes(&changed, at + length, was->size - before - length);
        spill(b.path[edit[i].file], &changed, changed.size);
        study_make_as(&s, scan_experiment(), small);
        cr_expect_eq(study_sweep(&s, b.out, false), STATUS_DATA, "'%s' for '%s'", edit[i].with,
                     edit[i].what);
        cr_expect(strstr(s.problem.text, file_name[edit[i].file]) &&
                      strstr(s.problem.text, edit[i].said),
                  "'%s' for '%s': %s", edit[i].with, edit[i].what, s.problem.text);
        struct bytes now = get_file(b.path[edit[i].file]);
        cr_expect(now.size == changed.size && memcmp(now.data, changed.data, now.size) == 0);
        clear_bytes(&now);
        clear_bytes(&changed);
        study_free(&s);
        spill(b.path[edit[i].file], was, was->size);
    }
    base_free(&b);
}

/* A disk that is full at some byte of a study; with room again, it goes on. */
Test(resume_scan, a_full_disk, .init = make_folder, .fini = remove_folder)
{
    struct base b;
    base_make(&b);
    signal(SIGXFSZ, SIG_IGN);
    for (size_t limit = 3000; limit < b.was[RESULTS].size; limit += 1499) {
        struct study s;
        struct rlimit most = {.rlim_cur = limit, .rlim_max = RLIM_INFINITY};
        char name[32];
        snprintf(name, sizeof name, "full%zu", limit);
        study_make_as(&s, scan_experiment(), small);
        cr_assert_eq(setrlimit(RLIMIT_FSIZE, &most), 0);
        enum status status = study_sweep(&s, in_folder(name), false);
        most.rlim_cur = RLIM_INFINITY;
        cr_assert_eq(setrlimit(RLIMIT_FSIZE, &most), 0);
        cr_expect(status == STATUS_DATA && strstr(s.problem.text, "could not be written"),
                  "limit %zu: status %d: %s", limit, (int)status, s.problem.text);
        study_free(&s);
        study_run_as(scan_experiment(), small, in_folder(name));
        char *digest = study_digest_of(in_folder(name), true);
        cr_expect(strcmp(digest, b.digest) == 0, "limit %zu", limit);
        free(digest);
    }
    base_free(&b);
}

Test(resume_scan, force_starts_over, .init = make_folder, .fini = remove_folder)
{
    struct study s;
    struct base b;
    base_make(&b);
    study_make_as(&s, scan_experiment(), (study_words){{"device", "cpu"}, {"n", "5"}, {NULL}});
    cr_expect_eq(study_sweep(&s, b.out, false), STATUS_USAGE);
    cr_expect_eq(study_sweep(&s, b.out, true), STATUS_OK, "%s", s.problem.text);
    struct rows r = rows_of(b.out, "profile", profile_column, PROFILE_COLUMNS);
    cr_expect_eq(r.count, 5 * s.plan.case_count, "%zu rows", r.count);
    rows_free(&r);
    study_free(&s);
    study_make(&s, "variance", (study_words){{"device", "cpu"}, {"n", "5"}, {"runs", "1"}, {NULL}});
    cr_expect_eq(study_sweep(&s, b.out, true), STATUS_OK, "%s", s.problem.text);
    cr_expect_neq(access(b.path[PROFILE], F_OK), 0, "sums have no profile");
    study_free(&s);
    base_free(&b);
}
