# A gate as a test of CTest: include(gate_test.cmake) in your CMakeLists.txt, behind enable_testing().
# `ctest -R gate` then checks the subjects of gate.json, and the bits in baseline/, from your source folder.
find_program(ULPSCOPE ulpscope REQUIRED)
set(ULPSCOPE_MANIFEST gate.json CACHE STRING "What the gate holds, from the source folder")
add_test(NAME gate COMMAND ${ULPSCOPE} gate ${ULPSCOPE_MANIFEST} --junit ${CMAKE_CURRENT_BINARY_DIR}/gate.xml
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
# Another test beside it would take time from it: what is not tried is not passed.
set_tests_properties(gate PROPERTIES RUN_SERIAL TRUE)
