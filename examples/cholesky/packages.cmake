# SPDX-License-Identifier: Apache-2.0
# The pthread build of OpenBLAS by name: the scene sets it to one thread, as tasks
# are the parallelism here.  Debian's serial build has no locks, so calls from
# several cores at once may get the same work buffer and compute wrong results.
file(GLOB openblas_include /usr/include/*/openblas-pthread /usr/local/include/openblas-pthread)
file(GLOB openblas_library /usr/lib/*/openblas-pthread/libopenblas.so
     /usr/local/lib/openblas-pthread/libopenblas.so)
if(openblas_include AND openblas_library)
  list(GET openblas_include 0 openblas_include)
  list(GET openblas_library 0 openblas_library)
  set(scene_libraries ${openblas_library})
  set_source_files_properties(${dir}/cholesky.c ${dir}/matrix.c PROPERTIES
                              INCLUDE_DIRECTORIES ${openblas_include})
else()
  set(scene_skip "OpenBLAS with pthreads was not found (Debian: libopenblas-pthread-dev)")
endif()
