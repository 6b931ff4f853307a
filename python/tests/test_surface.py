# SPDX-License-Identifier: BSD-3-Clause
"""Every public function and class of the library has a name in Python, or a reason stands here."""

import re

import pytest

import isocenter as iso
from conftest import TOP

# Names of C++ and of Python.
BOUND = {
    "ct::axis_pixel": "readings.axis_pixel",
    "ct::back_project": "back_project",
    "ct::centre_of_rotation": "readings.centre_of_rotation",
    "ct::cgls": "Cgls",
    "ct::circular_cone": "Geometry.circular_cone",
    "ct::circular_parallel": "Geometry.circular_parallel",
    "ct::even_angles": "even_angles",
    "ct::fdk": "fdk",
    "ct::fdk_reconstructor": "Fdk",
    "ct::filter_projections": "filter_projections",
    "ct::find_dead_pixels": "readings.find_dead_pixels",
    "ct::find_detectors_within": "Geometry.detectors_within",
    "ct::forward_project": "project",
    "ct::helix": "Geometry.helix",
    "ct::iterate": "Sart.run",
    "ct::laminography": "Geometry.laminography",
    "ct::line_integrals": "readings.line_integrals",
    "ct::lsqr": "Lsqr",
    "ct::mean_of_views": "readings.mean_of_views",
    "ct::mirror_weights": "readings.mirror_weights",
    "ct::mlem": "Mlem",
    "ct::move_detector": "Geometry.move_detector",
    "ct::noise_of_counts": "readings.noise_of_counts",
    "ct::project_ellipsoids": "phantom.project",
    "ct::projector_pair": "Projector",
    "ct::ramp_taps": "ramp_taps",
    "ct::rasterise_ellipsoids": "phantom.rasterise",
    "ct::replace_dead_pixels": "readings.replace_dead_pixels",
    "ct::sart": "Sart",
    "ct::shepp_logan": "phantom.shepp_logan",
    "ct::shift_detector": "Geometry.shift_detector",
    "ct::shift_source": "Geometry.shift_source",
    "ct::total_variation": "TotalVariation",
    "ct::turn_detector": "Geometry.turn_detector",
    "ct::weigh_scan": "scan_weights",
    "ct::weighted_back_project": "weighted_back_project",
    "ct::decode_readings": "files.read_stack",
    "dose::calculator": "dose.Calculator",
    "dose::convolve": "dose.convolve",
    "dose::density_from_hounsfield": "dose.density_from_hounsfield",
    "dose::region_around": "dose.Beam.region",
    "dose::terma": "dose.terma",
    "dvh::conformity": "Dvh.evaluate",
    "dvh::doses_at": "Dvh.doses_at",
    "dvh::evaluate": "Dvh.evaluate",
    "dvh::histogrammer": "Dvh",
    "dvh::histograms": "Dvh.histogram",
    "dvh::rasterise": "Structure.fractions",
    "dvh::statistics": "Dvh.statistics",
    "dvh::surface_points": "Structure.surface_points",
    "dvh::unit_of": "unit_of",
    "dvh::volumes_at": "Dvh.volumes_at",
    "dvh::voxel_fractions": "Structure.fractions",
    "gamma::gamma_index": "gamma",
    "gamma::summarise": "gamma",
    "ray::radiological_path": "rays.radiological_path",
    "ray::sort_rays": "rays.sort",
    "sparse::csc_arrays": "DoseMatrix",
    "sparse::csr_arrays": "DoseMatrix",
    "sparse::max_abs": "DoseMatrix",
    "sparse::spmv": "DoseMatrix",
    "sparse::validate": "DoseMatrix",
    "files::find_structure": "files.StructureSet.__getitem__",
    "files::make_structure": "files.Drawing.structure",
    "files::prepare_checkpoint": "Sart.save",
    "files::prepare_dicom_series": "files.write_ct",
    "files::prepare_matrix": "files.write_matrix",
    "files::prepare_rt_dose": "files.write_rt_dose",
    "files::prepare_stack": "files.write_stack",
    "files::prepare_tiff": "files.write_images",
    "files::read_images": "files.read_images",
    "files::prepare_vector": "files.write_vector",
    "files::prepare_volume": "files.write_volume",
    "files::read_dicom_identity": "files.read_identity",
    "files::read_dicom_series": "files.read_ct",
    "files::read_matrix": "files.read_matrix",
    "files::read_rt_dose": "files.read_rt_dose",
    "files::read_rt_structure_set": "files.read_structures",
    "files::read_stack": "files.read_stack",
    "files::read_vector": "files.read_vector",
    "files::read_volume": "files.read_volume",
    "files::read_geometry": "Geometry.read",
    "files::parse_geometry": "Geometry.from_json",
    "files::text_of_views": "Geometry.to_json",
    "files::read_xtekct": "Geometry.read",
}

ALLOCATES = "its scratch is allocated by the function or kept by the class"
WITHIN = "another name of Python's does it, as an argument or within a call"
KERNEL = "for kernels of a program's own in C++"
VECTORS = "`Geometry.vectors()` has the numbers, and `Geometry.from_vectors` takes others"
TABLES = "`dose.terma` and `dose.convolve` compute with these tables"
PHANTOM = "a published phantom with which docs/notes compares doses"
BENCHMARKS = "made-up matrices and readings for the benchmarks: `DoseMatrix` takes those of SciPy"
SLABS = "`memory=` divides volumes and readings, and `isocenter.mpi` divides the work"
RANKS = "a class of isocenter.mpi does it, or divides the work"
PARTS = "another name of Python's does it: a part of a reader or writer, or into memory of C++"
PLANS = "files of the tool: a list of `dose.Beam` is a plan in Python"
TEXTURES = "a projection by textures, of less accuracy: `project` has none"
SCHEMAS = "the tool prints them"
PICTURES = "`isocenter.plot` draws slices"
TEXT = "for programs that make options and texts from descriptions"

# Expressions of names, and why these are not in Python; the first that matches counts.
REASONS = [
    (r".*_bytes_needed", ALLOCATES),
    (r"ct::(stage|split_views|make_geometry|rays_of|num_views|detector_pixels)", WITHIN),
    (r"ct::(detector_pitch|moved_along_u)", VECTORS),
    (r"ct::redundancy_weight", WITHIN),
    (r"ct::(default_options|default_rules|takes_field|tells_residual_before)", WITHIN),
    (r"ct::projection_of|ray::traverse", KERNEL),
    (r"ct::forward_project_texture", TEXTURES),
    (r"ct::(ray_sums|slab_rays|bounds_of|streamed_\w+|decode_readings)", SLABS),
    (r"ct::(rank\w*|make_\w+_part)|sparse::(rank\w*|divide_rows)|(dose|gamma|dvh)::rank\w*", RANKS),
    (r"dose::(named_\w+|parse_\w+|frame_of|make_cones|water_kernels|split_by_energy)", WITHIN),
    (r"dose::(validate|to_string|mix_kernels)", WITHIN),
    (r"dose::(absorbed_within|terma_at)", TABLES),
    (r"dose::(slab_phantom\w*|mean_density)", PHANTOM),
    (r"dvh::(structure_grid|quantity_named|structure_named)", WITHIN),
    (r"(dvh|gamma)::(planes_needed|bounds_of|gamma_sums)", SLABS),
    (r"gamma::(criterion_named|to_string)", WITHIN),
    (r"sparse::(convert_values|to_\w+_columns|transpose|make_\w+|shape_of|to_string)", WITHIN),
    (r"sparse::(measure_format|processor_of|product_cost|choose_format)", WITHIN),
    (r"sparse::(as|to)_\w+", KERNEL),
    (r"synthetic::\w+", BENCHMARKS),
    (
        r"files::(read_(voxels|planes|readings|views|stored_\w+|checkpoint|hdf5_kind)"
        r"|read_(hdf5_matrix|matrix_market)"
        r"|has_dicom|read_(stack_header|volume_grid|dicom_series_grid|rt_dose_grid)"
        r"|prepare_(voxels|readings|frame|stack_frame|projection_frame)"
        r"|prepare_(hdf5_matrix|matrix_market)|from_half|check_\w+|copy_axes|is_\w+|name_of"
        r"|takes_planes|write_(planes|stack_views|projection_views)|views_of_piece"
        r"|count_reasons|ending|one_line|lower_case|printable|escaped|shortened|last_axis_fastest)",
        PARTS,
    ),
    (r"files::((read|write)_volume_view|make_(grid|host_volume|volume_view)|reorder)", PARTS),
    (r"files::(image_series|images_from_views|views_from_images|read_dose_matrix)", PARTS),
    (r"files::(read_text|prepare_text|without_controls|words|in_threads|get_fields)", PARTS),
    (r"files::(put_fields|abandon_temporaries|temporaries_of_others)", PARTS),
    (r"files::(read_plan|parse_plan|read_table)", PLANS),
    (r"files::(geometry|plan)_schema", SCHEMAS),
    (r"files::(prepare_png|prepare_projection_image|full_window|percentile_window)", PICTURES),
    (r"(written_in|key_of|key_has_unit|check_fields|to_word|from_word|texts_of|all_words)", TEXT),
]

#: What is not in Python by any name: docs/python.md lists it.
ABSENT = [KERNEL, VECTORS, TABLES, PHANTOM, BENCHMARKS, PLANS, TEXTURES, SCHEMAS, PICTURES, TEXT]

START = r"^(?:\[\[nodiscard\]\] )?"
AREAS = r"(ct|dose|dvh|gamma|ray|sparse|synthetic|model)"


def functions_of_the_page():
    """Public functions of model/ and algorithms/, of the table that the doc comments give."""
    header, names = "", set()
    for line in (TOP / "docs" / "determinism.md").read_text().splitlines():
        heading = re.match(r"## `iso/(\w+)/", line)
        header = heading[1] if heading else header
        row = re.match(r"\| `iso::([\w:]+)` \|", line)
        if row and re.fullmatch(AREAS, header):
            names.add(row[1])
    return names


def functions_of_files():
    """Functions that headers of files/ and documents/ declare in the namespace iso::files."""
    names = set()
    for folder in ("files", "documents"):
        for header in (TOP / folder / "include" / "iso" / "files").glob("*.hpp"):
            text = re.sub(r"//.*", "", header.read_text())
            names |= {
                f"files::{name}"
                for name in re.findall(rf"{START}[a-z][\w:<>, ]*&? (\w+)\(", text, re.M)
                if not re.search(rf"\b(return|throw|else) {name}\(", text)
            }
    return names


def public_classes():
    """Classes and structs that public headers of the library define at the top of a namespace."""
    names = set()
    for folder in ("model", "algorithms", "files", "documents"):
        for header in (TOP / folder / "include" / "iso").glob("*/*.hpp"):
            area = header.parent.name
            if area == "detail":
                continue
            hidden = r"namespace detail \{.*?\}  // namespace detail"
            text = re.sub(hidden, "", header.read_text(), flags=re.S)
            text = re.sub(r"^\s*//.*$", "", text, flags=re.M)
            defined = r"^(?:class|struct) (\w+)(?: final)?(?: :[^{;]*)? \{"
            names |= {f"{area}::{name}" for name in re.findall(defined, text, re.M)}
    return names


def same_name(name):
    """Whether Python has the class by the library's name, in its own way of writing."""
    area, _, word = name.partition("::")
    own = "".join(part.capitalize() for part in word.split("_"))
    return any(hasattr(place, own) for place in (iso, getattr(iso, area, iso)))


CLASSES = {
    "ct::rank_plan": "mpi.Plan",
    "ct::ranked": "Sart",
    "ct::ranked_fdk": "mpi.fdk",
    "ct::ranked_pair": "mpi.project",
    "ct::streamed": "Sart",
    "ct::streamed_pair": "Projector",
    "ct::circular_scan": "Geometry.circular_cone",
    "ct::view_vectors": "Geometry.vectors",
    "ct::flat_detector": "Geometry.circular_cone",
    "ct::detector_turn": "Geometry.turn_detector",
    "ct::detectors_within_volume": "Geometry.detectors_within",
    "ct::forward_project_options": "ProjectOptions",
    "ct::value_range": "sart",
    "ct::ellipsoid": "phantom.shepp_logan",
    "ct::ellipsoid_projection_options": "phantom.project",
    "ct::ellipsoid_raster_options": "phantom.rasterise",
    "dose::convolution_options": "ConvolveOptions",
    "dose::fluence_map": "dose.Beam",
    "dose::density_table": "dose.density_from_hounsfield",
    "dose::spectrum": "dose.Calculator",
    "dvh::contour": "Structure",
    "dvh::histogram_options": "Dvh.histogram",
    "dvh::quantity": "Dvh.evaluate",
    "files::checkpoint": "Sart.save",
    "files::dicom_identity": "files.read_identity",
    "files::dicom_series": "files.read_ct",
    "files::geometry_file": "Geometry.read",
    "files::host_matrix": "files.read_matrix",
    "files::host_volume": "files.read_volume",
    "files::image_stack": "files.read_images",
    "files::projection_stack": "files.read_stack",
    "files::rt_dose": "files.read_rt_dose",
    "files::rt_dose_options": "files.write_rt_dose",
    "files::rt_structure": "files.read_structures",
    "files::rt_structure_set": "files.read_structures",
    "files::xtekct": "Geometry.read",
    "gamma::criterion": "gamma",
    "gamma::summary_options": "gamma",
    "ray::radiological_path_options": "rays.radiological_path",
    "ray::ray": "rays.between",
    "sparse::dose_matrix": "DoseMatrix",
    "sparse::dose_matrix_report": "DoseMatrix.report",
    "sparse::format_report": "DoseMatrix.report",
    "sparse::value_report": "DoseMatrix.report",
    "sparse::spmv_options": "DoseMatrix",
    "dose::ranked_calculator": "mpi.Calculator",
    "dvh::ranked_dose": "mpi.Dvh",
    "dvh::structure_plan": "Structure",
    "gamma::ranked_gamma": "mpi.gamma",
    "sparse::rank_plan": "mpi.DoseMatrix",
    "sparse::ranked_column_product": "mpi.DoseMatrix",
    "sparse::ranked_product": "mpi.DoseMatrix",
}
CLASS_REASONS = [
    (r"ct::(staged_geometry|fdk_plan|view_blocks|voxel_bounds|elsewhere)", WITHIN),
    (r"ct::detector_of|gamma::gamma_plan|ray::traversal_grid", WITHIN),
    (r"dose::(\w+_plan|staged_density_table|beam_frame|\w*cones?|cone_\w+)", WITHIN),
    (r"dose::(density_(point|fault|report)|energy_\w+|\w*kernel|kernel_term)", WITHIN),
    (r"dose::tabulated_\w+", WITHIN),
    (r"sparse::(spmv_plan|row_block_csr|converted|bounds|csr_\w+|matrix_shape)", WITHIN),
    (r"sparse::compressed_arrays|dvh::region", WITHIN),
    (r"ct::(stream\w*|ray_sums|stored_readings|pixel_window|row_range)", SLABS),
    (r"dvh::slab_\w+|gamma::(gamma_sums|dose_bounds)", SLABS),
    (r"ct::ranked_report|sparse::row_range", RANKS),
    (r"ct::(linear_function|view_projection)", KERNEL),
    (r"ray::(voxel|amanatides_woo|branchless|siddon|reporter)", KERNEL),
    (r"ct::texture_projection_options", TEXTURES),
    (r"dose::slab", PHANTOM),
    (r"synthetic::\w+", BENCHMARKS),
    (r"model::\w+", TEXT),
    (r"files::(plan\w*|table_source)", PLANS),
    (r"files::(gray_image|rgb_image|gray_window)", PICTURES),
    (r"files::(image_request|mapped_array|axis_\w+|unread_file|volume_frame|atomic_file)", PARTS),
    (r"files::stored_stack", PARTS),
]


def attribute(name):
    thing = iso
    for part in name.split("."):
        thing = getattr(thing, part)
    return thing


@pytest.mark.parametrize("name", sorted(set(BOUND.values()) | set(CLASSES.values())))
def test_names_are_there(name):
    assert callable(attribute(name))


def test_every_function_is_bound_or_has_a_reason():
    names = functions_of_the_page() | functions_of_files()
    assert len(names) > 120
    unknown = [
        name
        for name in sorted(names)
        if name not in BOUND and not any(re.fullmatch(rule, name) for rule, _ in REASONS)
    ]
    assert unknown == []
    assert sorted(set(BOUND) - names) == []


def test_every_class_is_bound_or_has_a_reason():
    names = public_classes()
    assert len(names) > 120
    unknown = [
        name
        for name in sorted(names)
        if name not in BOUND
        and name not in CLASSES
        and not same_name(name)
        and not any(re.fullmatch(rule, name) for rule, _ in CLASS_REASONS)
    ]
    assert unknown == []
    assert sorted(set(CLASSES) - names) == []


def test_the_page_lists_what_python_lacks():
    functions, classes = functions_of_the_page() | functions_of_files(), public_classes()
    lacking = {}
    for names, rules in ((functions, REASONS), (classes, CLASS_REASONS)):
        for name in names - BOUND.keys() - CLASSES.keys():
            reason = next((why for rule, why in rules if re.fullmatch(rule, name)), None)
            if reason in ABSENT and not (names is classes and same_name(name)):
                lacking.setdefault(reason, set()).add(name)
    text = (TOP / "docs" / "python.md").read_text().partition("## Not in Python")[2]
    told = {}
    for row in re.findall(r"^\| (`.*`) \| (.*) \|$", text, re.M):
        told[row[1]] = set(re.findall(r"`([^`]+)`", row[0]))
    assert told == lacking


def test_no_reason_is_stale():
    names = functions_of_the_page() | functions_of_files()
    stale = [
        rule
        for rule, _ in REASONS
        if not any(re.fullmatch(rule, name) and name not in BOUND for name in names)
    ]
    assert stale == []
    classes = public_classes() - CLASSES.keys() - BOUND.keys()
    stale = [
        rule
        for rule, _ in CLASS_REASONS
        if not any(re.fullmatch(rule, name) and not same_name(name) for name in classes)
    ]
    assert stale == []
