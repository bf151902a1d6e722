//! Examples of `eigenlift select`.

pub(in crate::args) const SELECT: &str = "\
Filters (mi, mrmr, jmi, f, chi2, hsic) rank columns without a model and are fast; searches (forward, backward, floating) ask a model \
which columns it needs. Either way the number of columns is chosen by rows held out, which have no say in the ranking they \
are used to judge. The reduced table goes to standard output or --out, words to standard error.

Examples:
  eigenlift select mi iris.csv --target species --out reduced.csv
  eigenlift select forward iris.csv --target species --scorer lda \\
      --out reduced.csv --plot path.svg
  eigenlift select forward --help";

pub(in crate::args) const SELECT_MI: &str = "\
Counts where column and target are discrete, nearest neighbours otherwise (Ross; Kraskov, Stögbauer and Grassberger), in nats. \
With --features N the N best are kept and no rows are held out.

Examples:
  eigenlift select mi iris.csv --target species --features 2 \\
      --out reduced.csv
  eigenlift select mi iris.csv --target species --permutations 100 \\
      --scores features.csv --plot mi.svg --json";

pub(in crate::args) const SELECT_MRMR: &str = "\
Of columns that say the same, one is taken early and the others late.

Examples:
  eigenlift select mrmr digits.csv --target digit --features 10 \\
      --out reduced.csv --path steps.csv
  eigenlift plot path steps.csv --out steps.svg";

pub(in crate::args) const SELECT_JMI: &str = "\
Finds columns that tell nothing of the target by themselves but do together, such as the two of an exclusive or, as soon as one of \
them is taken.

Examples:
  eigenlift select jmi iris.csv --target species --neighbors 5 \\
      --out reduced.csv";

pub(in crate::args) const SELECT_F: &str = "\
Examples:
  eigenlift select f iris.csv --target species --features 2 --out reduced.csv
  eigenlift select f iris.csv --target sepal_length --labels numbers \\
      --scorer ridge --out reduced.csv";

pub(in crate::args) const SELECT_CHI2: &str = "\
For counts and frequencies: entries must not be negative, and the target must be classes.

Examples:
  eigenlift select chi2 digits.csv --target digit --features 20 \\
      --out reduced.csv";

pub(in crate::args) const SELECT_HSIC: &str = "\
Examples:
  eigenlift select hsic iris.csv --target species --features 2 \\
      --kernel 'rbf(gamma=1)' --out reduced.csv";

pub(in crate::args) const SELECT_FORWARD: &str = "\
Each step tries every column that is left. The path shows the score after each step with its standard error; the fewest columns \
within one standard error of the best are kept. That score helped to choose and is on the bright side: --nested gives an honest one.

Examples:
  eigenlift select forward iris.csv --target species --scorer knn \\
      --standardize --nested --out reduced.csv --plot path.svg
  eigenlift select forward digits.csv --target digit --features 5 \\
      --holdout 0.3 --resume search.json --out reduced.csv
  eigenlift select forward iris.csv --target petal_width --scorer ridge \\
      --report selection.html --json";

pub(in crate::args) const SELECT_BACKWARD: &str = "\
Begins with all columns and so sees what they tell together; for many columns it is slow.

Examples:
  eigenlift select backward iris.csv --target species --scorer logistic \\
      --measure balanced_accuracy --out reduced.csv";

pub(in crate::args) const SELECT_FLOATING: &str = "\
After each column that is added, columns are taken out for as long as that gives a better set of its size than any before.

Examples:
  eigenlift select floating iris.csv --target species --scorer lda \\
      --folds 10 --path steps.csv --out reduced.csv";
