# SPDX-License-Identifier: MIT
# find_package(RemoraTracer) reads this file. RemoraTracer::tracer is the library for kernels in the lower 2 GiB
# (-mcmodel=small), RemoraTracer::tracer-kernel the one for the upper 2 GiB (-mcmodel=kernel).
foreach(remora_name tracer tracer-kernel)
  if(NOT TARGET RemoraTracer::${remora_name})
    add_library(RemoraTracer::${remora_name} STATIC IMPORTED)
    set_target_properties(RemoraTracer::${remora_name} PROPERTIES
      IMPORTED_LOCATION "@PREFIX@/@LIBDIR@/libremora-${remora_name}.a"
      INTERFACE_INCLUDE_DIRECTORIES "@PREFIX@/include/remora-tracer")
  endif()
endforeach()
unset(remora_name)
