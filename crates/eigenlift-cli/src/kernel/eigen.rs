//! Eigenvalues, eigenvectors β, coefficients α and scores as tables.

use super::{prepare, rows};
use crate::args::{EigenArgs, EigenTable};
use crate::exit::Failure;
use crate::interrupt::Session;
use crate::outputs;
use crate::pairwise::refuse_large;
use crate::standard::is_standard;
use crate::words::{Words, aligned};
use eigenlift::matrix::Matrix;
use eigenlift::methods::{FittedKernelPca, KernelPca};
use eigenlift_io::{Output, write_table};
use serde_json::json;

/// Solves and shows the tables, or writes one.
pub(super) fn run(args: &EigenArgs, session: &Session) -> Result<(), Failure> {
    if args.shared.out.is_some() && args.what.is_none() {
        return Err(Failure::usage(
            "--out without --what",
            "a file holds one table",
            "Choose it with --what values, beta, alpha or scores",
        ));
    }
    let (input, x) = prepare(&args.shared, true, session)?;
    refuse_large(x.n_rows(), args.shared.machine.memory)?;
    let k = args.components.unwrap_or(x.n_rows().saturating_sub(1)).max(1);
    let machine = &args.shared.machine;
    let mut settings = KernelPca::new(k)
        .kernel(args.shared.kernel.clone())
        .tolerance(1e-10)
        .seed(machine.seed)
        .threads(machine.threads.into())
        .by_gram_matrix()
        .exact();
    if let Some(limit) = machine.memory {
        settings = settings.memory_limit(limit);
    }
    let model =
        session.watched(args.shared.speech.quiet, |watch| Ok(settings.watch(watch.clone()).fit(x)?))?;
    let words = Words::new(args.shared.speech.quiet);
    // That fewer exist is no news when all were asked for.
    let news = |warning: &&String| args.components.is_some() || !warning.contains("were asked for and");
    model.warnings().iter().filter(news).for_each(|warning| words.warn(warning));
    let tables = Tables { model: &model };
    if let (Some(path), Some(what)) = (&args.shared.out, args.what) {
        tables.write(what, path)?;
        if !is_standard(path) {
            words.say(format_args!("wrote {}", path.display()));
        }
        if !args.shared.speech.json {
            return Ok(());
        }
    }
    if args.shared.speech.json {
        return outputs::print_json(&json!({
            "command": "kernel eigen",
            "version": env!("CARGO_PKG_VERSION"),
            "data": input.account,
            "kernel": model.plan().kernel,
            "n_lambda": model.eigenvalues(),
            "lambda": model.variances(),
            "explained_variance_ratio": model.explained_variance_ratio(),
            "total": model.total(),
            "beta": rows(&tables.beta()),
            "alpha": rows(model.coefficients()),
            "scores": rows(&model.scores()?),
        }));
    }
    outputs::print(&tables.text(args.what)?)
}

/// The tables of a model.
#[derive(Debug)]
pub(crate) struct Tables<'a> {
    /// The model they come from.
    pub(crate) model: &'a FittedKernelPca,
}

impl Tables<'_> {
    /// β: unit eigenvectors over samples, α·√(nλ).
    fn beta(&self) -> Matrix<f64> {
        let (alpha, values) = (self.model.coefficients(), self.model.eigenvalues());
        Matrix::from_fn(alpha.n_rows(), alpha.n_cols(), |i, j| {
            alpha[(i, j)] * values[j].signum() * values[j].abs().sqrt()
        })
    }

    /// nλ, λ, share.
    fn values(&self) -> Matrix<f64> {
        let columns = [
            self.model.eigenvalues().to_vec(),
            self.model.variances(),
            self.model.explained_variance_ratio(),
        ];
        Matrix::from_fn(self.model.n_components(), columns.len(), |i, j| columns[j][i])
    }

    /// Title, names of columns and numbers of a table.
    pub(crate) fn table(
        &self,
        what: EigenTable,
    ) -> Result<(&'static str, Vec<String>, Matrix<f64>), Failure> {
        let numbered = |name: &str| (1..=self.model.n_components()).map(|j| format!("{name}{j}")).collect();
        Ok(match what {
            EigenTable::Values => (
                "eigenvalues of the centred kernel matrix: nλ, λ, share of the total",
                ["n_lambda", "lambda", "explained"].map(String::from).to_vec(),
                self.values(),
            ),
            EigenTable::Beta => ("β: unit eigenvectors, one row per sample", numbered("beta"), self.beta()),
            EigenTable::Alpha => ("α = β/√(nλ)", numbered("alpha"), self.model.coefficients().clone()),
            EigenTable::Scores => ("scores: α·nλ", numbered("kpca"), self.model.scores()?),
        })
    }

    /// One table, or all of them, for people.
    pub(crate) fn text(&self, what: Option<EigenTable>) -> Result<String, Failure> {
        let all = [EigenTable::Values, EigenTable::Beta, EigenTable::Alpha, EigenTable::Scores];
        let chosen: Vec<EigenTable> = what.map_or(all.to_vec(), |one| vec![one]);
        let block = |what: &EigenTable| {
            let (title, names, numbers) = self.table(*what)?;
            Ok(format!("{title}\n{}", block(&names, &numbers)))
        };
        let head = format!(
            "kernel {}\n{} components of {} samples; total tr(K̃) = {:.8}",
            self.model.plan().kernel,
            self.model.n_components(),
            self.model.n_samples(),
            self.model.total()
        );
        let parts: Result<Vec<String>, Failure> =
            std::iter::once(Ok(head)).chain(chosen.iter().map(block)).collect();
        Ok(parts?.join("\n\n"))
    }

    /// One table into a file.
    fn write(&self, what: EigenTable, path: &std::path::Path) -> Result<(), Failure> {
        let (_, names, numbers) = self.table(what)?;
        let output = Output {
            names: &names,
            n_rows: numbers.n_rows(),
            values: numbers.as_slice(),
            ..Output::default()
        };
        Ok(write_table(path, &output, None)?)
    }
}

/// A matrix with eight decimals under names.
pub(crate) fn block(names: &[String], numbers: &Matrix<f64>) -> String {
    let heading: Vec<&str> = names.iter().map(String::as_str).collect();
    let cell = |x: &f64| {
        let text = format!("{x:.8}");
        // What rounds to zero has no sign.
        if text == "-0.00000000" { "0.00000000".to_string() } else { text }
    };
    let rows: Vec<Vec<String>> =
        (0..numbers.n_rows()).map(|i| numbers.row(i).iter().map(cell).collect()).collect();
    aligned(&heading, &rows)
}
