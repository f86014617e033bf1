# The functions that declare a folder's library; warnings and sanitizers.

find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Threads REQUIRED)
# Compiles the trainers and the counter of woven methods, which the build leaves out without it.
file(GLOB jdk_bins /usr/lib/jvm/*/bin)
find_program(JPROF_JAVAC javac HINTS $ENV{JAVA_HOME}/bin PATHS ${jdk_bins})
if(JPROF_JAVAC)  # JPROF_JDK is its JDK, where jar or jni.h may be missing
  file(REAL_PATH ${JPROF_JAVAC} JPROF_JDK)
  cmake_path(GET JPROF_JDK PARENT_PATH JPROF_JDK)
  cmake_path(GET JPROF_JDK PARENT_PATH JPROF_JDK)
endif()

# -Wshadow and -Wconversion mean different things to GCC and clang; the sources are kept clean of GCC's.
add_compile_options(-Wall -Wextra -Wno-missing-field-initializers
                    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wshadow;-Wconversion;-Wno-sign-conversion;-Wno-interference-size>"
                    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-deprecated-declarations>)  # in GCC's own headers
if(JPROF_SANITIZE)
  add_compile_options(-fsanitize=${JPROF_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${JPROF_SANITIZE})
  add_compile_definitions(JPROF_SANITIZED)
  if(JPROF_SANITIZE MATCHES thread)
    add_compile_definitions(JPROF_SANITIZED_THREADS)
  endif()
endif()

# Most of the build time is spent on headers: with CMAKE_UNITY_BUILD, this many files share them.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 14)

# jprof_rooms(VARIABLE): the subfolders of this folder that belong to its library, and the folder itself.
function(jprof_rooms variable)
  file(GLOB entries CONFIGURE_DEPENDS LIST_DIRECTORIES true ${CMAKE_CURRENT_SOURCE_DIR}/*)
  set(rooms ${CMAKE_CURRENT_SOURCE_DIR})
  foreach(entry ${entries})
    if(IS_DIRECTORY ${entry} AND NOT EXISTS ${entry}/CMakeLists.txt)
      list(APPEND rooms ${entry})
    endif()
  endforeach()
  set(${variable} ${rooms} PARENT_SCOPE)
endfunction()

# jprof_sources(VARIABLE): all .cc files of the folder and of its rooms.
function(jprof_sources variable)
  jprof_rooms(rooms)
  list(TRANSFORM rooms APPEND /*.cc)
  file(GLOB sources CONFIGURE_DEPENDS ${rooms})
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# jprof_headers(TARGET): TARGET, and every target that links it, may include the headers of this
# folder by their path from the root of the tree. The include path is a folder of links to these
# headers: a target finds only the headers of the folders that it declares (tests/targets.py). Debug
# information contains the paths of the headers themselves.
function(jprof_headers target)
  set(links ${CMAKE_BINARY_DIR}/include/${target})
  file(REMOVE_RECURSE ${links})
  jprof_rooms(rooms)
  list(TRANSFORM rooms APPEND /*.h)
  file(GLOB headers CONFIGURE_DEPENDS ${rooms})
  foreach(header ${headers})
    cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE name)
    cmake_path(GET name PARENT_PATH room)
    file(MAKE_DIRECTORY ${links}/${room})
    file(CREATE_LINK ${header} ${links}/${name} SYMBOLIC)
  endforeach()
  target_include_directories(${target} PUBLIC ${links})
  target_compile_options(${target} PUBLIC -ffile-prefix-map=${links}=${CMAKE_SOURCE_DIR})
endfunction()

# jprof_library(NAME DEPS...): a static library of all .cc files in the folder and its rooms, with
# their headers.
function(jprof_library name)
  jprof_sources(sources)
  add_library(${name} STATIC ${sources})
  jprof_headers(${name})
  target_link_libraries(${name} PUBLIC ${ARGN})
endfunction()

# jprof_jar(NAME SOURCES... [SOURCEPATH DIR] [RESOURCES DIR]): a target that builds
# share/jprof/NAME.jar, for Java 17 and later, which is installed. Requires a JDK in JPROF_JDK.
# SOURCEPATH has sources of classes that others provide, and RESOURCES the files beside the classes.
function(jprof_jar name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SOURCEPATH;RESOURCES" "")
  set(found)
  if(arg_SOURCEPATH)
    set(found -implicit:none -proc:none -sourcepath ${arg_SOURCEPATH})
  endif()
  set(resources)
  if(arg_RESOURCES)
    set(resources -C ${arg_RESOURCES} .)
  endif()
  set(classes ${CMAKE_CURRENT_BINARY_DIR}/classes)
  set(jar ${CMAKE_BINARY_DIR}/share/jprof/${name}.jar)
  add_custom_command(
    OUTPUT ${jar}
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${classes}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${classes} ${CMAKE_BINARY_DIR}/share/jprof
    COMMAND ${JPROF_JDK}/bin/javac --release 17 -Xlint:all -Werror ${found} -d ${classes} ${arg_UNPARSED_ARGUMENTS}
    COMMAND ${JPROF_JDK}/bin/jar --create --file ${jar} -C ${classes} . ${resources}
    DEPENDS ${arg_UNPARSED_ARGUMENTS}
    COMMENT "Building ${name}.jar"
    VERBATIM)
  add_custom_target(${name}.jar ALL DEPENDS ${jar})
  install(FILES ${jar} DESTINATION ${CMAKE_INSTALL_DATADIR}/jprof)
endfunction()
