# Everything is compiled with Clang, libFuzzer's coverage and sanitizers; see the `fuzz` preset.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "SAIL_BUILD_FUZZERS needs Clang")
endif()
set(flags -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all -fno-omit-frame-pointer)
add_compile_options(${flags} -Wno-unknown-warning-option)
add_link_options(${flags})

# Clang 14 rejects the default constructor of a class in a header of ANTLR 4.9 that nothing here uses: it sees an empty
# file instead.
set(overlay ${PROJECT_BINARY_DIR}/antlr_overlay)
file(WRITE ${overlay}.h "")
file(WRITE ${overlay}.yaml "{\"version\": 0, \"roots\": [{\"type\": \"file\",
  \"name\": \"${ANTLR4_INCLUDE_DIR}/misc/InterpreterDataReader.h\", \"external-contents\": \"${overlay}.h\"}]}\n")
add_compile_options(-ivfsoverlay ${overlay}.yaml)
