# SPDX-License-Identifier: BSD-3-Clause
"""The roof of a roofline: what a machine's memory lets it compute, drawn over operations a byte."""


def draw_roofs(axes, rates, span, peak, styles, label, unit=1, bent=False, **line):
    """A line for each memory of `styles` that `rates` has, over the `span` of operations a byte, as
    far as `peak` operations a second; level from there on where it is `bent`."""
    low, high = span
    for name, style in styles.items():
        if rates.get(name):
            knee = min(peak / rates[name], high)
            ends = [low, knee, high] if bent else [low, knee]
            axes.plot(ends, [unit * min(rates[name] * x, peak) for x in ends], style,
                      label=label.format(name, 1e-9 * rates[name]), **line)
