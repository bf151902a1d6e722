//! `eigenlift kernel`: a kernel looked at on data, step by step.

mod eigen;
mod matrix;
mod verdict;

use crate::args::{KernelArgs, KernelQuestion};
use crate::exit::Failure;
use crate::figures;
use crate::input::Input;
use crate::interrupt::Session;
use crate::outputs::{self, Kind, Wanted, title};
use crate::pairwise::{Square, refuse_large};
use crate::words::Words;
use eigenlift::matrix::Matrix;

pub(crate) use eigen::{Tables, block};

/// Answers one question.
pub(crate) fn run(question: &KernelQuestion, session: &Session) -> Result<(), Failure> {
    match question {
        KernelQuestion::Gram(args) => matrix::run(args, Square::Gram, session),
        KernelQuestion::Centered(args) => matrix::run(args, Square::Centered, session),
        KernelQuestion::Distance(args) => matrix::run(args, Square::Distance, session),
        KernelQuestion::Angle(args) => matrix::run(args, Square::Angle, session),
        KernelQuestion::Eigen(args) => eigen::run(args, session),
        KernelQuestion::Check(args) => verdict::check(args, session),
        KernelQuestion::Dim(args) => verdict::dimension(args, session),
        KernelQuestion::Compare(args) => verdict::compare(args, session),
    }
}

/// Checks the outputs, reads the table and draws the matrix.
fn prepare(args: &KernelArgs, has_table: bool, session: &Session) -> Result<(Input, Matrix<f64>), Failure> {
    if args.out.is_some() && !has_table {
        return Err(Failure::usage(
            "--out with a question whose answer is a sentence",
            "only gram, centered, eigen, distance and angle give tables",
            "Leave it out, or use --json",
        ));
    }
    outputs::check_standard_output(args.speech.json, args.out.as_deref())?;
    let table = args.out.iter().map(|path| Wanted { flag: "--out", path, kind: Kind::Table });
    let wanted: Vec<Wanted<'_>> = table.chain(outputs::wanted_plots(&args.plot)).collect();
    outputs::check(&[&args.input.data], &wanted)?;
    let mut input = Input::read(&args.input)?;
    input.account.say(Words::new(args.speech.quiet));
    let rows =
        Matrix::from_vec(std::mem::take(&mut input.values), input.account.rows, input.account.columns)?;
    draw(args, &input, &rows, session)?;
    Ok((input, rows))
}

/// Draws K and its centred form where that is asked for.
fn draw(args: &KernelArgs, input: &Input, x: &Matrix<f64>, session: &Session) -> Result<(), Failure> {
    for request in &args.plot {
        refuse_large(x.n_rows(), args.machine.memory)?;
        let title = title("Kernel matrix", &args.input.data);
        let target = input.carried.target.as_ref();
        let figure = session.watched(args.speech.quiet, |watch| {
            figures::draw_gram_of(&args.kernel, x, target, &title, watch)
        })?;
        figures::save(&figure, &request.path)?;
        Words::new(args.speech.quiet).say(format_args!("wrote {} (gram)", request.path.display()));
    }
    Ok(())
}

/// Rows of a matrix, as JSON has them.
fn rows(matrix: &Matrix<f64>) -> Vec<&[f64]> {
    (0..matrix.n_rows()).map(|i| matrix.row(i)).collect()
}
