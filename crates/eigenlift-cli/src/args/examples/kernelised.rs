//! Examples of the kernelised linear methods.

pub(in crate::args) const FIT_KCCA: &str = "\
Views are tables about the same rows in the same order, or columns of one table chosen by --view. Each view gets scores, \
view1_kcca1, view1_kcca2, ..., view2_kcca1, ..., that correlate with those of the others as much as possible. Training correlations say \
little where a kernel can follow any row; those on rows held out say what to expect of new rows, and --permutations what chance \
alone would give. 'transform --view' projects rows of one view. Up to 1000 rows are all landmarks, which is exact; 1000 of them stand for more.

Examples:
  eigenlift fit kcca iris.csv --target species --view 1,2 --view 3,4 \\
      --out views.csv --model kcca.safetensors \\
      --plot correlations=rho.svg --plot canonical=pairs.svg
  eigenlift transform kcca.safetensors iris.csv --view 2 \\
      --target species --out petalscores.csv
  eigenlift fit kcca sepals.csv petals.csv --kernel linear \\
      --permutations 100 --json
  eigenlift fit kcca sepals.csv petals.csv --kernel linear \\
      --kernel 'rbf(gamma=median)' --regularization 0.01 | head -3";

pub(in crate::args) const FIT_KDA: &str = "\
The values of --target are classes. Scores are called kda1, kda2, ..., one less than there are classes; the predicted class of each row stands \
in the column class in front of them (predicted_class where the target has that name). Accuracy is told for rows of the fit and for rows held \
out; with a linear kernel this is linear discriminant analysis. Up to 1000 rows are all landmarks, which is exact; 1000 of them stand for more.

Examples:
  eigenlift fit kda iris.csv --target species --out classes.csv \\
      --model kda.safetensors --plot kda.svg \\
      --plot regularization=kappa.svg
  eigenlift transform kda.safetensors iris.csv --out predicted.csv
  eigenlift fit kda moons.csv --target class --out moons.npy \\
      --plot regions=regions.svg
  eigenlift fit kda digits.csv --target digit --rank 200 --json";

pub(in crate::args) const FIT_KKMEANS: &str = "\
The column cluster, counted from 1, stands in front of the scores kkmeans1, kkmeans2, ..., which are distances to the centres in the \
feature space of the kernel. Pictures show the first two kernel principal components in the colours of the clusters. --spectral clusters \
along a few kernel principal components. Up to 1000 rows are all landmarks, which is exact; 1000 of them stand for more.

Examples:
  eigenlift fit kkmeans iris.csv --target species --clusters 3 \\
      --out clusters.csv --model clusters.safetensors --plot clusters.svg
  eigenlift transform clusters.safetensors iris.csv --out again.csv
  eigenlift fit kkmeans moons.csv --target class --clusters 2 \\
      --kernel 'rbf(gamma=20)' --spectral 2 --json";

pub(in crate::args) const PLAN_KCCA: &str = "\
Examples:
  eigenlift plan kcca digits.csv --target digit --view 1-32 --view 33-64
  eigenlift plan kcca sepals.csv petals.csv --rank 50 --json";

pub(in crate::args) const PLAN_KDA: &str = "\
Examples:
  eigenlift plan kda digits.csv --target digit --rank 300";

pub(in crate::args) const PLAN_KKMEANS: &str = "\
Examples:
  eigenlift plan kkmeans digits.csv --target digit --clusters 10";

pub(in crate::args) const PLOT_CORRELATIONS: &str = "\
Examples:
  eigenlift fit kcca iris.csv --target species --view 1,2 --view 3,4 \\
      --out views.csv --model kcca.safetensors
  eigenlift plot correlations kcca.safetensors --out correlations.svg";

pub(in crate::args) const PLOT_CANONICAL: &str = "\
Examples:
  eigenlift plot canonical kcca.safetensors iris.csv --target species \\
      --out canonical.svg";

pub(in crate::args) const PLOT_REGULARIZATION: &str = "\
Examples:
  eigenlift plot regularization kcca.safetensors --out kappa.svg";

pub(in crate::args) const PLOT_REGIONS: &str = "\
Examples:
  eigenlift fit kda moons.csv --target class --out classes.csv \\
      --model classes.safetensors
  eigenlift plot regions classes.safetensors moons.csv --target class \\
      --out regions.svg";
