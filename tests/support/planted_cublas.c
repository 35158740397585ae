/* libcublasLt of a release that has nothing but its version, and libcublas, which as NVIDIA's asks
 * libcublasLt for it. PART: major, minor, patch. ALONE: libcublas asks nobody. */
#define SHOWN __attribute__((visibility("default")))

#ifdef LT
#define FUNCTION cublasLtGetProperty
#else
#define FUNCTION cublasGetProperty
#endif

SHOWN int cublasLtGetProperty(int which, int *value);
SHOWN int FUNCTION(int which, int *value);

int FUNCTION(int which, int *value)
{
#if defined LT || defined ALONE
    static const int part[] = {PART};
    *value = part[which];
    return 0;
#else
    return cublasLtGetProperty(which, value);
#endif
}
