# SPDX-License-Identifier: BSD-3-Clause
"""check_dicom.py DOSE.dcm DOSE.mha SERIES SERIES.mha

pydicom and SimpleITK read the same voxels and positions from the RT Dose and the CT series as from
their MetaImages. Writes DOSE.16.dcm, with pixels cut to 16 bits, for dciodvfy. Exit code 77: a
package is missing.
"""

import sys

try:
    import numpy as np
    import pydicom
    import SimpleITK as sitk
except ImportError:
    sys.exit(77)


def check(holds, what):
    if not holds:
        sys.exit(f"check_dicom.py: {what}")


def same_grid(a, b):
    return (
        a.GetSize() == b.GetSize()
        and np.allclose(a.GetSpacing(), b.GetSpacing(), atol=1e-9)
        and np.allclose(a.GetOrigin(), b.GetOrigin(), atol=1e-9)
        and np.allclose(a.GetDirection(), b.GetDirection(), atol=1e-9)
    )


dose_file, dose_image, series, series_image = sys.argv[1:]

dose = pydicom.dcmread(dose_file)
truth_image = sitk.ReadImage(dose_image)
truth = sitk.GetArrayFromImage(truth_image).astype(float)
# Half a step of the scaling, and the rounding of the scaling's last digit.
bound = 1.2e-10 * truth.max()
scaling = float(dose.DoseGridScaling)
check(np.abs(dose.pixel_array * scaling - truth).max() <= bound, "pydicom's doses differ")
check(dose.FrameIncrementPointer == 0x3004000C, "no frame increment pointer")
spacing = truth_image.GetSpacing()
check(list(dose.PixelSpacing) == [spacing[1], spacing[0]], "pydicom's pixel spacing differs")
offsets = np.array([float(z) for z in dose.GridFrameOffsetVector])
check(np.allclose(offsets, spacing[2] * np.arange(len(truth))), "frame offsets differ")
check(np.allclose([float(x) for x in dose.ImagePositionPatient], truth_image.GetOrigin()), "origin")
check(len(dose.ReferencedRTPlanSequence) == 1, "no reference to a plan")

image = sitk.ReadImage(dose_file)
check(same_grid(image, truth_image), "SimpleITK's grid of the dose differs")
# It leaves the scaling to its user.
read = sitk.GetArrayFromImage(image).astype(float) * scaling
check(np.abs(read - truth).max() <= bound, "SimpleITK's doses differ")

reader = sitk.ImageSeriesReader()
reader.SetFileNames(reader.GetGDCMSeriesFileNames(series))
volume = reader.Execute()
twin = sitk.ReadImage(series_image)
check(same_grid(volume, twin), "SimpleITK's grid of the series differs")
difference = sitk.GetArrayFromImage(volume) - sitk.GetArrayFromImage(twin)
check(np.abs(difference).max() <= 0.5, "SimpleITK's Hounsfield units differ by more than a half")

dose.PixelData = (dose.pixel_array >> 16).astype("<u2").tobytes()
dose.BitsAllocated = dose.BitsStored = 16
dose.HighBit = 15
dose.save_as(dose_file.replace(".dcm", ".16.dcm"))
