# SPDX-License-Identifier: BSD-3-Clause
"""The extension module of `isocenter` for GPUs, which that package loads. Import isocenter."""
