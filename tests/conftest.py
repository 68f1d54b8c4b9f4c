"""What every test may use: real data sets, and Hypothesis without a stopwatch."""

from __future__ import annotations

import gc
import logging
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count
from pathlib import Path

# One thread for matrices of a few rows: more take longer to wake than to work, and are in the way
# of other tests' processes. Libraries read these when they are imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Dask's workers sample what each of their threads does, and its clocks run while nothing is asked
# of them: a cluster that waits takes 4% of a processor, and 1% without.
os.environ.setdefault("DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED", "False")
os.environ.setdefault("DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL", "500ms")
os.environ.setdefault("DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL", "10s")
# Worker processes are made of one that has imported what all of them need.
os.environ.setdefault("DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD", "forkserver")

# Where Python shall leave no compiled files beside the sources, these go to the folder that pytest
# keeps anyway: else every process of the tests, of which there are some hundred, compiles anew all
# that it imports.
if sys.dont_write_bytecode:
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(__file__).resolve().parents[1] / ".pytest_cache" / "compiled")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

import numpy as np
import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

from each_once import left_out
from sparing import Sparing

collect_ignore = ["typing"]  # scripts that type checkers read, and nobody runs

# Tests send interrupts, which processes that a shell has started in the background ignore, with all
# that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No stopwatch, as a shared machine is slow now and then. The same tests get the same examples, and
# so the same verdict everywhere; HYPOTHESIS_PROFILE=search looks at others, and at more.
settings.register_profile("cmeans", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("search", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "cmeans"))


# What `python -m pytest` runs, and what it runs where files or folders are named.
OF_ALL_FILES, OF_NAMED_FILES = "not minutes and not matrix", "not minutes"

# The suite of each folder, file or function of tests that is not of the core: what takes long, and
# what a change seldom reaches. The longest name that fits counts.
SUITES = {
    "ring": (
        *(
            "src/cmeans/inspection",
            "src/cmeans/selection",
            "tests/cli",
            "tests/engines",
            "tests/fuzz",
            "tests/inspection",
            "tests/papers",
            "tests/selection",
            "tests/streaming",
        ),
        *(
            "tests/estimators/test_auto_clustering.py",
            "tests/estimators/test_finding.py",
            "tests/native/test_build.py",
            "tests/native/test_library.py",
            "tests/native/test_live.py",
            "tests/solvers/test_search.py",
        ),
        *(
            "tests/storage/test_row_writer.py",
            "tests/test_benchmarks.py",
            "tests/test_docs.py",
            "tests/test_examples.py",
        ),
        *(
            "tests/test_extending.py",
            "tests/test_migration.py",
            "tests/test_papers.py",
            "tests/test_policies.py",
            "tests/test_tools.py",
        ),
        # fresh processes
        "tests/fitting/test_memory_promises.py",
        "tests/test_architecture.py::test_the_import_has_no_effects_and_nothing_heavy_is_loaded",
        "tests/test_suites.py::test_the_quick_tests_of_the_core_are_found_by_the_command_that_leaves_out_slow_ones",
        # many draws, real data, printed tables
        "tests/tuning/test_fuzzifier.py::test_no_collapse_on_real_data",
        "tests/solvers/test_scale_path.py",
    ),
    "matrix": (
        *(
            "tests/cli/test_option_pairs.py",
            "tests/data/files/test_same_rows.py",
            "tests/estimators/test_changed_rows.py",
            "tests/estimators/test_embedding.py",
        ),
        *(
            "tests/estimators/test_mixture_as_a_peer.py",
            "tests/estimators/test_properties.py",
            "tests/estimators/test_sklearn_checks.py",
            "tests/fitting/test_stored_fits.py",
        ),
        *(
            "tests/fitting/test_stored_memory.py",
            "tests/fitting/test_stored_questions.py",
            "tests/fitting/test_stored_refusals.py",
        ),
        *(
            "tests/kernels/test_scales.py",
            "tests/persistence/test_model_file.py",
            "tests/persistence/test_parameters.py",
        ),
        *(
            "tests/persistence/test_pipelines.py",
            "tests/solvers/test_checkpoints.py",
            "tests/streaming/test_checkpoints.py",
        ),
        *(
            "tests/streaming/test_input.py",
            "tests/streaming/test_properties.py",
            "tests/streaming/test_states.py",
        ),
    ),
    # seconds each, of what other tests show in less
    "minutes": (
        *(
            "tests/test_naive_streams.py::test_masses_never_exceed_the_rows_and_the_printed_weights_explode",
            "tests/test_naive_sparse.py::test_journal_form_finds_the_blobs",
            "tests/test_naive_sparse.py::test_journal_form_on_wine",
            "tests/test_naive_sparse.py::test_the_printed_tables_of_the_adaptive_algorithm",
            "tests/test_tools.py::test_the_table_of_capabilities_is_what_attempts_show",
        ),
        *(
            "tests/cli/test_choosing.py::test_a_scale_that_is_given_is_taken",
            "tests/cli/test_covariances.py::test_rows_of_noise",
            "tests/cli/test_covariances.py::test_what_is_known_of_covariances_beforehand",
            "tests/cli/test_fit_interrupted.py::test_killed_at_the_worst_moment",
            "tests/cli/test_power_cuts.py::test_a_state_and_the_labels_that_it_records",
            "tests/cli/test_process.py::test_an_interrupted_fit_leaves_its_centres_and_nothing_else",
            "tests/cli/test_process.py::test_the_exit_code_and_the_streams",
            "tests/cli/test_select.py::test_names_and_categories",
            "tests/cli/test_select.py::test_refits",
            "tests/cli/test_stream_process.py::test_a_reader_that_leaves",
            "tests/cli/test_stream_process.py::test_rows_that_wait_are_told",
            "tests/cli/test_stream_process.py::test_slow_writers_get_answers_and_a_signal_ends_the_wait",
        ),
        *(
            "tests/engines/test_dask.py::test_a_checkpoint_of_other_known_labels_is_refused",
            "tests/engines/test_dask.py::test_copies_of_an_estimator_with_an_engine",
            "tests/engines/test_dask.py::test_drawn_starts",
            "tests/engines/test_dask.py::test_draws_among_all_rows_are_those_in_memory",
            "tests/engines/test_dask.py::test_draws_in_proportion_to_weights_that_are_elsewhere",
            "tests/engines/test_dask.py::test_few_weights_of_dask_are_asked_for",
            "tests/engines/test_dask.py::test_gradients_on_workers_go_on_from_a_checkpoint",
            "tests/engines/test_dask.py::test_known_labels_of_rows_on_workers",
            "tests/engines/test_dask.py::test_missing_values",
            "tests/engines/test_dask.py::test_progressive_samples_come_here",
            "tests/engines/test_dask.py::test_the_rest_of_the_family_finds_the_same",
            "tests/engines/test_dask.py::test_wrong_weights_and_labels_of_dask_are_named",
            "tests/engines/test_dask_connected.py::test_communities_are_those_of_the_rows_in_memory",
            "tests/engines/test_dask_covariances.py::test_noise_and_holes_are_those_of_memory",
            "tests/engines/test_dask_faults.py::test_a_scheduler_that_goes_leaves_a_checkpoint_and_words",
            "tests/engines/test_dask_faults.py::test_labels_stay_on_the_workers",
            "tests/engines/test_dask_files.py::test_streams_of_files_are_the_same_as_here",
            "tests/engines/test_dask_files.py::test_views_open_again",
            "tests/engines/test_dask_streams.py::test_a_checkpoint_is_gone_on_from_there_and_here",
            "tests/engines/test_dask_streams.py::test_a_checkpoint_of_a_tree_keeps_its_patches",
            "tests/engines/test_dask_streams.py::test_callbacks_hear_of_chunks_and_may_end_the_fit",
            "tests/engines/test_dask_streams.py::test_errors_of_workers_come_in_their_own_words",
            "tests/engines/test_dask_streams.py::test_nothing_of_the_size_of_the_rows_comes_here",
        ),
        *(
            "tests/estimators/test_adaptive.py::test_an_automatic_alpha_finds_the_same_from_any_number",
            "tests/estimators/test_adaptive.py::test_fifteen_clusters_in_noise",
            "tests/estimators/test_adaptive.py::test_the_pilots_fuzzifier",
            "tests/estimators/test_adaptive.py::test_uniform_noise_and_single_columns",
            "tests/estimators/test_auto_clustering.py::test_both_levels_of_six_blobs_in_two_groups_are_named",
            "tests/estimators/test_auto_clustering.py::test_forty_blobs_are_forty_and_the_end_of_a_range_warns",
            "tests/estimators/test_consensus_clustering.py::test_the_eight_mixtures",
            "tests/estimators/test_far_rows.py::test_two_lognormal_blobs_are_two_clusters",
            "tests/estimators/test_finding.py::test_number_of_clusters_of_real_data",
            "tests/estimators/test_gaussian_mixture.py::test_long_parallel_clusters",
            "tests/estimators/test_landmark_graph.py::test_digits",
            "tests/estimators/test_landmark_graph.py::test_memberships_mark_the_rows_between_strokes",
            "tests/estimators/test_mixture_as_a_peer.py::test_samples_have_the_moments_of_the_components",
            "tests/estimators/test_mixtures_of_hard_rows.py::test_every_kind_of_rows_fits_or_says_why",
            "tests/estimators/test_mixtures_of_incomplete_rows.py::test_a_saved_model_says_the_same",
            "tests/estimators/test_mixtures_of_incomplete_rows.py::test_columns_of_one_value_may_have_holes",
            "tests/estimators/test_mixtures_of_incomplete_rows.py::test_columns_that_are_never_seen_together",
            "tests/estimators/test_mixtures_of_incomplete_rows.py::test_the_prior_is_of_rows_completed_by_one_gaussian",
            "tests/estimators/test_mixtures_of_incomplete_rows.py::test_weights_are_copies_and_units_do_not_matter",
            "tests/estimators/test_mixtures_with_noise.py::test_incomplete_rows_of_noise_are_found",
            "tests/estimators/test_mixtures_with_noise.py::test_noise_is_found_as_the_bayes_rule_would",
            "tests/estimators/test_modularity_clustering.py::test_boundaries_through_clusters_are_doubted",
            "tests/estimators/test_modularity_clustering.py::test_digits_in_another_order_and_number_of_threads",
            "tests/estimators/test_modularity_clustering.py::test_digits_with_nothing_told",
            "tests/estimators/test_modularity_clustering.py::test_layers_of_groups_of_groups",
            "tests/estimators/test_modularity_clustering.py::test_new_digits_are_where_a_fit_of_all_has_them",
            "tests/estimators/test_modularity_clustering.py::test_rows_without_clusters",
            "tests/estimators/test_modularity_clustering.py::test_weights_are_used_at_every_step",
            "tests/estimators/test_sklearn_checks.py::test_with_array_api_dispatch",
        ),
        *(
            "tests/fitting/test_empty_rows.py::test_select_looks_at_the_others",
            "tests/fitting/test_memory_promises.py::test_a_small_fit_takes_no_more_than_is_told",
            "tests/fitting/test_missing.py::test_hard_sweeps_that_remember_distances",
            "tests/fitting/test_named_parameters.py::test_grids_pipelines_and_selections",
            "tests/fitting/test_stored_fits.py::test_stored_rows_have_the_labels_of_brute_force",
            "tests/fitting/test_validation.py::test_grid_search",
        ),
        *("tests/fuzz/test_short.py::TestRuns::test_what_is_found",),
        *("tests/graphs/test_communities.py::test_the_best_of_all_partitions_of_nine_nodes",),
        *(
            "tests/inspection/test_explore_in_a_browser.py::test_narrow_screens_need_no_sideways_scrolling",
            "tests/inspection/test_explore_in_a_browser.py::test_twenty_pages_in_one_notebook_all_draw",
            "tests/inspection/test_page_in_a_browser.py::test_switches_threshold_and_rows_that_are_pointed_at",
        ),
        *(
            "tests/landmarks/test_certificate.py::test_from_a_sample_the_truth_lies_within_99_percent_intervals_nearly_always",
            "tests/landmarks/test_rpcholesky.py::test_pivots_are_drawn_as_sequential_drawing_draws_them",
            "tests/landmarks/test_select.py::test_a_row_is_drawn_in_proportion_to_weight_and_residual",
            "tests/landmarks/test_select.py::test_many_draws_leave_as_much_as_one_at_a_time_drawing",
            "tests/landmarks/test_select.py::test_two_rows_are_drawn_as_if_one_after_the_other",
        ),
        *(
            "tests/native/test_library.py::test_a_forked_process_goes_on",
            "tests/native/test_library.py::test_without_native_code_on_purpose_nothing_is_said",
        ),
        *(
            "tests/papers/test_kpkm.py::test_better_minima_than_from_the_same_start_by_k_means",
            "tests/papers/test_kpkm.py::test_ring_and_disc",
            "tests/papers/test_patches.py::test_clusters_that_fall_together_do_not_wander_by_rounding",
            "tests/papers/test_patches.py::test_threads_change_no_bit_and_a_seed_gives_the_same_again",
            "tests/papers/test_sequential.py::test_a_run_on_real_data_is_the_naive_one_and_gives_the_printed_table",
            "tests/papers/test_sequential.py::test_landmarks_that_span_everything_are_the_plain_space",
            "tests/papers/test_sequential.py::test_units_matter_without_scaling_in_the_conference_form_alone",
            "tests/papers/test_wavelets.py::test_bears_contrast_and_brightness",
            "tests/papers/test_wavelets.py::test_bears_shifts_better_than_distances_do",
        ),
        *(
            "tests/rules/test_noise_fuzzy.py::test_a_share_is_kept_where_distances_crowd",
            "tests/rules/test_noise_fuzzy.py::test_centres_are_nearer_the_true_ones",
            "tests/rules/test_noise_fuzzy.py::test_landmark_graphs",
            "tests/rules/test_noise_fuzzy.py::test_search_finds_what_a_poor_start_missed",
        ),
        *(
            "tests/sampling/test_kmeans_parallel.py::test_a_weight_of_k_is_drawn_as_often_as_any_of_k_copies",
            "tests/sampling/test_many_rows.py::test_each_is_drawn_in_proportion_to_its_distance_then",
            "tests/sampling/test_many_rows.py::test_equal_rows_in_single_precision_are_drawn_once",
        ),
        *(
            "tests/selection/test_mixtures.py::test_a_grid_of_shapes",
            "tests/selection/test_mixtures.py::test_a_range_in_one_call",
            "tests/selection/test_mixtures.py::test_agreement_of_refits_may_choose",
            "tests/selection/test_mixtures.py::test_bic_and_icl_are_those_of_the_fits",
            "tests/selection/test_mixtures.py::test_chance_has_the_metrics_of_the_clusters",
            "tests/selection/test_mixtures.py::test_one_cluster_is_an_answer",
            "tests/selection/test_mixtures.py::test_silhouettes_of_mixtures_are_scores",
            "tests/selection/test_scorer.py::test_a_search_finds_the_number",
            "tests/selection/test_scorer.py::test_pipelines",
            "tests/selection/test_select.py::test_a_grid_of_parameters",
            "tests/selection/test_select.py::test_a_selection_that_is_broken_off_goes_on_to_the_same_table",
            "tests/selection/test_select.py::test_numbers_with_gaps",
            "tests/selection/test_select.py::test_refits_agree_on_what_is_there",
            "tests/selection/test_select.py::test_tables_of_categories_have_clusters",
            "tests/selection/test_select.py::test_the_same_from_a_file_and_again",
            "tests/selection/test_select.py::test_the_same_on_dask",
            "tests/selection/test_stability.py::test_the_same_on_dask",
        ),
        *(
            "tests/solvers/test_scale_path.py::test_digits",
            "tests/solvers/test_scale_path.py::test_the_path_is_the_naive_one",
            "tests/solvers/test_sizes.py::test_rows_in_many_equal_copies",
            "tests/solvers/test_stopping.py::test_a_run_that_ends_in_a_cycle_says_so",
        ),
        *(
            "tests/storage/test_failing_disk.py::test_a_full_disk",
            "tests/storage/test_failing_disk.py::test_a_disk_that_fails",
            "tests/storage/test_failing_disk.py::test_a_disk_that_takes_few_bytes_at_a_time",
            "tests/storage/test_failing_disk.py::test_rows_that_cannot_be_read",
        ),
        *(
            "tests/streaming/test_graphs.py::test_moons_in_a_hundred_chunks",
            "tests/streaming/test_properties.py::test_a_steady_stream_finds_what_all_rows_at_once_show",
            "tests/streaming/test_properties.py::test_decay_follows_a_drift",
            "tests/streaming/test_states.py::test_in_a_fresh_process",
        ),
        *("tests/sweeps/test_bounds.py::test_centres_that_creep",),
        *("tests/tuning/test_fuzzifier.py::test_with_m_2_the_digits_fall_together",),
    ),
}
# What these compare must depend on neither the kernels of the BLAS nor the native code that runs.
BITS = (
    *(
        "tests/estimators/test_against_naive.py",
        "tests/estimators/test_equivalences.py",
        "tests/solvers/test_stopping.py",
    ),
    *(
        "tests/solvers/test_sweeps_in_a_row.py",
        "tests/sweeps/test_exchange.py",
        "tests/test_panel.py",
    ),
    "tests/engines/test_dask.py::test_gradients_and_single_moves_beside_the_rows",
    "tests/papers/test_kpkm.py::test_from_a_symmetric_start_rounding_chooses_nothing",
)


FOLDERS = count()
SUITE_OF = {place: suite for suite, places in SUITES.items() for place in places}


@cache
def marks_of(test: str) -> tuple[str, ...]:
    """The suite of a test, and "bits" where it is one of those."""
    places = [test[: end.start()] for end in re.finditer("/|::|$", test)]
    suites = ["core", *(SUITE_OF[place] for place in places if place in SUITE_OF)]
    return (suites[-1], *(["bits"] if set(BITS).intersection(places) else []))


def _marks_within(file: str) -> set[str]:
    """The marks that tests of a file may have: its own, and those of its functions in the table."""
    own = (place for place in (*SUITE_OF, *BITS) if place.startswith(f"{file}::"))
    return {mark for place in (file, *own) for mark in marks_of(place)}


def pytest_configure(config: pytest.Config) -> None:
    named = config.args_source is not pytest.Config.ArgsSource.TESTPATHS
    if config.option.markexpr == OF_NAMED_FILES and not named:
        config.option.markexpr = OF_ALL_FILES
    config.pluginmanager.register(Sparing())
    gc.disable()  # while tests are made, which stay


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Whoever asks for one suite, as `-m core`, does not wait for the test files of the others."""
    suite = _one_suite(config)
    if suite is None or not collection_path.is_file():
        return None
    file = collection_path.relative_to(config.rootpath).as_posix()
    return suite not in _marks_within(file) or None


def _one_suite(config: pytest.Config) -> str | None:
    """The suite, or bits, that is asked for and no other."""
    suite, *others = config.option.markexpr.split() or [""]
    return suite if suite in ("core", "bits", *SUITES) and "or" not in others else None


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Iterator[None]:
    """What repeats runs with what takes minutes. Where these are not asked for, the tests are not
    even made, which would take longer than most of them; where some are asked for by their names,
    none of them repeats."""
    yield
    test, config = metafunc.definition, metafunc.config
    calls = [
        call for call in metafunc._calls if not any(mark.name == "minutes" for mark in call.marks)
    ]
    if not calls or test.get_closest_marker("minutes") or any("[" in one for one in config.args):
        return
    left = {id(call) for call in left_out(test.nodeid, calls)}
    asked = config.option.markexpr
    if asked in (OF_ALL_FILES, OF_NAMED_FILES) or _one_suite(config) in ("core", "ring", "matrix"):
        metafunc._calls = [call for call in metafunc._calls if id(call) not in left]
    for call in metafunc._calls:
        if id(call) in left:
            call.marks.append(pytest.mark.minutes.mark)


@pytest.hookimpl(tryfirst=True)  # before pytest looks for the marks that are asked for
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each test is of one suite, core, ring or matrix, but for those that take minutes, which are
    slow too."""
    for item in items:
        suite, *bits = marks_of(item.nodeid.partition("[")[0])
        if suite == "minutes" or item.get_closest_marker("minutes"):
            item.add_marker("minutes")
            item.add_marker("slow")
        else:
            item.add_marker(suite)
        for mark in bits:
            item.add_marker(mark)


def pytest_collection_finish() -> None:
    """Thousands of tests stay till the end: no search for garbage need look at them each
    time, nor look as often as where memory is short."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(10_000)


@pytest.fixture(autouse=True, scope="session")
def threads_share_small_work() -> Iterator[None]:
    """Inputs of tests are so small that no thread would be woken for them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cmeans.engines.threads.WORTH_SHARING", 0.0)
        yield


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As pytest's own, which looks for each through all that were made before."""
    name = request.function.__name__[:30]
    return tmp_path_factory.mktemp(f"{name}-{next(FOLDERS)}", numbered=False)


@pytest.fixture(params=["generic", "native"])
def sweeps(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both kinds of sweeps: without native code, and with it."""
    if request.param == "generic":
        monkeypatch.setattr("cmeans.native.is_available", lambda: False)
    return request.param


class Logged(logging.Handler):
    """The records that reach it."""

    def __init__(self) -> None:
        super().__init__()
        self.records = list[logging.LogRecord]()

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    @property
    def messages(self) -> list[str]:
        return [record.getMessage() for record in self.records]


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> Iterator[Logged]:
    """What is logged in a process that has set up logging, in place of pytest's own fixture, for
    which each test would look at all loggers."""
    handler, log = Logged(), logging.getLogger("cmeans")
    monkeypatch.setattr(logging.root, "handlers", [handler])
    log.setLevel(logging.INFO)
    yield handler
    log.setLevel(logging.NOTSET)


@pytest.fixture
def plain_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sweep after sweep as the papers have it, where a loop of the tests is followed step by step;
    what mixing makes of it has tests of its own."""
    monkeypatch.setattr("cmeans.solvers.fixed_point._may_mix", lambda *_: False)


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Matrices of a few rows, thousands of times: threads would take longer to wake than to
    work."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder of the real data sets, one NAME.npz each with X and y: $CMEANS_DATA, else
    ../shared/data beside the repository."""
    folder = Path(
        os.environ.get("CMEANS_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
    )
    if not folder.is_dir():
        pytest.skip(
            f"no data sets at {folder}; set CMEANS_DATA to a folder of NAME.npz files with X and y"
        )
    return folder


@pytest.fixture(scope="session")
def load_data(data_folder: Path) -> Callable[[str], tuple[np.ndarray, np.ndarray]]:
    """`X, y = load_data("wine")`: X in float64, labels as stored."""

    def load(name: str) -> tuple[np.ndarray, np.ndarray]:
        path = data_folder / f"{name}.npz"
        if not path.is_file():
            pytest.skip(f"no data set {path}")
        with np.load(path) as stored:
            return stored["X"].astype(np.float64), stored["y"]

    return load
