# SPDX-License-Identifier: BSD-3-Clause
# What ctest is told of tests, by name: what they cost, and which of them are quick.
include_guard(GLOBAL)

# Processor seconds, from 5 on, on two cores, and how many cores the test keeps busy for most of its time.
# scripts/test_costs.py writes this table.
set(costs)
set_property(GLOBAL PROPERTY ISO_TEST_COSTS ";${costs};")

# Label `quick`: some of every area, which take a minute on two cores together.
set_property(
  GLOBAL
  PROPERTY
    ISO_QUICK_TESTS
      core
      reproducible
      lane_group
      lane_values
      registry
      ray_traverse
      ray_sort
      entry_table
      line_integrals
      centre_of_rotation
      scans
      dose_calculator
      dose_density
      dvh_structure
      gamma_oracle
      sparse_formats
      sparse_plan
      sparse_contract
      spmv_ranks_2
      synthetic_instance
      strict_numerics
      parity_quick
      app_geometry_file
      app_plan_file
      app_sweep_file
      app_text
      app_volume_file
      app_many_processors
      install_package
      install_license
      compile_fail_fast_math_wrong
      compile_fail_fast_math_right
      docs_determinism_table
      docs_pages
      scripts_arguments
      public_headers
      example_first_projection
      example_one_projection
      example_user_kernel
)
