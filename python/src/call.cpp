// SPDX-License-Identifier: BSD-3-Clause
#include "call.hpp"

#include <iso/backend/device_facts.hpp>
#include <iso/core/check.hpp>
#include <iso/core/error.hpp>
#include <iso/core/version.hpp>

#include <nanobind/stl/string.h>

#include <omp.h>

#if defined(KOKKOS_ENABLE_CUDA)
#include <cuda_runtime_api.h>
#include <Cuda/Kokkos_Cuda_Instance.hpp>
#endif

#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <string_view>
#include <thread>

namespace iso::python {

namespace {

/// What the process has one of. It is never destroyed: calls of daemon threads may outlive the
/// static objects of this module.
struct process {
  std::atomic<bool> ends{false};
  std::atomic<std::thread::id> ending_thread;
  std::atomic<bool> ends_alone{false};  ///< no other thread of Python was there then
  std::atomic<int> running{0};
  /// Set in a child that was forked after its parent had started Kokkos: OpenMP's threads are not
  /// there.
  std::atomic<bool> forked{false};
  /// Set where the parent computed at that moment: then nothing of this module's state is certain.
  std::atomic<bool> forked_within_call{false};

  std::timed_mutex mutex;
  std::atomic<std::thread::id> owner;
  int depth = 0;

  std::atomic<bool> started{false};
  std::atomic<bool> serial{false};
  int wanted_threads = 0;  ///< 0: as many as OpenMP gives
  Kokkos::DefaultHostExecutionSpace* instance = nullptr;
};

process& here() {
  static auto* const one = new process;
  return *one;
}

#if defined(KOKKOS_ENABLE_CUDA)
/// Refuses to start without a GPU, where Kokkos would end the process.
void check_gpu() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count < 1) {
    throw iso::error(
        "no GPU is there (the module of isocenter-cu13 needs one); set ISOCENTER_MODULE=host "
        "before "
        "isocenter is imported");
  }
}
#else
void check_gpu() {}
#endif

#if defined(KOKKOS_ENABLE_CUDA)
/// Finalises Kokkos when the process exits: a static object of its CUDA backend writes to standard
/// error otherwise. Memory of Kokkos that is given back, or a call, behind this would end the
/// process by a signal. None comes: this runs after Python has ended, which gives back what it ever
/// does (an object that `sys` or a cycle still holds is never given back), end() has waited for
/// calls and admission refuses others. Where that is not so, as in a program that leaves by exit()
/// with a thread inside a call, in a child that was forked, and where CUDA answers by an error, as
/// after a fault of anybody's kernel, nothing is finalised. Nor is it where other threads of Python
/// were there at its end: they may be stopped anywhere, and what they hold given back at any time.
/// Then that object writes its line.
void finalise_at_exit() {
  process const& p = here();
  bool const usable = !p.forked && p.running == 0 && p.ends && p.ends_alone;
  if (usable && cudaFree(nullptr) == cudaSuccess) {
    Kokkos::finalize();
  }
}
#endif

/// Starts Kokkos, once, and leaves OpenMP's number of threads as others have set it.
void start() {
  process& p = here();
  if (p.started) {
    return;
  }
  check_gpu();
  int const before = omp_get_max_threads();
  int const wanted = p.wanted_threads > 0 ? p.wanted_threads : backend::count_threads();
  int const granted = backend::count_granted_threads(wanted);
  Kokkos::initialize(
      Kokkos::InitializationSettings().set_num_threads(granted).set_disable_warnings(true));
  omp_set_num_threads(before);
  p.instance = new Kokkos::DefaultHostExecutionSpace();
#if defined(KOKKOS_ENABLE_CUDA)
  std::atexit(finalise_at_exit);
#endif
  p.started = true;
}

/// Refuses a thread that rounds or flushes otherwise than IEEE 754 has it by default. OpenMP's
/// threads are asked at the first call of a thread alone: they begin with its settings. In a child
/// that was forked they are not there.
void check_rounding() {
  thread_local bool asked = false;
  bool departs = false;
#if defined(__x86_64__)
  constexpr unsigned rounding_and_flushing = 0xe040;
  departs = (__builtin_ia32_stmxcsr() & rounding_and_flushing) != 0;
#endif
  if (here().forked) {
    if (departs) {
      throw backend::floating_point_error(
          "this thread rounds otherwise than to nearest, or flushes subnormal numbers (results "
          "would differ between backends); set what IEEE 754 has by default");
    }
    return;
  }
  if (departs || !asked) {
    backend::check_floating_point_environment();
    asked = true;
  }
}

thread_local bool axes_are_zyx = true;

/// Returns the message in the words of Python: those of the function that was called, its keywords
/// and order of axes. The GIL is held.
/// \throws nb::python_error  what the handler of a signal raised meanwhile
std::string in_python(char const* what) {
  try {
    // Bytes of a damaged file may stand in it.
    nb::object const text =
        nb::steal(PyUnicode_DecodeUTF8(what, Py_ssize_t(std::string_view(what).size()), "replace"));
    return nb::cast<std::string>(
        nb::module_::import_("isocenter._messages").attr("translated")(text, axes_are_zyx));
  } catch (std::exception const&) {
    if (!here().ends) {
      throw;
    }
    return what;  // the interpreter ends, and its modules are gone
  }
}

/// Raises the class of this name of isocenter._errors.
void raise(char const* name, std::string const& text, std::uint64_t requested = 0,
           std::uint64_t available = 0) {
  nb::object const type = nb::module_::import_("isocenter._errors").attr(name);
  nb::object const error = type(text);
  if (requested > 0) {
    error.attr("requested") = requested;
    error.attr("available") = available;
  }
  PyErr_SetObject(type.ptr(), error.ptr());
}

/// Raises the class of Python that a failure of the library has.
/// \throws nb::python_error  as in_python
void raise_failure(std::exception_ptr const& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (out_of_memory const& e) {
    raise("OutOfMemory", in_python(e.what()), e.requested(), e.available());
  } catch (cancelled const&) {
    if (here().ends) {
      // Ends a thread without a word.
      PyErr_SetNone(PyExc_SystemExit);
      return;
    }
    raise("Cancelled", "the call was cancelled (its outputs are incomplete); discard them");
  } catch (file_error const& e) {
    PyErr_SetString(PyExc_OSError, in_python(e.what()).c_str());
  } catch (invalid_argument const& e) {
    PyErr_SetString(PyExc_ValueError, in_python(e.what()).c_str());
  } catch (backend::floating_point_error const& e) {
    PyErr_SetString(PyExc_FloatingPointError, in_python(e.what()).c_str());
  } catch (error const& e) {
    PyErr_SetString(PyExc_RuntimeError, in_python(e.what()).c_str());
  } catch (std::bad_alloc const&) {
    raise("OutOfMemory",
          in_python("isocenter: the host's memory ran out (a list of numbers did not fit); ask for "
                    "less at a time"));
  }
}

void translate(std::exception_ptr const& failure, void* /*unused*/) {
  // Ctrl-C that came before the call failed has the word: the program wants to end.
  if (!here().ends && PyErr_CheckSignals() != 0) {
    return;
  }
  try {
    raise_failure(failure);
  } catch (nb::python_error& e) {
    e.restore();
  }
}

/// Stops calls at their next question, refuses new ones and waits for those that run.
void end() {
  process& p = here();
  p.ending_thread = std::this_thread::get_id();
  p.ends = true;
  {
    nb::gil_scoped_release const released;
    while (p.running > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  // Behind the wait: Ctrl-C may end this.
  p.ends_alone =
      nb::cast<std::int64_t>(nb::module_::import_("threading").attr("active_count")()) == 1;
}

void after_fork_in_child() {
  process& p = here();
  p.forked = p.forked || p.started;
  p.forked_within_call = p.forked_within_call || p.running > 0;
  p.running = 0;
  // The thread that owned it is not there.
  new (&p.mutex) std::timed_mutex;
  p.depth = 0;
  p.owner = std::thread::id();
#if defined(KOKKOS_ENABLE_CUDA)
  if (p.started) {
    // Where memory of the host is given back too, Kokkos waits for all devices of this set. CUDA
    // answers a child by an error, by which Kokkos would end it.
    Kokkos::Impl::CudaInternal::cuda_devices.clear();
  }
#endif
}

void use(std::string const& name) {
  ISO_VALIDATE(name == "serial" || name == "openmp",
               "use: backend '{}' (this module has: serial, openmp); choose one of those", name);
  here().serial = name == "serial";
}

/// Returns an instance of so many threads, of a space that has threads.
template <class Exec>
Exec* instance_of(int threads) {
  if constexpr (std::is_constructible_v<Exec, int>) {
    return new Exec(threads);
  } else {
    return new Exec();
  }
}

void set_threads(int count) {
  process& p = here();
  ISO_VALIDATE(count >= 0 && count <= 512,
               "set_threads: {} threads (from 1 to 512 are possible, 0: as OpenMP gives); choose "
               "another number",
               count);
  if (p.forked) {
    throw iso::error(
        "set_threads: this process was forked after its parent computed (OpenMP's threads are not "
        "there); start it by multiprocessing's method spawn or forkserver, or call "
        "isocenter.use('serial') in it");
  }
  if (!p.started) {
    p.wanted_threads = count;
  }
  call({}, [&](job const&) {
    int const wanted = count > 0 ? count : backend::count_threads();
    int const granted = backend::count_granted_threads(wanted);
    ISO_VALIDATE(granted == wanted,
                 "set_threads: {} threads (OpenMP grants {}: OMP_THREAD_LIMIT or OMP_DYNAMIC is "
                 "set); ask for fewer",
                 wanted, granted);
    p.wanted_threads = count;
    // The one before is kept by the projectors that use it.
    delete p.instance;
    p.instance = instance_of<Kokkos::DefaultHostExecutionSpace>(wanted);
  });
}

nb::dict facts() {
  nb::dict result;
  backend::device_facts of;
  call({}, [&](job const&) { on_backend([&](auto const& exec) { of = backend::facts(exec); }); });
  result["backend"] = of.backend;
  result["processor"] = of.processor;
  result["cores"] = of.cores;
  result["threads"] = of.threads;
  result["vector_isa"] = of.vector_isa;
  result["memory_bytes"] = of.memory_bytes;
  result["memory_free_bytes"] = of.memory_free_bytes;
  result["runtime"] = of.runtime;
  result["compiler"] = of.compiler;
  result["kokkos"] = of.kokkos_version;
  result["revision"] = of.git_revision;
  return result;
}

nb::dict read_counters(bool reset) {
  nb::dict result;
  counters& c = counted();
  result["reorders"] = c.reorders.load();
  result["allocations"] = c.allocations.load();
  result["synchronisations"] = c.synchronisations.load();
  if (reset) {
    c.reorders = 0;
    c.allocations = 0;
    c.synchronisations = 0;
  }
  return result;
}

}  // namespace

counters& counted() {
  static auto* const one = new counters;
  return *one;
}

void note_axes(bool zyx) { axes_are_zyx = zyx; }

bool is_forked() { return here().forked; }

place chosen_place() { return here().serial ? place::serial : place::openmp; }

Kokkos::DefaultHostExecutionSpace const& host_instance() { return *here().instance; }

#if defined(KOKKOS_ENABLE_CUDA)
stream_instance& stream_instance_of(target const& at) {
  int const own = Kokkos::device_id();
  ISO_VALIDATE(
      at.device == own,
      "the arrays lie on GPU {} (this process computes on GPU {}); move them there, or set "
      "CUDA_VISIBLE_DEVICES before isocenter is imported",
      at.device, own);
  // Never given back, as Kokkos is not.
  static auto* const known =
      new std::map<std::pair<std::uintptr_t, std::thread::id>, stream_instance>;
  std::pair const key(at.stream, at.thread);
  auto found = known->find(key);
  if (found == known->end()) {
    Kokkos::Cuda const exec(reinterpret_cast<cudaStream_t>(at.stream));
    found = known->emplace(key, stream_instance{exec, {}}).first;
  }
  return found->second;
}

namespace {

nb::dict gpu_facts() {
  nb::dict result;
  backend::device_facts of;
  call({}, place::cuda, [&](job const&) { of = backend::facts(Kokkos::Cuda()); });
  result["processor"] = of.processor;
  result["compute_capability"] = of.vector_isa;
  result["memory_bytes"] = of.memory_bytes;
  result["memory_free_bytes"] = of.memory_free_bytes;
  result["driver"] = of.driver;
  result["runtime"] = of.runtime;
  return result;
}

}  // namespace
#endif

job conversation::control() {
  return {how_.progress.is_valid() && !how_.progress.is_none()
              ? std::function<void(double)>([this](double fraction) { tell(fraction); })
              : std::function<void(double)>(),
          [this] { return stops(); }};
}

bool conversation::stops() {
  if (ends_ || error_ || here().ends) {
    return true;
  }
  auto const now = clock::now();
  if (now - asked_at_ < std::chrono::milliseconds(100)) {
    return false;
  }
  nb::gil_scoped_acquire const gil;
  return asks();
}

void conversation::begin() {
  if (asks()) {
    raise_python_error();
    throw cancelled("cancelled (its event was set before it began); call again");
  }
}

void conversation::begin_together() { ends_ = asks(); }

bool conversation::asks() {
  asked_at_ = clock::now();
  try {
    if (PyErr_CheckSignals() != 0) {
      throw nb::python_error();
    }
    if (!how_.cancel.is_valid() || how_.cancel.is_none()) {
      return false;
    }
    nb::object const answer = how_.cancel.attr("is_set")();
    int const is_set = PyObject_IsTrue(answer.ptr());  // of NumPy's type, say
    if (is_set < 0) {
      throw nb::python_error();
    }
    return is_set != 0;
  } catch (nb::python_error& e) {
    error_.emplace(std::move(e));
  } catch (std::exception const& e) {
    PyErr_SetString(PyExc_TypeError, e.what());
    error_.emplace();
  }
  return true;
}

void conversation::tell(double fraction) {
  auto const now = clock::now();
  if (error_ || here().ends || (fraction < 1 && now - told_at_ < std::chrono::milliseconds(50))) {
    return;
  }
  told_at_ = now;
  nb::gil_scoped_acquire const gil;
  try {
    how_.progress(fraction);
  } catch (nb::python_error& e) {
    error_.emplace(std::move(e));
  }
}

void conversation::raise_python_error() {
  if (error_) {
    nb::python_error error(std::move(*error_));
    error_.reset();
    throw error;
  }
}

admission::admission(place where) {
  process& p = here();
  if (p.ends && p.ending_thread.load() != std::this_thread::get_id()) {
    throw cancelled("cancelled (the interpreter ends); join threads before");
  }
  if (p.ends) {
    throw iso::error("the interpreter ends (no call begins any more); join threads before");
  }
  if (p.forked_within_call || (p.forked && where != place::serial)) {
    throw iso::error(
        p.forked_within_call
            ? "this process was forked while another thread computed (what it needs is lost); "
              "start it by multiprocessing's method spawn or forkserver"
        : where == place::cuda
            ? "this process was forked after its parent computed (CUDA gives it no GPU); start it "
              "by multiprocessing's method spawn or forkserver, or give arrays on the host "
              "after isocenter.use('serial')"
        : p.serial
            ? "this call needs OpenMP, as contours and objects that were made on it do (after a "
              "fork its threads are not there); start the process by multiprocessing's method "
              "spawn or forkserver, or make the object anew after isocenter.use('serial')"
            : "this process was forked after its parent computed (OpenMP's threads are not "
              "there); start it by multiprocessing's method spawn or forkserver, or call "
              "isocenter.use('serial') in it");
  }
  ++p.running;
}

admission::~admission() { --here().running; }

namespace {

/// What this thread tells Python, while it makes a call.
thread_local conversation* current = nullptr;

/// The time of a call within which ask() knows it; null: ask() is to say nothing, as all ranks end
/// a call together. Callbacks may call too.
class talk {
 public:
  explicit talk(conversation* with) : before_(current) { current = with; }
  talk(talk const&) = delete;
  talk& operator=(talk const&) = delete;
  ~talk() { current = before_; }

 private:
  conversation* before_;
};

}  // namespace

void ask() {
  if (current != nullptr && current->stops()) {
    throw cancelled("cancelled (the call was asked to stop); call it again");
  }
}

void converse(asked const& how, place where, made_by who, work kind, call_body const& body) {
  admission const admitted(where);
  conversation with(how);
  if (who == made_by::one) {
    with.begin();
  } else {
    with.begin_together();
  }
  std::exception_ptr failure;
  {
    nb::gil_scoped_release const released;
    try {
      talk const now(who == made_by::one ? &with : nullptr);
      job const control = with.control();
      std::optional<computing> alone;
      if (kind == work::by_kokkos) {
        alone.emplace(with);
      }
      body.run(body.object, control);
    } catch (...) {
      failure = std::current_exception();
    }
  }
  with.raise_python_error();
  if (failure) {
    std::rethrow_exception(failure);
  }
}

computing::computing(conversation& with) {
  process& p = here();
  auto const me = std::this_thread::get_id();
  if (p.owner != me) {
    while (!p.mutex.try_lock_for(std::chrono::milliseconds(50))) {
      if (with.stops()) {
        throw cancelled("cancelled (it waited for another call); call again");
      }
    }
    p.owner = me;
  }
  ++p.depth;
  try {
    start();
    check_rounding();
  } catch (...) {
    if (--p.depth == 0) {
      p.owner = std::thread::id();
      p.mutex.unlock();
    }
    throw;
  }
}

computing::~computing() {
  process& p = here();
  if (--p.depth == 0) {
    p.owner = std::thread::id();
    p.mutex.unlock();
  }
}

void bind_call(nb::module_& m) {
  nb::register_exception_translator(translate, nullptr);
  m.attr("version") = std::string(ISO_VERSION_STRING);
  m.def("end", end);
  m.def("after_fork_in_child", after_fork_in_child);
  m.def("use", use);
  m.def("backend", [] { return here().serial ? "serial" : "openmp"; });
  m.def("set_threads", set_threads);
  m.def("started", [] { return here().started.load(); });
  m.def("facts", facts);
  m.attr("has_cuda") = has_cuda;
#if defined(KOKKOS_ENABLE_CUDA)
  m.def("gpu_facts", gpu_facts);
#endif
  m.def("counters", read_counters);
}

}  // namespace iso::python
