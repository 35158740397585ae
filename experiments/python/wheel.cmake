# What a wheel has beside Python's sources: the program, the library, and the libraries that these
# need, but for the C library's, which every machine has. They find each other by where they lie.
if(NOT ULPSCOPE_LIBRARY)
    message(FATAL_ERROR "a wheel has the library: it takes -DULPSCOPE_CUDA=OFF, and no sanitizers")
endif()
# The older kind of entry, which what a library needs is searched by too.
foreach(target ulpscope ulpscope_shared)
    target_link_options(${target} PRIVATE LINKER:--disable-new-dtags)
    set_target_properties(${target} PROPERTIES BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN;$ORIGIN/../lib")
endforeach()
install(TARGETS ulpscope RUNTIME DESTINATION bin COMPONENT python)
install(CODE "set(built \"$<TARGET_FILE:ulpscope>\" \"$<TARGET_FILE:ulpscope_shared>\")" COMPONENT python)
# Of another machine's wheel they lie below its root.
if(CMAKE_CROSSCOMPILING)
    set(root "${CMAKE_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}" "${CMAKE_SYSROOT}/lib/${CMAKE_LIBRARY_ARCHITECTURE}")
endif()
install(CODE "set(directories ${root})" COMPONENT python)
install(CODE [[
    set(lib "${CMAKE_INSTALL_PREFIX}/lib")
    list(GET built 0 program)
    list(GET built 1 library)
    file(GET_RUNTIME_DEPENDENCIES EXECUTABLES "${program}" LIBRARIES "${library}"
        DIRECTORIES ${directories} RESOLVED_DEPENDENCIES_VAR found PRE_EXCLUDE_REGEXES "^(ld-linux|lib(c|m|dl|pthread|rt))[-.].*so")
    foreach(path IN LISTS found)
        cmake_path(GET path FILENAME name)
        file(REAL_PATH "${path}" path)
        file(MAKE_DIRECTORY "${lib}")
        message(STATUS "Bundling: ${path} as ${name}")
        file(COPY_FILE "${path}" "${lib}/${name}")
    endforeach()
]] COMPONENT python)
# One file: wheels have no links.
install(FILES $<TARGET_FILE:ulpscope_shared> DESTINATION lib RENAME libulpscope.so.1 COMPONENT python)
