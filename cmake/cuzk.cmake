# Flags for all targets and the two functions with which folders declare themselves.

add_library(cuzk_flags INTERFACE)
target_include_directories(cuzk_flags INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_compile_options(cuzk_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wshadow -Wpointer-arith -Wvla -fno-common>
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes>)
target_compile_definitions(cuzk_flags INTERFACE _GNU_SOURCE CUZK_VERSION="${PROJECT_VERSION}")
if(CUZK_WERROR)
  target_compile_options(cuzk_flags INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Werror>)
endif()
if(CUZK_SAN)
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${CUZK_SAN};-fno-sanitize-recover=all;-fno-omit-frame-pointer>")
  add_link_options(-fsanitize=${CUZK_SAN})
endif()
if(CUZK_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
  add_link_options(-fsanitize=address,undefined)
endif()
if(CUZK_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()
find_package(Threads REQUIRED)

# cuzk_folder(NAME source...): the object library of one folder below src/.  All of them together make libcuzk.
function(cuzk_folder name)
  add_library(cuzk_${name} OBJECT ${ARGN})
  target_link_libraries(cuzk_${name} PRIVATE cuzk_flags)
  set_property(GLOBAL APPEND PROPERTY CUZK_FOLDERS cuzk_${name})
endfunction()

# The programs labelled tsan are built together by the target tsan_tests.
add_custom_target(tsan_tests)

# cuzk_test(NAME [LABELS l...] [ENV k=v...] [LIBS lib...] SOURCES s...): one cmocka program, linked with all of src/ (hidden
# symbols included), registered with ctest.  The default label is fast (under a minute in the dev preset); others: release (fast, but
# too slow under sanitizers: `make check` runs it in the release preset alone), dev (under sanitizers alone, where release shows nothing more), tsan (also
# run under ThreadSanitizer), slow, cuda, soak.
function(cuzk_test name)
  cmake_parse_arguments(T "" "TIMEOUT" "LABELS;ENV;LIBS;SOURCES;DEFS" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${name} PRIVATE ${T_DEFS} CUZK_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE cuzk_flags cuzk_internal ${T_LIBS} cmocka Threads::Threads m)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  if(NOT T_LABELS)
    set(T_LABELS fast)
  endif()
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 600)
  endif()
  if("tsan" IN_LIST T_LABELS)
    add_dependencies(tsan_tests ${name})
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${T_LABELS}" ENVIRONMENT "${T_ENV}" TIMEOUT ${T_TIMEOUT})
endfunction()
