//! Examples shown by `--help`. Tests run every line that starts with two blanks and `eigenlift`, with the lines it is
//! continued on; lines are short enough for a terminal of 80 columns, where clap would otherwise break them.

pub(super) const TOP: &str = "\
Examples:
  eigenlift demo
  eigenlift data iris --out iris.csv
  eigenlift fit kpca iris.csv --target species --out scores.csv \\
      --model iris.safetensors --plot iris.svg
  eigenlift transform iris.safetensors iris.csv --out again.csv

Exit status: 0 done, 1 failure (disk, memory, internal), 2 the command line is wrong, 3 an input is missing or \
unusable, 4 not converged, 130 interrupted.";

pub(super) const DEMO: &str = "\
Handwritten digits with 10 components: scores.csv, model.safetensors, scatter and scree as SVG and PNG. Contours of the \
first 8 components of 'data three-gaussians --seed 57' with the kernel rbf(c=0.1). worked-example.txt: K, its centred \
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
  eigenlift data worked-example";

pub(super) const PLAN: &str = "\
Examples:
  eigenlift plan kpca digits.csv --target digit -k 10
  eigenlift plan kpca digits.csv --target digit --memory 20MB --json
  eigenlift plan kpca digits.csv --target digit --rank auto";

pub(super) const FIT: &str = "\
Examples:
  eigenlift fit kpca iris.csv --target species --out scores.csv
  eigenlift fit kpca --help";

pub(super) const FIT_KPCA: &str = "\
Data goes to standard output, words to standard error. Columns of text alone and the target are carried in front of \
the scores, which are called kpca1, kpca2, ... With --json the account goes to standard output, so --out must then \
name a file or be left out. A table too large for the memory allowed is read a piece at a time and fitted by landmarks, \
with a bound on the error; certify and refine make a rough model sure and exact.

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
  eigenlift fit kpca - --json < worked.csv";

pub(super) const TRANSFORM: &str = "\
Columns are matched to the model's by name where both have names; other columns of numbers are left out with a note. \
Rows are read, projected and written a piece at a time: a table of any size takes the same memory.

Examples:
  eigenlift transform iris.safetensors iris.csv --target species \\
      --out again.csv
  eigenlift transform iris.safetensors iris.csv --json --quiet";

pub(super) const CERTIFY: &str = "\
DATA are the rows that the model was fitted on, in the same order. The projection stays what it is; the pass adds a \
residual and an interval for each component, says how many are the largest beyond doubt, and makes the total exact.

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
  eigenlift inspect iris.safetensors --json";

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
