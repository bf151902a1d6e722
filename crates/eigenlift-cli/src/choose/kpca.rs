//! `eigenlift choose kpca`: which bandwidth and how many components.

use super::curve;
use super::studies::{Studies, sensitivity_figure};
use crate::account;
use crate::args::{ChooseKpcaArgs, LabelChoice, MachineArgs, Precision, ScorerChoice};
use crate::exit::Failure;
use crate::figures;
use crate::input::Input;
use crate::interrupt::Session;
use crate::labels;
use crate::outputs::{self, Kind, OutputFiles, Wanted, Written, title};
use crate::report::{self, Told};
use crate::rows::too_large;
use crate::standard::is_standard;
use crate::table::DataAccount;
use crate::values::{ComponentChoice, PlotKind};
use crate::words::{Words, timed};
use eigenlift::data::Labels;
use eigenlift::data::{AnySamples, RowSource};
use eigenlift::kernel::KernelSpec;
use eigenlift::progress::Watch;
use eigenlift::tuning::kernel_choice::{ChooseKernelPca, KernelChoice, Scorer};
use eigenlift_io::Target;
use eigenlift_plot::Block;
use serde::Serialize;

/// Rows of a table too large for the memory that are read, at least.
const DRAWN_ROWS: usize = 5000;

/// The account in the form that programs read; its keys stay.
#[derive(Debug, Serialize)]
struct ChooseAccount<'a> {
    command: &'static str,
    version: &'static str,
    data: &'a DataAccount,
    kernel: &'a str,
    n_components: usize,
    sentence: &'a str,
    choice: &'a KernelChoice,
    #[serde(flatten)]
    studies: &'a Studies,
    warnings: Vec<String>,
    seconds: f64,
    files: &'a [Written],
}

/// What was chosen, and on what.
pub(super) struct Chosen<'a> {
    pub(super) choice: KernelChoice,
    pub(super) samples: AnySamples,
    pub(super) machine: &'a MachineArgs,
    /// Rows looked at, when they were given.
    pub(super) rows: Option<usize>,
}

/// Reads the table, tries, tells, writes and draws.
pub(crate) fn run(args: &ChooseKpcaArgs, session: &Session) -> Result<(), Failure> {
    check(args)?;
    let words = Words::new(args.speech.quiet);
    let (account, samples, target) = read(args, session)?;
    account.say(words);
    account.note_constant_columns(words);
    let labels = labels(args, target.as_ref());
    let (chosen, studies, seconds) = session.watched(args.speech.quiet, |watch| {
        let settings = settings(args, watch);
        let (choice, seconds) = timed(|| match &labels {
            Some(labels) => settings.choose_for_labels(&samples, labels),
            None => settings.choose(&samples),
        });
        let chosen = Chosen { choice: choice?, samples, machine: &args.machine, rows: args.grid.rows };
        let drawn = args.plot.iter().any(|plot| plot.kind == PlotKind::Sensitivity);
        let studies = Studies::run(&args.studies, drawn, &chosen, watch)?;
        Ok((chosen, studies, seconds))
    })?;
    let choice = &chosen.choice;
    let mut warnings: Vec<String> = choice.warnings.iter().cloned().chain(studies.warnings()).collect();
    let wanted = args.studies.sensitivity || args.plot.iter().any(|plot| plot.kind == PlotKind::Sensitivity);
    if wanted && studies.sensitivity.is_none() {
        warnings
            .push(format!("sensitivity: the kernel {} was chosen, which has no bandwidth", choice.kernel()));
    }
    warnings.iter().for_each(|warning| words.warn(warning));
    let mut files = write(args, choice, &studies)?;
    let mut text = vec![curve::text(choice)];
    text.extend(studies.text());
    if let Some(path) = &args.report {
        let figures = figures(choice, &studies)?;
        let (title, texts) = (title("Bandwidth and components", &args.input.data), text.clone());
        Told { title, data: &account, warnings: warnings.clone(), texts, figures }.save(path, &mut files)?;
    }
    let told = if args.speech.json {
        outputs::print_json(&ChooseAccount {
            command: "choose kpca",
            version: env!("CARGO_PKG_VERSION"),
            data: &account,
            kernel: choice.kernel(),
            n_components: choice.n_components(),
            sentence: &choice.sentence,
            choice,
            studies: &studies,
            warnings: account.warnings.iter().cloned().chain(warnings).collect(),
            seconds,
            files: files.written(),
        })
    } else {
        outputs::print(&text.join("\n\n"))
    };
    if !args.speech.json && told.is_ok() {
        account::say_files(files.written(), words);
    }
    files.end(told)
}

/// Pictures of what was found, for a report.
fn figures(choice: &KernelChoice, studies: &Studies) -> Result<Vec<Block>, Failure> {
    let mut figures = vec![report::figure(PlotKind::Choice, &figures::draw_kernel_choice(choice, "")?)];
    if let Some(report) = &studies.sensitivity {
        figures.push(report::figure(PlotKind::Sensitivity, &sensitivity_figure(report, "")?));
    }
    Ok(figures)
}

/// What can be refused before the table is read.
fn check(args: &ChooseKpcaArgs) -> Result<(), Failure> {
    if args.out.as_deref().is_some_and(is_standard) {
        return Err(Failure::usage(
            "--out -",
            "standard output is for what was chosen",
            "Give --out a file name, or use --json, which has all errors",
        ));
    }
    let out = args.out.iter().map(|path| Wanted { flag: "--out", path, kind: Kind::Table });
    let others = outputs::wanted_plots(&args.plot).chain(report::wanted(args.report.as_ref()));
    outputs::check(&[&args.input.data], &out.chain(others).collect::<Vec<_>>())?;
    if args.grid.kernel.is_precomputed() {
        return Err(Failure::usage(
            "choose kpca with --kernel precomputed",
            "the choice hides entries of rows, and a Gram matrix does not have them",
            "Give the rows and a kernel such as 'rbf(gamma=auto)'",
        ));
    }
    let asked = args.studies.sensitivity || args.plot.iter().any(|plot| plot.kind == PlotKind::Sensitivity);
    if asked && args.grid.kernel == KernelSpec::linear() {
        return Err(Failure::usage(
            "--sensitivity of the kernel linear",
            "it has no bandwidth",
            "Choose a kernel that has one, or leave it out",
        ));
    }
    Ok(())
}

/// The table, as a whole or as rows drawn evenly from one that is too large.
fn read(
    args: &ChooseKpcaArgs,
    session: &Session,
) -> Result<(DataAccount, AnySamples, Option<Target>), Failure> {
    let Some(mut rows) = too_large(&args.input, &args.machine)? else {
        let mut input = Input::read(&args.input)?;
        let samples = input.take_samples(Precision::F64)?;
        return Ok((input.account, samples, input.carried.target));
    };
    let (drawn, target) = session.watched(args.speech.quiet, |watch| {
        let n = RowSource::n_rows(&mut rows)?;
        let most = DRAWN_ROWS.max(args.grid.rows.unwrap_or(0));
        rows.evenly(n.div_ceil(most).max(1), watch)
    })?;
    Words::new(args.speech.quiet).note(format_args!(
        "the table is too large for the memory allowed: {} of its rows, evenly from the whole, are looked at",
        drawn.n_rows()
    ));
    Ok((rows.account, drawn.into(), target))
}

fn settings(args: &ChooseKpcaArgs, watch: &Watch) -> ChooseKernelPca {
    let grid = &args.grid;
    let mut settings = match &grid.kernel {
        KernelSpec::Auto => ChooseKernelPca::automatic(),
        spec => ChooseKernelPca::new().kernel(spec.clone()),
    };
    if let ComponentChoice::Exactly(k) = grid.components {
        settings = settings.components(Some(k));
    }
    if let Some(most) = grid.most {
        settings = settings.most_components(most);
    }
    if let Some(rows) = grid.rows {
        settings = settings.max_rows(rows);
    }
    let scorer = match grid.scorer {
        Some(ScorerChoice::Knn) => Scorer::Neighbors,
        Some(ScorerChoice::Ridge) => Scorer::Ridge,
        Some(ScorerChoice::Best | ScorerChoice::None) | None => Scorer::Best,
    };
    settings
        .scorer(scorer)
        .mask(grid.mask.0)
        .seed(args.machine.seed)
        .threads(args.machine.threads.into())
        .watch(watch.clone())
}

/// Labels to be learned, when there are any.
fn labels(args: &ChooseKpcaArgs, target: Option<&Target>) -> Option<Labels> {
    let target = target.filter(|_| args.grid.scorer != Some(ScorerChoice::None))?;
    labels::of(target, LabelChoice::Auto).ok()
}

fn write(args: &ChooseKpcaArgs, choice: &KernelChoice, studies: &Studies) -> Result<OutputFiles, Failure> {
    let mut files = OutputFiles::default();
    if let Some(path) = &args.out {
        files.put(path, "errors", || curve::write(path, choice))?;
    }
    for request in &args.plot {
        let data = &args.input.data;
        let figure = || match (request.kind, &studies.sensitivity) {
            (PlotKind::Sensitivity, Some(report)) => {
                sensitivity_figure(report, &format!("{} to the bandwidth", title("Sensitivity", data)))
            }
            _ => figures::draw_kernel_choice(choice, &title("Bandwidth and components", data)),
        };
        if request.kind != PlotKind::Sensitivity || studies.sensitivity.is_some() {
            files.put(&request.path, request.kind.name(), || figures::save(&figure()?, &request.path))?;
        }
    }
    Ok(files)
}
