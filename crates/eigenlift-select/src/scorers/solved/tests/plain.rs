//! Plain learners: a set of features is taken as it is and solved by elimination.

use crate::columns::Goal;
use crate::scorers::Task;

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len().max(1) as f64
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Solves Ax = b by elimination with pivots.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let p = (k..n).max_by(|i, j| a[*i][k].abs().total_cmp(&a[*j][k].abs())).unwrap();
        a.swap(k, p);
        b.swap(k, p);
        for i in k + 1..n {
            let f = a[i][k] / a[k][k];
            (k..n).for_each(|j| a[i][j] -= f * a[k][j]);
            b[i] -= f * b[k];
        }
    }
    for k in (0..n).rev() {
        b[k] = (b[k] - (k + 1..n).map(|j| a[k][j] * b[j]).sum::<f64>()) / a[k][k];
    }
    b
}

/// Those features of a set that are not combinations of earlier ones, by orthogonalising columns twice.
fn independent(columns: &[(usize, Vec<f64>)]) -> Vec<usize> {
    let (mut basis, mut kept): (Vec<Vec<f64>>, Vec<usize>) = (vec![], vec![]);
    for (j, column) in columns {
        let mut left = column.clone();
        for q in basis.iter().chain(&basis) {
            let along = dot(q, &left);
            left.iter_mut().zip(q).for_each(|(x, q)| *x -= along * q);
        }
        let (length, whole) = (dot(&left, &left).sqrt(), dot(column, column).sqrt());
        if length > 1e-6 * whole && whole > 1e-12 {
            basis.push(left.iter().map(|x| x / length).collect());
            kept.push(*j);
        }
    }
    kept
}

fn without_mean(mut x: Vec<f64>, mean: f64) -> Vec<f64> {
    x.iter_mut().for_each(|x| *x -= mean);
    x
}

fn judged(task: &Task<'_>, outputs: &[Vec<f64>], classes: &[u32]) -> f64 {
    match task.goal.of_rows(&task.fold.test) {
        Goal::Numbers(right) => task.measure.of_numbers(&outputs[0], &right),
        Goal::Classes { of_rows, n_classes } => {
            let best = |i: usize| {
                let most = outputs.iter().map(|o| o[i]).fold(f64::NEG_INFINITY, f64::max);
                classes[outputs.iter().position(|o| o[i] == most).unwrap()]
            };
            let predicted: Vec<u32> = (0..of_rows.len()).map(best).collect();
            task.measure.of_classes(&predicted, &of_rows, n_classes)
        }
    }
}

/// Classes of the training rows, each row's class, and these classes once, ascending.
fn classes_of(task: &Task<'_>) -> (Vec<u32>, Vec<u32>) {
    let Goal::Classes { of_rows, .. } = task.goal.of_rows(&task.fold.train) else { return (vec![], vec![]) };
    let mut known = of_rows.clone();
    known.sort_unstable();
    known.dedup();
    (of_rows, known)
}

pub(in super::super::super) fn ridge(task: &Task<'_>, set: &[usize], alpha: f64) -> f64 {
    let about = |j: usize| without_mean(task.train(j), mean(&task.train(j)));
    let columns: Vec<(usize, Vec<f64>)> = set.iter().map(|j| (*j, about(*j))).collect();
    let kept = if alpha > 0.0 {
        columns.iter().filter(|(_, x)| dot(x, x) > 1e-20).map(|(j, _)| *j).collect()
    } else {
        independent(&columns)
    };
    let (of_rows, known) = classes_of(task);
    let targets: Vec<Vec<f64>> = match task.goal.of_rows(&task.fold.train) {
        Goal::Numbers(y) => vec![y],
        _ => {
            known.iter().map(|c| of_rows.iter().map(|k| if k == c { 1.0 } else { -1.0 }).collect()).collect()
        }
    };
    let x: Vec<Vec<f64>> = kept.iter().map(|j| about(*j)).collect();
    let outputs = targets.iter().map(|y| {
        let mut a: Vec<Vec<f64>> = x.iter().map(|p| x.iter().map(|q| dot(p, q)).collect()).collect();
        (0..x.len()).for_each(|k| a[k][k] += alpha);
        let w = solve(a, x.iter().map(|p| dot(p, y)).collect());
        let mut out = vec![mean(y); task.fold.test.len()];
        for (j, w) in kept.iter().zip(w) {
            let test = without_mean(task.test(*j), mean(&task.train(*j)));
            out.iter_mut().zip(test).for_each(|(o, x)| *o += w * x);
        }
        out
    });
    judged(task, &outputs.collect::<Vec<_>>(), &known)
}

pub(in super::super::super) fn lda(task: &Task<'_>, set: &[usize]) -> f64 {
    let (of_rows, known) = classes_of(task);
    let means_of = |j: usize| -> Vec<f64> {
        let x = task.train(j);
        let own =
            |c: &u32| x.iter().zip(&of_rows).filter(|(_, k)| *k == c).map(|(x, _)| *x).collect::<Vec<_>>();
        known.iter().map(|c| mean(&own(c))).collect()
    };
    let within = |j: usize| -> Vec<f64> {
        let means = means_of(j);
        let place = |c: &u32| known.iter().position(|k| k == c).unwrap();
        task.train(j).iter().zip(&of_rows).map(|(x, c)| x - means[place(c)]).collect()
    };
    let whole =
        |j: usize| without_mean(task.train(j), mean(&task.train(j))).iter().map(|x| x * x).sum::<f64>();
    let divisor = of_rows.len() as f64;
    // A column without variance within classes keeps a place of its own beside the others.
    let parted = |j: usize| dot(&within(j), &within(j)) < 1e-8 * whole(j) && whole(j) > 1e-20;
    let columns: Vec<(usize, Vec<f64>)> =
        set.iter().filter(|j| !parted(**j)).map(|j| (*j, within(*j))).collect();
    let mut kept = independent(&columns);
    kept.extend(set.iter().filter(|j| parted(**j)));
    let x: Vec<Vec<f64>> = kept.iter().map(|j| within(*j)).collect();
    let mut s: Vec<Vec<f64>> = x.iter().map(|p| x.iter().map(|q| dot(p, q) / divisor).collect()).collect();
    kept.iter().enumerate().for_each(|(k, j)| s[k][k] = s[k][k].max(1e-8 * whole(*j) / divisor));
    let tests: Vec<Vec<f64>> = kept.iter().map(|j| task.test(*j)).collect();
    let means: Vec<Vec<f64>> = kept.iter().map(|j| means_of(*j)).collect();
    let outputs = known.iter().enumerate().map(|(at, c)| {
        let m: Vec<f64> = means.iter().map(|means| means[at]).collect();
        let w = solve(s.clone(), m.clone());
        let share = of_rows.iter().filter(|k| *k == c).count() as f64 / of_rows.len() as f64;
        let row = |i: usize| tests.iter().zip(&w).map(|(x, w)| x[i] * w).sum::<f64>();
        (0..task.fold.test.len()).map(|i| share.ln() + row(i) - 0.5 * dot(&w, &m)).collect()
    });
    judged(task, &outputs.collect::<Vec<Vec<f64>>>(), &known)
}

/// Probabilities of outputs, of two classes that of the second.
fn probabilities(outputs: &[f64]) -> Vec<f64> {
    if let [z] = outputs {
        return vec![1.0 / (1.0 + (-z).exp())];
    }
    let most = outputs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = outputs.iter().map(|z| (z - most).exp()).sum();
    outputs.iter().map(|z| (z - most).exp() / sum).collect()
}

/// Newton's method on all coefficients, entry a·K + k for column a and output k, until steps are below 1e-12.
pub(in super::super::super) fn newton(x: &[Vec<f64>], y: &[Vec<f64>], c: f64) -> Vec<f64> {
    let (p, k) = (x[0].len(), y[0].len());
    let q = p * k;
    let outputs =
        |w: &[f64], row: &[f64]| (0..k).map(|o| (0..p).map(|a| row[a] * w[a * k + o]).sum()).collect();
    let value = |w: &[f64]| -> f64 {
        let loss = |(row, y): (&Vec<f64>, &Vec<f64>)| -> f64 {
            let z: Vec<f64> = outputs(w, row);
            let most = z.iter().copied().fold(0.0, f64::max);
            let rest = if k == 1 { (-most).exp() } else { 0.0 };
            most + (rest + z.iter().map(|z| (z - most).exp()).sum::<f64>()).ln() - dot(&z, y)
        };
        c * x.iter().zip(y).map(loss).sum::<f64>() + 0.5 * dot(&w[k..], &w[k..])
    };
    let mut w = vec![0.0; q];
    for _ in 0..100 {
        let (mut g, mut h) = (vec![0.0; q], vec![vec![0.0; q]; q]);
        for (row, y) in x.iter().zip(y) {
            let z: Vec<f64> = outputs(&w, row);
            let probability = probabilities(&z);
            for at in 0..q {
                let (a, o) = (at / k, at % k);
                g[at] += c * row[a] * (probability[o] - y[o]);
                for to in 0..q {
                    let same = if o == to % k { 1.0 } else { 0.0 };
                    h[at][to] += c * row[a] * row[to / k] * probability[o] * (same - probability[to % k]);
                }
            }
        }
        for at in k..q {
            g[at] += w[at];
            h[at][at] += 1.0;
        }
        if k > 1 {
            (0..k * k).for_each(|at| h[at / k][at % k] += 1.0);
        }
        let step = solve(h, g);
        let (mut t, old) = (1.0, value(&w));
        let moved = |t: f64| -> Vec<f64> { w.iter().zip(&step).map(|(w, s)| w - t * s).collect() };
        while value(&moved(t)) > old + 1e-12 * old && t > 1e-6 {
            t *= 0.5;
        }
        w = moved(t);
        if dot(&step, &step).sqrt() < 1e-12 * (1.0 + dot(&w, &w).sqrt()) {
            break;
        }
    }
    w
}

/// Columns of the design and indicators of the classes of the training rows.
pub(in super::super::super) fn logistic_rows(
    task: &Task<'_>,
    set: &[usize],
) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let (of_rows, known) = classes_of(task);
    let columns: Vec<Vec<f64>> =
        set.iter().map(|j| without_mean(task.train(*j), mean(&task.train(*j)))).collect();
    let row = |i: usize| [vec![1.0], columns.iter().map(|x| x[i]).collect()].concat();
    let indicator = |class: &u32| -> Vec<f64> {
        let all = known.iter().map(|k| f64::from(u8::from(k == class)));
        all.skip(usize::from(known.len() == 2)).collect()
    };
    ((0..of_rows.len()).map(row).collect(), of_rows.iter().map(indicator).collect())
}

pub(in super::super::super) fn logistic(task: &Task<'_>, set: &[usize], c: f64) -> f64 {
    let (x, y) = logistic_rows(task, set);
    let (w, k, known) = (newton(&x, &y, c), y[0].len(), classes_of(task).1);
    let tests: Vec<Vec<f64>> =
        set.iter().map(|j| without_mean(task.test(*j), mean(&task.train(*j)))).collect();
    let output = |o: usize, i: usize| {
        w[o] + tests.iter().enumerate().map(|(a, x)| x[i] * w[(a + 1) * k + o]).sum::<f64>()
    };
    let mut outputs: Vec<Vec<f64>> =
        (0..k).map(|o| (0..task.fold.test.len()).map(|i| output(o, i)).collect()).collect();
    if k == 1 {
        outputs.insert(0, vec![0.0; task.fold.test.len()]);
    }
    judged(task, &outputs, &known)
}
