"""Products of choices of which the README's command runs as many combinations as show each choice
once, in any one place that handles it; and questions asked of every estimator that one place
answers for all, of which it asks each of a third of them.

The other combinations of these functions say little more, and run with what takes minutes. Which
are left hangs on the name of the function, so that functions of one file see different ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any
from zlib import crc32

import pytest

EACH_ONCE = {
    "tests/cli/test_missing.py": ("test_fit_and_predict",),
    "tests/cli/test_number_found.py": (
        "test_rows_that_belong_nowhere_come_out_of_predict",
        "test_the_number_is_found",
    ),
    "tests/cli/test_other_columns.py": ("test_names_of_rows_come_first",),
    "tests/cli/test_stream_resume.py": (
        "test_a_row_out_of_range_does_not_end_a_stream",
        "test_killed_and_resumed_is_as_if_nothing_had_happened",
    ),
    "tests/data/files/test_arrow_stream.py": ("test_bits_of_the_rows",),
    "tests/data/files/test_damaged_members.py": ("test_a_bit",),
    "tests/data/files/test_refused.py": (
        "test_shapes_that_are_none",
        "test_wrong_weights",
    ),
    "tests/data/files/test_same_rows.py": (
        "TestEveryFormat::test_all_of_them",
        "TestEveryFormat::test_blocks_anywhere_from_many_threads",
        "TestEveryFormat::test_columns_and_a_weight",
        "TestEveryFormat::test_one_after_the_other_from_many_threads",
        "TestEveryFormat::test_some_rows",
        "TestEveryFormat::test_the_type_that_is_asked_for",
    ),
    "tests/data/test_addresses.py": ("test_a_name_is_taken_to_the_letter",),
    "tests/data/test_damaged_rows.py": ("test_fit_refuses_and_names_x",),
    "tests/data/test_narrow_rows.py": ("test_they_are_clustered_wherever_they_are",),
    "tests/engines/test_dask.py": (
        "test_missing_values",
        "test_sizes_between_bounds_are_those_of_rows_in_memory",
        "test_the_same_start_ends_at_the_same_clusters",
    ),
    "tests/engines/test_dask_covariances.py": ("test_noise_and_holes_are_those_of_memory",),
    "tests/estimators/test_adaptive.py": (
        "test_clusters_beside_rows_that_coincide",
        "test_every_sweep_is_the_naive_one",
        "test_features_brought_to_ten_inside",
        "test_landmarks_that_span_everything_are_the_plain_space",
        "test_starts_by_name_that_need_no_pilot",
        "test_weights_are_copies_to_the_naive_twin_too",
    ),
    "tests/estimators/test_against_naive.py": (
        "test_a_run_in_other_array_libraries",
        "test_a_run_is_that_of_the_loops",
        "test_a_run_that_makes_its_rows_again",
    ),
    "tests/estimators/test_changed_rows.py": ("test_clusters_stay_the_same",),
    "tests/estimators/test_embedding.py": ("test_scikit_learn_check",),
    "tests/estimators/test_equivalences.py": (
        "test_all_rows_as_landmarks_are_the_exact_space",
        "test_gradients_do_not_wander_where_landmarks_are_nearly_redundant",
    ),
    "tests/estimators/test_far_rows.py": ("test_a_far_row_changes_no_cluster_and_is_an_outlier",),
    "tests/estimators/test_finding.py": (
        "test_a_fit_answers_for_its_own_rows",
        "test_copies_are_weights_and_only_ratios_of_weights_count",
        "test_rows_of_weight_zero_are_labelled_and_do_not_count",
        "test_rows_that_are_all_equal",
        "test_the_origin_does_not_matter",
        "test_threads_change_no_bit",
        "test_two_rows",
        "test_units_do_not_matter",
    ),
    "tests/estimators/test_gaussian_mixture.py": ("test_the_objective_never_rises",),
    "tests/estimators/test_mixed_scales.py": (
        "test_tight_clusters_beside_a_far_one_are_told_apart_without_alarm",
        "test_two_clusters_and_a_far_one",
    ),
    "tests/estimators/test_mixtures_of_incomplete_rows.py": ("test_it_is_the_naive_mixture",),
    "tests/estimators/test_mixtures_with_noise.py": ("test_it_is_the_naive_mixture",),
    "tests/estimators/test_modularity_clustering.py": ("test_weights_are_copies",),
    "tests/estimators/test_precomputed_graph.py": (
        "test_features_are_the_leading_eigenvectors_of_the_dense_graph",
    ),
    "tests/estimators/test_properties.py": (
        "test_a_seed_gives_the_same_bits_for_any_number_of_threads_and_any_memory",
        "test_a_weight_of_k_is_k_copies_for_a_given_start",
        "test_a_weight_of_k_is_k_copies_in_any_order_whatever_is_drawn",
        "test_all_rows_as_landmarks_are_exact",
        "test_blocks_of_any_size_give_the_same",
        "test_rows_of_no_weight_change_nothing_but_are_labelled",
        "test_rows_sum_to_one",
        "test_statistics_of_two_halves_merge_into_those_of_the_whole",
        "test_the_objective_never_rises",
        "test_the_order_of_rows_does_not_matter_for_a_given_start",
    ),
    "tests/estimators/test_stretched_cmeans.py": (
        "test_csr_rows_are_as_dense_ones",
        "test_files_are_as_memory",
    ),
    "tests/fitting/test_empty_rows.py": (
        "test_files",
        "test_rows_of_any_form",
    ),
    "tests/fitting/test_errors.py": (
        "test_indefinite_kernels",
        "test_nan_and_infinity_are_shown",
        "test_new_rows_too_large_to_square",
        "test_nothing_is_said_of_a_good_fit",
        "test_only_the_ratios_of_weights_matter",
        "test_starts_that_cannot_be_are_refused",
        "test_the_least_budget_is_named_and_does",
        "test_weights_that_cannot_be_are_refused",
    ),
    "tests/fitting/test_fitted_attributes.py": (
        "test_a_fit_answers_for_its_own_rows",
        "test_a_refit_with_other_words_is_a_fresh_fit",
        "test_distances_follow_from_dual_coef",
        "test_every_attribute",
        "test_every_attribute_of_models_that_find_their_number",
        "test_every_attribute_of_streams",
        "test_fewer_distinct_rows_than_clusters_make_fewer_clusters",
        "test_fits_that_answer_at_once",
        "test_history_starts_at_the_start_and_ends_at_the_result",
        "test_labels_memberships_and_objective_agree",
        "test_one_cluster_is_the_mean",
        "test_representatives",
    ),
    "tests/fitting/test_init.py": (
        "test_arrays_of_any_library",
        "test_centres_that_are_equal_are_not_parted_by_rounding",
        "test_drawn_starts_are_different_rows",
        "test_labels_are_one_hot_memberships",
        "test_names",
        "test_rows_by_number_are_the_points_themselves",
    ),
    "tests/fitting/test_joined_rows.py": ("test_the_same_fit_of_fewer_rows",),
    "tests/fitting/test_kernel_width.py": ("test_every_kind_of_array_gives_the_same",),
    "tests/fitting/test_masked.py": ("test_a_mask_that_hides_nothing_is_no_matter",),
    "tests/fitting/test_memory.py": ("test_row_visits_are_about_as_many_as_are_told",),
    "tests/fitting/test_missing.py": (
        "test_a_model_says_the_same_of_its_rows",
        "test_files",
        "test_sweeps_are_those_of_the_naive_loop",
        "test_without_holes_it_is_the_plain_fit_to_the_bit",
    ),
    "tests/fitting/test_numbering.py": ("test_a_start_keeps_its_numbers",),
    "tests/fitting/test_refits.py": ("test_a_refit_that_fails_changes_nothing",),
    "tests/fitting/test_scaling.py": (
        "test_it_is_the_fit_of_scaled_rows_in_the_users_units",
        "test_new_rows_are_measured_like_those_of_the_fit",
        "test_there_and_back",
    ),
    "tests/fitting/test_stored_fits.py": (
        "test_fits_are_those_in_memory",
        "test_landmarks_are_those_chosen_in_memory",
        "test_projected_gradients_are_those_in_memory",
        "test_samples_that_grow",
        "test_smaller_tasks_only_round_differently",
        "test_the_same_start_ends_at_the_same_clusters",
        "test_weights_in_the_file",
    ),
    "tests/fitting/test_stored_memory.py": ("test_weights_take_what_the_plan_says",),
    "tests/fitting/test_stored_questions.py": (
        "test_answers_about_files_are_those_about_arrays",
        "test_models_are_saved_and_loaded",
    ),
    "tests/fitting/test_stored_refusals.py": (
        "test_a_hole_in_the_middle_is_found",
        "test_while_fitting",
    ),
    "tests/fitting/test_told.py": (
        "test_against_the_naive_loop",
        "test_known_rows_keep_their_labels_and_clusters_their_numbers",
        "test_linked_rows_share_their_label",
    ),
    "tests/fitting/test_training_rows.py": (
        "test_a_row_does_not_care_about_its_neighbours",
        "test_answers_are_what_the_fit_stored_to_the_last_bit",
        "test_answers_in_another_array_library_are_what_the_fit_stored",
        "test_fit_predict_is_fit_and_predict",
    ),
    "tests/fitting/test_validation.py": (
        "test_a_callback_ends_a_fit",
        "test_a_callback_hears_every_sweep",
        "test_a_frame_is_its_values_with_names",
        "test_a_model_in_float64_takes_float32_rows_and_the_other_way_round",
        "test_a_square_precomputed_kernel",
        "test_arrays_of_other_libraries",
        "test_csr_equals_dense",
        "test_dense_rows_on_a_model_of_sparse_ones_and_the_other_way_round",
        "test_float32_of_other_libraries_stays",
        "test_float32_stays_float32",
        "test_memory_order_changes_nothing",
        "test_pickle_and_joblib",
        "test_rows_far_from_the_origin",
        "test_set_output",
    ),
    "tests/fitting/test_views.py": (
        "test_estimators",
        "test_sweeps_of_few_and_many_columns",
    ),
    "tests/fuzz/test_found.py": (
        "TestModelFiles::test_attributes_of_another_type",
        "TestRows::test_more_rows_than_a_batch_has_bytes",
    ),
    "tests/graphs/test_pieces.py": ("test_no_set_of_centres_costs_less",),
    "tests/graphs/test_spanning_tree.py": (
        "test_many_rows_join_as_all_pairs_do_for_any_number_of_threads",
        "test_the_tree_is_the_one_of_all_pairs",
        "test_weights_are_copies",
    ),
    "tests/kernels/test_against_naive.py": ("test_block",),
    "tests/kernels/test_scales.py": (
        "test_callable_kernels",
        "test_callable_kernels_of_single_precision",
        "test_errors_name_the_kernel_and_the_range_of_its_values",
        "test_kernel_matrices",
        "test_projections_of_streams",
    ),
    "tests/landmarks/test_count.py": (
        "test_every_kernel",
        "test_partitions_are_told_apart_to_tol",
    ),
    "tests/metrics/test_indices.py": ("test_a_weight_is_a_number_of_copies",),
    "tests/metrics/test_validity.py": (
        "test_against_the_full_kernel",
        "test_memberships_of_any_library",
        "test_rows_of_any_library",
    ),
    "tests/papers/test_histograms.py": (
        "test_blocks_of_values_are_those_of_the_loops",
        "test_counts_as_integers",
        "test_estimators_find_the_clusters",
        "test_points_in_another_precision",
    ),
    "tests/papers/test_kpkm.py": (
        "test_an_interrupt_leaves_the_centres_so_far_and_no_rows",
        "test_downhill_to_a_fixed_point_that_no_single_move_improves",
        "test_from_a_symmetric_start_rounding_chooses_nothing",
        "test_iterates_are_those_of_the_dense_projection",
        "test_labels_are_the_largest_memberships_also_where_it_is_cut_short",
    ),
    "tests/papers/test_patches.py": (
        "test_a_tree_is_the_twins",
        "test_every_form_and_dtype_gives_the_patches_of_dense_float64",
        "test_fit_is_the_same_chain",
        "test_points_are_rows_and_shares_are_even",
    ),
    "tests/papers/test_printed.py": ("test_the_largest_change_of_a_membership_over_many_blocks",),
    "tests/papers/test_sequential.py": (
        "test_a_run_is_the_naive_one",
        "test_the_scale_of_a_row",
    ),
    "tests/papers/test_wavelets.py": (
        "test_blocks_of_values_are_those_of_the_loops",
        "test_in_one_piece_and_points_in_another_precision",
        "test_rows_are_left_as_they_were",
        "test_symmetric_one_on_the_diagonal_and_between_zero_and_one",
    ),
    "tests/persistence/test_model_file.py": (
        "test_a_model_read_is_the_model_written",
        "test_deep_nesting",
        "test_numbers_that_are_none",
        "test_precomputed_kernels",
    ),
    "tests/persistence/test_parameters.py": ("test_loading_refuses_what_a_fit_refuses",),
    "tests/persistence/test_pipelines.py": ("test_transformers_of_numbers",),
    "tests/rules/test_entropy.py": ("test_fits_stop_where_the_objective_is_no_measure",),
    "tests/rules/test_noise_fuzzy.py": (
        "test_clusters_that_lie_alone_are_not_noise",
        "test_stray_rows_keep_no_centre",
        "test_streams",
        "test_the_objective_of_a_stream_holds_what_noise_has_cost",
        "test_what_a_model_says_of_rows",
    ),
    "tests/rules/test_polynomial_fuzzy.py": (
        "test_fits_are_naive",
        "test_the_objective_never_rises",
    ),
    "tests/rules/test_truncated.py": (
        "test_sums_and_the_last_pass",
        "test_the_nearest_are_those_of_brute_force",
    ),
    "tests/sampling/test_kmeans_parallel.py": ("test_every_kind_of_array",),
    "tests/sampling/test_many_rows.py": ("test_many_are_as_far_apart",),
    "tests/sampling/test_proposals.py": ("test_distances_and_potentials_are_those_of_the_formula",),
    "tests/solvers/test_anderson.py": (
        "test_a_tol_within_reach_is_reached",
        "test_given_starts_are_followed",
        "test_single_precision_ends_there_as_far_as_it_can",
    ),
    "tests/solvers/test_checkpoints.py": (
        "TestRefused::test_damage",
        "test_what_is_broken_off_goes_on_to_the_same_bits",
    ),
    "tests/solvers/test_search.py": (
        "test_any_number_of_threads_gives_the_same_bits",
        "test_streams_search_on_their_first_rows",
    ),
    "tests/solvers/test_sizes.py": (
        "test_every_space",
        "test_hard_fits_are_those_of_loops",
        "test_the_cost_is_the_least_to_the_gap_and_bounds_hold",
    ),
    "tests/spaces/test_whiteners.py": (
        "test_a_few_pairs_of_an_indefinite_matrix_are_those_of_the_whole_spectrum",
        "test_it_cuts_a_few_directions_as_eigenpairs_do",
    ),
    "tests/storage/test_failing_disk.py": ("test_a_step_that_fails",),
    "tests/storage/test_overwriting.py": ("TestPredictTo::test_rows_are_not_written_over",),
    "tests/storage/test_row_writer.py": ("TestFitPredictTo::test_it_is_a_fit_and_then_predict_to",),
    "tests/streaming/test_checkpoints.py": ("test_kernels_from_outside_go_on_too",),
    "tests/streaming/test_input.py": (
        "test_a_chunk_that_is_refused_leaves_everything_as_it_was",
        "test_bad_weights_are_refused",
        "test_bad_words_are_refused_and_those_that_are_known_named",
        "test_fallen_centres_are_complained_of",
        "test_later_chunks_may_be_of_any_size",
    ),
    "tests/streaming/test_known_labels.py": (
        "test_clusters_take_the_numbers_of_labels_whenever_they_come",
    ),
    "tests/streaming/test_properties.py": (
        "test_chunks_of_every_form_give_the_stream_of_dense_ones",
        "test_float32_stays_float32",
    ),
    "tests/streaming/test_states.py": (
        "test_a_damaged_stream_is_refused",
        "test_a_stream_goes_on_where_it_stopped",
    ),
    "tests/streaming/test_streams.py": (
        "test_both_methods_are_one_where_every_chunk_spans_everything",
        "test_chunks_are_those_of_the_twin",
        "test_l1_ends_near_the_others",
        "test_one_chunk_of_all_rows_is_exact",
    ),
    "tests/sweeps/test_nearest.py": (
        "test_labels_are_those_of_brute_force",
        "test_sweeps_after_one_another",
    ),
    "tests/sweeps/test_prices.py": (
        "test_masses_and_couplings",
        "test_sweeps_and_last_passes_agree",
    ),
    "tests/test_policies.py": ("test_orders",),
    "tests/tuning/test_fuzzifier.py": (
        "test_m_is_that_of_the_data_whatever_the_space_and_the_seed",
        "test_more_clusters_of_wines_than_there_are_kinds_do_not_coincide",
        "test_no_collapse_on_real_data",
        "test_on_real_data_the_automatic_m_is_as_good_as_the_table_says",
        "test_the_formula_is_the_naive_one",
    ),
}

# What they ask is done in a place that estimators, streams or forms of rows share. Each function of
# these files, and each that is named, is run for a third of them, drawn by its name, so that each
# of them meets a third of the functions.
A_THIRD = {
    "tests/cli/test_choosing.py::test_tables_with_blanks_and_categories",
    "tests/cli/test_choosing.py::test_the_rows_say_how_many",
    "tests/cli/test_covariances.py::test_covariances_of_other_methods",
    "tests/cli/test_known_labels.py::test_linked_rows_share_a_cluster",
    "tests/cli/test_number_found.py::test_rows_that_belong_nowhere_come_out_of_predict",
    "tests/cli/test_stream.py::TestRows::test_files",
    "tests/cli/test_stream.py::TestRows::test_whatever_rows_look_like",
    "tests/cli/test_stream_resume.py::test_killed_and_resumed_is_as_if_nothing_had_happened",
    "tests/contracts/test_rules.py",
    "tests/contracts/test_spaces.py",
    "tests/contracts/test_sweeps.py",
    "tests/data/test_narrow_rows.py::test_every_estimator_clusters_them_as_float32",
    "tests/data/test_narrow_rows.py::test_no_copy_of_all_rows_is_made",
    "tests/engines/test_dask.py::test_drawn_starts",
    "tests/engines/test_dask.py::test_known_labels_of_rows_on_workers",
    "tests/engines/test_dask.py::test_nothing_of_the_size_of_the_rows_comes_here",
    "tests/engines/test_dask.py::test_the_rest_of_the_family_finds_the_same",
    "tests/engines/test_dask.py::test_the_same_start_ends_at_the_same_clusters",
    "tests/engines/test_dask_connected.py::test_pieces_are_those_of_the_rows_in_memory",
    "tests/engines/test_dask.py::test_weights_and_known_labels_of_dask_stay_there",
    "tests/engines/test_dask_covariances.py::test_second_moments_are_sums_like_others",
    "tests/engines/test_dask_streams.py",
    "tests/engines/test_serial.py",
    "tests/estimators/test_adaptive.py::test_all_landmarks_and_a_precomputed_kernel_are_the_exact_space",
    "tests/estimators/test_adaptive.py::test_every_sweep_is_the_naive_one",
    "tests/estimators/test_adaptive.py::test_starts_by_name",
    "tests/estimators/test_connectivity_clustering.py::test_predict_is_the_fit_in_every_partition",
    "tests/estimators/test_equivalences.py::test_all_rows_as_landmarks_are_the_exact_space",
    "tests/estimators/test_far_rows.py::test_a_far_row_changes_no_cluster_and_is_an_outlier",
    "tests/estimators/test_finding.py",
    "tests/estimators/test_finding.py::test_a_fit_answers_for_its_own_rows",
    "tests/estimators/test_finding.py::test_csr_equals_dense",
    "tests/estimators/test_finding.py::test_the_order_of_rows_does_not_matter",
    "tests/estimators/test_finding.py::test_units_do_not_matter",
    "tests/estimators/test_gaussian_mixture.py::test_threads_change_no_bit",
    "tests/estimators/test_landmark_graph.py::test_estimators_and_their_files",
    "tests/estimators/test_landmark_graph.py::test_rows_of_any_form",
    "tests/estimators/test_mixture_as_a_peer.py::test_every_sweep_raises_the_likelihood",
    "tests/estimators/test_mixture_as_a_peer.py::test_fit_predict_is_fit_and_predict",
    "tests/estimators/test_mixture_as_a_peer.py::test_more_starts_are_no_worse",
    "tests/estimators/test_mixture_as_a_peer.py::test_the_best_of_clear_starts_is_any_of_them",
    "tests/estimators/test_mixture_of_tables.py::test_weights_are_copies",
    "tests/estimators/test_mixtures_of_hard_rows.py::test_every_kind_of_rows_fits_or_says_why",
    "tests/estimators/test_mixtures_of_incomplete_rows.py::test_the_objective_never_rises",
    "tests/estimators/test_mixtures_with_noise.py::test_noise_beside_incomplete_rows_is_naive",
    "tests/estimators/test_modularity_clustering.py::test_weights_are_copies",
    "tests/estimators/test_properties.py",
    "tests/estimators/test_stretched_cmeans.py::test_the_objective_never_rises_and_rows_are_predicted",
    "tests/fitting/test_empty_rows.py::test_a_fit_is_that_of_the_other_rows",
    "tests/fitting/test_empty_rows.py::test_new_rows_are_told_apart_in_every_answer",
    "tests/fitting/test_errors.py",
    "tests/fitting/test_fitted_attributes.py",
    "tests/fitting/test_kernel_width.py",
    "tests/fitting/test_kernel_width.py::test_every_kind_of_array_gives_the_same",
    "tests/fitting/test_kernel_width_of_changed_rows.py::test_what_is_read_off_changed_rows",
    "tests/fitting/test_masked.py",
    "tests/fitting/test_memory.py",
    "tests/fitting/test_memory.py::test_a_fit_needs_no_more_than_is_told",
    "tests/fitting/test_missing.py",
    "tests/fitting/test_numbering.py",
    "tests/fitting/test_numbering.py::test_by_decreasing_mass_whatever_the_seed",
    "tests/fitting/test_out_of_range.py::test_what_a_stream_has_taken_does_not_end_it",
    "tests/fitting/test_refits.py",
    "tests/fitting/test_refits.py::test_a_first_fit_that_fails_leaves_nothing",
    "tests/fitting/test_stored_fits.py",
    "tests/fitting/test_stored_fits.py::test_stored_rows_have_the_labels_of_brute_force",
    "tests/fitting/test_stored_memory.py",
    "tests/fitting/test_stored_memory.py::test_weights_take_what_the_plan_says",
    "tests/fitting/test_stored_questions.py",
    "tests/fitting/test_stored_questions.py::test_answers_about_files_are_those_about_arrays",
    "tests/fitting/test_stored_refusals.py",
    "tests/fitting/test_together.py::test_a_pair_fits_or_is_refused_by_the_table",
    "tests/fitting/test_told.py",
    "tests/fitting/test_training_rows.py::test_answers_are_what_the_fit_stored_to_the_last_bit",
    "tests/fitting/test_training_rows.py::test_answers_in_another_array_library_are_what_the_fit_stored",
    "tests/fitting/test_training_rows.py::test_fit_predict_is_fit_and_predict",
    "tests/fitting/test_validation.py",
    "tests/fitting/test_views.py::test_estimators",
    "tests/fitting/test_views.py::test_kernels_and_landmarks",
    "tests/fitting/test_views.py::test_parts_of_sparse_rows",
    "tests/fitting/test_views.py::test_sweeps_of_few_and_many_columns",
    "tests/fuzz/test_found.py::TestModelFiles::test_communities_whose_parts_do_not_belong_together",
    "tests/fuzz/test_short.py::test_kills",
    "tests/graphs/test_pieces.py::test_no_set_of_centres_costs_less",
    "tests/graphs/test_spanning_tree.py::test_many_rows_join_as_all_pairs_do_for_any_number_of_threads",
    "tests/inspection/test_displays.py::test_overview",
    "tests/inspection/test_page_in_a_browser.py::test_pages_fit_and_can_be_read",
    "tests/inspection/test_report.py::test_every_kind_of_model",
    "tests/kernels/test_native_values.py::test_values_are_those_of_the_formula",
    "tests/kernels/test_scales.py",
    "tests/landmarks/test_certificate.py::test_the_true_cost_lies_between_the_bounds",
    "tests/landmarks/test_count.py::test_every_estimator",
    "tests/landmarks/test_count.py::test_the_same_seed_chooses_the_same_and_another_others",
    "tests/landmarks/test_count.py::test_where_not_all_rows_are_taken_there_are_enough",
    "tests/papers/test_kpkm.py::test_any_start",
    "tests/papers/test_kpkm.py::test_iterates_are_those_of_the_dense_projection",
    "tests/papers/test_kpkm.py::test_weights_are_copies_and_order_does_not_matter",
    "tests/papers/test_patches.py::test_a_chain_is_the_twins",
    "tests/papers/test_patches.py::test_a_tree_is_the_twins",
    "tests/papers/test_sequential.py::test_a_run_is_the_naive_one",
    "tests/papers/test_sequential.py::test_any_number_of_neighbours",
    "tests/papers/test_wavelets.py::test_estimators_find_the_digits",
    "tests/persistence/test_model_file.py",
    "tests/persistence/test_parameters.py::test_loading_refuses_what_a_fit_refuses",
    "tests/rules/test_entropy.py::test_annealing_few_rows",
    "tests/rules/test_entropy.py::test_annealing_is_no_worse_than_the_start",
    "tests/rules/test_noise_fuzzy.py::test_one_column",
    "tests/rules/test_noise_fuzzy.py::test_what_a_model_says_of_rows",
    "tests/rules/test_truncated.py",
    "tests/runtime/test_progress_bar.py::test_fits_draw_where_they_are_verbose",
    "tests/sampling/test_kmeans_parallel.py::test_fits_have_the_same_bits_whatever_threads_and_memory",
    "tests/selection/test_select.py::test_blobs",
    "tests/selection/test_select.py::test_columns_that_are_no_clouds_have_no_clusters",
    "tests/selection/test_select.py::test_one_cloud_is_one_cluster",
    "tests/selection/test_select.py::test_other_evidence",
    "tests/selection/test_stability.py::test_true_clusters_come_again",
    "tests/solvers/test_anderson.py::test_a_refused_mixture_repeats_the_value_before_and_leaves_the_centres",
    "tests/solvers/test_anderson.py::test_given_starts_are_followed",
    "tests/solvers/test_anderson.py::test_it_takes_fewer_sweeps_in_all",
    "tests/solvers/test_anderson.py::test_streams_mix_with_what_they_carry",
    "tests/solvers/test_checkpoints.py::TestRefused::test_every_fit_knows_its_rows_and_weights",
    "tests/solvers/test_checkpoints.py::TestRefused::test_other_rows_anywhere",
    "tests/solvers/test_checkpoints.py::test_checkpoints_change_no_bit_of_a_fit",
    "tests/solvers/test_checkpoints.py::test_what_is_broken_off_goes_on_to_the_same_bits",
    "tests/solvers/test_scale_path.py::test_clusters_in_many_columns",
    "tests/solvers/test_search.py::test_a_search_goes_on_from_a_checkpoint",
    "tests/solvers/test_search.py::test_few_rows",
    "tests/solvers/test_search.py::test_few_rows_are_parted_as_well_as_can_be",
    "tests/solvers/test_search.py::test_it_finds_what_starts_miss",
    "tests/solvers/test_sizes.py::test_the_cost_is_the_least_to_the_gap_and_bounds_hold",
    "tests/spaces/test_spherical.py::test_fits_are_those_of_the_naive_twin",
    "tests/storage/test_row_writer.py::TestFitPredictTo::test_it_is_a_fit_and_then_predict_to",
    "tests/streaming/test_checkpoints.py",
    "tests/streaming/test_checkpoints.py::test_other_rows",
    "tests/streaming/test_input.py",
    "tests/streaming/test_properties.py",
    "tests/streaming/test_states.py::test_arrays_of_other_shapes_and_values_do_no_harm",
    "tests/streaming/test_states.py::test_fields_that_are_missing_or_of_another_kind_do_no_harm",
    "tests/streaming/test_states.py::test_memory_does_not_grow_with_the_stream",
    "tests/streaming/test_states.py::test_nothing_hangs_on_the_random_state_of_the_day",
    "tests/streaming/test_states.py::test_stopping_after_every_chunk_changes_nothing",
    "tests/test_policies.py",
}
# what their parameter is called; of a function that is named, it is the first
ASKED = ("name", "estimator", "model_name", "given", "d2")


def left_out(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Return the tests that repeat, of the functions in the table; a test that is asked for by its
    own name is the only one of its function, and none of them."""
    groups = defaultdict[str, list[pytest.Item]](list)
    for item in items:
        if not item.get_closest_marker("minutes"):
            groups[item.nodeid.partition("[")[0]].append(item)
    found = list[pytest.Item]()
    for name, group in groups.items():
        file, _, function = name.partition("::")
        if A_THIRD & {file, name}:
            others = of_other_estimators(name, group)
            found += others
            group = [item for item in group if item not in others]
        if function in EACH_ONCE.get(file, ()):
            found += repeats(name, group)
    return found


def of_other_estimators(name: str, group: list[pytest.Item]) -> list[pytest.Item]:
    """Return the tests of two thirds of the estimators, where there are four or more, or of two
    thirds of what a function that is named is asked of, where that is three or more."""
    words = list(_params(group[0]))
    named = words[:1] if name in A_THIRD else [word for word in words if word in ASKED]
    if len(named) != 1:
        return []
    own = {item: _said(_params(item)[named[0]]) for item in group}
    every = list(dict.fromkeys(own.values()))
    if len(every) < (3 if name in A_THIRD else 4):
        return []
    kept = every[crc32(name.encode()) % 3 :: 3]
    return [item for item in group if own[item] not in kept]


def repeats(name: str, group: list[pytest.Item]) -> list[pytest.Item]:
    """Return what is left of a group when every choice has been met: next is always the test of
    most choices that were not, the first from a place on that the name draws."""
    first = crc32(name.encode()) % len(group)
    left = group[first:] + group[:first]
    choices = {item: _choices(item) for item in group}
    missing = set().union(*choices.values())
    while missing:
        best = max(left, key=lambda item: len(choices[item] & missing))
        missing -= choices[best]
        left.remove(best)
    return left


def _choices(item: pytest.Item) -> set[tuple[str, str]]:
    return {(word, _said(value)) for word, value in _params(item).items()}


_SAID: dict[int, tuple[object, str]] = {}  # the values stay, and so do their numbers


def _said(value: object) -> str:
    """Return the text of a value that many tests share, made once."""
    if id(value) not in _SAID:
        _SAID[id(value)] = value, repr(value)
    return _SAID[id(value)][1]


def _params(item: pytest.Item) -> dict[str, Any]:
    return item.callspec.params if hasattr(item, "callspec") else {}
