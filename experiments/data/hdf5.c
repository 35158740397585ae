/* Reads HDF5, FILE.h5:/PATH: a process of its own asks libhdf5 (hdf5_process.c). */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/data/file.h"
#include "experiments/options/options.h"

#define INSTALL "install libhdf5-dev, then build again"
#define LACKS                                                                                      \
    "found no ulpscope-hdf5 beside ulpscope, nor in ../libexec/ulpscope: copy it from the build"

/* Beside this program, or where an installation has it. */
static bool find_process(char *path, size_t size)
{
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0)
        return false;
    self[length] = 0;
    char *slash = strrchr(self, '/');
    *(slash ? slash : self) = 0;
    snprintf(path, size, "%s/ulpscope-hdf5", self);
    if (access(path, X_OK) == 0)
        return true;
    snprintf(path, size, "%s/../libexec/ulpscope/ulpscope-hdf5", self);
    return access(path, X_OK) == 0;
}

static const char *lacks_process(void)
{
    char path[4200];
    return find_process(path, sizeof path) ? NULL : LACKS;
}

struct pipe {
    const char *path;
    FILE *from;
    size_t at; /* bytes of elements that came */
    pid_t process;
};

static enum status ended(const struct pipe *c, struct problem *p)
{
    return problem(
        p, STATUS_DATA,
        "%s: libhdf5 failed on it after %zu bytes of elements: damaged, or compressed by "
        "a filter that it lacks",
        c->path, c->at);
}

static enum status read_pipe(void *state, size_t offset, size_t size, void *to, struct problem *p)
{
    struct pipe *c = state;
    if (offset != c->at || fread(to, 1, size, c->from) != size)
        return ended(c, p);
    c->at += size;
    return STATUS_OK;
}

extern char **environ;

static enum status start(struct pipe *c, const char *process, char *const arguments[],
                         struct problem *p)
{
    int ends[2];
    posix_spawn_file_actions_t actions;
    if (pipe2(ends, O_CLOEXEC) != 0 || posix_spawn_file_actions_init(&actions) != 0)
        return problem(p, STATUS_MEMORY, "%s: no pipe: %s", c->path, strerror(errno));
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    int failed = posix_spawn(&c->process, process, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    c->from = failed ? NULL : fdopen(ends[0], "r");
    if (c->from)
        return STATUS_OK;
    close(ends[0]);
    return problem(p, STATUS_MEMORY, "%s: could not be started: %s", process,
                   strerror(failed ? failed : errno));
}

/* The first line: what the array is, or why there is none. */
static enum status read_line(struct data_layout *l, const struct pipe *c, struct problem *p)
{
    char line[1024], name[32];
    if (!fgets(line, sizeof line, c->from))
        return ended(c, p);
    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "array %31s %zu %zu", name, &l->n, &l->rows) == 3)
        return format_parse(&l->format, "HDF5", name, p);
    size_t word = strcspn(line, " ");
    enum status status = strncmp(line, "usage ", 6) == 0 ? STATUS_USAGE : STATUS_DATA;
    return problem(p, status, "%s: %s", c->path, line[word] ? line + word + 1 : "libhdf5 failed");
}

static enum status read_hdf5(struct data_set *set, struct data_file *file, const char *member,
                             const struct data_options *options, struct problem *p)
{
    char process[4200];
    struct pipe c = {.path = file->path};
    struct data_layout layout = {.last = false};
    const char *storage = options->storage == FORMATS ? "" : format_facts[options->storage].name;
    static const char *const version = DATA_HDF5;
    bool found = find_process(process, sizeof process);
    if (!found && version)
        return problem(p, STATUS_DATA, "%s: " LACKS ", or save the array as .npy (numpy.save)",
                       file->path);
    if (!found)
        return problem(p, STATUS_DATA,
                       "%s: this build reads no HDF5, for lack of libhdf5: " INSTALL
                       ", or save the array as .npy (numpy.save)",
                       file->path);
    if (file->size == 0)
        return problem(p, STATUS_DATA, "%s: found an empty file, expected HDF5", file->path);
    if (file->fd < 0 || file->bytes)
        return problem(p, STATUS_DATA, "%s: found HDF5 in a pipe, expected a file", file->path);
    char *const arguments[] = {process, (char *)file->path, (char *)(member ? member : ""),
                               (char *)storage, NULL};
    enum status status = start(&c, process, arguments, p);
    if (status != STATUS_OK)
        return status;
    status = read_line(&layout, &c, p);
    struct data_file elements = {.path = file->path,
                                 .name = file->name,
                                 .fd = -1,
                                 .source = read_pipe,
                                 .state = &c,
                                 .size = layout.n,
                                 .mark = ':'};
    if (status == STATUS_OK)
        status = data_load(set, &elements, member, &layout, options, p);
    fclose(c.from); /* ends the process, should it have more */
    while (waitpid(c.process, NULL, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

static bool begins_hdf5(const struct data_head *head)
{
    for (size_t at = 0; at + 8 <= head->size; at = at ? 2 * at : 512)
        if (memcmp(head->byte + at, "\x89HDF\r\n\x1a\n", 8) == 0)
            return true;
    return false;
}

static const struct data_library hdf5 = {.name = "HDF5",
                                         .version = DATA_HDF5,
                                         .gives = "reads .h5 files",
                                         .install = INSTALL,
                                         .missing = lacks_process};

const struct data_reader hdf5_reader = {.what = "an HDF5 file",
                                        .members = "a dataset",
                                        .ending = {".h5", ".hdf5"},
                                        .begins = begins_hdf5,
                                        .library = &hdf5,
                                        .read = read_hdf5};
