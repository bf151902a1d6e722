//! From the library's errors to Python's: the one place.

// The macro makes public types and their documentation itself.
#![allow(missing_docs, unreachable_pub)]

use eigenlift::error::Error;
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict, PyType};

create_exception!(
    eigenlift._native,
    EigenliftError,
    PyValueError,
    "What the library refuses: settings, kernels or data. The base of all exceptions of this package."
);
create_exception!(eigenlift._native, NoVarianceError, EigenliftError, "All rows look the same.");
create_exception!(eigenlift._native, ModelFileError, EigenliftError, "A model file that cannot be used.");

/// An exception with two bases, which [`create_exception`] cannot make.
struct Twofold {
    name: &'static str,
    doc: &'static str,
    made: PyOnceLock<Py<PyType>>,
}

static NOT_CONVERGED: Twofold = Twofold {
    name: "NotConvergedError",
    doc: "A requested tolerance or error was not reached.",
    made: PyOnceLock::new(),
};
static MEMORY_LIMIT: Twofold = Twofold {
    name: "MemoryLimitError",
    doc: "The work does not fit into the memory allowed.",
    made: PyOnceLock::new(),
};

impl Twofold {
    fn of<'py>(&self, py: Python<'py>, other: Bound<'py, PyType>) -> PyResult<Bound<'py, PyType>> {
        let make = || -> PyResult<Py<PyType>> {
            let bases = (py.get_type::<EigenliftError>(), other);
            let members = [("__module__", "eigenlift._native"), ("__doc__", self.doc)].into_py_dict(py)?;
            let made = py.get_type::<PyType>().call1((self.name, bases, members))?;
            Ok(made.cast_into::<PyType>()?.unbind())
        };
        Ok(self.made.get_or_try_init(py, make)?.bind(py).clone())
    }

    fn raised(&self, message: String, other: impl Fn(Python<'_>) -> Bound<'_, PyType>) -> PyErr {
        Python::attach(|py| match self.of(py, other(py)) {
            Ok(kind) => PyErr::from_type(kind, message),
            Err(error) => error,
        })
    }
}

/// Adds the exceptions with two bases to the module.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("NotConvergedError", NOT_CONVERGED.of(py, py.get_type::<PyRuntimeError>())?)?;
    module.add("MemoryLimitError", MEMORY_LIMIT.of(py, py.get_type::<PyMemoryError>())?)
}

/// The exception for an error of the library.
pub(crate) fn to_python(error: Error) -> PyErr {
    let message = error.to_string();
    match error {
        // What a callback raised comes out as it was.
        Error::Source(inner) => match inner.downcast::<PyErr>() {
            Ok(raised) => *raised,
            Err(_) => EigenliftError::new_err(message),
        },
        Error::NoVariance { .. } => NoVarianceError::new_err(message),
        Error::Model { .. } => ModelFileError::new_err(message),
        Error::Memory { .. } => MEMORY_LIMIT.raised(message, |py| py.get_type::<PyMemoryError>()),
        Error::NotConverged { .. } | Error::NotReached { .. } => {
            NOT_CONVERGED.raised(message, |py| py.get_type::<PyRuntimeError>())
        }
        // The kind decides which OSError it becomes.
        Error::Io { source, .. } => std::io::Error::new(source.kind(), message).into(),
        Error::Cancelled => PyKeyboardInterrupt::new_err(message),
        _ => EigenliftError::new_err(message),
    }
}
