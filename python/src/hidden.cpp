// SPDX-License-Identifier: BSD-3-Clause
// The linker gold exports a weak function that libstdc++ has too, whatever the map of exports says.
// Named as hidden once, it is hidden in all objects.
__asm__(
    ".pushsection .data.rel.hidden_names,\"aw\"\n"
    ".hidden _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_appendEPKcm\n"
    ".quad _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_appendEPKcm\n"
    ".popsection");
