# SPDX-License-Identifier: Apache-2.0
if(ZLIB_FOUND)
  set(scene_libraries PkgConfig::ZLIB)
else()
  set(scene_skip "zlib was not found (Debian: zlib1g-dev)")
endif()
# The loops of the kernels and of their serial counterpart are worth vectors in every build.
set_source_files_properties(${dir}/kernels.c ${dir}/serial.c PROPERTIES COMPILE_OPTIONS -O3)
