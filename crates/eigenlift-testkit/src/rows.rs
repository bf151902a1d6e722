//! Laws of [`Rows`]: every place for rows gives the same answers to the same questions, and the same bits when asked again.

use eigenlift::data::AnySamples;
use eigenlift::error::Result;
use eigenlift::features::{FeatureKind, FeatureParts, RowFeatures, Stop};
use eigenlift::gram::{Similarity, Storage};
use eigenlift::kernel::Kernel;
use eigenlift::matrix::Matrix;
use eigenlift::methods::pca::PcaRoute;
use eigenlift::methods::{KernelPca, Pca};
use eigenlift::progress::Watch;
use eigenlift::rows::{Pass, PivotDraw, Place, Rows};

/// Landmarks that are drawn.
const PIVOTS: usize = 12;

/// What is asked, and how far answers may be from plain formulas, relative to the largest number.
pub struct RowLaws<'a> {
    /// The rows, in memory.
    pub x: &'a AnySamples,
    /// A kernel with few explicit features.
    pub kernel: &'a str,
    /// Rounding that is allowed.
    pub rounding: f64,
}

impl RowLaws<'_> {
    /// Asks everything of these rows. Panics where an answer is not that of the formula.
    ///
    /// # Panics
    /// With the law that is broken.
    pub fn check(&self, rows: &dyn Rows) {
        self.shape(rows);
        self.single_rows(rows);
        self.diagonal(rows);
        self.cross(rows);
        for chunk in [7, 1000] {
            self.features(rows, chunk);
        }
        self.row_sums(rows);
        self.centered_product(rows);
        self.scores(rows);
        self.gram(rows);
        self.pivots(rows);
    }

    fn kernel(&self) -> Kernel {
        Kernel::new(&self.kernel.parse().unwrap(), self.x.n_cols()).unwrap()
    }

    fn row(&self, i: usize) -> Vec<f64> {
        let mut row = vec![0.0; self.x.n_cols()];
        self.x.points().copy_row(i, &mut row);
        row
    }

    fn dense(&self) -> Matrix<f64> {
        self.x.points().to_dense()
    }

    fn close(&self, found: &[f64], expected: &[f64], law: &str) {
        assert_eq!(found.len(), expected.len(), "{law}: numbers");
        let size = expected.iter().map(|x| x.abs()).fold(f64::MIN_POSITIVE, f64::max);
        for (at, (a, b)) in found.iter().zip(expected).enumerate() {
            assert!((a - b).abs() <= self.rounding * size, "{law}: {a} instead of {b} at {at}");
        }
    }

    fn shape(&self, rows: &dyn Rows) {
        assert_eq!((rows.n_rows(), rows.n_cols()), (self.x.n_rows(), self.x.n_cols()), "shape");
        assert_eq!(rows.precision(), self.x.precision(), "precision");
        assert!(!rows.weighted(), "no weights were given");
        assert_eq!(
            rows.points().is_some(),
            rows.place() == Place::Memory,
            "rows in memory are shown, no others"
        );
    }

    fn single_rows(&self, rows: &dyn Rows) {
        let (watch, n) = (Watch::default(), self.x.n_rows());
        let pass = Pass::new(&watch);
        let same = |found: AnySamples, numbers: &[usize]| {
            let (found, expected): (Matrix<f64>, Matrix<f64>) =
                (found.points().to_dense(), self.x.gather(numbers).points().to_dense());
            assert_eq!(found.as_slice(), expected.as_slice(), "rows are those asked for, bit for bit");
        };
        let some = [0, 3, n / 2, n - 1];
        same(rows.gather(&some, &pass).unwrap(), &some);
        same(rows.gather(&[], &pass).unwrap(), &[]);
        same(rows.samples(&pass).unwrap(), &(0..n).collect::<Vec<_>>());
        assert_eq!(rows.gather(&some, &pass).unwrap().precision(), self.x.precision());
    }

    /// K(X, Y)·B against the plain sum, and K(X, Y) written out.
    fn cross(&self, rows: &dyn Rows) {
        let (kernel, watch, n) = (self.kernel(), Watch::default(), self.x.n_rows());
        let some: Vec<usize> = (0..n).step_by(3).collect();
        let samples = self.x.gather(&some);
        let m = some.len();
        let k = Matrix::from_fn(n, m, |i, j| kernel.pair(&self.row(i), &self.row(some[j])));
        let block = Matrix::from_fn(m, 2, |j, c| ((j * 5 + c) as f64 * 0.4).sin());
        let expected = Matrix::from_fn(n, 2, |i, c| (0..m).map(|j| k[(i, j)] * block[(j, c)]).sum::<f64>());
        let cross = rows.cross(&kernel, &samples).unwrap();
        assert_eq!((cross.n_rows(), cross.n_cols()), (n, m), "shape of K(X, Y)");
        let product = || {
            let mut out = Matrix::zeros(n, 2);
            cross.apply(block.view(), out.view_mut(), &watch).unwrap();
            out
        };
        let found = product();
        self.close(found.as_slice(), expected.as_slice(), "K(X, Y)·B");
        assert_eq!(product().as_slice(), found.as_slice(), "the same bits when asked again");
        self.close(cross.to_dense(&watch).unwrap().as_slice(), k.as_slice(), "K(X, Y)");
    }

    fn diagonal(&self, rows: &dyn Rows) {
        let (kernel, watch) = (self.kernel(), Watch::default());
        let expected: Vec<f64> =
            (0..self.x.n_rows()).map(|i| kernel.pair(&self.row(i), &self.row(i))).collect();
        let found = rows.diagonal(&Similarity::Kernel(kernel), &Pass::new(&watch)).unwrap();
        self.close(&found, &expected, "k(x,x)");
    }

    /// Exact features: ⟨f(x), f(y)⟩ = k(x, y), in order, of every range; and their moments.
    fn features(&self, rows: &dyn Rows, chunk_rows: usize) {
        let (kernel, watch, n) = (self.kernel(), Watch::default(), self.x.n_rows());
        let pass = Pass { chunk_rows, watch: &watch };
        let parts = FeatureParts::Map {
            kernel: self.kernel.parse().unwrap(),
            kind: FeatureKind::Exact,
            n_features: self.x.n_cols(),
            dimension: 1000,
            seed: 0,
        };
        let features = RowFeatures::from_parts(parts, false).unwrap();
        let m = features.dimension();
        let mut all = Matrix::zeros(n, m);
        for range in [0..n, 5..n - 3, 0..1] {
            let mut next = range.start;
            rows.features(&features, range.clone(), &pass, &mut |from, found| {
                assert_eq!(from, next, "features come in order");
                assert!(found.features.n_rows() <= chunk_rows.max(1), "a chunk is no longer than asked for");
                for i in 0..found.features.n_rows() {
                    all.view_mut().row_mut(from + i).copy_from_slice(found.features.row(i));
                }
                next += found.features.n_rows();
                Ok(())
            })
            .unwrap();
            assert_eq!(next, range.end, "all rows of the range come");
        }
        let inner =
            |i: usize, j: usize| -> f64 { all.row(i).iter().zip(all.row(j)).map(|(a, b)| a * b).sum() };
        let pairs: Vec<(usize, usize)> = (0..n).step_by(5).flat_map(|i| [(i, i), (i, n - 1 - i)]).collect();
        let found: Vec<f64> = pairs.iter().map(|(i, j)| inner(*i, *j)).collect();
        let expected: Vec<f64> =
            pairs.iter().map(|(i, j)| kernel.pair(&self.row(*i), &self.row(*j))).collect();
        self.close(&found, &expected, "features");

        let sums = rows.feature_sums(&features, &pass).unwrap();
        assert_eq!(sums.count(), n as u64, "moments of features count every row once");
        let mean: Vec<f64> = (0..m).map(|j| (0..n).map(|i| all[(i, j)]).sum::<f64>() / n as f64).collect();
        self.close(sums.partial().mean(), &mean, "mean of features");
        let scatter = Matrix::from_fn(m, m, |a, b| -> f64 {
            (0..n).map(|i| (all[(i, a)] - mean[a]) * (all[(i, b)] - mean[b])).sum()
        });
        self.close(sums.partial().scatter().as_slice(), scatter.as_slice(), "scatter of features");
        let again = rows.feature_sums(&features, &pass).unwrap();
        assert!(again == sums, "the same bits when asked again");
    }

    fn row_sums(&self, rows: &dyn Rows) {
        let (watch, x, n) = (Watch::default(), self.dense(), self.x.n_rows());
        let pass = Pass::new(&watch);
        for route in [PcaRoute::Covariance, PcaRoute::Tsqr] {
            let empty = Pca::new(1).route(route).stream(self.x.n_cols()).unwrap().into_sums();
            let sums = rows.row_sums(empty.clone(), &pass).unwrap();
            let mean: Vec<f64> =
                (0..x.n_cols()).map(|j| (0..n).map(|i| x[(i, j)]).sum::<f64>() / n as f64).collect();
            let squares: Vec<f64> =
                (0..x.n_cols()).map(|j| (0..n).map(|i| (x[(i, j)] - mean[j]).powi(2)).sum()).collect();
            assert_eq!(sums.count(), n as u64, "{route:?}: every row is added once");
            let found = sums.columns();
            self.close(found.0, &mean, "mean of columns");
            self.close(&found.1, &squares, "squares of columns");
            let again = rows.row_sums(empty, &pass).unwrap();
            assert_eq!(again.columns(), sums.columns(), "the same bits when asked again");
        }
    }

    fn centered_product(&self, rows: &dyn Rows) {
        let (watch, x) = (Watch::default(), self.dense());
        let (n, d) = (x.n_rows(), x.n_cols());
        let center: Vec<f64> = (0..d).map(|j| 0.25 + 0.5 * j as f64).collect();
        let block = Matrix::from_fn(d, 2, |j, c| ((j * 3 + c * 5) as f64 * 0.7).cos());
        let away = |i: usize, j: usize| x[(i, j)] - center[j];
        let along = Matrix::from_fn(n, 2, |i, c| (0..d).map(|j| away(i, j) * block[(j, c)]).sum::<f64>());
        let expected = Matrix::from_fn(d, 2, |j, c| (0..n).map(|i| away(i, j) * along[(i, c)]).sum::<f64>());
        let found = rows.centered_product(&center, block.view(), &Pass::new(&watch)).unwrap();
        self.close(found.as_slice(), expected.as_slice(), "Σ(x − c)(x − c)ᵀB");
    }

    fn scores(&self, rows: &dyn Rows) {
        let watch = Watch::default();
        let model = KernelPca::new(2).kernel("rbf(gamma=0.1)".parse().unwrap()).fit(self.x.clone()).unwrap();
        let expected = model.transform(self.x.points()).unwrap();
        let found = rows.project(&model, &Pass::new(&watch)).unwrap();
        self.close(found.as_slice(), expected.as_slice(), "scores");
    }

    /// K·B against the plain sum; rows that are read in chunks refuse and name the reason.
    fn gram(&self, rows: &dyn Rows) {
        let (kernel, watch, n) = (self.kernel(), Watch::default(), self.x.n_rows());
        let similarity = Similarity::Kernel(kernel.clone());
        let product = || -> Result<Matrix<f64>> {
            let gram = rows.gram(&similarity, Storage::Tiled, false)?;
            let block = Matrix::from_fn(n, 2, |i, c| ((i * 7 + c) as f64 * 0.3).sin());
            let mut out = Matrix::zeros(n, 2);
            gram.apply(block.view(), out.view_mut(), &watch)?;
            Ok(out)
        };
        if matches!(rows.place(), Place::Chunks { .. }) {
            let message = product().unwrap_err().to_string();
            assert!(message.contains("it needs all rows in memory"), "{message}");
            return;
        }
        let value = |i: usize, j: usize| kernel.pair(&self.row(i), &self.row(j));
        let k = Matrix::from_fn(n, n, value);
        let expected = Matrix::from_fn(n, 2, |i, c| {
            (0..n).map(|j| k[(i, j)] * ((j * 7 + c) as f64 * 0.3).sin()).sum::<f64>()
        });
        let found = product().unwrap();
        self.close(found.as_slice(), expected.as_slice(), "K·B");
        assert_eq!(product().unwrap().as_slice(), found.as_slice(), "the same bits when asked again");
    }

    /// K_ZZ = LLᵀ for the rows drawn, which are the same wherever the rows are.
    fn pivots(&self, rows: &dyn Rows) {
        let kernel = Kernel::new(&"rbf(gamma=0.2)".parse().unwrap(), self.x.n_cols()).unwrap();
        let (watch, stop) = (Watch::default(), Stop { rank: PIVOTS, share: 0.0 });
        let every_second: Vec<usize> = (0..self.x.n_rows()).step_by(2).collect();
        for sample in [None, Some(every_second.as_slice())] {
            let draw = PivotDraw { sample, stop, seed: 5, watch: &watch };
            let similarity = Similarity::Kernel(kernel.clone());
            let found = rows.pivots(&similarity, &draw).unwrap();
            assert_eq!(found.rows.len(), PIVOTS);
            assert!(sample.is_none_or(|sample| found.rows.iter().all(|row| sample.contains(row))));
            let (z, expected): (Matrix<f64>, Matrix<f64>) =
                (found.landmarks.points().to_dense(), self.x.gather(&found.rows).points().to_dense());
            assert_eq!(z.as_slice(), expected.as_slice(), "landmarks are the rows that were drawn");
            let between = Matrix::from_fn(PIVOTS, PIVOTS, |i, j| kernel.pair(z.row(i), z.row(j)));
            let root = &found.root;
            let product = Matrix::from_fn(PIVOTS, PIVOTS, |i, j| {
                (0..=i.min(j)).map(|l| root[(i, l)] * root[(j, l)]).sum::<f64>()
            });
            self.close(product.as_slice(), between.as_slice(), "LLᵀ = K_ZZ");
        }
    }

    /// Pivots of two places are the same rows.
    ///
    /// # Panics
    /// When they are not.
    pub fn same_pivots(&self, one: &dyn Rows, other: &dyn Rows) {
        let kernel = Kernel::new(&"rbf(gamma=0.2)".parse().unwrap(), self.x.n_cols()).unwrap();
        let (watch, stop) = (Watch::default(), Stop { rank: PIVOTS, share: 0.0 });
        let draw = PivotDraw { sample: None, stop, seed: 9, watch: &watch };
        let similarity = Similarity::Kernel(kernel);
        let drawn = |rows: &dyn Rows| rows.pivots(&similarity, &draw).unwrap().rows;
        assert_eq!(drawn(one), drawn(other), "the same draws wherever rows are");
    }
}
