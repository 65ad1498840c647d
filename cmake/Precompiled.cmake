# Precompiled headers: standard, Abseil and GoogleTest headers are parsed once, not once per source file. They hold no
# header of this project, and every source file includes what it uses: -DSAIL_PCH=OFF builds the same without them.
#
# ccache keeps objects built from one only with CCACHE_SLOPPINESS=pch_defines,time_macros, which ./dev sets.
option(SAIL_PCH "Precompile the headers that most files include" ON)

# Only what most files include: loading a header from here is not free.
set(library_headers
  <algorithm> <cstdint> <functional> <map> <memory> <optional> <set> <string> <utility> <variant> <vector>
  <absl/status/status.h> <absl/status/statusor.h> <absl/strings/str_cat.h> <absl/strings/str_join.h>
  <absl/strings/string_view.h>)
set(test_headers ${library_headers} <gmock/gmock.h> <gtest/gtest.h>)

# Declares the target that precompiles `headers` with the options of `sail_set_options` and the libraries `deps`.
function(sail_add_precompiled name headers deps)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${name}.cc CONTENT "")
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/${name}.cc)
  target_link_libraries(${name} PRIVATE ${deps})
  sail_set_options(${name})
  target_precompile_headers(${name} PRIVATE ${headers})
endfunction()

if(SAIL_PCH)
  sail_add_precompiled(sail_library_pch "${library_headers}" "absl::statusor;absl::strings")
  if(SAIL_BUILD_TESTS)
    sail_add_precompiled(sail_test_pch "${test_headers}" "absl::statusor;absl::strings;GTest::gtest;GTest::gmock")
    # The options must be those of a program.
    set_target_properties(sail_test_pch PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(sail_test_pch PRIVATE -fPIE ${SAIL_TEST_OPTIMISATION})
  endif()
endif()

# Has `target` include the headers that `precompiled` holds before each of its files.
function(sail_use_precompiled target precompiled)
  if(SAIL_PCH)
    target_precompile_headers(${target} REUSE_FROM ${precompiled})
  endif()
endfunction()
