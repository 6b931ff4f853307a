// SPDX-License-Identifier: BSD-3-Clause
#include "manual_texts.hpp"

#include <algorithm>
#include <iterator>

namespace iso::cli {
namespace {

constexpr named_text volume_files = {
    ".mha, .mhd, .nrrd, .nhdr, .nii, .nii.gz",
    "volumes as MetaImage, NRRD and NIfTI; .mhd and .nhdr are read, not written"};
constexpr named_text stack_files = {".h5, .hdf5", "stacks of projections, with their geometry"};
constexpr named_text matrix_files = {".h5, .hdf5, .mtx",
                                     "matrices as SciPy has them, and Matrix Market"};
constexpr named_text vector_files = {".h5, .hdf5", "vectors"};
constexpr named_text geometry_files = {
    "examples/geometry/*.json", "complete geometry files; docs/formats.md says what a field means"};
constexpr named_text plan_files = {"examples/plans/*.json",
                                   "complete plans; docs/formats.md says what a field means"};
constexpr named_text sweep_files = {"examples/sweeps/*.json", "complete files for iso sweep"};
constexpr named_text formats_files = {"docs/formats.md", "all files that are read and written"};

constexpr named_text of_all[] = {formats_files};
constexpr named_text of_info[] = {volume_files,   stack_files, matrix_files,
                                  geometry_files, plan_files,  formats_files};
constexpr named_text of_project[] = {volume_files, stack_files, geometry_files, formats_files};
constexpr named_text of_dose[] = {
    volume_files,
    plan_files,
    {".dcm", "RT Dose and RT Structure Sets; a folder is a CT series"},
    formats_files};
constexpr named_text of_dvh[] = {
    {".dcm", "RT Dose and RT Structure Sets"},
    volume_files,
    {"scripts/dvh_plot.py", "draws the curves of --csv"},
    {"docs/algorithms/dvh.md", "how structures and quantities are defined"}};
constexpr named_text of_gamma[] = {volume_files,
                                   {".dcm", "RT Dose"},
                                   {"scripts/gamma_plot.py", "draws the histograms of --csv"},
                                   {"docs/algorithms/gamma.md", "how gamma is computed"}};
constexpr named_text of_verify[] = {
    {"docs/determinism.md", "which bits are promised, function by function"}};
constexpr named_text of_demo[] = {
    {"out/demo", "where pictures and demo.json are put unless --output is given"},
    {".deps/data/chest_ct.nii.gz",
     "the CT that scripts/get_example_data.sh of the source fetches"}};
constexpr named_text of_matrix[] = {
    matrix_files, {"docs/algorithms/dose_matrices.md", "formats, orders of sums, errors"}};
constexpr named_text of_apply[] = {matrix_files, vector_files};
constexpr named_text of_bench[] = {
    matrix_files, {"scripts/matrix_roofline.py", "draws the JSON over the machine's ceilings"}};
constexpr named_text of_sweep[] = {
    sweep_files,
    {"scripts/sweep_report.py", "draws the report of --merge"},
    {"docs/sweep.md", "the file of a sweep, its results and its report"}};

constexpr manual_text manual_texts[] = {
    {"iso",
     "iso runs whole jobs of X-ray tomography and of photon radiotherapy on files: projections, "
     "reconstructions, doses, their histograms and comparisons, and products of dose matrices. "
     "Every command gives the same bits on every backend, with any number of threads.\n"
     "Angles are degrees, lengths mm.",
     "iso project --phantom shepp-logan --geometry examples/geometry/circular_cone.json --output "
     "projections.h5\n"
     "iso reconstruct --projections projections.h5 --output volume.mha --png slices.png\n"
     "iso info volume.mha\n"
     "iso help reconstruct",
     of_all},
    {"iso help", "Prints what --help of the command prints.",
     "iso help\n"
     "iso help matrix apply",
     of_all},
    {"iso info",
     "Without a file: the backends of this build, the devices that they run on, and the rates of "
     "memory and arithmetic that simple loops reach there.\n"
     "With a file: what it is, its shape, spacing, origin, range of values and unit. No patient's "
     "name or number is printed.",
     "iso info --no-ceilings\n"
     "iso info volume.mha\n"
     "iso info examples/geometry/helix.json\n"
     "iso info --geometry examples/geometry/helix.json --json vectors.json",
     of_info},
    {"iso project",
     "Writes the line integrals of a volume, or of the Shepp-Logan head, along the ray from "
     "the "
     "source to the middle of every pixel in every view. --scan adds what a real detector does: "
     "images of 16 bits, noise, gains and dead pixels.",
     "iso project --phantom shepp-logan --geometry examples/geometry/circular_cone.json --output "
     "projections.h5 --png view.png\n"
     "iso project --volume volume.mha --geometry examples/geometry/helix.json --method exact "
     "--output helix.h5",
     of_project},
    {"iso reconstruct",
     "Filtered backprojection (fdk of cone beams, fbp of parallel ones) takes a circle of views, "
     "an "
     "arc, or a displaced detector, and chooses by the geometry. Iterative methods take any scan.\n"
     "The residual that an iteration tells, and by which the rules end a run, is that of the "
     "volume "
     "before the iteration for sirt, sart, os-sart, mlem and osem: --final-residual tells that of "
     "the result.",
     "iso reconstruct --projections projections.h5 --output volume.mha --png slices.png\n"
     "iso reconstruct --projections projections.h5 --method sirt --iterations 20 --lower 0 "
     "--final-residual --output sirt.mha\n"
     "iso reconstruct --projections 'scan/projection_*.tif' --flats 'scan/flat_*.tif' --darks "
     "'scan/dark_*.tif' --geometry scan/geometry.json --output volume.mha",
     of_project},
    {"iso back-project",
     "Applies the transpose of the projection that --method names. It is no reconstruction: it is "
     "what iterative methods go back by.",
     "iso back-project --projections projections.h5 --output adjoint.mha", of_project},
    {"iso dose",
     "Calculates the dose of a plan's photon beams in a CT, in densities, or in the slab phantom, "
     "by collapsed cones. Not a medical device.",
     "iso dose --plan examples/plans/slab_phantom.json --phantom slab --voxel 4 --output dose.mha "
     "--png dose.png\n"
     "iso dose --plan plan.json --ct ct/ --output dose.dcm",
     of_dose},
    {"iso dvh",
     "Evaluates structures of an RT Structure Set in one or several doses: what volumes get which "
     "dose, as quantities and as curves. Not a medical device.",
     "iso dvh --dose dose.dcm --structures structures.dcm --csv curves.csv\n"
     "iso dvh --dose dose.dcm --structures structures.dcm --structure PTV --prescription 60 "
     "--quantity D95 Dmean Dmax V95% CI",
     of_dvh},
    {"iso gamma",
     "Compares an evaluated dose with a reference by the gamma index, point by point of the "
     "reference. Not a medical device.",
     "iso gamma reference.mha evaluated.mha --criterion 3%/3mm --criterion 2%/2mm --png gamma.png\n"
     "iso gamma reference.mha evaluated.mha --normalisation local --cut-off 20% --csv gamma.csv",
     of_gamma},
    {"iso verify",
     "Runs every operation of the library on every backend, with several numbers of threads and "
     "launch shapes, and compares the bits, and the values with an exact answer.",
     "iso verify\n"
     "iso verify --backend serial,openmp --threads 1,4 --json verify.json",
     of_verify},
    {"iso demo",
     "Runs the main jobs at small sizes and shows errors, times, shares of the machine's measured "
     "ceilings, and whether the bits agree.",
     "iso demo\n"
     "iso demo --size 64 --views 30 --output demo",
     of_demo},
    {"iso matrix", "Makes, converts, examines and applies sparse matrices of dose.",
     "iso matrix generate pencil-beams --size 32 --output matrix.h5\n"
     "iso matrix info matrix.h5",
     of_matrix},
    {"iso matrix generate",
     "Makes a matrix with the rows, lengths and similarities of a published table, or of proton "
     "pencil beams in a cube.",
     "iso matrix generate pencil-beams --size 32 --output matrix.h5\n"
     "iso matrix generate liver-1 --factor 0.01 --values float --output liver.h5",
     of_matrix},
    {"iso matrix convert",
     "Writes a matrix in another format, or with values of another type. Values that become zero "
     "are dropped and counted.",
     "iso matrix convert matrix.h5 matrix.mtx\n"
     "iso matrix convert matrix.h5 single.h5 --values float",
     of_matrix},
    {"iso matrix info",
     "Checks a matrix and counts lengths of rows, runs of columns, and how alike neighbouring rows "
     "are: what the speed of a product depends on.",
     "iso matrix info matrix.h5", of_matrix},
    {"iso matrix apply", "Computes y = alpha A x + beta y, or with the transposed matrix.",
     "iso matrix apply matrix.h5 --output dose.h5\n"
     "iso matrix apply matrix.h5 --transpose --x dose.h5 --output gradient.h5",
     of_apply},
    {"iso matrix bench",
     "Times every variant of the product of a matrix and a vector on every backend.",
     "iso matrix bench matrix.h5 --seconds 0.1 --json bench.json", of_bench},
    {"iso sweep",
     "Measures operations over sizes, precisions, backends, threads and launch shapes. Each of "
     "several processes, as mpirun or srun start them, writes a file; --merge makes one report of "
     "them.",
     "iso sweep --list\n"
     "iso sweep --file examples/sweeps/quick.json --output speed.jsonl\n"
     "iso sweep --merge speed.jsonl --output report.json",
     of_sweep},
};

constexpr named_text exit_texts[] = {
    {"0", "done; where bits were compared, they agree"},
    {"1", "bits differ"},
    {"2",
     "wrong usage, bad input, or a file that cannot be written: the message says what and why"},
    {"3", "out of memory: the message says how much was asked for and how much there was"},
    {"4", "anything else that failed; standard output that is full or closed"},
    {"5", "iso sweep --merge --against: a share of the ceiling has fallen"},
    {"6", "iso sweep --merge --against: no point is left to compare, all were disturbed"},
    {"7",
     "iso dvh, iso dose without --structure: some structures are refused, the others reported or "
     "outlined"},
    {"130", "stopped by SIGINT (nothing is left half-written)"},
    {"143", "stopped by SIGTERM (likewise)"},
};

constexpr named_text environment_texts[] = {
    {"OMP_NUM_THREADS", "number of OpenMP threads where --threads does not say it"},
    {"OMP_WAIT_POLICY",
     "how threads wait. Where it is not set and other programs keep the cores busy, iso starts "
     "itself anew with passive: threads that spin would keep the cores from those that compute"},
    {"CUDA_VISIBLE_DEVICES, KOKKOS_DEVICE_ID", "which GPU is taken"},
    {"NO_COLOR", "no colours on the terminal where it is not empty"},
};

}  // namespace

manual_text const& manual_text_of(std::string_view command) {
  auto const* const found = std::find_if(std::begin(manual_texts), std::end(manual_texts),
                                         [&](auto const& text) { return text.command == command; });
  static constexpr manual_text none{};
  return found != std::end(manual_texts) ? *found : none;
}

std::span<named_text const> exit_codes() { return exit_texts; }

std::span<named_text const> environment_variables() { return environment_texts; }

}  // namespace iso::cli
