# One way to declare a folder's library, test or benchmark; warnings and sanitizers in one place.

find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Threads REQUIRED)

add_compile_options(-Wall -Wextra -Wno-missing-field-initializers $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-interference-size>
                    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-deprecated-declarations>)  # in GCC's own headers
if(JPROF_SANITIZE)
  add_compile_options(-fsanitize=${JPROF_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${JPROF_SANITIZE})
  add_compile_definitions(JPROF_SANITIZED)
  if(JPROF_SANITIZE MATCHES thread)
    add_compile_definitions(JPROF_SANITIZED_THREADS)
  endif()
endif()

# Most of a build is headers: with CMAKE_UNITY_BUILD, so many files share them.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 14)

# jprof_library(NAME DEPS...): a static library of every .cc beside the CMakeLists.txt.
function(jprof_library name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  if(sources)
    add_library(${name} STATIC ${sources})
    target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
    target_link_libraries(${name} PUBLIC ${ARGN})
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${CMAKE_SOURCE_DIR})
    target_link_libraries(${name} INTERFACE ${ARGN})
  endif()
endfunction()
