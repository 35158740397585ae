/* Where results come from: what study.json says of the program and the machine. */
#pragma once

#include "experiments/cases/axes.h"
#include "experiments/cases/shard.h"

/* A new study: schema version, experiment, axes, arguments, program, machine, no inputs yet, when
 * it started. Nothing of the environment. argv has argc words. NULL when memory is short. */
json_t *provenance_study(const struct axes *axes, int argc, char **argv);

/* The same with other words for the axes, which are taken over: of the axes only the experiment,
 * methods and devices are read. */
json_t *provenance_words(const struct axes *axes, json_t *axes_words, int argc, char **argv);

/* The words of a command line. */
json_t *provenance_arguments(int argc, char **argv);

/* Says which shard of the study it is; of the whole nothing. */
void provenance_shard(json_t *study, struct shard shard);

/* Puts the time, to milliseconds of the machine's clock, under `name`. */
void provenance_moment(json_t *study, const char *name);

/* Says under `hosts` on how many hosts ranks of MPI libraries have run: by method and number of
 * ranks. */
void provenance_hosts(json_t *study, const struct method *const *method, size_t methods);

/* Notes in a study that it was taken up again, by this program on this machine. */
void provenance_resumed(json_t *study, const struct axes *axes, int argc, char **argv);

/* Notes each subject whose file is not the one that the study in a study.json used. */
void provenance_changed(const struct axes *axes, const json_t *study, const char *path,
                        void (*note)(void *context, const char *line), void *context);
