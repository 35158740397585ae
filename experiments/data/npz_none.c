/* .npz, where this build has no zlib. */
#include "experiments/data/file.h"

static enum status read_npz(struct data_set *set, struct data_file *file, const char *member,
                            const struct data_options *options, struct problem *p)
{
    (void)set, (void)member, (void)options;
    return problem(p, STATUS_DATA,
                   "%s: this build has no zlib, which .npz needs: install zlib1g-dev and build "
                   "again, or save the array as .npy (numpy.save)",
                   file->path);
}

static const struct data_library zlib = {
    .name = "zlib", .gives = "reads .npz files", .install = "install zlib1g-dev, then build again"};

const struct data_reader npz_reader = {.what = "a .npz file",
                                       .library = &zlib,
                                       .members = "an array",
                                       .ending = {".npz"},
                                       .read = read_npz};
