# The page of the HTML view is built from the TypeScript here, by the versions of esbuild and the
# TypeScript compiler that package-lock.json pins, and is compiled into the library of the reports.
find_program(JPROF_NODE NAMES node nodejs REQUIRED)

set(view ${CMAKE_CURRENT_SOURCE_DIR}/view)
set(npm ${CMAKE_CURRENT_BINARY_DIR}/view/npm)  # node_modules and copies of the sources: the source directory stays as it is
file(GLOB_RECURSE view_sources CONFIGURE_DEPENDS ${view}/src/* ${view}/test/*)
add_custom_command(
  OUTPUT ${npm}/installed
  COMMAND ${CMAKE_COMMAND} -E make_directory ${npm}
  COMMAND ./install_packages ${npm}
  COMMAND ${CMAKE_COMMAND} -E copy package.json ${npm}
  COMMAND ${CMAKE_COMMAND} -E touch ${npm}/installed
  DEPENDS ${view}/package.json ${view}/package-lock.json ${view}/.npmrc ${view}/install_packages
  WORKING_DIRECTORY ${view}
  COMMENT "Installing esbuild and the TypeScript compiler"
  VERBATIM)
add_custom_command(
  OUTPUT ${npm}/build/view.html
  COMMAND ${CMAKE_COMMAND} -E copy_directory src ${npm}/src
  COMMAND ${CMAKE_COMMAND} -E copy_directory test ${npm}/test
  COMMAND ${CMAKE_COMMAND} -E copy tsconfig.json build.mjs ${npm}
  COMMAND ${JPROF_NODE} ${npm}/build.mjs ${npm}/build
  DEPENDS ${view_sources} ${view}/tsconfig.json ${view}/build.mjs ${npm}/installed
  WORKING_DIRECTORY ${view}
  COMMENT "Building the page of the HTML view"
  VERBATIM)

enable_language(ASM)
target_sources(jprof_reports PRIVATE ${view}/page_text.S)
set_source_files_properties(${view}/page_text.S PROPERTIES
  OBJECT_DEPENDS ${npm}/build/view.html
  COMPILE_DEFINITIONS "JPROF_VIEW_PAGE=\"${npm}/build/view.html\"")

if(JPROF_TESTS AND NOT JPROF_SANITIZE)
  add_test(NAME view.unit COMMAND ${JPROF_NODE} --test test/unit.mjs WORKING_DIRECTORY ${npm})
  set_tests_properties(view.unit PROPERTIES LABELS view TIMEOUT 120)
endif()
