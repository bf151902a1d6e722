//! The one-file report and the picture of a spectrum.

use crate::errors::EigenliftError;
use eigenlift_plot::{PlotError, Report, Scree, scree};
use pyo3::PyErr;
use pyo3::prelude::*;

fn refused(error: PlotError) -> PyErr {
    EigenliftError::new_err(error.to_string())
}

/// The report that its JSON describes, as HTML.
#[pyfunction]
pub(crate) fn report_html(py: Python<'_>, json_text: &str) -> PyResult<String> {
    py.detach(|| {
        let report: Report = serde_json::from_str(json_text)
            .map_err(|error| EigenliftError::new_err(format!("the report cannot be read: {error}")))?;
        report.to_html().map_err(refused)
    })
}

/// The spectrum as SVG.
#[pyfunction]
pub(crate) fn scree_svg(
    eigenvalues: Vec<f64>,
    ratio: Vec<f64>,
    intervals: Option<Vec<(f64, f64)>>,
    residual: Vec<f64>,
    title: &str,
) -> PyResult<String> {
    let picture = Scree {
        eigenvalues: &eigenvalues,
        ratio: &ratio,
        intervals: intervals.as_deref(),
        residual: &residual,
        title,
    };
    Ok(scree(&picture).map_err(refused)?.to_svg())
}
