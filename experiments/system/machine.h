/* The machine and the build, as study.json and `doctor` tell them. */
#pragma once

#include <stddef.h>

enum { MACHINE_TEXT = 256 };

/* "AMD EPYC", or "unknown". */
void machine_cpu(char text[MACHINE_TEXT]);
/* "Linux 6.1.0 x86_64 (Debian GNU/Linux 12 (bookworm))". */
void machine_system(char text[MACHINE_TEXT]);
/* Processors that this process may run on. */
unsigned machine_processors(void);
/* Bytes of main memory, and those free for a new program. */
size_t machine_memory(void);
size_t machine_memory_available(void);

/* What CMake recorded when it configured this build. */
extern const char *const build_version;       /* "0.2.0" */
extern const char *const build_commit;        /* git commit, "-dirty" appended, or "unknown" */
extern const char *const build_type;          /* "Release" */
extern const char *const build_compiler;      /* "GNU 12.2.0" */
extern const char *const build_flags;         /* the host compiler's */
extern const char *const build_cuda_compiler; /* "NVIDIA 13.0.88", or "" */
extern const char *const build_cuda_flags;
extern const char *const build_cccl; /* that of ULPSCOPE_CCCL_DIR: "3.1.4", or "" */
extern const char *const build_cuda_architectures;
extern const char *const build_worker;   /* experiments/python/ulpscope/worker.py there */
extern const char *const build_recorded; /* reports/recorded of the source tree: a path */
