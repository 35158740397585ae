/* Files that are written whole or not at all, also where several processes write them at once. */
#include <sys/stat.h>
#include <sys/wait.h>

#include "reports/text/file.h"
#include "tests/support/files.h"

enum { WRITERS = 3, TIMES = 100, BYTES = 100000 };

/* Each of them writes as many times, bytes of its own. */
static int write_often(const char *path, int letter)
{
    static char bytes[BYTES];
    int failed = 0;
    memset(bytes, letter, sizeof bytes);
    for (int i = 0; i < TIMES; i++) {
        struct problem p = {0};
        failed += file_writable(path, &p) != STATUS_OK ||
                  file_replace(path, bytes, sizeof bytes, &p) != STATUS_OK;
    }
    return failed > 0;
}

Test(file, several_processes_replace_one, .init = make_folder, .fini = remove_folder)
{
    char path[320];
    snprintf(path, sizeof path, "%s", in_folder("page"));
    for (int i = 0; i < WRITERS; i++)
        if (fork() == 0)
            _exit(write_often(path, 'a' + i));
    int result, torn = 0;
    for (pid_t ended; (ended = waitpid(-1, &result, WNOHANG)) >= 0;) {
        cr_expect(ended == 0 || result == 0, "a process could not write");
        if (access(path, F_OK) != 0)
            continue;
        struct bytes now = get_file(path);
        torn += now.size != BYTES || now.data[0] != now.data[BYTES - 1];
        clear_bytes(&now);
    }
    cr_expect_eq(torn, 0);
    cr_expect(access(in_folder("page.part"), F_OK) != 0, "a temporary file remains");
}

/* What a process that was killed left, and what is no part at all, stands in nobody's way. */
Test(file, parts_that_are_left, .init = make_folder, .fini = remove_folder)
{
    struct bytes old = {0};
    struct problem p = {0};
    add_string(&old, "old");
    char part[320], path[320];
    snprintf(part, sizeof part, "%s", in_folder("page.part"));
    snprintf(path, sizeof path, "%s", in_folder("page"));
    for (int kind = 0; kind < 3; kind++) {
        if (kind == 0)
            put_file("page.part", &old);
        else if (kind == 1)
            cr_assert_eq(symlink("elsewhere", part), 0);
        else
            cr_assert_eq(mkfifo(part, 0600), 0);
        cr_expect_eq(file_replace(path, "new", 3, &p), STATUS_OK, "%s", p.text);
        struct bytes now = get_file(path);
        cr_expect(now.size == 3 && memcmp(now.data, "new", 3) == 0);
        cr_expect(access(part, F_OK) != 0 && access(in_folder("elsewhere"), F_OK) != 0);
        clear_bytes(&now);
    }
    cr_assert_eq(mkdir(part, 0700), 0);
    cr_expect_eq(file_replace(path, "newer", 5, &p), STATUS_DATA);
    cr_expect(strstr(p.text, "page: could not be written: "), "%s", p.text);
    cr_expect_eq(file_writable(path, &p), STATUS_DATA);
    clear_bytes(&old);
}
