# SPDX-License-Identifier: BSD-3-Clause
# What ctest is told of tests, by name: what they cost, and which of them are quick.
include_guard(GLOBAL)

# Seconds, from 5 on, on two cores, and how many cores the test keeps busy for most of its time.
# scripts/test_costs.py writes this table.
set(
  costs
  "app_command_line 100 1"
  "parity 53 1"
  "fdk 40 1"
  "app_sweep_command 37 1"
  "instruction_sets 28 1"
  "iterative 28 1"
  "app_dvh_command 26 1"
  "app_scans_command 25 1"
  "back_project 25 1"
  "app_interruption 24 1"
  "dose_energy_bins 22 1"
  "ranks_tool 22 2"
  "forward_project 21 1"
  "install_files 21 1"
  "sparse_asked_jobs 21 1"
  "ray_degenerate 20 1"
  "dose_convolution 19 1"
  "scripts_python_modules 19 1"
  "app_reconstruct_command 18 1"
  "ranked_2 18 2"
  "app_reconstruct_weights 17 1"
  "install_other_flags 17 1"
  "ranked_3 17 2"
  "slabs 17 1"
  "ray_degenerate_backends 16 1"
  "app_iterative_command 15 1"
  "app_low_dose_chest 15 1"
  "docs_readme_steps 15 1"
  "streamed 15 1"
  "app_scratch 14 1"
  "app_memory 13 1"
  "example_chest_ct_tissues 13 1"
  "install_plain_flags 13 1"
  "install_speed 13 1"
  "synthetic_matrix_figures 13 1"
  "example_chest_ct_scan 12 1"
  "app_dose_command 11 1"
  "dvh_dose_volume 11 1"
  "install_clang 11 1"
  "install_find_package 11 1"
  "docs_commands_data 10 1"
  "dose_engines 10 1"
  "dose_oblique 10 1"
  "synthetic_pencil_beams 10 1"
  "app_gamma_command 9 1"
  "app_manual 9 1"
  "app_matrix_command 9 1"
  "app_sweep_report 9 1"
  "dose_symmetries 9 1"
  "math 9 1"
  "ranks_plan_tool 9 2"
  "scripts_new_operation 9 1"
  "app_info_command 8 1"
  "app_placement 8 1"
  "compile_fail_fast_math_wrong 8 1"
  "dose_flat_field 8 1"
  "ranked_plan_3 8 2"
  "app_large_files 7 1"
  "app_repeats 7 1"
  "app_sart_paper 7 1"
  "compile_fail_spmv_wrong_space_right 7 1"
  "app_atomic_file 6 1"
  "app_dicom_command 6 1"
  "app_flipped_bits 6 1"
  "app_jobs 6 1"
  "asked_jobs 6 1"
  "compile_fail_permutation_type_right 6 1"
  "compile_fail_spmv_wrong_space_wrong 6 1"
  "dose_depth 6 1"
  "dvh_bodies 6 1"
  "example_first_picture 6 1"
  "example_reconstruct_few_views 6 1"
  "gamma_oracle 6 1"
  "sparse_parity 6 1"
  "app_reconstruct 5 1"
  "app_sweep_file 5 1"
  "compile_fail_permutation_type_wrong 5 1"
  "dose_call 5 1"
  "ranked_1 5 1"
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
