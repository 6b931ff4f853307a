# SPDX-License-Identifier: BSD-3-Clause
"""How calls behave in a process: interruption, threads, its end, forks, other OpenMP programs."""

import os
import threading
import time

import numpy as np
import pytest

import isocenter as iso
from conftest import HANG, RELEASE, TWO_THREADS, run_python

LONG = """
    import numpy as np, isocenter as iso, os, signal, sys, threading, time
    scan = iso.Geometry.circular_cone(pixels=(256, 256), pitch=1.5, source_axis=512.0,
        source_detector=768.0, angles=iso.even_angles(720, 2 * np.pi))
    grid = iso.Grid((256, 256, 256))
    x = np.ones(grid.shape, np.float32, order="F")
    y = np.ones(scan.shape, np.float32).transpose(0, 2, 1).reshape(scan.shape)
"""


def long_call():
    scan = iso.Geometry.circular_cone(
        pixels=(256, 256),
        pitch=1.5,
        source_axis=512.0,
        source_detector=768.0,
        angles=iso.even_angles(720, 2 * np.pi),
    )
    grid = iso.Grid((256, 256, 256))
    return scan, grid, np.ones(grid.shape, np.float32, order="F")


@pytest.mark.parametrize(
    "call",
    [
        "iso.project(scan, grid, x)",
        "iso.project(scan, grid, x, projector='siddon')",
        "iso.back_project(scan, grid, y)",
        "iso.back_project(scan.turn_detector(roll=0.1), grid, y)",
        "iso.Projector(scan, grid)(x)",
    ],
)
def test_ctrl_c_ends_a_call_within_a_second(call):
    out, _ = run_python(
        LONG
        + f"""
    iso.info()
    thread = interrupt_after(0.5)
    try:
        {call}
        print("not interrupted")
    except KeyboardInterrupt:
        print_seconds()
    thread.join()
    # The next call works.
    small = scan.subset(0, 1)
    assert np.isfinite(iso.project(small, grid, x)).all()
    """,
        env=TWO_THREADS,
    )
    assert float(out) < 1.0


def cone(size, views):
    return iso.Geometry.circular_cone(
        pixels=(size, size),
        pitch=1.5,
        source_axis=2.0 * size,
        source_detector=3.0 * size,
        angles=iso.even_angles(views, 2 * np.pi),
    )


def cube(size, dtype=np.float32):
    return np.ones((size, size, size), dtype, order="F")


def readings_of(scan):
    views, v, u = scan.shape
    return np.ones((views, u, v), np.float32).transpose(0, 2, 1)


def call_native():
    return lambda **how: iso.native(np.zeros((512, 512, 512)), **how)


def call_centre():
    image = np.random.default_rng(1).random((1, 1500, 1500))
    return lambda **how: iso.readings.centre_of_rotation(image, guess=749.0, **how)


def call_sort():
    ends = np.random.default_rng(1).random((2, 3_000_000, 3)) * 200 - 100
    rays = iso.rays.between(*ends)
    return lambda **how: iso.rays.sort(rays, iso.Grid((64, 64, 64)), **how)


def call_dead_pixels():
    dark = np.zeros((1, 512, 512), np.float32)
    return lambda **how: iso.readings.find_dead_pixels(dark, dark + 1, radius=8, **how)


def call_noise():
    lines = readings_of(cone(512, 150))
    return lambda **how: iso.readings.noise_of_counts(lines, 1e5, **how)


def call_structure():
    turn = 2 * np.pi * np.arange(40_000) / 40_000
    wave = 50 + 3 * np.sin(900 * turn)
    planes = [
        np.stack([wave * np.cos(turn), wave * np.sin(turn), 0 * turn + z], 1) for z in range(60)
    ]
    return lambda **how: iso.Structure(planes, **how)


def call_fdk():
    scan = cone(512, 90)
    lines, grid = readings_of(scan), iso.Grid((512, 512, 512))
    return lambda **how: iso.fdk(scan, grid, lines, **how)


def call_turned_adjoint():
    scan = cone(256, 360).turn_detector(roll=0.1)
    lines, grid = readings_of(scan), iso.Grid((256, 256, 256))
    return lambda **how: iso.back_project(scan, grid, lines, **how)


def constructor_of(method, **options):
    def call_constructor():
        scan = cone(192, 90).turn_detector(roll=0.1)
        lines, grid = readings_of(scan), iso.Grid((192, 192, 192))
        return lambda **how: method(scan, grid, lines, **options, **how)

    return call_constructor


call_sart = constructor_of(iso.Sart)
call_os_sart = constructor_of(iso.Sart, block=10)
call_mlem = constructor_of(iso.Mlem)
call_cgls = constructor_of(iso.Cgls)
call_lsqr = constructor_of(iso.Lsqr)
call_total_variation = constructor_of(iso.TotalVariation, weight=0.1)


def call_arrays_of_a_constructor():
    """Its projections are nothing beside the arrays that it makes."""
    scan, grid = cone(4, 1), iso.Grid((320, 320, 320))
    lines = readings_of(scan)
    return lambda **how: iso.TotalVariation(scan, grid, lines, weight=0.1, **how)


def call_terma():
    water, density = iso.Grid((320, 320, 320), 1.0), cube(320)
    beam = iso.dose.Beam.rectangle(-120, 120, -120, 120)
    region = beam.region(water)
    return lambda **how: iso.dose.terma(beam, water, density, region=region, **how)


def call_convolve():
    water, density = iso.Grid((128, 128, 128), 2.0), cube(128)
    beam = iso.dose.Beam.rectangle(-100, 100, -100, 100)
    region = beam.region(water)
    released = np.ones(iso.dose.terma(beam, water, density, region=region).shape, np.float32)
    return lambda **how: iso.dose.convolve(beam, region, released, water, density, **how)


def call_calculator():
    calculate = iso.dose.Calculator(iso.Grid((128, 128, 128), 2.0))
    beam, density = iso.dose.Beam.rectangle(-100, 100, -100, 100), cube(128)
    return lambda **how: calculate(beam, density, **how)


def call_rays():
    ends = np.random.default_rng(1).random((2, 1_000_000, 3)) * 300 - 150
    rays, grid, values = iso.rays.between(*ends), iso.Grid((256, 256, 256)), cube(256)
    return lambda **how: iso.rays.radiological_path(rays, grid, values, **how)


def call_gamma():
    grid = iso.Grid((128, 128, 128), 1.0)
    doses = [np.random.default_rng(n).random(grid.shape, dtype=np.float32) for n in (1, 2)]
    return lambda **how: iso.gamma(*doses, grid, criteria="1%/5mm", **how)


class Watched:
    """An event that notes when it is asked, and is set at the second question where it is to end.

    Time is this thread's on a processor, a half of two: busy cores make it no longer.
    """

    def __init__(self, ends):
        self.ends = ends
        self.asked = [time.thread_time()]

    def is_set(self):
        self.asked.append(time.thread_time())
        return self.ends and len(self.asked) > 2

    def largest_gap(self):
        return max(np.diff([*self.asked, time.thread_time()]))


@pytest.fixture
def two_threads():
    """As the promise has it: many cores are soon done, and no call lasts."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(cores)[:2])  # of threads that are not OpenMP's
    iso.set_threads(2)
    yield
    iso.set_threads(None)
    os.sched_setaffinity(0, cores)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(made, id=name.removeprefix("call_"))
        for name, made in list(globals().items())
        if name.startswith("call_")
    ],
)
def test_calls_that_last_are_asked(make, two_threads):
    """Within a second, at the beginning and, before a release, until the call ends."""
    call, watched = make(), Watched(ends=True)
    with pytest.raises(iso.Cancelled):
        call(cancel=watched)
    assert watched.largest_gap() < 1.0
    if RELEASE:
        watched = Watched(ends=False)
        call(cancel=watched)
        assert len(watched.asked) > 2 and watched.largest_gap() < 1.0


def test_ctrl_c_between_products():
    """A product with a matrix asks before it begins alone: it takes milliseconds."""
    pytest.importorskip("scipy.sparse")
    out, _ = run_python(
        """
        import numpy as np, isocenter as iso, os, scipy.sparse, signal, threading, time
        rows, count = 1 << 19, 40
        indices = np.tile(np.arange(count, dtype=np.int32) * 50, rows)
        offsets = np.arange(rows + 1, dtype=np.int64) * count
        values = np.ones(rows * count, np.float32)
        A = iso.DoseMatrix(scipy.sparse.csr_array((values, indices, offsets), (rows, 2000)))
        x = np.ones(2000)
        interrupt_after(0.3)
        try:
            while True:
                A.T @ (A @ x)
        except KeyboardInterrupt:
            print_seconds()
        """,
        env=TWO_THREADS,
    )
    assert float(out) < 1.0


@pytest.mark.parametrize("handler", ["signal.default_int_handler", "handle"])
def test_ctrl_c_in_a_call_that_fails(handler):
    """The thread gets the GIL once the call has given it away, and the call fails behind that."""
    out, _ = run_python(
        f"""
        import numpy as np, isocenter as iso, signal, sys, threading
        class Mine(Exception): pass
        def handle(number, frame): raise Mine()
        signal.signal(signal.SIGINT, {handler})
        iso.info()
        sys.setswitchinterval(60)
        mean = np.ones((1, 1024, 1024), np.float32)
        mean[0, -1, -1] = np.nan
        begun = threading.Event()
        def interrupt():
            begun.wait()
            signal.raise_signal(signal.SIGINT)
        thread = threading.Thread(target=interrupt)
        thread.start()
        try:
            begun.set()
            iso.readings.centre_of_rotation(mean, guess=512.0)
        except BaseException as e:
            print(type(e).__name__)
        thread.join()
        try:
            iso.readings.centre_of_rotation(mean, guess=512.0)
        except ValueError as e:
            print(str(e)[:28])
        """
    )
    raised = "KeyboardInterrupt" if "default" in handler else "Mine"
    assert out.split("\n") == [raised, "readings.centre_of_rotation:", ""]


def test_signal_handler_of_the_program():
    out, _ = run_python(
        LONG
        + """
    class Mine(Exception): pass
    def handle(number, frame): raise Mine("from the handler")
    signal.signal(signal.SIGALRM, handle)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        iso.project(scan, grid, x, projector="siddon")
    except Mine as e:
        print(e)
    """
    )
    assert out == "from the handler\n"


def test_cancel_from_another_thread():
    scan, grid, x = long_call()
    stop = threading.Event()
    began = []

    def set_it():
        began.append(time.clock_gettime(clock))
        stop.set()

    clock = time.pthread_getcpuclockid(threading.get_ident())
    threading.Timer(0.3, set_it).start()
    with pytest.raises(iso.Cancelled, match="cancelled"):
        iso.project(scan, grid, x, projector="siddon", cancel=stop)
    assert time.clock_gettime(clock) - began[0] < 1.0


def test_cancel_of_a_call_in_another_thread():
    scan, grid, x = long_call()
    stop = threading.Event()
    raised = []

    def run():
        try:
            iso.project(scan, grid, x, projector="siddon", cancel=stop)
        except iso.Cancelled as e:
            raised.append(e)

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.2)
    stop.set()
    thread.join(HANG)
    assert len(raised) == 1


def test_cancel_while_waiting_for_another_call():
    scan, grid, x = long_call()
    first, second = threading.Event(), threading.Event()
    raised = []

    def run(stop):
        try:
            iso.project(scan, grid, x, projector="siddon", cancel=stop)
        except iso.Cancelled:
            raised.append(stop)

    threads = [threading.Thread(target=run, args=(stop,)) for stop in (first, second)]
    threads[0].start()
    time.sleep(0.2)
    threads[1].start()
    second.set()
    threads[1].join(HANG)
    assert raised == [second]
    first.set()
    threads[0].join(HANG)
    assert raised == [second, first]


def test_cancel_that_is_set_before(scan, grid, volume, readings):
    stop = threading.Event()
    projector, method = iso.Projector(scan, grid), iso.Cgls(scan, grid, readings)
    out = np.full(scan.shape, 7.0, np.float32)
    calls = [
        lambda: iso.project(scan, grid, volume, out=out, cancel=stop),
        lambda: projector(volume, out=out, cancel=stop),
        lambda: projector.T(readings, cancel=stop),
        lambda: iso.fdk(scan, grid, readings, cancel=stop),
        lambda: method.step(cancel=stop),
        lambda: iso.gamma(volume, volume, grid, criteria="3%/3mm", cancel=stop),
        lambda: iso.native(volume, cancel=stop),
        lambda: iso.rays.sort(np.ones((2, 8)), grid, cancel=stop),
        lambda: iso.readings.noise_of_counts(readings, 1e5, cancel=stop),
        lambda: iso.readings.centre_of_rotation(readings[:1] + readings[:1, :, ::-1], guess=11.5,
                                                cancel=stop),
        lambda: iso.readings.find_dead_pixels(readings[:1], readings[1:2], cancel=stop),
    ]
    stop.set()
    for call in calls:
        with pytest.raises(iso.Cancelled):
            call()
    assert (out == 7).all() and len(method.history) == 0
    stop.clear()
    for call in calls:
        call()


def test_set_threads_in_a_callback(scan, grid, volume):
    expected = iso.project(scan, grid, volume)
    counts = iter([2, 1] * 1000)
    try:
        for _ in range(20):
            told = iso.project(
                scan, grid, volume, progress=lambda fraction: iso.set_threads(next(counts))
            )
            assert np.array_equal(told, expected)
    finally:
        iso.set_threads(None)


def test_history_is_read_while_another_thread_steps():
    # Memory that is given back is taken from the process at once: reading it then ends the process.
    run_python(
        """
        import numpy as np, isocenter as iso, threading
        iso.use("serial")
        scan = iso.Geometry.circular_parallel(pixels=(2, 2), pitch=1.0, angles=[0.0])
        grid = iso.Grid((2, 2, 2))
        for _ in range(8):
            method = iso.Mlem(scan, grid, np.ones(scan.shape, np.float32))
            thread = threading.Thread(target=method.run, kwargs={"iterations": 20000})
            thread.start()
            while thread.is_alive():
                told = method._core.history
                assert not told or told[-1][0] == len(told)
            thread.join()
            assert [now[0] for now in method._core.history] == list(range(1, 20001))
        """,
        env={"MALLOC_MMAP_THRESHOLD_": "8192", "MALLOC_PERTURB_": "165"},
    )


@pytest.mark.parametrize("answer", [1, np.bool_(True), [0], "set"])
def test_cancel_that_is_true_as_python_has_it(scan, grid, volume, answer):
    class Odd:
        def is_set(self):
            return answer

    class Never:
        def is_set(self):
            return np.bool_(False)

    with pytest.raises(iso.Cancelled):
        iso.project(scan, grid, volume, cancel=Odd())
    assert iso.project(scan, grid, volume, cancel=Never()).shape == scan.shape


def test_cancel_that_raises():
    class Odd:
        def is_set(self):
            raise LookupError("its own words")

    scan, grid, x = long_call()
    with pytest.raises(LookupError, match="its own words"):
        iso.project(scan, grid, x, projector="siddon", cancel=Odd())


def test_progress(scan, grid, volume):
    told = []
    iso.project(scan, grid, volume, progress=told.append)
    assert told == sorted(told) and told[-1] == 1.0
    with pytest.raises(TypeError, match="progress is of type int"):
        iso.project(scan, grid, volume, progress=3)


def test_progress_true_draws(scan, grid, volume, capsys, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    iso.project(scan, grid, volume, progress=True)
    assert "project: 100 %" in capsys.readouterr().err


def test_progress_by_tqdm(scan, grid, volume, capsys, monkeypatch):
    module = pytest.importorskip("tqdm.auto")
    bars = []

    class Recorded(module.tqdm):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            bars.append(self)

    monkeypatch.setattr(module, "tqdm", Recorded)
    iso.project(scan, grid, volume, progress=True)
    (bar,) = bars
    assert bar.desc == "project" and bar.n == bar.total == 100 and bar.disable
    said = capsys.readouterr().err
    assert "project: 100%" in said and "project: 100 %" not in said


def test_exceptions_of_callbacks_arrive_as_they_are(scan, grid, volume):
    class Mine(BaseException):
        pass

    def raises(fraction):
        raise Mine(fraction)

    for _ in range(3):
        with pytest.raises(Mine):
            iso.project(scan, grid, volume, progress=raises)
    assert np.isfinite(iso.project(scan, grid, volume)).all()


def test_callbacks_may_call(scan, grid, volume):
    expected = iso.project(scan, grid, volume)
    projector = iso.Projector(scan, grid)
    found = []

    def calls(fraction):
        found.append(iso.project(scan, grid, volume))

    assert np.array_equal(projector(volume, progress=calls), expected)
    assert all(np.array_equal(a, expected) for a in found) and found
    with pytest.raises(ValueError, match="callback of its own call"):
        projector(volume, progress=lambda fraction: projector(volume))
    assert np.array_equal(projector(volume), expected)


def test_callbacks_are_given_back(scan, grid, volume):
    import gc
    import weakref

    class Tell:
        def __call__(self, fraction):
            pass

    tell = Tell()
    gone = weakref.ref(tell)
    iso.Projector(scan, grid)(volume, progress=tell)
    del tell
    gc.collect()
    assert gone() is None


def test_sixteen_threads(scan, grid, volume, readings):
    shared = iso.Projector(scan, grid)
    expected, expected_back = shared(volume), shared.T(readings)
    failures = []

    def work(own):
        projector = iso.Projector(scan, grid) if own else shared
        for _ in range(20):
            if not np.array_equal(projector(volume), expected):
                failures.append("forward")
            if not np.array_equal(projector.T(readings), expected_back):
                failures.append("adjoint")

    for own in (True, False):
        threads = [threading.Thread(target=work, args=(own,)) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failures


def test_other_threads_run_during_a_call():
    scan, grid, x = long_call()
    stop = threading.Event()
    count = 0

    def run():
        with pytest.raises(iso.Cancelled):
            iso.project(scan, grid, x, projector="siddon", cancel=stop)

    thread = threading.Thread(target=run)
    thread.start()
    end = time.perf_counter() + 0.5
    while time.perf_counter() < end:
        count += 1
    stop.set()
    thread.join()
    assert count > 10000


def test_closed_by_another_thread(scan, grid, volume):
    projector = iso.Projector(scan, grid)
    failures = []

    def work():
        while True:
            try:
                projector(volume)
            except ValueError as e:
                failures.append(str(e))
                return

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.1)
    projector.close()
    for thread in threads:
        thread.join(HANG)
    assert len(failures) == 4 and all("closed" in text for text in failures)


def test_process_ends_with_projectors_alive():
    out, err = run_python(
        """
        import numpy as np, isocenter as iso, sys
        scan = iso.Geometry.circular_parallel(pixels=(8, 8), pitch=1.0, angles=[0.0, 1.0])
        kept = iso.Projector(scan, iso.Grid((8, 8, 8)))
        sys.kept = [kept, kept.T, kept(np.ones((8, 8, 8), np.float32))]
        print("end")
        """
    )
    assert out == "end\n" and err == ""


@pytest.mark.parametrize("daemon", [True, False])
def test_process_ends_with_a_thread_inside(daemon):
    out, err = run_python(
        LONG
        + f"""
    def work():
        while True:
            iso.project(scan, grid, x, projector="siddon")
            if not {daemon}:
                return
    if not {daemon}:
        scan = scan.subset(0, 32)
    threading.Thread(target=work, daemon={daemon}).start()
    time.sleep(0.7)
    print("end")
    """
    )
    assert out == "end\n" and err == ""


def test_many_daemon_threads_at_the_end():
    out, err = run_python(
        """
        import numpy as np, isocenter as iso, threading, time
        scan = iso.Geometry.circular_parallel(pixels=(32, 32), pitch=1.0, angles=[0.0, 1.0])
        grid = iso.Grid((32, 32, 32))
        projector = iso.Projector(scan, grid)
        x = np.ones(grid.shape, np.float32)
        def work():
            while True:
                projector(x)
        for _ in range(8):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(0.5)
        print("end")
        """
    )
    assert out == "end\n" and err == ""


def test_fork_before_use():
    out, _ = run_python(
        """
        import numpy as np, isocenter as iso, os
        scan = iso.Geometry.circular_parallel(pixels=(8, 8), pitch=1.0, angles=[0.0, 1.0])
        grid = iso.Grid((8, 8, 8))
        x = np.ones(grid.shape, np.float32)
        child = os.fork()
        total = float(iso.project(scan, grid, x).sum())
        os.write(1, f"{total}\\n".encode())  # one piece: print may write the end of a line alone
        if child == 0:
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        """
    )
    lines = out.split()
    assert len(lines) == 2 and lines[0] == lines[1]


def test_fork_after_use():
    out, _ = run_python(
        """
        import multiprocessing, numpy as np, isocenter as iso, warnings
        warnings.simplefilter("ignore")
        scan = iso.Geometry.circular_parallel(pixels=(8, 8), pitch=1.0, angles=[0.0, 1.0])
        grid = iso.Grid((8, 8, 8))
        x = np.ones(grid.shape, np.float32)
        expected = iso.project(scan, grid, x)
        projector = iso.Projector(scan, grid)
        def child():
            for call in (lambda: iso.project(scan, grid, x), lambda: projector(x)):
                try:
                    call()
                    print("no refusal", flush=True)
                except RuntimeError as e:
                    assert "spawn" in str(e), e
                    print("refused", flush=True)
            iso.use("serial")
            assert np.array_equal(iso.project(scan, grid, x), expected)
            print("serial", flush=True)
        context = multiprocessing.get_context("fork")
        process = context.Process(target=child)
        process.start()
        process.join(1800)
        assert process.exitcode == 0, process.exitcode
        assert np.array_equal(iso.project(scan, grid, x), expected)
        """
    )
    assert out.split() == ["refused", "refused", "serial"]


def test_forked_child_on_serial():
    out, _ = run_python(
        """
        import numpy as np, isocenter as iso, os, signal, threading, warnings
        warnings.simplefilter("ignore")
        scan = iso.Geometry.circular_cone(pixels=(64, 64), pitch=1.5, source_axis=200.0,
            source_detector=300.0, angles=iso.even_angles(90, 2 * np.pi))
        grid = iso.Grid((64, 64, 64))
        x = np.ones(grid.shape, np.float32)
        lines = iso.project(scan, grid, x)
        turn = 2 * np.pi * np.arange(30) / 30
        organ = iso.Structure([np.stack([9 * np.cos(turn), 9 * np.sin(turn), 0 * turn + z], 1)
                               for z in (-2.0, 0.0, 2.0)])
        projector, reconstruct = iso.Projector(scan, grid), iso.Fdk(scan, grid)
        method, dvh = iso.Cgls(scan, grid, lines), iso.Dvh(organ, grid, x)
        calculate = iso.dose.Calculator(grid, cones=4, azimuths=4)
        beam = iso.dose.Beam.rectangle(-5, 5, -5, 5)
        expected = iso.fdk(scan, grid, lines), iso.cgls(scan, grid, lines, iterations=2).volume
        child = os.fork()
        if child == 0:
            signal.alarm(1800)
            iso.use("serial")
            for name, call in {
                "projector": lambda: projector(x),
                "adjoint": lambda: projector.T(lines),
                "fdk": lambda: reconstruct(lines),
                "step": lambda: method.step(),
                "run": lambda: method.run(iterations=2),
                "calculator": lambda: calculate(beam, x),
                "dvh": lambda: dvh.evaluate(["mean"]),
                "statistics": lambda: dvh.statistics(),
                "new dvh": lambda: iso.Dvh(organ, grid, x),
                "fractions": lambda: organ.fractions(grid),
                "set_threads": lambda: iso.set_threads(1),
                "as given": lambda: iso.set_threads(None),
            }.items():
                try:
                    call()
                    print("no refusal:", name, flush=True)
                except RuntimeError as e:
                    assert "OpenMP" in str(e) and "spawn" in str(e), (name, e)
            assert np.array_equal(iso.project(scan, grid, x), lines)
            assert np.array_equal(iso.Projector(scan, grid)(x), lines)
            assert np.array_equal(iso.fdk(scan, grid, lines), expected[0])
            assert np.array_equal(iso.cgls(scan, grid, lines, iterations=2).volume, expected[1])
            iso.dose.Calculator(grid, cones=4, azimuths=4)(beam, x)
            iso.gamma(x, x, grid, criteria="3%/3mm")
            assert iso.info()["backend"] == "serial"
            # A thread that the parent did not have.
            found = []
            thread = threading.Thread(target=lambda: found.append(iso.project(scan, grid, x)))
            thread.start()
            thread.join()
            assert np.array_equal(found[0], lines)
            print("serial", flush=True)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert np.array_equal(projector(x), lines)
        """
    )
    assert out == "serial\n"


def test_fork_while_another_thread_computes():
    out, _ = run_python(
        LONG
        + """
    import warnings
    warnings.simplefilter("ignore")
    stop = threading.Event()
    def work():
        try:
            iso.project(scan, grid, x, projector="siddon", cancel=stop)
        except iso.Cancelled:
            pass
    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.5)
    child = os.fork()
    if child == 0:
        iso.use("serial")
        try:
            iso.project(scan.subset(0, 1), grid, x)
        except RuntimeError as e:
            print("another thread computed" in str(e), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    stop.set()
    thread.join()
    """
    )
    assert out == "True\n"


def test_openmp_of_others_keeps_its_threads():
    out, _ = run_python(
        """
        import ctypes, glob, os, numpy as np, isocenter as iso
        from isocenter import _core
        assert not _core.started()
        gomp = ctypes.CDLL("libgomp.so.1")
        gomp.omp_set_num_threads(7)
        scan = iso.Geometry.circular_parallel(pixels=(8, 8), pitch=1.0, angles=[0.0, 1.0])
        grid = iso.Grid((8, 8, 8))
        iso.set_threads(1)
        iso.project(scan, grid, np.ones(grid.shape, np.float32))
        assert gomp.omp_get_max_threads() == 7, gomp.omp_get_max_threads()
        iso.set_threads(2)
        iso.Projector(scan, grid)(np.ones(grid.shape, np.float32))
        assert gomp.omp_get_max_threads() == 7
        assert iso.info()["threads"] == 2
        assert sum("libgomp" in line and "r-xp" in line for line in open("/proc/self/maps")) == 1
        """
    )


def test_import_starts_nothing():
    out, _ = run_python(
        """
        import os, threading, time, numpy
        before = len(os.listdir("/proc/self/task"))
        began = time.process_time()
        import isocenter
        print(time.process_time() - began)
        from isocenter import _core
        assert not _core.started()
        assert len(os.listdir("/proc/self/task")) == before
        import sys
        for heavy in ("matplotlib", "scipy", "tqdm", "torch", "asyncio"):
            assert heavy not in sys.modules, heavy
        """,
        # The module for GPUs is larger, and loads its kernels.
        env={"ISOCENTER_MODULE": "host"},
    )
    assert float(out) < 0.3


def test_rounding_modes_of_others_are_refused():
    run_python(
        """
        import ctypes, numpy as np, isocenter as iso
        scan = iso.Geometry.circular_parallel(pixels=(8, 8), pitch=1.0, angles=[0.0, 1.0])
        grid = iso.Grid((8, 8, 8))
        x = np.ones(grid.shape, np.float32)
        projector = iso.Projector(scan, grid)
        m = ctypes.CDLL("libm.so.6")
        m.fesetround(0x800)
        for call in (lambda: iso.project(scan, grid, x), lambda: projector(x)):
            try:
                call()
                raise SystemExit("not refused")
            except FloatingPointError as e:
                print(e)
        m.fesetround(0)
        projector(x)
        """
    )
