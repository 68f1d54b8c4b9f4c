"""Products of choices, of which the README's command runs as many combinations as show each choice
once; and questions asked of every estimator that one place answers for all, of which it asks each
of a fifth of them.

The other combinations say little more, and run with what takes minutes. Which are left hangs on the
name of the function, so that functions of one file see different ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from zlib import crc32

from sweep_choices import covering


class Call(Protocol):
    """What pytest calls a function with."""

    @property
    def params(self) -> Mapping[str, Any]: ...


# What they ask is done in a place that estimators, streams or forms of rows share. Each function of
# these files, and each that is named, is run for a fifth of them, drawn by its name, so that each
# of them meets a fifth of the functions.
A_FIFTH = {
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
    "tests/engines/test_dask.py::test_gradients_and_single_moves_beside_the_rows",
    "tests/engines/test_dask.py::test_known_labels_of_rows_on_workers",
    "tests/engines/test_dask.py::test_nothing_of_the_size_of_the_rows_comes_here",
    "tests/engines/test_dask.py::test_the_rest_of_the_family_finds_the_same",
    "tests/engines/test_dask.py::test_the_same_start_ends_at_the_same_clusters",
    "tests/engines/test_dask.py::test_weights_and_known_labels_of_dask_stay_there",
    "tests/engines/test_dask_connected.py::test_pieces_are_those_of_the_rows_in_memory",
    "tests/engines/test_dask_covariances.py::test_second_moments_are_sums_like_others",
    "tests/engines/test_dask_streams.py",
    "tests/engines/test_serial.py",
    "tests/estimators/test_adaptive.py::test_all_landmarks_and_a_precomputed_kernel_are_the_exact_space",
    "tests/estimators/test_adaptive.py::test_every_sweep_is_the_naive_one",
    "tests/estimators/test_adaptive.py::test_landmarks_that_span_everything_are_the_plain_space",
    "tests/estimators/test_adaptive.py::test_starts_by_name",
    "tests/estimators/test_adaptive.py::test_the_exact_space_of_inner_products_is_the_plain_space",
    "tests/estimators/test_changed_rows.py::test_clusters_stay_the_same",
    "tests/estimators/test_connectivity_clustering.py::test_predict_is_the_fit_in_every_partition",
    "tests/estimators/test_equivalences.py::test_all_rows_as_landmarks_are_the_exact_space",
    "tests/estimators/test_far_rows.py::test_a_far_row_changes_no_cluster_and_is_an_outlier",
    "tests/estimators/test_finding.py",
    "tests/estimators/test_finding.py::test_a_fit_answers_for_its_own_rows",
    "tests/estimators/test_finding.py::test_csr_equals_dense",
    "tests/estimators/test_finding.py::test_the_order_of_rows_does_not_matter",
    "tests/estimators/test_finding.py::test_units_do_not_matter",
    "tests/estimators/test_gaussian_mixture.py::test_columns_of_any_size_stand_beside_each_other",
    "tests/estimators/test_gaussian_mixture.py::test_random_rows_gain_on_a_sample_first",
    "tests/estimators/test_gaussian_mixture.py::test_threads_change_no_bit",
    "tests/estimators/test_landmark_graph.py::test_estimators_and_their_files",
    "tests/estimators/test_landmark_graph.py::test_rows_of_any_form",
    "tests/estimators/test_mixture_as_a_peer.py::test_every_sweep_raises_the_likelihood",
    "tests/estimators/test_mixture_as_a_peer.py::test_fit_predict_is_fit_and_predict",
    "tests/estimators/test_mixture_as_a_peer.py::test_more_starts_are_no_worse",
    "tests/estimators/test_mixture_as_a_peer.py::test_the_best_of_clear_starts_is_any_of_them",
    "tests/estimators/test_mixture_of_tables.py::test_weights_are_copies",
    "tests/estimators/test_mixtures_of_hard_rows.py::test_every_kind_of_rows_fits_or_says_why",
    "tests/estimators/test_mixtures_of_incomplete_rows.py::test_it_is_the_naive_mixture",
    "tests/estimators/test_mixtures_of_incomplete_rows.py::test_the_objective_never_rises",
    "tests/estimators/test_mixtures_with_noise.py::test_noise_beside_incomplete_rows_is_naive",
    "tests/estimators/test_modularity_clustering.py::test_weights_are_copies",
    "tests/estimators/test_precomputed_graph.py::test_a_cut_is_refined_on_the_graph",
    "tests/estimators/test_properties.py",
    "tests/estimators/test_stretched_cmeans.py::test_files_are_as_memory",
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
    "tests/fitting/test_scaling.py::test_it_is_the_fit_of_scaled_rows_in_the_users_units",
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
    "tests/fitting/test_views.py::test_starts_and_what_is_told_of_rows",
    "tests/fitting/test_views.py::test_sweeps_of_few_and_many_columns",
    "tests/fuzz/test_found.py::TestModelFiles::test_communities_whose_parts_do_not_belong_together",
    "tests/fuzz/test_short.py::test_kills",
    "tests/graphs/test_communities.py::test_a_wanted_number",
    "tests/graphs/test_pieces.py::test_no_set_of_centres_costs_less",
    "tests/graphs/test_spanning_tree.py::test_many_rows_join_as_all_pairs_do_for_any_number_of_threads",
    "tests/inspection/test_displays.py::test_overview",
    "tests/inspection/test_page_in_a_browser.py::test_pages_fit_and_can_be_read",
    "tests/inspection/test_report.py::test_every_kind_of_model",
    "tests/inspection/test_summaries.py::test_the_page_makes_nothing_and_links_where_there_is_a_documentation",
    "tests/kernels/test_native_values.py::test_values_are_those_of_the_formula",
    "tests/kernels/test_scales.py",
    "tests/landmarks/test_certificate.py::test_the_true_cost_lies_between_the_bounds",
    "tests/landmarks/test_count.py::test_every_estimator",
    "tests/landmarks/test_count.py::test_the_same_seed_chooses_the_same_and_another_others",
    "tests/landmarks/test_count.py::test_where_not_all_rows_are_taken_there_are_enough",
    "tests/papers/test_kpkm.py::test_any_start",
    "tests/papers/test_kpkm.py::test_iterates_are_those_of_the_dense_projection",
    "tests/papers/test_kpkm.py::test_precomputed_is_the_kernel_itself",
    "tests/papers/test_kpkm.py::test_weights_are_copies_and_order_does_not_matter",
    "tests/papers/test_patches.py::test_a_chain_is_the_twins",
    "tests/papers/test_patches.py::test_a_tree_is_the_twins",
    "tests/papers/test_sequential.py::test_a_run_is_the_naive_one",
    "tests/papers/test_sequential.py::test_any_number_of_neighbours",
    "tests/papers/test_wavelets.py::test_estimators_find_the_digits",
    "tests/persistence/test_model_file.py",
    "tests/persistence/test_parameters.py::test_loading_refuses_what_a_fit_refuses",
    "tests/persistence/test_skops.py::test_a_file_of_skops_gives_the_same_labels",
    "tests/rules/test_entropy.py::test_annealing_few_rows",
    "tests/rules/test_entropy.py::test_annealing_is_no_worse_than_the_start",
    "tests/rules/test_noise_fuzzy.py::test_one_column",
    "tests/rules/test_noise_fuzzy.py::test_what_a_model_says_of_rows",
    "tests/rules/test_truncated.py",
    "tests/runtime/test_progress_bar.py::test_fits_draw_where_they_are_verbose",
    "tests/sampling/test_kmeans_parallel.py::test_fits_have_the_same_bits_whatever_threads_and_memory",
    "tests/sampling/test_kmeans_parallel.py::test_small_inputs_are_seeded_as_k_means_plus_plus_does",
    "tests/selection/test_select.py::test_blobs",
    "tests/selection/test_select.py::test_columns_that_are_no_clouds_have_no_clusters",
    "tests/selection/test_select.py::test_one_cloud_is_one_cluster",
    "tests/selection/test_select.py::test_other_evidence",
    "tests/selection/test_stability.py::test_true_clusters_come_again",
    "tests/solvers/test_anderson.py::test_a_refused_mixture_repeats_the_value_before_and_leaves_the_centres",
    "tests/solvers/test_anderson.py::test_given_starts_are_followed",
    "tests/solvers/test_anderson.py::test_it_takes_fewer_sweeps_in_all",
    "tests/solvers/test_anderson.py::test_streams_mix_with_what_they_carry",
    "tests/solvers/test_checkpoints.py::TestRefused::test_damage",
    "tests/solvers/test_checkpoints.py::TestRefused::test_every_fit_knows_its_rows_and_weights",
    "tests/solvers/test_checkpoints.py::TestRefused::test_other_rows_anywhere",
    "tests/solvers/test_checkpoints.py::test_checkpoints_change_no_bit_of_a_fit",
    "tests/solvers/test_checkpoints.py::test_what_is_broken_off_goes_on_to_the_same_bits",
    "tests/solvers/test_scale_path.py::test_clusters_in_many_columns",
    "tests/solvers/test_scale_path.py::test_other_spaces_and_sparsities",
    "tests/solvers/test_scale_path.py::test_the_number_does_not_depend_on_the_number_of_rows",
    "tests/solvers/test_search.py::test_a_search_goes_on_from_a_checkpoint",
    "tests/solvers/test_search.py::test_few_rows",
    "tests/solvers/test_search.py::test_few_rows_are_parted_as_well_as_can_be",
    "tests/solvers/test_search.py::test_it_finds_what_starts_miss",
    "tests/solvers/test_sizes.py::test_every_space",
    "tests/solvers/test_sizes.py::test_hard_fits_are_those_of_loops",
    "tests/solvers/test_sizes.py::test_the_cost_is_the_least_to_the_gap_and_bounds_hold",
    "tests/spaces/test_spherical.py::test_fits_are_those_of_the_naive_twin",
    "tests/storage/test_row_writer.py::TestFitPredictTo::test_it_is_a_fit_and_then_predict_to",
    "tests/streaming/test_checkpoints.py",
    "tests/streaming/test_checkpoints.py::test_other_rows",
    "tests/streaming/test_graphs.py::test_patches",
    "tests/streaming/test_input.py",
    "tests/streaming/test_living_clusters.py::test_one_heap_is_one_cluster",
    "tests/streaming/test_properties.py",
    "tests/streaming/test_states.py::test_a_stream_goes_on_where_it_stopped",
    "tests/streaming/test_states.py::test_arrays_of_other_shapes_and_values_do_no_harm",
    "tests/streaming/test_states.py::test_fields_that_are_missing_or_of_another_kind_do_no_harm",
    "tests/streaming/test_states.py::test_memory_does_not_grow_with_the_stream",
    "tests/streaming/test_states.py::test_nothing_hangs_on_the_random_state_of_the_day",
    "tests/streaming/test_states.py::test_stopping_after_every_chunk_changes_nothing",
    "tests/streaming/test_stretched.py::test_crossing_clusters",
    "tests/sweeps/test_csr.py::test_fits_take_the_memory_of_what_is_stored",
    "tests/test_architecture.py::test_attributes_that_docstrings_promise",
    "tests/test_naive.py::test_critical_fuzzifier_of_real_data",
    "tests/test_policies.py",
    "tests/tuning/test_fuzzifier.py::test_below_the_critical_m_the_mean_repels_and_above_it_attracts",
    "tests/tuning/test_fuzzifier.py::test_m_is_that_of_the_data_whatever_the_space_and_the_seed",
    "tests/tuning/test_fuzzifier.py::test_more_clusters_of_wines_than_there_are_kinds_do_not_coincide",
    "tests/tuning/test_fuzzifier.py::test_no_collapse_on_real_data",
    "tests/tuning/test_fuzzifier.py::test_no_partition_of_a_few_rows_is_better",
    "tests/tuning/test_fuzzifier.py::test_on_real_data_the_automatic_m_is_as_good_as_the_table_says",
}
# what their parameter is called; of a function that is named, it is the first
SHARES = 5
ASKED = ("name", "estimator", "model_name", "given", "d2")


def left_out(name: str, calls: Sequence[Call]) -> list[Call]:
    """Return the calls of a function that repeat."""
    others = of_other_estimators(name, calls) if A_FIFTH & {name.partition("::")[0], name} else []
    gone = {id(call) for call in others}
    return others + repeats(name, [call for call in calls if id(call) not in gone])


def of_other_estimators(name: str, calls: Sequence[Call]) -> list[Call]:
    """Return the calls with all but a fifth of the estimators, where there are four or more, or of
    what a function that is named is asked of, where that is three or more: one of them at least is
    left."""
    words = list(calls[0].params)
    named = words[:1] if name in A_FIFTH else [word for word in words if word in ASKED]
    if len(named) != 1:
        return []
    own = [_said(call.params[named[0]]) for call in calls]
    every = list(dict.fromkeys(own))
    if len(every) < (3 if name in A_FIFTH else 4):
        return []
    share = min(SHARES, len(every))
    kept = every[crc32(name.encode()) % share :: share]
    return [call for call, said in zip(calls, own, strict=True) if said not in kept]


def repeats(name: str, calls: Sequence[Call]) -> list[Call]:
    """Return what is left when every choice has been met: next is always the call with most choices
    that were not, the first from a place on that the name draws."""
    first = crc32(name.encode()) % max(len(calls), 1)
    left = [*calls[first:], *calls[:first]]
    kept = set(
        covering([((word, _said(value)) for word, value in call.params.items()) for call in left])
    )
    return [call for at, call in enumerate(left) if at not in kept]


_SAID: dict[int, tuple[object, str]] = {}  # the values stay, and so do their numbers


def _said(value: object) -> str:
    """Return the text of a value that many tests share, made once."""
    if id(value) not in _SAID:
        _SAID[id(value)] = value, repr(value)
    return _SAID[id(value)][1]
