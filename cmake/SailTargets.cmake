# One way to declare a library, an executable and a test. Source lists are explicit.
#
#   sail_add_library(frontend SRCS parse.cc format.cc DEPS sail::base PRIVATE_DEPS sail_grammar)
#   sail_add_test(parse_test SRCS parse_test.cc DEPS sail::frontend LABELS unit)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# Most tests are compiled once and run once: optimising what only they hold takes longer than it saves. Not so for the
# property tests, which compute for a minute.
set(SAIL_TEST_OPTIMISATION $<$<CONFIG:Release>:-O1>)

function(sail_set_options target)
  # Designated initialisers leave members at their defaults on purpose.
  # No contraction into fused multiply-adds: predictions must be the same bytes on every machine.
  # GCC 12 reports std::string operations that cannot overlap or overflow (-Wrestrict: GCC bug 105651), also those inside
  # system headers once they come from a precompiled one.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread
    -Wno-array-bounds -Wno-missing-field-initializers -ffp-contract=off)
  if(SAIL_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
endfunction()

function(sail_add_library name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(sail_${name} STATIC ${ARG_SRCS})
  add_library(sail::${name} ALIAS sail_${name})
  target_link_libraries(sail_${name} PUBLIC ${ARG_DEPS} PRIVATE ${ARG_PRIVATE_DEPS})
  sail_set_options(sail_${name})
  sail_use_precompiled(sail_${name} sail_library_pch)
endfunction()

function(sail_add_executable name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS})
  sail_set_options(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()

# One test program is one ctest test: LibTorch programs take half a second to start, so cases are not split further.
function(sail_add_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SRCS;DEPS;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SRCS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gtest GTest::gmock GTest::gtest_main)
  sail_set_options(${name})
  if(NOT "property" IN_LIST ARG_LABELS)
    target_compile_options(${name} PRIVATE ${SAIL_TEST_OPTIMISATION})
    sail_use_precompiled(${name} sail_test_pch)  # of the same optimisation: GCC crashes on another
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
endfunction()
