# sail_add_lit_test(golden DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} LABELS golden): one ctest test that runs every file with
# RUN lines below the directory (tests/lit.cfg.py).
function(sail_add_lit_test name)
  cmake_parse_arguments(ARG "" "DIRECTORY;TIMEOUT" "LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  set(runtime)
  if(SAIL_BUILD_RUNTIME)
    set(runtime --param sailrun=${PROJECT_BINARY_DIR}/bin/sailrun)
  endif()
  add_test(NAME ${name}
    COMMAND ${Python3_EXECUTABLE} ${SAIL_LIT} --verbose --order=lexical
      --param build=${PROJECT_BINARY_DIR} --param sailc=$<TARGET_FILE:sailc> ${runtime}
      --param FileCheck=${SAIL_FILECHECK} --param not=${SAIL_NOT} --param python3=${Python3_EXECUTABLE}
      ${ARG_DIRECTORY})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
endfunction()
