# Every third-party library, found once. docs/dependencies.md says why each is here.

find_package(absl REQUIRED)
# The package's targets are its twenty shared libraries. Loading them takes longer than checking a specification, so the
# static ones that lie beside them are taken where there are any.
get_property(imported_targets DIRECTORY PROPERTY IMPORTED_TARGETS)
foreach(target IN LISTS imported_targets)
  get_target_property(shared ${target} IMPORTED_LOCATION_NONE)
  if(target MATCHES "^absl::" AND shared)
    string(REGEX REPLACE "\\.so[.0-9]*$" ".a" static "${shared}")
    if(EXISTS ${static})
      set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_NONE ${static})
    endif()
  endif()
endforeach()
find_package(nlohmann_json 3.11 REQUIRED)
set(OPENSSL_USE_STATIC_LIBS ON)  # loading the shared one takes a fifth of the time of `sailc check`
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
