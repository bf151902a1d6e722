//! Examples shown by `--help`. Tests run every line that starts with two blanks and `eigenlift`, with the lines it is
//! continued on; lines are short enough for a terminal of 80 columns, where clap would otherwise break them.

mod kernelised;
mod select;

pub(super) use kernelised::{
    FIT_KCCA, FIT_KDA, FIT_KKMEANS, PLAN_KCCA, PLAN_KDA, PLAN_KKMEANS, PLOT_CANONICAL, PLOT_CORRELATIONS,
    PLOT_REGIONS, PLOT_REGULARIZATION,
};
pub(super) use select::{
    SELECT, SELECT_BACKWARD, SELECT_CHI2, SELECT_F, SELECT_FLOATING, SELECT_FORWARD, SELECT_HSIC, SELECT_JMI,
    SELECT_MI, SELECT_MRMR,
};

pub(super) const TOP: &str = "\
Examples:
  eigenlift demo
  eigenlift data iris --out iris.csv
  eigenlift fit kpca iris.csv --target species --out scores.csv \\
      --model iris.safetensors --plot iris.svg
  eigenlift transform iris.safetensors iris.csv --out again.csv

Exit status: 0 done, 1 failure (disk, memory, internal), 2 the command line is wrong, 3 an input is missing or \
unusable, 4 not converged, 130 interrupted by Ctrl-C (143 by SIGTERM, 129 by SIGHUP).";

pub(super) const DEMO: &str = "\
Handwritten digits with 10 components: scores.csv, model.safetensors, report.html, scatter and scree as SVG and PNG. Contours of the \
first 8 components of 'data three-gaussians --seed 57' with the kernel rbf(c=0.1), and the first two beside those of linear PCA. worked-example.txt: K, its centred \
form, eigenvalues, eigenvectors and scores of four points. A folder with other files in it is refused.

Examples:
  eigenlift demo
  eigenlift demo --out pictures --quiet";

pub(super) const DATA: &str = "\
The label, where there is one, is the last column (in front when it is text and the format is not CSV or TSV).

Examples:
  eigenlift data iris --out iris.csv
  eigenlift data rings --rows 200 --noise 0.05 --seed 7 \\
      --out rings.parquet
  eigenlift data swiss-roll --rows 600 --out roll.csv
  eigenlift data worked-example";

pub(super) const PLAN: &str = "\
Examples:
  eigenlift plan kpca digits.csv --target digit -k 10
  eigenlift plan kpca digits.csv --target digit --memory 20MB --json
  eigenlift plan kpca digits.csv --target digit --rank auto";

pub(super) const FIT: &str = "\
Examples:
  eigenlift fit kpca iris.csv --target species --out scores.csv
  eigenlift fit pca iris.csv --target species -k auto --out scores.csv
  eigenlift fit whiten iris.csv --target species --out white.csv
  eigenlift fit isomap roll.csv --target t --out flat.csv --plot flat.svg
  eigenlift fit kda iris.csv --target species --out classes.csv
  eigenlift fit kpca --help";

pub(super) const FIT_KPCA: &str = "\
Data goes to standard output, words to standard error. Columns of text alone and the target are carried in front of \
the scores, which are called kpca1, kpca2, ... With --json the account goes to standard output, so --out must then \
name a file or be left out. A table too large for the memory allowed is read a piece at a time and fitted by landmarks, \
with a bound on the error; certify and refine make a rough model sure and exact. What is written auto is chosen as \
'choose kpca' does. --like makes scores of a refit comparable to those of the model before.

Examples:
  eigenlift fit kpca iris.csv --target species --out scores.csv \\
      --model iris.safetensors
  eigenlift fit kpca iris.csv --target species --out scores.parquet \\
      --plot iris.svg --plot scree=scree.png
  eigenlift fit kpca moons.csv --target class --kernel 'rbf(c=0.1)' -k 8 \\
      --plot contours=contours.svg --out moons.npy
  eigenlift fit kpca iris.csv --columns 1-4 -k 5 \\
      --kernel 'polynomial(degree=2)' | head -3
  eigenlift fit kpca digits.csv --target digit --rank 300 -k 5 \\
      --model rough.safetensors --out rough.npy
  eigenlift fit kpca iris.csv --kernel 'rbf(gamma=auto)' -k auto \\
      --out chosen.csv --plot choice=choice.svg
  eigenlift fit kpca iris.csv --target species --like iris.safetensors \\
      --out again.csv
  eigenlift fit kpca - --json < worked.csv";

pub(super) const FIT_PCA: &str = "\
Scores are called pca1, pca2, ... Columns are always centred; variances are divided by the number of rows (or the sum of \
their weights). The account shows that the mean squared error of the rows put together again is the sum of the \
eigenvalues left out, and which columns drive each component. A table too large for the memory allowed is read a piece at a \
time; the result is the same.

Examples:
  eigenlift fit pca iris.csv --target species --out pcascores.csv \\
      --model pca.safetensors --plot scree=scree.svg
  eigenlift fit pca digits.csv --target digit -k auto --out scores.npy \\
      --plot choice=choice.png
  eigenlift fit pca iris.csv --target species --scale -k 3 \\
      --loadings loadings.csv --json
  eigenlift fit pca iris.csv --target species --weights petal_width \\
      --route tsqr | head -3";

pub(super) const FIT_WHITEN: &str = "\
The result has the identity as covariance on the directions in which the rows vary; columns are called whiten1, whiten2, ... \
and belong to the data columns one by one, except for pca and pca-cor, where they belong to the principal axes.

Examples:
  eigenlift fit whiten iris.csv --target species --method zca \\
      --out white.csv --model zca.safetensors --plot whitening=white.svg
  eigenlift fit whiten digits.csv --target digit --method pca-cor \\
      --ridge 0.01 -k 20 --out white.npy";

pub(super) const DOCTOR: &str = "\
Whether a kernel is symmetric and positive semi-definite on data says 'eigenlift kernel check'.

Examples:
  eigenlift doctor isomap roll.csv --target t";

pub(super) const DOCTOR_ISOMAP: &str = "\
Tries numbers of neighbours: with too few the graph falls into pieces, with too many short circuits join what is far apart, and \
the mean distance along the graph drops. Edges whose ends are far apart for every path over edges that can be trusted \
are listed with the evidence. The answer goes to standard output; in it and in the table of edges rows are counted from 1.

Examples:
  eigenlift doctor isomap roll.csv --target t
  eigenlift doctor isomap roll.csv --target t --neighbors 20 --cut \\
      --edges suspects.csv --plot doctor.svg
  eigenlift doctor isomap roll.csv --target t --json";

pub(super) const PLAN_PCA: &str = "\
Examples:
  eigenlift plan pca digits.csv --target digit -k 10
  eigenlift plan pca digits.csv --target digit --route krylov --json";

pub(super) const PLAN_WHITEN: &str = "\
Examples:
  eigenlift plan whiten digits.csv --target digit --method zca";

pub(super) const CHOOSE: &str = "\
Examples:
  eigenlift choose kpca iris.csv
  eigenlift choose pca iris.csv --target species";

pub(super) const CHOOSE_KPCA: &str = "\
Entries of the rows are hidden, and kernel PCA of other rows predicts them. The bandwidth with the smallest error is chosen, and \
the most components that do as well within one standard error; what else does as well is told. With --target what can be \
learned from the scores decides instead: the accuracy of classes, or the share of the variance of numbers. The table goes to standard \
output; 'fit kpca -k auto' and a kernel written auto choose in the same way.

Examples:
  eigenlift choose kpca iris.csv
  eigenlift choose kpca digits.csv --target digit --scorer none \\
      --mask image=8x8 --rows 200 --most 32 \\
      --out errors.csv --plot errors.svg
  eigenlift choose kpca iris.csv --target species -k 3 --json
  eigenlift choose kpca iris.csv --kernel auto --sensitivity \\
      --stability --parallel --plot sensitivity=bandwidth.svg";

pub(super) const CHOOSE_PCA: &str = "\
Two criteria are requested (--explained, --residual); five are data-driven: Minka's evidence, Gavish and Donoho's \
threshold, parallel analysis by permutations, cross-validation on held-out entries, and factor analysis, for which noise may \
differ between columns. The consensus is the median of the first four, and no more than factor analysis finds. The table goes \
to standard output.

Examples:
  eigenlift choose pca iris.csv --target species
  eigenlift choose pca digits.csv --target digit --explained 0.95 \\
      --permutations 20 --plot choice.svg --json";

pub(super) const INVERSE: &str = "\
SCORES have the columns that fit and transform write, kpca1, kpca2, ..., pca1, ... or whiten1, ...; other columns of text are \
carried along. Scores of kernel PCA stand for a point in feature space that is in general the image of no row: the row is \
searched whose image lies nearest. How near, and how many rows are not to be trusted, is told; --trust writes it for each row.

Examples:
  eigenlift inverse pca.safetensors pcascores.csv --out back.csv
  eigenlift inverse pca.safetensors pcascores.csv | head -3
  eigenlift fit kpca iris.csv --target species -k 8 --out kscores.csv \\
      --model eight.safetensors
  eigenlift inverse eight.safetensors kscores.csv --trust \\
      --out back.csv --plot back.svg";

pub(super) const DENOISE: &str = "\
The same as transform and inverse, one after the other: what the components leave out is taken away. The result has the \
columns of the data; text and target are carried in front. With a kpca model the search starts from the row itself.

Examples:
  eigenlift denoise pca.safetensors iris.csv --target species \\
      --out smooth.csv
  eigenlift denoise pca.safetensors iris.csv --json --quiet
  eigenlift fit kpca digits.csv --target digit -k 60 --rank 300 \\
      --model digits.safetensors --out digits.npy
  eigenlift denoise digits.safetensors digits.csv --target digit \\
      --out clean.npy --plot clean.png --image 8x8
  eigenlift denoise iris.safetensors iris.csv --preimage gradient \\
      --penalty 0.1 --trust | head -3";

pub(super) const SCORE: &str = "\
t2 is the sum of squared scores over their variances: how far out a row lies along the components. spe is the squared error \
of the row put together from its scores: how far it lies off them; with a kernel, both in feature space. Where limits are \
known, the column novel says which of the two a row exceeds: none, t2, spe or both; the rate of false alarms of both together is --alpha. \
Limits come from --reference, or from the rows of the fit by cross-validation. Contributions say \
which columns a statistic comes from: they are counted from the nearest row that the model holds, from the mean row of a pca model, and add \
up to the difference.

Examples:
  eigenlift score pca.safetensors iris.csv --target species \\
      --out unusual.csv
  eigenlift score iris.safetensors iris.csv --target species \\
      --out unusual.csv --plot unusual.svg --plot chart=rows.svg
  eigenlift score iris.safetensors iris.csv --target species \\
      --reference iris.csv --alpha 0.05 --contributions why.csv \\
      --plot contributions=why.svg --out unusual.csv
  eigenlift score pca.safetensors iris.csv --limits parametric --json";

pub(super) const TRANSFORM: &str = "\
Columns are matched to the model's by name where both have names; other columns of numbers are left out with a note. \
Rows are read, projected and written a piece at a time: a table of any size takes the same memory.

Examples:
  eigenlift transform iris.safetensors iris.csv --target species \\
      --out again.csv
  eigenlift transform iris.safetensors iris.csv --json --quiet";

pub(super) const CERTIFY: &str = "\
DATA are the rows that the model was fitted on, in the same order. The projection stays what it is; the pass adds a \
residual and an interval for each component, reports how many are certified as leading, and makes the total exact.

Examples:
  eigenlift certify rough.safetensors digits.csv --target digit
  eigenlift certify rough.safetensors digits.csv --target digit \\
      --model certified.safetensors --json";

pub(super) const REFINE: &str = "\
DATA are the rows that the model was fitted on, in the same order. The result is an exact model.

Examples:
  eigenlift refine rough.safetensors digits.csv --target digit \\
      --tol 1e-8 --model exact.safetensors --out exact.csv";

pub(super) const INSPECT: &str = "\
Examples:
  eigenlift inspect iris.safetensors
  eigenlift inspect iris.safetensors --json
  eigenlift inspect pca.safetensors";

pub(super) const KERNEL: &str = "\
Examples:
  eigenlift kernel eigen worked.csv --kernel 'polynomial(degree=2)'
  eigenlift kernel check iris.csv --target species \\
      --kernel 'sigmoid(gamma=0.1,coef0=-1)'";

pub(super) const KERNEL_GRAM: &str = "\
Examples:
  eigenlift kernel gram worked.csv --kernel 'polynomial(degree=2)'
  eigenlift kernel gram iris.csv --target species --out gram.npy";

pub(super) const KERNEL_CENTERED: &str = "\
Examples:
  eigenlift kernel centered worked.csv --kernel 'polynomial(degree=2)'";

pub(super) const KERNEL_EIGEN: &str = "\
Examples:
  eigenlift kernel eigen worked.csv --kernel 'polynomial(degree=2)'
  eigenlift kernel eigen worked.csv --kernel 'polynomial(degree=2)' \\
      --what alpha --out alpha.csv";

pub(super) const KERNEL_CHECK: &str = "\
Examples:
  eigenlift kernel check iris.csv --target species --kernel 'rbf(sigma=1)'
  eigenlift kernel check iris.csv --target species \\
      --kernel 'sigmoid(gamma=0.1,coef0=-1)' --json";

pub(super) const KERNEL_DIM: &str = "\
Examples:
  eigenlift kernel dim worked.csv --kernel 'polynomial(degree=2)'";

pub(super) const KERNEL_DISTANCE: &str = "\
Examples:
  eigenlift kernel distance worked.csv --kernel 'rbf(gamma=0.5)'";

pub(super) const KERNEL_ANGLE: &str = "\
Examples:
  eigenlift kernel angle worked.csv --kernel 'rbf(gamma=0.5)' \\
      --out angles.csv";

pub(super) const KERNEL_COMPARE: &str = "\
Examples:
  eigenlift kernel compare worked.csv \\
      --kernel 'expr(1 + 2*x1^2*y1^2 + 2*x2^2*y2^2)' \\
      --with 'map(1, sqrt(2)*x1^2, sqrt(2)*x2^2)'
  eigenlift kernel compare worked.csv --kernel 'rbf(sigma=1)' \\
      --with 'rbf(gamma=0.5)'";

pub(super) const COMPLETIONS: &str = "\
Examples:
  eigenlift completions bash > eigenlift.bash
  eigenlift completions zsh > _eigenlift";

pub(super) const EXPLORE: &str = "\
Examples:
  eigenlift explore
  eigenlift explore iris.csv --target species
  eigenlift explore moons --folder . --no-open

The page is for this machine alone: its address has a secret word in it, uploads are bounded, and nothing is written.
Ctrl-C ends it.";

pub(super) const PLOT: &str = "\
Pictures that need a fit of their own come with it: fit --plot, choose --plot, doctor --plot, denoise --plot, \
kernel gram --plot.

Examples:
  eigenlift plot scatter iris.csv --target species --out columns.svg
  eigenlift plot scree iris.safetensors --out scree.png";

pub(super) const PLOT_SCATTER: &str = "\
Examples:
  eigenlift plot scatter iris.csv --x petal_length --y petal_width \\
      --target species --out petals.svg
  eigenlift plot scatter scores.csv --target species --out scores.png";

pub(super) const PLOT_SCORES: &str = "\
Examples:
  eigenlift plot scores iris.safetensors iris.csv --target species \\
      --out scores.svg";

pub(super) const PLOT_SCREE: &str = "\
Examples:
  eigenlift plot scree iris.safetensors --out scree.svg";

pub(super) const PLOT_CONTOURS: &str = "\
Examples:
  eigenlift fit kpca moons.csv --target class -k 4 --out scores.csv \\
      --model moons.safetensors
  eigenlift plot contours moons.safetensors --out contours.svg";

pub(super) const PLOT_LINEAR: &str = "\
Examples:
  eigenlift plot linear moons.safetensors --out linear.svg";

pub(super) const PLOT_CURVES: &str = "\
Examples:
  eigenlift plot curves moons.safetensors --out curves.svg";

pub(super) const PLOT_GRAM: &str = "\
Examples:
  eigenlift plot gram moons.safetensors --out gram.png";

pub(super) const PLOT_WHITENING: &str = "\
Examples:
  eigenlift fit whiten iris.csv --target species --out white.csv \\
      --model white.safetensors
  eigenlift plot whitening white.safetensors iris.csv --target species \\
      --out whitening.svg";

pub(super) const PLOT_PATH: &str = "\
Examples:
  eigenlift plot path path.csv --chosen 3 --out path.svg";
