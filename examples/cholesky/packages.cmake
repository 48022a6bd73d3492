# SPDX-License-Identifier: Apache-2.0
# The serial OpenBLAS by name: tasks are the parallelism here, and the threaded
# variant would start threads of its own below them.
file(GLOB openblas_serial_include /usr/include/*/openblas-serial /usr/local/include/openblas-serial)
file(GLOB openblas_serial_library /usr/lib/*/openblas-serial/libopenblas.so
     /usr/local/lib/openblas-serial/libopenblas.so)
if(openblas_serial_include AND openblas_serial_library)
  list(GET openblas_serial_include 0 openblas_serial_include)
  list(GET openblas_serial_library 0 openblas_serial_library)
  set(scene_libraries ${openblas_serial_library})
  set_source_files_properties(${dir}/cholesky.c ${dir}/matrix.c PROPERTIES
                              INCLUDE_DIRECTORIES ${openblas_serial_include})
else()
  set(scene_skip "the serial OpenBLAS was not found (Debian: libopenblas-serial-dev)")
endif()
