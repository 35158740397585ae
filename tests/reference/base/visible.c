/* Names of files, whatever bytes they have: seen in terminals, held by JSON and CSV, found again.
 */
#include <jansson.h>

#include "experiments/system/shell.h"
#include "reference/base/visible.h"
#include "tests/support/program.h"

Test(visible, text_and_back)
{
    static const struct {
        const char *text, *shown, *name;
    } of[] = {{"plain.npy", "plain.npy", "plain.npy"},
              {"", "", ""},
              {"-", "-", "-"},
              {"a\\b.npy", "a\\b.npy", "a\\b.npy"},
              {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
               "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
              {"a\33[31m", "a\\x1b[31m", "a\\x1b[31m"},
              {"a\nb\r\x7f\t", "a\\x0ab\\x0d\\x7f\\x09", "a\\x0ab\\x0d\\x7f\\x09"},
              {"\xff\xfe", "\\xff\\xfe", "\\xff\\xfe"},
              {"\xc2\x9b", "\\xc2\\x9b", "\\xc2\\x9b"},
              {"\x9b", "\\x9b", "\\x9b"},
              {"\xe2\x80\xae"
               "txt",
               "\\xe2\\x80\\xaetxt", "\\xe2\\x80\\xaetxt"},
              {"\xe2\x81\xa6", "\\xe2\\x81\\xa6", "\\xe2\\x81\\xa6"},
              {"\xc0\xaf\xed\xa0\x80", "\\xc0\\xaf\\xed\\xa0\\x80", "\\xc0\\xaf\\xed\\xa0\\x80"},
              {"\xf8\x88\x80\x80", "\\xf8\\x88\\x80\\x80", "\\xf8\\x88\\x80\\x80"},
              {"a\\xff", "a\\xff", "a\\x5cxff"},
              {"a\\xfg", "a\\xfg", "a\\xfg"},
              {"=1+1", "=1+1", "./=1+1"},
              {"+x", "+x", "./+x"},
              {"-x", "-x", "./-x"},
              {"@x", "@x", "./@x"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char shown[100];
        visible_text(shown, sizeof shown, of[i].text);
        cr_expect_str_eq(shown, of[i].shown);
        char *name = visible_name(of[i].text), *back = visible_named(name);
        cr_expect_str_eq(name, of[i].name);
        cr_expect_str_eq(back, of[i].text);
        cr_expect(visible_all(name));
        char *path = visible_escape(of[i].text), *again = visible_unescape(path);
        cr_expect_str_eq(again, of[i].text);
        free(name);
        free(back);
        free(path);
        free(again);
    }
    char small[6];
    visible_text(small, sizeof small, "ab\33\33");
    cr_expect_str_eq(small, "ab", "cut between characters");
}

/* What the program printed has none of these bytes. */
static void expect_visible(const char *name)
{
    char *text = content(name);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        cr_expect(visible_all(line), "%s: %s", name, line);
    free(text);
}

/* Through every verb that reads files: no escape sequence, no lost file, no wrong case. */
Test(visible, files_of_any_name, .init = make_folder, .fini = remove_folder)
{
    static const char *const file[] = {"\xff\xfe.txt",     "a\33[31m.txt", "a\nb.txt",
                                       "\xc2\x9bx.txt",    "-x.txt",       "=1+1.txt",
                                       "\xe2\x80\xaex.txt"};
    static const char *const shown[] = {"\\xff\\xfe.txt",      "a\\x1b[31m.txt", "a\\x0ab.txt",
                                        "\\xc2\\x9bx.txt",     "./-x.txt",       "./=1+1.txt",
                                        "\\xe2\\x80\\xaex.txt"};
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        char options[600];
        struct bytes b = {0};
        add_string(&b, "1\n2\n4\n");
        put_file(file[i], &b);
        snprintf(options, sizeof options, "--json -- '%s'", file[i]);
        cr_expect_eq(run_program("sum", options), 0, "%s", shown[i]);
        json_t *said = json_load_file(in_folder("out"), 0, NULL);
        cr_expect_str_eq(json_string_value(json_object_get(said, "name")), shown[i]);
        json_decref(said);
        snprintf(options, sizeof options, "-- '%s'", file[i]);
        cr_expect_eq(run_program("sum", options), 0, "%s", shown[i]);
        expect_visible("out");
        snprintf(options, sizeof options, "--convert --storage fp16 -- '%s.none'", file[i]);
        cr_expect_eq(run_program("sum", options), 3);
        expect_visible("err");
        snprintf(options, sizeof options,
                 "accuracy --device cpu --method sum/tiled --data='%s' --out '%s.d' --force",
                 file[i], file[i]);
        cr_expect_eq(run_program("run", options), 0, "%s", shown[i]);
        expect_visible("out");
        *strstr(options, "--force") = 0;
        cr_expect_eq(run_program("run", options), 0, "%s: resumed", shown[i]);
        snprintf(options, sizeof options, "--from './%s.d/study.json' --out f --force --quiet",
                 file[i]);
        cr_expect_eq(run_program("run", options), 0, "%s: repeated", shown[i]);
        snprintf(options, sizeof options, "'./%s.d' f", file[i]);
        cr_expect_eq(run_program("compare", options), 0, "%s", shown[i]);
        expect_visible("out");
        expect_said("out", "1 the same bits; no promise broken");
        struct bytes rows = get_file(in_folder("f/results.csv"));
        add_number(&rows, 0, 1);
        char cell[64];
        snprintf(cell, sizeof cell, ",%s,3,", shown[i]);
        cr_expect(strstr((char *)rows.data, cell), "%s", (char *)rows.data);
        clear_bytes(&rows);
        clear_bytes(&b);
    }
}

/* The name of a subject is a word of tables and of CSV. */
Test(visible, subjects_of_such_names, .init = make_folder, .fini = remove_folder)
{
    cr_expect_eq(run_program("check", "'./a\xc2\x9b.so:f'"), 2);
    expect_said("err", "\\xc2\\x9b.so:f', with a control character");
    expect_visible("err");
    cr_expect_eq(run_program("check", "=a.so:f"), 2);
    expect_said("err", "expected ./=a.so:f");
    cr_expect_eq(run_program("check", "'exec:printf \"\\302\\233\\033[31m\" >&2' --seconds 1"), 3);
    expect_visible("err");
    expect_visible("out");
}
