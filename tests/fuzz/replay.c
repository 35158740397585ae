/* Gives a harness the files of a corpus, one after the other: REPLAY FILE|FOLDER... */
#include <dirent.h>

#include "tests/fuzz/fuzz.h"

static size_t replayed;

static void replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat facts;
    if (!file || fstat(fileno(file), &facts) != 0)
        abort();
    uint8_t *data = malloc((size_t)facts.st_size + 1);
    size_t size = data ? fread(data, 1, (size_t)facts.st_size, file) : 0;
    fclose(file);
    uint8_t *exact = size > 0 ? realloc(data, size) : data; /* so that sanitizers see its end */
    fprintf(stderr, "%s\n", path); /* the last of them is at fault where it ends here */
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    replayed++;
}

static void replay_all(const char *path)
{
    char inner[4096];
    struct dirent *entry;
    DIR *folder = opendir(path);
    if (!folder) {
        replay(path);
        return;
    }
    while ((entry = readdir(folder))) {
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        if (*entry->d_name != '.')
            replay(inner);
    }
    closedir(folder);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        replay_all(argv[i]);
    printf("%zu inputs\n", replayed);
    return replayed > 0 ? 0 : 1;
}
