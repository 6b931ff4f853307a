// SPDX-License-Identifier: BSD-3-Clause
#include "median_filter.hpp"

#include <itkImage.h>
#include <itkMedianImageFilter.h>

#include <algorithm>

std::vector<float> median_filter(std::vector<float> const& image, std::int64_t width,
                                 std::int64_t height, int radius) {
  using picture = itk::Image<float, 2>;
  auto const input = picture::New();
  input->SetRegions(picture::SizeType{{std::size_t(width), std::size_t(height)}});
  input->Allocate();
  std::copy(image.begin(), image.end(), input->GetBufferPointer());
  using median = itk::MedianImageFilter<picture, picture>;
  auto const filter = median::New();
  filter->SetInput(input);
  filter->SetRadius(std::size_t(radius));
  filter->Update();
  float const* const values = filter->GetOutput()->GetBufferPointer();
  return {values, values + image.size()};
}
