# Not a test either: ulpscope's sums over ranks beside those of ReproBLAS, where it is given: its source tree, built
# with BUILD_MPI=true, or where that was installed.
set(ULPSCOPE_REPROBLAS_DIR "" CACHE PATH "ReproBLAS, built for MPI, to compare with (target reproblas_cost)")
if(ULPSCOPE_REPROBLAS_DIR)
    file(GLOB built ${ULPSCOPE_REPROBLAS_DIR}/build/*/*/src/*/obj)
    set(places NO_CACHE NO_DEFAULT_PATH PATHS ${ULPSCOPE_REPROBLAS_DIR} ${built} PATH_SUFFIXES include lib)
    find_path(reproblas_include binnedMPI.h ${places})
    find_library(reproblas_mpi NAMES binnedmpi binnedMPI ${places})
    find_library(reproblas_blas NAMES binnedblas binnedBLAS ${places})
    if(NOT reproblas_include OR NOT reproblas_mpi OR NOT reproblas_blas)
        message(FATAL_ERROR "ULPSCOPE_REPROBLAS_DIR=${ULPSCOPE_REPROBLAS_DIR}: found include/binnedMPI.h: "
            "${reproblas_include}, libbinnedmpi: ${reproblas_mpi}, libbinnedblas: ${reproblas_blas}; expected "
            "ReproBLAS 2.1, made by `make update` and `make -C src`, both with BUILD_MPI=true")
    endif()
    if(NOT TARGET ulpscope_shared OR NOT TARGET ulpscope-mpi)
        message(FATAL_ERROR "ULPSCOPE_REPROBLAS_DIR: reproblas_cost takes Open MPI and libulpscope, one of which this "
            "build leaves out: expected -DULPSCOPE_CUDA=OFF, no sanitizers, and libopenmpi-dev installed")
    endif()
    add_executable(reproblas_cost EXCLUDE_FROM_ALL speed/reproblas_cost.c)
    # What vector loops are compiled with; ReproBLAS compiles its own with -O3 -march=native.
    set_source_files_properties(speed/reproblas_cost.c PROPERTIES COMPILE_OPTIONS "-O3;-march=native")
    target_include_directories(reproblas_cost SYSTEM PRIVATE ${reproblas_include})
    target_include_directories(reproblas_cost PRIVATE ${PROJECT_SOURCE_DIR}/experiments/library ${PROJECT_SOURCE_DIR}/kernels)
    target_link_libraries(reproblas_cost PRIVATE reference ulpscope_shared ${reproblas_mpi} ${reproblas_blas} MPI::MPI_C m)
endif()
