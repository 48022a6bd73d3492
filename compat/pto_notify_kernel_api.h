// SPDX-License-Identifier: Apache-2.0
#error "SDMA and other transfer engines are not simulated: docs/porting.md has what is instead"
