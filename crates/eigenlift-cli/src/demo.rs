//! `eigenlift demo`: the main job on built-in data, into a folder.

use crate::account::{self, FitAccount, Seconds};
use crate::args::DemoArgs;
use crate::exit::Failure;
use crate::figures::{self, Shown};
use crate::interrupt::Session;
use crate::kernel::{Tables, block};
use crate::model::draw_scatter;
use crate::outputs::{self, Written};
use crate::pairwise::{Square, square};
use crate::report::{self, FitStory};
use crate::saved;
use crate::table::{Carried, DataAccount};
use crate::values::ImageSize;
use crate::words::{Words, indented, timed};
use eigenlift::data::{Dataset, digits, synthetic, worked_example};
use eigenlift::kernel::KernelSpec;
use eigenlift::methods::{FittedKernelPca, KernelPca};
use eigenlift_io::Target;
use eigenlift_plot::Figure;
use std::fs;
use std::path::Path;

/// Everything the demo writes.
const FILES: [&str; 12] = [
    "report.html",
    "scores.csv",
    "model.safetensors",
    "scatter.svg",
    "scatter.png",
    "scree.svg",
    "scree.png",
    "contours.svg",
    "contours.png",
    "linear.svg",
    "linear.png",
    "worked-example.txt",
];
/// The commands that give the scores of the digits.
const AGAIN: &str = "eigenlift data digits --out digits.csv && \
                     eigenlift fit kpca digits.csv --target digit -k 10 --image 8x8 --out scores.csv --report report.html";
/// Components of the digits.
const COMPONENTS: usize = 10;
/// The kernel and the number of panels of the toy figure, and a seed whose eigenvalues lie near the printed ones.
const TOY: (&str, usize, u64) = ("rbf(c=0.1)", 8, 57);

/// Runs all parts.
pub(crate) fn run(args: &DemoArgs, session: &Session) -> Result<(), Failure> {
    prepare_folder(&args.out)?;
    let words = Words::new(args.speech.quiet);
    let mut demo = Demo { args, session, words, files: Vec::new(), seconds: Seconds::default() };
    let (set, read) = timed(digits);
    let set = set?;
    demo.seconds.read = read;
    let account = account_of(&set);
    let model = demo.digits(&set)?;
    demo.toy()?;
    demo.worked_example()?;
    if args.speech.json {
        return outputs::print_json(&FitAccount::new("demo", &account, &model, demo.seconds, &demo.files)?);
    }
    account::say_end(demo.seconds, &demo.files, words);
    Ok(())
}

/// Makes the folder; refuses one that holds anything but an earlier demo.
fn prepare_folder(folder: &Path) -> Result<(), Failure> {
    let fail = |error: std::io::Error| Failure::writing(folder, &error);
    if folder.exists() && !folder.is_dir() {
        return Err(Failure::usage(
            format!("--out {} is a file", folder.display()),
            "the demo writes into a folder",
            "Choose another name",
        ));
    }
    fs::create_dir_all(folder).map_err(fail)?;
    for entry in fs::read_dir(folder).map_err(fail)? {
        let name = entry.map_err(fail)?.file_name();
        if !FILES.iter().any(|own| name == *own) {
            return Err(Failure::usage(
                format!(
                    "the folder {} holds {}, which is not from an earlier demo",
                    folder.display(),
                    name.display()
                ),
                "the demo writes only into a new or empty folder, or over its own files",
                "Choose another folder with --out",
            ));
        }
    }
    Ok(())
}

/// What is known while the demo runs.
struct Demo<'a> {
    args: &'a DemoArgs,
    session: &'a Session,
    words: Words,
    files: Vec<Written>,
    seconds: Seconds,
}

impl Demo<'_> {
    /// Kernel PCA of the digits: scores, model, scatter, scree.
    fn digits(&mut self, set: &Dataset) -> Result<FittedKernelPca, Failure> {
        let n = set.samples.n_rows();
        self.words.say(format_args!("digits: {n} images of 8 × 8 pixels, {COMPONENTS} components"));
        let settings =
            KernelPca::new(COMPONENTS).threads(self.args.threads.into()).column_names(set.columns.clone());
        let (model, seconds) = self.fit(settings, set)?;
        self.seconds.fit = seconds;
        if !self.args.speech.json {
            self.words.say(format_args!("plan:\n{}", indented(&model.plan().to_string())));
            crate::method::say(&model, self.words);
        }
        let carried = Carried { text: Vec::new(), target: target(set) };
        let (written, took) = timed(|| {
            let scores = model.scores()?;
            let names = outputs::score_names("kpca", scores.n_cols());
            outputs::write_scores(&self.args.out.join("scores.csv"), &carried, names, &scores)?;
            saved::save(&model, &self.args.out.join("model.safetensors"))
        });
        written?;
        self.seconds.write += took;
        self.note("scores.csv", "scores");
        self.note("model.safetensors", "model");
        let title = "Kernel PCA of handwritten digits";
        let scores = model.scores()?;
        let rows = Some(set.samples.points().into());
        let shown = Shown { scores: &scores, target: carried.target.as_ref(), rows };
        self.draw("scatter", || draw_scatter(&model, &shown, title))?;
        self.draw("scree", || figures::draw_scree(&model, "Spectrum of handwritten digits"))?;
        let (written, took) = timed(|| {
            let story = FitStory {
                title: title.into(),
                data: &account_of(set),
                model: &model,
                shown,
                step: 1,
                image: Some(ImageSize { height: 8, width: 8 }),
                command: AGAIN.into(),
            };
            report::save(&story.report()?, &self.args.out.join("report.html"))
        });
        written?;
        *self.seconds.plot.get_or_insert(0.0) += took;
        self.note("report.html", "report");
        Ok(model)
    }

    /// Three clusters of thirty points, contour lines of the first eight components.
    fn toy(&mut self) -> Result<(), Failure> {
        let (kernel, k, seed) = TOY;
        let set = synthetic("three-gaussians", None, None, seed)?;
        let settings = KernelPca::new(k)
            .kernel(kernel.parse()?)
            .threads(self.args.threads.into())
            .column_names(set.columns.clone());
        let (model, _) = self.fit(settings, &set)?;
        let title = "Three Gaussians: the first eight components";
        let (scores, target) = (model.scores()?, target(&set));
        let shown = Shown { scores: &scores, target: target.as_ref(), rows: None };
        self.draw("contours", || figures::draw_contours(&model, &shown, title))?;
        let title = "Linear and kernel components";
        self.draw("linear", || figures::draw_linear(&model, &shown, title))
    }

    /// K, K̃, eigenvalues, β, α and scores of the four points.
    fn worked_example(&mut self) -> Result<(), Failure> {
        let set = worked_example()?;
        let kernel: KernelSpec = "polynomial(degree=2)".parse()?;
        let x = set.samples.points().to_dense::<f64>();
        let columns: Vec<String> = (1..=x.n_rows()).map(|j| format!("row{j}")).collect();
        let mut text =
            format!("The worked example: four points, k = (⟨x,y⟩ + 1)²\n\nX\n{}", block(&set.columns, &x));
        for (name, which) in [("K", Square::Gram), ("K̃ = K − NK − KN + NKN", Square::Centered)] {
            let (_, matrix) = self.session.watched(true, |watch| square(which, &kernel, &x, 0, watch))?;
            text += &format!("\n\n{name}\n{}", block(&columns, &matrix));
        }
        let (model, _) = self.fit(KernelPca::new(x.n_rows() - 1).kernel(kernel), &set)?;
        text += &format!("\n\n{}\n", Tables { model: &model }.text(None)?);
        outputs::write_bytes(&self.args.out.join("worked-example.txt"), text.as_bytes())?;
        self.note("worked-example.txt", "tables");
        Ok(())
    }

    fn fit(&self, settings: KernelPca, set: &Dataset) -> Result<(FittedKernelPca, f64), Failure> {
        self.session.watched(self.args.speech.quiet, |watch| {
            let settings = settings.watch(watch.clone());
            let (model, seconds) = timed(|| settings.fit(set.samples.clone()));
            Ok((model?, seconds))
        })
    }

    /// One figure as SVG and PNG.
    fn draw(
        &mut self,
        name: &'static str,
        figure: impl FnOnce() -> Result<Figure, Failure>,
    ) -> Result<(), Failure> {
        let (drawn, took) = timed(|| {
            let figure = figure()?;
            eigenlift_plot::FORMATS
                .iter()
                .try_for_each(|e| figures::save(&figure, &self.args.out.join(format!("{name}.{e}"))))
        });
        drawn?;
        *self.seconds.plot.get_or_insert(0.0) += took;
        for extension in eigenlift_plot::FORMATS {
            self.note(&format!("{name}.{extension}"), name);
        }
        Ok(())
    }

    fn note(&mut self, file: &str, what: &'static str) {
        self.files.push(Written { path: self.args.out.join(file), what });
    }
}

fn target(set: &Dataset) -> Option<Target> {
    let numeric = set.target.iter().all(|label| label.parse::<f64>().is_ok());
    set.target_name.clone().map(|name| Target { name, values: set.target.clone(), numeric })
}

fn account_of(set: &Dataset) -> DataAccount {
    DataAccount {
        path: set.name.into(),
        rows: set.samples.n_rows(),
        columns: set.columns.len(),
        entries: set.samples.n_rows() * set.columns.len(),
        column_names: set.columns.clone(),
        set_aside: Vec::new(),
        target: set.target_name.clone(),
        weights: None,
        groups: None,
        dropped_rows: 0,
        imputed_cells: 0,
        ignored: Vec::new(),
        constant_columns: Vec::new(),
        views: Vec::new(),
        readings: None,
        warnings: Vec::new(),
    }
}
