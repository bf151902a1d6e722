//! Kernel discriminants.

use super::factor::{
    Predictor, apply, check_kernel, draw_regions, draw_regularization, left_out, regularization_words,
};
use super::kcca::nothing_chosen;
use super::{Method, Model, Prepared, Rows, check_plots, object};
use crate::account::{SHOWN_COMPONENTS, number};
use crate::args::{KdaArgs, Precision};
use crate::exit::Failure;
use crate::figures::Shown;
use crate::model::draw_scatter;
use crate::table::DataAccount;
use crate::values::PlotKind;
use crate::words::{aligned, aligned_with_text, counted};
use eigenlift::matrix::Matrix;
use eigenlift::methods::{Fitted, FittedKernelDiscriminant, KernelDiscriminant};
use eigenlift::progress::Watch;
use eigenlift_io::Target;
use eigenlift_plot::Figure;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// The method's name.
const NAME: &str = "kda";
/// Name of the column of predicted classes.
const CLASS: &str = "class";
/// Classes shown in the account; all of them are in the JSON form.
const SHOWN_CLASSES: usize = 30;

/// Discriminants as the command line asks for them.
pub(crate) struct KdaSettings<'a>(pub(crate) &'a KdaArgs);

/// Classes of rows: their names in order, and the place of each row's.
struct Classes {
    names: Vec<String>,
    of_rows: Vec<u32>,
}

impl Classes {
    /// Numbers are ordered as numbers, names as text.
    fn of(target: &Target) -> Self {
        let mut names: Vec<&String> = target.values.iter().collect();
        names.sort();
        names.dedup();
        if target.numeric {
            let value = |name: &String| name.parse().unwrap_or(f64::NAN);
            names.sort_by(|a, b| value(a).total_cmp(&value(b)));
        }
        let places: HashMap<&String, u32> = names.iter().copied().zip(0..).collect();
        let of_rows = target.values.iter().filter_map(|name| places.get(name).copied()).collect();
        Self { names: names.into_iter().cloned().collect(), of_rows }
    }
}

impl KdaSettings<'_> {
    fn settings(
        &self,
        data: &DataAccount,
        classes: &Classes,
        watch: &Watch,
    ) -> Result<KernelDiscriminant, Failure> {
        let settings = KernelDiscriminant::new()
            .kernel(self.0.kernel.clone())
            .regularization(self.0.regularization.regularization)
            .folds(self.0.regularization.folds)
            .column_names(data.column_names.clone())
            .class_names(classes.names.clone())
            .with(apply(&self.0.factor, data, 1, watch)?);
        Ok(match self.0.components {
            Some(k) => settings.components(k),
            None => settings,
        })
    }

    fn classes(&self, data: &DataAccount, rows: &Rows) -> Result<Classes, Failure> {
        rows.target.as_ref().map(Classes::of).ok_or_else(|| no_target(data))
    }
}

fn no_target(data: &DataAccount) -> Failure {
    Failure::usage(
        format!("kda of {} without --target", data.path.display()),
        "the column that holds the classes of the rows is required",
        "Name it with --target COL, by name or position from 1",
    )
}

impl Method for KdaSettings<'_> {
    fn name(&self) -> &'static str {
        NAME
    }

    fn title(&self) -> &'static str {
        "Kernel discriminants"
    }

    fn inputs(&self) -> Vec<&std::path::Path> {
        self.0.factor.low_rank.landmarks.as_deref().into_iter().collect()
    }

    fn fragments_memory(&self) -> bool {
        true
    }

    fn learns_labels(&self) -> bool {
        true
    }

    fn precision(&self) -> Precision {
        self.0.factor.precision
    }

    fn most_outputs(&self, data: &DataAccount) -> usize {
        self.0.components.unwrap_or(data.rows)
    }

    fn labels(&self) -> Option<&'static str> {
        Some(CLASS)
    }

    fn check(&self, data: &DataAccount, plots: &[PlotKind]) -> Result<(), Failure> {
        check_plots(NAME, plots, &[PlotKind::Scatter, PlotKind::Regularization, PlotKind::Regions])?;
        check_kernel(&self.0.kernel)?;
        if data.target.is_none() {
            return Err(no_target(data));
        }
        check_plane(data, plots)
    }

    fn prepare<'a>(
        &'a self,
        data: &'a DataAccount,
        rows: &'a Rows,
        watch: &'a Watch,
    ) -> Result<Prepared<'a>, Failure> {
        let classes = self.classes(data, rows)?;
        let job = self.settings(data, &classes, watch)?.prepare(&rows.samples, &classes.of_rows)?;
        Prepared::new(job, |model| Ok(Box::new(Told::of(model))))
    }
}

/// Regions are drawn over two columns.
pub(super) fn check_plane(data: &DataAccount, plots: &[PlotKind]) -> Result<(), Failure> {
    if !plots.contains(&PlotKind::Regions) || data.columns == 2 {
        return Ok(());
    }
    Err(Failure::usage(
        format!("--plot regions= of {} data columns", data.columns),
        "regions of the plane need exactly 2",
        "Choose two with --columns, or leave the picture out",
    ))
}

/// Fitted discriminants, and what they predict for the rows of the fit.
pub(super) struct Told {
    model: FittedKernelDiscriminant,
    predicted: Vec<String>,
}

impl Told {
    pub(super) fn of(model: FittedKernelDiscriminant) -> Self {
        Self { model, predicted: Vec::new() }
    }

    /// The tables of components and of classes.
    fn tables(&self) -> [String; 2] {
        let model = &self.model;
        let sum: f64 = model.eigenvalues().iter().sum();
        let values = model.eigenvalues().iter().take(SHOWN_COMPONENTS).enumerate();
        let rows: Vec<Vec<String>> = values
            .map(|(j, value)| {
                vec![format!("{NAME}{}", j + 1), number(*value), format!("{:.2} %", 100.0 * value / sum)]
            })
            .collect();
        let components = aligned(&["component", "between / within", "share"], &rows);
        let classes = model.class_names().iter().zip(model.class_counts()).take(SHOWN_CLASSES);
        let rows: Vec<Vec<String>> = classes
            .map(|(name, count)| {
                vec![
                    name.clone(),
                    count.to_string(),
                    format!("{:.1} %", 100.0 * *count as f64 / model.n_samples() as f64),
                ]
            })
            .collect();
        let more = model.n_classes().saturating_sub(SHOWN_CLASSES);
        let rest = if more > 0 {
            format!("\n  … and {more} more (all of them with --json)")
        } else {
            String::new()
        };
        [components, aligned_with_text(&["class", "rows", "share"], &rows, &[0]) + &rest]
    }
}

impl Model for Told {
    fn fitted(&self) -> &dyn Fitted {
        &self.model
    }

    fn n_samples(&self) -> usize {
        self.model.n_samples()
    }

    fn scores(&mut self, rows: &Rows, watch: &Watch) -> Result<Matrix<f64>, Failure> {
        let (model, points) = (&self.model, rows.samples.points());
        let classes = model.predict_on(&**Fitted::engine(model), points, watch)?;
        self.predicted = classes.iter().map(|class| model.label_words(*class)).collect();
        Ok(model.project(points, watch)?)
    }

    fn labels(&self) -> Option<Target> {
        let values = self.predicted.clone();
        let numeric = values.iter().all(|value| value.parse::<f64>().is_ok());
        (!values.is_empty()).then(|| Target { name: CLASS.into(), values, numeric })
    }

    fn plan(&self) -> String {
        self.model.plan().to_string()
    }

    fn words(&self) -> Vec<String> {
        let model = &self.model;
        let mut lines = self.tables().to_vec();
        let percent = |share: f64| format!("{:.2} %", 100.0 * share);
        let training = percent(model.training_accuracy());
        lines.push(match model.held_out_accuracy() {
            Some((mean, error)) => format!(
                "accuracy: {} ± {} of rows held out in {} are classified rightly; {training} of the rows of the fit",
                percent(mean),
                percent(error),
                counted(model.folds(), "fold")
            ),
            None => {
                let held_out = if model.folds() == 0 { "no rows were held out" } else { "none is known for held-out samples" };
                format!("accuracy: {training} of the rows of the fit are classified rightly; {held_out}")
            }
        });
        lines.push(regularization_words(&[model.regularization()], model.curve(), model.folds()));
        lines.extend(left_out(model.plan(), model.left_out()));
        lines
    }

    fn found(&self) -> Result<Map<String, Value>, Failure> {
        let model = &self.model;
        let means = model.class_means();
        object(json!({
            "plan": model.plan(),
            "kernel": model.plan().kernel,
            "n_components": model.n_components(),
            "classes": model.class_names(),
            "class_counts": model.class_counts(),
            "class_means": (0..means.n_rows()).map(|i| means.row(i)).collect::<Vec<_>>(),
            "priors": model.priors(),
            "eigenvalues": model.eigenvalues(),
            "held_out_accuracy": model.held_out_accuracy().map(|(mean, error)| json!({"mean": mean, "error": error})),
            "training_accuracy": model.training_accuracy(),
            "folds": model.folds(),
            "regularization": model.regularization(),
            "curve": model.curve(),
            "left_out": model.left_out(),
            "threads": model.plan().threads,
        }))
    }

    fn shares(&self) -> Vec<f64> {
        Vec::new()
    }

    fn pictures(&self, has_rows: bool) -> Vec<PlotKind> {
        let tried = self.model.curve().map(|_| PlotKind::Regularization);
        let plane = (has_rows && self.model.n_features() == 2).then_some(PlotKind::Regions);
        tried.into_iter().chain(plane).collect()
    }

    fn draw(&self, kind: PlotKind, shown: &Shown<'_>, title: &str) -> Result<Figure, Failure> {
        let model = &self.model;
        match (kind, model.curve()) {
            (PlotKind::Regularization, Some(curve)) => {
                draw_regularization(curve, "accuracy on held-out rows", title)
            }
            (PlotKind::Regularization, None) => Err(nothing_chosen()),
            (PlotKind::Regions, _) => {
                let predict = |places: &Matrix<f64>| Ok(model.predict(places)?);
                let predictor = Predictor {
                    names: model.class_names(),
                    columns: model.column_names(),
                    predict: &predict,
                };
                draw_regions(&predictor, shown, title)
            }
            _ => draw_scatter(self, shown, title),
        }
    }
}
