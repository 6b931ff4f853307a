# SPDX-License-Identifier: BSD-3-Clause
# What ctest is told of tests, by name: what they cost, and which of them are quick.
include_guard(GLOBAL)

# Seconds, from 5 on, on two cores, and how many cores the test keeps busy for most of its time.
# scripts/test_costs.py writes this table.
set(
  costs
  "ranks_tool 110 2"
  "app_command_line 74 1"
  "app_sweep_command 38 1"
  "ranks_plan_tool 35 2"
  "parity 34 1"
  "ranked_3 29 2"
  "app_interruption 25 1"
  "fdk 23 1"
  "streamed 22 1"
  "app_matrix_command 21 1"
  "docs_commands_data 21 1"
  "app_iterative_command 19 1"
  "back_project 19 1"
  "iterative 19 1"
  "ranked_2 18 2"
  "slabs 18 1"
  "app_scans_command 17 1"
  "app_dvh_command 16 1"
  "forward_project 16 1"
  "ranks_ends 15 1"
  "instruction_sets 12 1"
  "app_memory 11 1"
  "docs_commands 11 1"
  "dose_convolution 11 1"
  "dose_energy_bins 11 1"
  "ranks_memory 11 1"
  "app_reconstruct_command 10 1"
  "app_scratch 10 1"
  "install_files 10 1"
  "app_jobs 9 1"
  "app_low_dose_chest 9 1"
  "scripts_new_operation 9 1"
  "app_gamma_command 8 1"
  "dose_engines 8 1"
  "example_chest_ct_scan 8 1"
  "ranked_plan_3 8 2"
  "ray_degenerate 8 1"
  "scripts_python_modules 8 1"
  "app_dose_command 7 1"
  "app_info_command 7 1"
  "app_large_files 7 1"
  "app_placement 7 1"
  "app_reconstruct 7 1"
  "app_reconstruct_weights 7 1"
  "app_repeats 7 1"
  "docs_readme_steps 7 1"
  "dvh_dose_volume 7 1"
  "example_chest_ct_tissues 7 1"
  "install_plain_flags 7 1"
  "install_speed 7 1"
  "sparse_asked_jobs 7 1"
  "synthetic_pencil_beams 7 1"
  "app_atomic_file 6 1"
  "app_flipped_bits 6 1"
  "app_manual 6 1"
  "app_sart_paper 6 1"
  "app_sweep_report 6 1"
  "dose_flat_field 6 1"
  "dose_oblique 6 1"
  "dose_symmetries 6 1"
  "gamma_oracle 6 1"
  "install_other_flags 6 1"
  "math 6 1"
  "parity_quick 6 1"
  "ranked_1 6 1"
  "ray_degenerate_backends 6 1"
  "app_dicom_command 5 1"
  "dose_depth 5 1"
  "synthetic_matrix_figures 5 1"
)
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
