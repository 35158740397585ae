/* The files of a study, their rows as they stand. */
#include <csv.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "reports/page/report.h"
#include "reports/text/file.h"

enum { ROWS_MOST = 6, COLUMNS_MOST = 40 };

struct rows {
    struct html_table table;
    char align[COLUMNS_MOST + 1];
    size_t rows, cells, columns;
    char *cell[COLUMNS_MOST];
};

static void take_cell(void *bytes, size_t count, void *context)
{
    struct rows *r = context;
    if (r->cells < COLUMNS_MOST)
        r->cell[r->cells] = strndup(bytes ? bytes : "", count);
    r->cells++;
}

static void take_row(int terminator, void *context)
{
    struct rows *r = context;
    size_t cells = r->cells < COLUMNS_MOST ? r->cells : COLUMNS_MOST;
    (void)terminator;
    if (r->rows == 0) {
        r->columns = cells;
        memset(r->align, 'l', cells);
        html_table_begin(&r->table, r->table.to, r->align);
    }
    for (size_t i = 0; i < r->columns && r->rows <= ROWS_MOST; i++)
        html_cell(&r->table, "%s", i < cells && r->cell[i] ? r->cell[i] : "");
    for (size_t i = 0; i < cells; i++)
        free(r->cell[i]);
    r->cells = 0;
    r->rows++;
}

static enum status add_file(struct text *to, const char *folder, const char *name,
                            struct problem *p)
{
    struct rows rows = {.table.to = to};
    struct csv_parser parser;
    char *path, block[1 << 16];
    size_t got;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return problem(p, STATUS_DEVICE, "%s: out of memory", folder);
    FILE *file;
    enum status status = file_open(&file, path, p);
    if (status != STATUS_OK || csv_init(&parser, 0) != 0) {
        status = problem(p, STATUS_DATA, "%s: could not be read", path);
    } else {
        text_add(to, "<details><summary>");
        html_text(to, name);
        text_add(to, "</summary>\n");
        while ((got = fread(block, 1, sizeof block, file)) > 0)
            csv_parse(&parser, block, got, take_cell, take_row, &rows);
        csv_fini(&parser, take_cell, take_row, &rows);
        csv_free(&parser);
        if (rows.rows > 0)
            html_table_end(&rows.table);
        if (rows.rows > ROWS_MOST + 1)
            text_format(to, "<p>The first %d of %zu rows.</p>\n", ROWS_MOST, rows.rows - 1);
        text_add(to, "</details>\n");
    }
    if (file)
        fclose(file);
    free(path);
    return status;
}

static int is_csv(const struct dirent *d)
{
    size_t length = strlen(d->d_name);
    return length > 4 && strcmp(d->d_name + length - 4, ".csv") == 0;
}

enum status report_files(struct text *to, const struct report *r, struct problem *p)
{
    struct dirent **file = NULL;
    int count = scandir(r->g.path, &file, is_csv, alphasort);
    enum status status = STATUS_OK;
    text_add(to, "<section id=\"files\"><h2>Files</h2>\n<p>The rows of the study, as they stand in "
                 "its directory.</p>\n");
    for (int i = 0; i < count; i++) {
        if (status == STATUS_OK)
            status = add_file(to, r->g.path, file[i]->d_name, p);
        free(file[i]);
    }
    free(file);
    text_add(to, "</section>\n");
    return status;
}
