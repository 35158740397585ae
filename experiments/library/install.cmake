# What `cmake --install` and `cpack` put where: the program with its man pages and completion, the
# library, shared and static, with what CMake and pkg-config need to find it.
install(TARGETS ulpscope RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
set(documents ${CMAKE_CURRENT_BINARY_DIR}/documents)
add_custom_command(OUTPUT ${documents}/ulpscope.fish
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/documents/write $<TARGET_FILE:ulpscope> ${documents}
    DEPENDS ulpscope documents/write COMMENT "Man pages and completion")
add_custom_target(documents ALL DEPENDS ${documents}/ulpscope.fish)
install(DIRECTORY ${documents}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${documents}/ulpscope DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${documents}/_ulpscope DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${documents}/ulpscope.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
# The process of python: subjects, which the program looks for beside itself.
install(FILES python/ulpscope/worker.py python/ulpscope/calls.py python/ulpscope/trial.json DESTINATION ${CMAKE_INSTALL_DATADIR}/ulpscope)
if(NOT ULPSCOPE_LIBRARY)
    return()
endif()

add_library(library OBJECT library/library.c library/check.c library/state.c)
target_include_directories(library PRIVATE ${PROJECT_SOURCE_DIR}/kernels)
target_link_libraries(library PUBLIC experiments)
add_library(ulpscope_shared SHARED)
target_link_libraries(ulpscope_shared PRIVATE library)
target_link_options(ulpscope_shared PRIVATE
    LINKER:--version-script=${CMAKE_CURRENT_SOURCE_DIR}/library/ulpscope.map LINKER:--no-undefined LINKER:--as-needed)
set_target_properties(ulpscope_shared PROPERTIES OUTPUT_NAME ulpscope EXPORT_NAME ulpscope
    VERSION ${PROJECT_VERSION} SOVERSION 1 LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/library/ulpscope.map)
target_include_directories(ulpscope_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# One object, of which only what the header names is visible to whoever links it.
set(static ${CMAKE_CURRENT_BINARY_DIR}/libulpscope.a)
add_custom_command(OUTPUT ${static}
    COMMAND ${CMAKE_C_COMPILER} -r -nostdlib -o library.o $<TARGET_OBJECTS:library>
        $<TARGET_FILE:experiments> $<TARGET_FILE:kernels> $<TARGET_FILE:reports> $<TARGET_FILE:reference>
    COMMAND ${CMAKE_OBJCOPY} -w --keep-global-symbol=ulpscope_* library.o
    COMMAND ${CMAKE_COMMAND} -E rm -f ${static}
    COMMAND ${CMAKE_AR} rcs ${static} library.o
    DEPENDS library experiments kernels reports reference $<TARGET_OBJECTS:library> VERBATIM
    COMMAND_EXPAND_LISTS COMMENT "Static library libulpscope.a")
add_custom_target(ulpscope_static ALL DEPENDS ${static})

if(SKBUILD)
    include(${CMAKE_CURRENT_SOURCE_DIR}/python/wheel.cmake)
endif()

include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/ulpscope)
configure_package_config_file(library/ulpscopeConfig.cmake.in ulpscopeConfig.cmake
    INSTALL_DESTINATION ${package} PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(ulpscopeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_file(library/ulpscope.pc.in ulpscope.pc @ONLY)
install(TARGETS ulpscope_shared EXPORT ulpscope LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT ulpscope NAMESPACE ulpscope:: FILE ulpscopeTargets.cmake DESTINATION ${package})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ulpscopeConfig.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/ulpscopeConfigVersion.cmake DESTINATION ${package})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ulpscope.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${static} DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES library/ulpscope.h library/ulpscope_mpi.h
    ${PROJECT_SOURCE_DIR}/kernels/allreduce/ulpscope_nccl.h
    ${PROJECT_SOURCE_DIR}/kernels/allreduce/ulpscope_nccl_sums.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(FILES library/ulpscope_allreduce.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
install(FILES examples/allreduce.c examples/allreduce_nccl.cu examples/exact.c examples/own.c DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

# `cpack -G DEB`: what it depends on is what the shared objects in it do.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "ulpscope <ulpscope@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "how wrong, and how reproducible, floating-point reductions are")
set(CPACK_PACKAGE_DESCRIPTION "Runs reductions and scans in fp16, bf16, fp32 and fp64, holds every result
against the exact sum and its error theorem, and says which promise of its
bits a method keeps. The program, its man pages and completion, and the
library libulpscope with its header.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION math)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS gnuplot-nox)
set(CPACK_STRIP_FILES ON)
include(CPack)
