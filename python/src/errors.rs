//! From the library's errors to Python's: the one place.

// The macro makes public types and their documentation itself.
#![allow(missing_docs, unreachable_pub)]

use eigenlift::error::Error;
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyRuntimeError, PyValueError};

create_exception!(
    eigenlift._native,
    EigenliftError,
    PyValueError,
    "What the library refuses: settings, kernels or data."
);
create_exception!(eigenlift._native, NoVarianceError, EigenliftError, "All rows look the same.");
create_exception!(eigenlift._native, ModelFileError, EigenliftError, "A model file that cannot be used.");
create_exception!(
    eigenlift._native,
    NotConvergedError,
    PyRuntimeError,
    "A tolerance or an error asked for was not reached."
);
create_exception!(
    eigenlift._native,
    MemoryLimitError,
    PyMemoryError,
    "The work does not fit into the memory allowed."
);

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
        Error::Memory { .. } => MemoryLimitError::new_err(message),
        Error::NotConverged { .. } | Error::NotReached { .. } => NotConvergedError::new_err(message),
        // The kind decides which OSError it becomes.
        Error::Io { source, .. } => std::io::Error::new(source.kind(), message).into(),
        Error::Cancelled => PyKeyboardInterrupt::new_err(message),
        _ => EigenliftError::new_err(message),
    }
}
