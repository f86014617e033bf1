# The Debian package: run `cpack` in a build directory. scripts/package-test tests it.
set(JPROF_MAINTAINER "The jprof developers <jprof@localhost>" CACHE STRING "Maintainer of the Debian package")
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME jprof)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT ${JPROF_MAINTAINER})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "call-tree profiler for Java programs")
set(CPACK_PACKAGE_DESCRIPTION
"Records every entry and exit of every Java method at the speed of compiled
code, and subtracts its own overhead from the results. It also samples the
stacks of a JVM or the whole machine, and counts events per thread.
The command jprof doctor checks what works on a machine.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "default-jdk-headless | java17-sdk-headless, libcurl4")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "bash-completion, man-db")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# Debian's files about a package.
set(package_files ${CMAKE_BINARY_DIR}/package)
string(TIMESTAMP package_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${package_files}/changelog
"jprof (${PROJECT_VERSION}) unstable; urgency=medium

  * See CHANGELOG.md in this directory.

 -- ${CPACK_PACKAGE_CONTACT}  ${package_date}
")
file(WRITE ${package_files}/copyright
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: jprof

Files: *
Copyright: 2026 the jprof developers
License: Apache-2.0
 On Debian systems the text of this license is in
 /usr/share/common-licenses/Apache-2.0.
")
file(WRITE ${package_files}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${package_files}/triggers)
find_program(JPROF_GZIP gzip)
if(JPROF_GZIP)
  execute_process(COMMAND ${JPROF_GZIP} -9nf changelog WORKING_DIRECTORY ${package_files})
  install(FILES ${package_files}/changelog.gz DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()
install(FILES ${package_files}/copyright README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")
include(CPack)
