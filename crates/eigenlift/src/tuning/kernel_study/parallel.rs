//! Parallel analysis for kernel PCA: eigenvalues above those of the same columns in random order.

use super::{Batch, CentredGram, Setup, check_memory, dense_gram, quantile, shared_settings, within};
use crate::data::AnySamples;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::gram::Similarity;
use crate::kernel::Kernel;
use crate::linalg::symmetric_eigenvalues;
use crate::matrix::Matrix;
use crate::progress::Watch;
use crate::random::{Purpose, Stream};
use serde::{Deserialize, Serialize};

/// Most rows by default.
const MAX_ROWS: usize = 1000;
/// Permutations by default, and at most.
const PERMUTATIONS: usize = 20;
const MOST_PERMUTATIONS: usize = 100_000;
/// Fewest rows.
const FEWEST_ROWS: usize = 3;
/// Numbers that the rows looked at may have as a dense table: half a GiB.
const LARGEST_TABLE: usize = 1 << 26;

/// Settings of parallel analysis for kernel PCA. [`KernelParallel::run`] gives the report.
///
/// Each column is put into random order on its own: its values stay, its relation to the others goes. The kernel keeps its
/// numbers. Components count until the first eigenvalue of K_c that does not exceed the 95 % quantile of those at the same
/// place in permuted data, (K83). On unrelated columns the first exceeds it with probability at most 1/20.
///
/// This is a rule about structure: it says how many components are more than unrelated columns give. It is no rule about
/// denoising. Measured on four denoising problems, the number it gives left 1.3 to 4.4 times the mean square error of the best
/// number of components (masked-feature cross-validation: 1.00 to 1.05). A curve needs many components to be followed closely,
/// and those beyond the first few stand no higher than in noise.
///
/// ```
/// use eigenlift::{data, tuning::kernel_study::KernelParallel};
/// let report = KernelParallel::new().run(&data::iris()?.samples.into())?;
/// assert!(report.n_components >= 1, "{}", report.sentence);
/// # Ok::<(), eigenlift::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct KernelParallel {
    permutations: usize,
    quantile: f64,
    ready: Option<Kernel>,
    setup: Setup,
}

shared_settings!(KernelParallel);

/// What parallel analysis found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelParallelReport {
    /// Eigenvalues ω of K_c of the rows looked at, largest first; all but the one of the constant vector.
    pub eigenvalues: Vec<f64>,
    /// Quantile of the j-th eigenvalue of permuted data, for each j.
    pub null: Vec<f64>,
    /// Mean of the j-th eigenvalue of permuted data, for each j.
    pub null_mean: Vec<f64>,
    /// Number of leading eigenvalues above the quantile.
    pub n_components: usize,
    /// Number of permutations.
    pub permutations: usize,
    /// Rows looked at.
    pub n_rows: usize,
    /// The kernel.
    pub kernel: String,
    /// What it says, in one sentence.
    pub sentence: String,
    /// What a person should know before relying on it.
    pub warnings: Vec<String>,
}

impl Default for KernelParallel {
    fn default() -> Self {
        Self::new()
    }
}

impl KernelParallel {
    /// Kernel `rbf(gamma=median)`, 20 permutations, quantile 0.95, 1000 rows at most.
    pub fn new() -> Self {
        Self { permutations: PERMUTATIONS, quantile: 0.95, ready: None, setup: Setup::new(MAX_ROWS) }
    }

    /// Draws so many permutations.
    pub fn permutations(mut self, count: usize) -> Self {
        self.permutations = count;
        self
    }

    /// Asks eigenvalues to exceed this quantile of those of permuted data.
    pub fn quantile(mut self, share: f64) -> Self {
        self.quantile = share;
        self
    }

    /// Uses a kernel that is ready, such as a function.
    pub fn ready_kernel(mut self, kernel: Kernel) -> Self {
        self.ready = Some(kernel);
        self
    }

    /// Analyses the samples.
    ///
    /// Cost: for each permutation n²/2 kernel values and 4/3·n³ flops for all eigenvalues; memory 3·n² numbers and a copy of
    /// the rows for each permutation under way.
    ///
    /// # Errors
    /// When a setting is out of range, the kernel is `precomputed`, an entry is not finite or not what the kernel takes, there
    /// are fewer than 3 rows, fewer than two columns vary, and on cancellation.
    pub fn run(&self, samples: &AnySamples) -> Result<KernelParallelReport> {
        let share = self.quantile;
        let allowed = (1..=MOST_PERMUTATIONS).contains(&self.permutations);
        if !(allowed && share > 0.0 && share < 1.0) {
            return Err(Error::setting(
                format!("{} permutations and the quantile {share}", self.permutations),
                format!("1 to {MOST_PERMUTATIONS} permutations and a quantile between 0 and 1"),
                "Change the setting that is out of range",
            ));
        }
        if self.ready.is_none() && self.setup.kernel.is_precomputed() {
            return Err(Error::setting(
                "parallel analysis of a precomputed Gram matrix",
                "columns of the data must be put into random order, and a Gram matrix does not have them",
                "Choose a kernel and give the rows",
            ));
        }
        self.setup.check_rows(samples, FEWEST_ROWS, "parallel analysis")?;
        let kernel = match &self.ready {
            Some(kernel) => kernel.check_points(samples.points()).map(|()| kernel.clone())?,
            None => Kernel::for_points(&self.setup.kernel, samples.points(), self.setup.seed)?,
        };
        let (columns, warnings) = self.columns(samples)?;
        let engine = self.setup.running_engine()?;
        check_memory(&*engine, columns.n_cols(), 3)?;
        within(&*engine, || self.analyse(&*engine, kernel, &columns, warnings))
    }

    /// The rows looked at, column after column, so that a column is put into order in one run of memory.
    fn columns(&self, samples: &AnySamples) -> Result<(Matrix<f64>, Vec<String>)> {
        let affordable = (LARGEST_TABLE / samples.n_cols().max(1)).max(FEWEST_ROWS);
        let most = self.setup.max_rows.min(affordable);
        let mut warnings = Vec::new();
        if most < self.setup.max_rows.min(samples.n_rows()) {
            warnings
                .push(format!("rows of {} columns: only {most} of them were looked at", samples.n_cols()));
        }
        let x: Matrix<f64> =
            Setup { max_rows: most, ..self.setup.clone() }.drawn(samples).points().to_dense();
        let columns = Matrix::from_fn(x.n_cols(), x.n_rows(), |j, i| x[(i, j)]);
        let varies = |j: &usize| columns.row(*j).windows(2).any(|pair| pair[0] != pair[1]);
        let varying = (0..columns.n_rows()).filter(varies).count();
        if varying < 2 {
            return Err(Error::data(
                format!("{varying} column(s) that vary"),
                "parallel analysis breaks the relation between columns and needs at least two",
                "Choose the number of components in another way, such as cross-validation",
            ));
        }
        Ok((columns, warnings))
    }

    fn analyse(
        &self,
        engine: &dyn Engine,
        kernel: Kernel,
        columns: &Matrix<f64>,
        warnings: Vec<String>,
    ) -> Result<KernelParallelReport> {
        let Setup { seed, watch, .. } = &self.setup;
        let (d, n) = (columns.n_rows(), columns.n_cols());
        let (name, similarity) = (kernel.to_string(), Similarity::Kernel(kernel));
        let bytes = 8 * (3 * n * n + 2 * n * d);
        let batch = Batch { stage: "parallel analysis", count: self.permutations + 1, bytes, watch };
        // The first is the data as they are.
        let mut spectra = batch.run(|at| {
            let mut permuted = columns.clone();
            if let Some(permutation) = at.checked_sub(1) {
                let mut stream = Stream::numbered(*seed, Purpose::Shuffles, permutation as u32);
                permuted.as_mut_slice().chunks_exact_mut(n).for_each(|column| stream.shuffle(column));
            }
            spectrum(engine, &similarity, &permuted, watch)
        })?;
        let nulls = spectra.split_off(1);
        let eigenvalues = spectra.pop().unwrap_or_default();
        let places = || (0..eigenvalues.len()).map(|j| nulls.iter().map(move |values| values[j]));
        let null: Vec<f64> = places().map(|values| quantile(values.collect(), self.quantile)).collect();
        let null_mean: Vec<f64> = places().map(|values| values.sum::<f64>() / nulls.len() as f64).collect();
        // Numerics: where permuting changes nothing, rounding must not decide.
        let rounding = n as f64 * f64::EPSILON * eigenvalues.first().copied().unwrap_or(0.0);
        let exceeds = |(value, null): &(&f64, &f64)| **value > **null + rounding;
        let n_components = eigenvalues.iter().zip(&null).take_while(exceeds).count();
        Ok(KernelParallelReport {
            sentence: self.sentence(n_components, n),
            eigenvalues,
            null,
            null_mean,
            n_components,
            permutations: self.permutations,
            n_rows: n,
            kernel: name,
            warnings,
        })
    }

    fn sentence(&self, n_components: usize, n: usize) -> String {
        let lie = match n_components {
            0 => "no eigenvalue lies".into(),
            1 => "1 eigenvalue lies".into(),
            m => format!("{m} eigenvalues lie"),
        };
        format!(
            "{lie} above what unrelated columns give in {} % of {} permutations of {n} rows",
            1e-6 * (1e8 * self.quantile).round(),
            self.permutations
        )
    }
}

/// The n − 1 eigenvalues of K_c that can differ from 0, largest first, for rows given column after column.
fn spectrum(
    engine: &dyn Engine,
    similarity: &Similarity,
    columns: &Matrix<f64>,
    watch: &Watch,
) -> Result<Vec<f64>> {
    let (d, n) = (columns.n_rows(), columns.n_cols());
    let rows: AnySamples = Matrix::from_fn(n, d, |i, j| columns[(j, i)]).into();
    let gram = CentredGram::new(dense_gram(engine, similarity, &rows, &watch.silent())?)?;
    watch.check()?;
    let mut values = symmetric_eigenvalues(&gram.matrix)?;
    let largest = values.first().copied().unwrap_or(0.0);
    let rounding = crate::eigen::rank_threshold(n, largest, gram.norm_before, f64::EPSILON / 2.0);
    if largest <= rounding {
        return Err(Error::no_variance(
            format!("a centered Gram matrix whose largest eigenvalue is {largest:.1e}"),
            format!("at least one must exceed rounding ({rounding:.1e})"),
            "All samples look the same to this kernel: change its parameters",
        ));
    }
    // The constant vector has the eigenvalue 0: leaving out the one closest to 0 leaves it out.
    let closest = (0..n).min_by(|a, b| values[*a].abs().total_cmp(&values[*b].abs()));
    if let Some(at) = closest {
        values.remove(at);
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::KernelSpec;
    use crate::methods::KernelPca;

    /// Every spectrum by a fit of its own, of rows that were put into order by hand.
    #[test]
    fn spectra_are_those_of_fits_of_permuted_rows() {
        let mut stream = Stream::new(2, Purpose::Synthetic);
        let x = Matrix::from_fn(30, 3, |i, j| (i as f64 * 0.2 + j as f64).sin() + 0.1 * stream.gaussian());
        let report =
            KernelParallel::new().permutations(4).quantile(0.5).seed(3).run(&x.clone().into()).unwrap();
        let fit = |x: Matrix<f64>| {
            let spec: KernelSpec = report.kernel.parse().unwrap();
            let model = KernelPca::new(5).kernel(spec).tolerance(1e-12).exact().fit(x).unwrap();
            model.eigenvalues().to_vec()
        };
        let own = fit(x.clone());
        let nulls: Vec<Vec<f64>> = (0..4)
            .map(|at| {
                let mut stream = Stream::numbered(3, Purpose::Shuffles, at);
                let columns: Vec<Vec<f64>> = (0..3)
                    .map(|j| {
                        let mut column = x.column(j);
                        stream.shuffle(&mut column);
                        column
                    })
                    .collect();
                fit(Matrix::from_fn(30, 3, |i, j| columns[j][i]))
            })
            .collect();
        assert_eq!((report.eigenvalues.len(), report.n_rows), (29, 30));
        for j in 0..5 {
            // Rounding of a direct solver: some roundings of the trace, 30.
            assert!((report.eigenvalues[j] - own[j]).abs() < 1e-12, "{j}");
            let mut at_j: Vec<f64> = nulls.iter().map(|values| values[j]).collect();
            assert!((report.null_mean[j] - at_j.iter().sum::<f64>() / 4.0).abs() < 1e-12);
            at_j.sort_by(f64::total_cmp);
            assert!((report.null[j] - at_j[2]).abs() < 1e-12);
        }
        let above = (0..5).take_while(|j| own[*j] > report.null[*j]).count();
        assert!(report.n_components == above || above == 5);
    }
}
