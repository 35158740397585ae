/* What is asked of NVIDIA's driver where a GPU is to be seen, but not used. */
int cuInit(unsigned flags);
int cuDeviceGetCount(int *count);

int cuInit(unsigned flags)
{
    (void)flags;
    return 0;
}

int cuDeviceGetCount(int *count)
{
    *count = 1;
    return 0;
}
