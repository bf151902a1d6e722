//! Kernel PCA.

mod aligned;

pub(crate) use aligned::Earlier;

use super::{Method, Model, Prepared, Rows, check_plots, json_of, object};
use crate::account;
use crate::args::{LowRankArgs, Precision, SettingArgs, SolverChoice};
use crate::exit::Failure;
use crate::figures::{self, Shown};
use crate::model::draw_scatter;
use crate::pairwise::refuse_large;
use crate::rows::TableRows;
use crate::table::{DataAccount, column_places, samples_bytes};
use crate::values::{ComponentChoice, PlotKind, RankChoice};
use eigenlift::features::{Approximation, LowRank, Rank};
use eigenlift::matrix::Matrix;
use eigenlift::methods::{Fitted, FittedKernelPca, KernelPca};
use eigenlift::model::Solver;
use eigenlift::progress::Watch;
use eigenlift_io::{ReadOptions, read_table};
use eigenlift_plot::Figure;
use serde_json::{Map, Value};
use std::path::Path;

/// Pictures over the plane.
const PLANAR: [PlotKind; 3] = [PlotKind::Contours, PlotKind::Linear, PlotKind::Curves];
/// Pictures that kernel PCA has.
const PLOTS: [PlotKind; 7] = [
    PlotKind::Scatter,
    PlotKind::Scree,
    PlotKind::Contours,
    PlotKind::Linear,
    PlotKind::Curves,
    PlotKind::Gram,
    PlotKind::Choice,
];

/// The settings that the command line asks for. Memory that `samples_bytes` of samples take is not there for the work.
fn settings(args: &SettingArgs, data: &DataAccount, samples_bytes: u64) -> Result<KernelPca, Failure> {
    let mut settings = match args.components {
        ComponentChoice::Exactly(k) => KernelPca::new(k),
        // The number that is chosen takes the place of this one.
        ComponentChoice::Auto => KernelPca::new(1).auto_components(),
    };
    settings = settings
        .kernel(args.kernel.clone())
        .tolerance(args.tol)
        .repair(args.repair)
        .seed(args.machine.seed)
        .threads(args.machine.threads.into())
        .column_names(data.column_names.clone());
    if let Some(limit) = args.machine.memory {
        settings = settings.memory_limit(limit.saturating_sub(samples_bytes).max(1));
    }
    settings = match args.solver {
        SolverChoice::Auto => settings,
        SolverChoice::Dense => settings.solver(Solver::Dense),
        SolverChoice::Davidson => settings.solver(Solver::Davidson),
    };
    Ok(match low_rank(&args.low_rank, data)? {
        Some(Accuracy::Exact) => settings.exact(),
        Some(Accuracy::LowRank(how)) => settings.low_rank(how),
        None => settings,
    })
}

/// How exact the answer must be.
pub(super) enum Accuracy {
    Exact,
    LowRank(LowRank),
}

/// What the words on landmarks and features stand for; `None` when there are none.
pub(super) fn low_rank(args: &LowRankArgs, data: &DataAccount) -> Result<Option<Accuracy>, Failure> {
    if let Some(path) = &args.landmarks {
        if args.rank.is_some() || args.low_rank.is_some() {
            return Err(Failure::usage(
                "--landmarks with --rank or --low-rank",
                "landmarks that are given need no choice",
                "Leave one of them out",
            ));
        }
        return Ok(Some(Accuracy::LowRank(LowRank::landmarks(read_landmarks(path, data)?))));
    }
    let rank = match (args.rank, args.low_rank) {
        (None, None) => return Ok(None),
        (Some(RankChoice::Exact), None) => return Ok(Some(Accuracy::Exact)),
        (Some(RankChoice::Exact), Some(_)) => {
            return Err(Failure::usage(
                "--rank exact with --low-rank",
                "an exact fit approximates nothing",
                "Leave one of them out",
            ));
        }
        (Some(RankChoice::LowRank(rank)), _) => rank,
        (None, Some(_)) => Rank::default(),
    };
    let how = match args.low_rank.unwrap_or(Approximation::Pivoted) {
        Approximation::Uniform => LowRank::uniform(rank),
        Approximation::KMeans => LowRank::k_means(rank),
        Approximation::Fourier => LowRank::fourier(rank),
        Approximation::TensorSketch => LowRank::tensor_sketch(rank),
        _ => LowRank::pivoted(rank),
    };
    Ok(Some(Accuracy::LowRank(how)))
}

/// Landmarks from a table, their columns matched to those of the data.
fn read_landmarks(path: &Path, data: &DataAccount) -> Result<Matrix<f64>, Failure> {
    let table = read_table(path, &ReadOptions::default())?;
    let account = DataAccount {
        path: path.to_owned(),
        rows: table.n_rows,
        columns: table.names.len(),
        column_names: table.names.clone(),
        ..DataAccount::default()
    };
    let width = table.names.len();
    let places = column_places(&account, &data.column_names, data.columns, "the data")?;
    let places = places.unwrap_or_else(|| (0..width).collect());
    Ok(Matrix::from_fn(table.n_rows, places.len(), |i, j| table.values[i * width + places[j]]))
}

/// Kernel PCA as the command line asks for it.
pub(crate) struct KernelPcaSettings<'a> {
    pub(crate) args: &'a SettingArgs,
    /// The model that this one is matched to.
    pub(crate) earlier: Option<Earlier<'a>>,
    /// Whether the model keeps cross-validated T² and squared prediction errors.
    pub(crate) control_limits: bool,
}

impl KernelPcaSettings<'_> {
    fn in_memory(&self, data: &DataAccount, watch: &Watch) -> Result<KernelPca, Failure> {
        Ok(settings(self.args, data, samples_bytes(data, self.args.precision))?.watch(watch.clone()))
    }

    /// With control limits, and matched to the earlier model, where these are wanted.
    fn finish(&self, model: FittedKernelPca, rows: &Rows, watch: &Watch) -> Result<Box<dyn Model>, Failure> {
        let model = match self.control_limits {
            true => model.with_cross_validation(&rows.samples, watch)?,
            false => model,
        };
        Ok(match &self.earlier {
            None => Box::new(model),
            Some(earlier) => Box::new(earlier.align(model, rows.samples.points(), watch)?),
        })
    }

    /// Whether something is chosen by cross-validation.
    fn chooses(&self) -> bool {
        self.args.components == ComponentChoice::Auto || self.args.kernel.is_automatic()
    }

    fn check_choice(&self, plots: &[PlotKind]) -> Result<(), Failure> {
        if self.chooses() && self.args.kernel.is_precomputed() {
            return Err(Failure::usage(
                "-k auto with --kernel precomputed",
                "the choice hides entries of rows, and a Gram matrix does not have them",
                "Give a number of components, or a kernel and the rows",
            ));
        }
        if plots.contains(&PlotKind::Choice) && !self.chooses() {
            return Err(Failure::usage(
                "--plot choice= where nothing is chosen",
                "the curve is that of -k auto, --kernel auto or --kernel 'rbf(gamma=auto)'",
                "Add one of these, or use eigenlift choose kpca",
            ));
        }
        Ok(())
    }
}

impl Method for KernelPcaSettings<'_> {
    fn name(&self) -> &'static str {
        "kpca"
    }

    fn title(&self) -> &'static str {
        "Kernel PCA"
    }

    fn inputs(&self) -> Vec<&Path> {
        let earlier = self.earlier.as_ref().map(|earlier| earlier.path);
        self.args.low_rank.landmarks.as_deref().into_iter().chain(earlier).collect()
    }

    fn precision(&self) -> Precision {
        self.args.precision
    }

    fn plans_first(&self) -> bool {
        !self.chooses()
    }

    fn most_outputs(&self, data: &DataAccount) -> usize {
        match self.args.components {
            ComponentChoice::Exactly(k) => k,
            ComponentChoice::Auto => data.rows,
        }
    }

    fn check(&self, data: &DataAccount, plots: &[PlotKind]) -> Result<(), Failure> {
        check_plots(self.name(), plots, &PLOTS)?;
        self.check_choice(plots)?;
        self.earlier.as_ref().map_or(Ok(()), |earlier| earlier.check(data))?;
        if plots.contains(&PlotKind::Gram) {
            refuse_large(data.rows, self.args.machine.memory)?;
        }
        let over_plane = plots.iter().find(|kind| PLANAR.contains(kind));
        if let Some(kind) = over_plane.filter(|_| data.columns != 2 || self.args.kernel.is_precomputed()) {
            return Err(Failure::usage(
                format!("--plot {}= of {} data columns", kind.name(), data.columns),
                "pictures over the plane need exactly 2 and a kernel that can be computed from them",
                "Choose two with --columns, or leave the picture out",
            ));
        }
        Ok(())
    }

    fn prepare<'a>(
        &'a self,
        data: &'a DataAccount,
        rows: &'a Rows,
        watch: &'a Watch,
    ) -> Result<Prepared<'a>, Failure> {
        let job = self.in_memory(data, watch)?.prepare(&rows.samples)?;
        Prepared::new(job, move |model| self.finish(model, rows, watch))
    }

    fn prepare_source<'a>(
        &'a self,
        rows: &'a mut TableRows,
        watch: &'a Watch,
    ) -> Result<Prepared<'a>, Failure> {
        if self.control_limits {
            return Err(Failure::usage(
                "--control-limits of a table that is read in chunks",
                "cross-validation needs all rows in memory",
                "Allow more --memory, or leave it out and give 'score' a --reference",
            ));
        }
        let settings = settings(self.args, &rows.account, rows.held_bytes())?.watch(watch.clone());
        Prepared::new(settings.prepare(rows)?, |model| Ok(Box::new(model)))
    }

    fn finish_source(
        &self,
        model: Box<dyn Model>,
        rows: &mut TableRows,
        watch: &Watch,
    ) -> Result<Box<dyn Model>, Failure> {
        match (&self.earlier, model.kernel_pca()) {
            (Some(earlier), Some(own)) => Ok(Box::new(earlier.align_source(own.clone(), rows, watch)?)),
            _ => Ok(model),
        }
    }
}

impl Model for FittedKernelPca {
    fn fitted(&self) -> &dyn Fitted {
        self
    }

    fn n_samples(&self) -> usize {
        self.n_samples()
    }

    fn scores(&mut self, _: &Rows, _: &Watch) -> Result<Matrix<f64>, Failure> {
        Ok(FittedKernelPca::scores(self)?)
    }

    fn plan(&self) -> String {
        self.plan().to_string()
    }

    fn words(&self) -> Vec<String> {
        account::words(self)
    }

    fn found(&self) -> Result<Map<String, Value>, Failure> {
        let mut found = object(account::Found::new(self))?;
        if let Some(choice) = self.choice() {
            found.insert("choice".into(), json_of(choice)?);
        }
        Ok(found)
    }

    fn shares(&self) -> Vec<f64> {
        figures::shares(self)
    }

    fn pictures(&self, has_rows: bool) -> Vec<PlotKind> {
        let mut kinds = vec![PlotKind::Scree];
        kinds.extend(self.choice().map(|_| PlotKind::Choice));
        if figures::is_planar(self, has_rows) {
            kinds.extend(PLANAR);
        }
        kinds
    }

    fn kernel_pca(&self) -> Option<&FittedKernelPca> {
        Some(self)
    }

    fn draw(&self, kind: PlotKind, shown: &Shown<'_>, title: &str) -> Result<Figure, Failure> {
        match (kind, self.choice()) {
            (PlotKind::Choice, Some(choice)) => figures::draw_kernel_choice(choice, title),
            (PlotKind::Scree, _) => figures::draw_scree(self, title),
            (PlotKind::Contours, _) => figures::draw_contours(self, shown, title),
            (PlotKind::Linear, _) => figures::draw_linear(self, shown, title),
            (PlotKind::Curves, _) => figures::draw_curves(self, shown, title),
            (PlotKind::Gram, _) => figures::draw_gram(self, shown, title),
            _ => draw_scatter(self, shown, title),
        }
    }
}
