# SPDX-License-Identifier: MIT
# CMake asks this file whether the installed version is new enough for find_package(RemoraTracer VERSION). A newer one
# does: REMORA_INTERFACE in remora_tracer.h says whether a declaration has changed its meaning.
set(PACKAGE_VERSION "@VERSION@")
if(NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
