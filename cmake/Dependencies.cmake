# Every third-party library, found once. docs/dependencies.md says why each is here.

find_package(absl REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(LLVM 14 REQUIRED CONFIG)

if(SAIL_BUILD_TESTS)
  find_package(GTest REQUIRED)
  find_program(SAIL_FILECHECK NAMES FileCheck FileCheck-14 HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
  find_program(SAIL_NOT NAMES not not-14 HINTS ${LLVM_TOOLS_BINARY_DIR} REQUIRED)
  find_file(SAIL_LIT lit.py HINTS ${LLVM_TOOLS_BINARY_DIR}/../build/utils/lit NO_DEFAULT_PATH REQUIRED)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()

# ANTLR: the generator and its C++ runtime. The runtime's package has no include directory on its target.
find_program(SAIL_ANTLR4 antlr4 REQUIRED)
find_package(antlr4-runtime REQUIRED)

if(SAIL_BUILD_RUNTIME)
  find_package(Torch REQUIRED)
  find_path(SAIL_GLOO_INCLUDE gloo/context.h REQUIRED)
  add_library(sail_torch INTERFACE)
  target_link_libraries(sail_torch INTERFACE torch_cpu c10)
  target_include_directories(sail_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS} ${SAIL_GLOO_INCLUDE})
  target_compile_definitions(sail_torch INTERFACE USE_C10D_GLOO)
endif()
