//! `eigenlift fit`: from a table to scores, a model, pictures and an account.

mod asked;

pub(crate) use asked::Asked;

use crate::account::{self, FitAccount, Seconds};
use crate::args::FitOutputArgs;
use crate::exit::Failure;
use crate::figures::{self, Shown};
use crate::heap;
use crate::input::Input;
use crate::interrupt::Session;
use crate::method::{self, Chunked};
use crate::model::{Model, Rows};
use crate::outputs::{self, Kind, OutputFiles, Wanted, Written, label_title, title, warn_of_lost_text};
use crate::plan::prepare_whole;
use crate::report::{self, FitStory};
use crate::rows::{sample_scores, shown_step};
use crate::saved;
use crate::table::{Carried, DataAccount};
use crate::transform::{self, Named};
use crate::trim::give_back;
use crate::values::{ImageSize, PlotKind};
use crate::words::{Words, counted, indented, timed};
use eigenlift::data::RowSource;
use eigenlift::matrix::Matrix;
use eigenlift_io::{Target, TextColumn};
use std::path::Path;

/// A model, the scores of its rows, and the time that both took.
type Fitted = (Box<dyn Model>, Matrix<f64>, Seconds);

/// A fit from table to account.
pub(crate) struct Job<'a> {
    pub(crate) asked: Asked<'a>,
    pub(crate) session: &'a Session,
}

impl Job<'_> {
    /// Checks what was asked for, fits, writes, accounts.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let out = self.asked.output.out.as_deref();
        outputs::check_standard_output(self.json(), out)?;
        outputs::check_second_table("--loadings", self.json(), out, self.asked.loadings)?;
        if self.asked.machine.memory.is_none() && self.asked.method.fragments_memory() {
            heap::keep_to(0);
        }
        let inputs: Vec<&Path> =
            std::iter::once(self.asked.input.data.as_path()).chain(self.asked.method.inputs()).collect();
        outputs::check(&inputs, &self.wanted())?;
        let chunked = method::in_chunks(self.asked.method, self.asked.input, self.asked.machine)?;
        match chunked.map(|chunked| self.fit_chunks(chunked)).transpose()? {
            Some(true) => Ok(()),
            Some(false) | None => self.fit_whole(),
        }
    }

    fn wanted(&self) -> Vec<Wanted<'_>> {
        let FitOutputArgs { out, model, plot, report, .. } = self.asked.output;
        let out = out.iter().map(|path| Wanted { flag: "--out", path, kind: Kind::Table });
        let loadings =
            self.asked.loadings.iter().map(|path| Wanted { flag: "--loadings", path, kind: Kind::Table });
        let model = model.iter().map(|path| Wanted { flag: "--model", path, kind: Kind::Model });
        let report = report.iter().map(|path| Wanted { flag: "--report", path, kind: Kind::Page });
        out.chain(loadings).chain(model).chain(outputs::wanted_plots(plot)).chain(report).collect()
    }

    fn words(&self) -> Words {
        Words::new(self.asked.output.speech.quiet)
    }

    fn json(&self) -> bool {
        self.asked.output.speech.json
    }

    /// What can be refused once the table is known.
    fn check(&self, data: &DataAccount, carried: &[String]) -> Result<(), Failure> {
        let most = self.asked.method.most_outputs(data);
        for prefix in self.asked.method.score_prefixes(data) {
            outputs::check_names(carried, &prefix, most)?;
        }
        if let Some(name) = self.asked.method.labels() {
            label_title(name, carried)?;
        }
        let plots: Vec<PlotKind> = self.asked.output.plot.iter().map(|plot| plot.kind).collect();
        self.asked.method.check(data, &plots)?;
        check_image(self.asked.output.image, data.columns)
    }

    /// Says what a table of the chosen format does not keep.
    fn warn(&self, carried: &[String]) {
        let carried: Vec<String> =
            carried.iter().cloned().chain(self.asked.method.labels().map(String::from)).collect();
        warn_of_lost_text(self.asked.output.out.as_deref(), &carried, self.words());
        warn_of_lost_text(self.asked.loadings, &["column".into()], self.words());
    }

    /// The table is read as a whole.
    fn fit_whole(&self) -> Result<(), Failure> {
        let words = self.words();
        let mut input = self.asked.method.read(self.asked.input)?;
        let weights = input.take_weights(self.asked.method.weights())?;
        input.account.say(words);
        input.account.note_constant_columns(words);
        self.check(&input.account, &input.carried.names())?;
        self.warn(&input.carried.names());
        let target = input.carried.target.clone().filter(|_| self.asked.method.learns_labels());
        let rows = Rows { samples: input.take_samples(self.asked.method.precision())?, weights, target };
        let (model, scores, mut seconds) = match self.fitted(&input, &rows)? {
            Ok(fitted) => fitted,
            Err(refused) => {
                drop(rows);
                return self.fit_chunks_instead(refused);
            }
        };
        self.say(&*model);
        let labels = model.labels();
        let shown = Shown {
            scores: &scores,
            target: shown_labels(&*model, input.carried.target.as_ref(), labels.as_ref()),
            rows: Some(rows.samples.points()),
        };
        let story = self.story(&input.account, &*model, shown);
        let mut files = self.write_model(&story, &mut seconds)?;
        if let Some(out) = self.scores_output() {
            let names = model.score_names();
            add_labels(&mut input.carried, labels)?;
            let write = || outputs::write_scores(out, &input.carried, names, &scores);
            seconds.write += files.put(out, "scores", write)?;
        }
        let told = self.tell(&input.account, &*model, seconds, files.written());
        files.end(told)
    }

    /// A model of rows in memory with its scores; or what refused the plan.
    fn fitted(&self, input: &Input, rows: &Rows) -> Result<Result<Fitted, Failure>, Failure> {
        let method = self.asked.method;
        self.session.watched(self.asked.output.speech.quiet, |watch| {
            let (prepared, planning) =
                timed(|| prepare_whole(method, &input.account, rows, self.asked.machine, watch));
            let prepared = match prepared {
                Ok(prepared) => prepared,
                Err(refused) => return Ok(Err(refused)),
            };
            if method.plans_first() {
                self.session.aside(|| self.say_plan(&prepared.plan.text));
            }
            give_back();
            let (model, running) = timed(|| prepared.run());
            let mut model = model?;
            give_back();
            if !method.plans_first() {
                self.session.aside(|| self.say_plan(&model.plan()));
            }
            let (scores, project) = timed(|| model.scores(rows, watch));
            let fit = planning + running;
            Ok(Ok((model, scores?, Seconds { read: input.seconds, fit, project, ..Seconds::default() })))
        })
    }

    /// The table in chunks where it does not fit as a whole, for the reason given.
    fn fit_chunks_instead(&self, refused: Failure) -> Result<(), Failure> {
        let chunked = method::in_chunks_instead(self.asked.method, self.asked.input, &refused)?;
        match chunked.map(|chunked| self.fit_chunks(chunked)).transpose()? {
            Some(true) => Ok(()),
            Some(false) | None => Err(refused),
        }
    }

    /// The table is read in chunks, and once more for the scores; false where it is to be read as a whole instead.
    fn fit_chunks(&self, chunked: Chunked) -> Result<bool, Failure> {
        let (words, quiet) = (self.words(), self.asked.output.speech.quiet);
        let Chunked { mut rows, whole_instead } = chunked;
        let carried = rows.carried_names();
        self.check(&rows.account, &carried)?;
        let fitted = self.session.watched(quiet, |watch| {
            let method = self.asked.method;
            let (prepared, planning) = timed(|| method.prepare_source(&mut rows, watch));
            if whole_instead.after(&prepared) {
                return Ok(None);
            }
            self.session.aside(|| {
                self.warn(&carried);
                words.note("the table is too large for the memory allowed: it is read a piece at a time");
            });
            let (model, running) = timed(|| prepared?.run());
            Ok(Some((method.finish_source(model?, &mut rows, watch)?, planning + running)))
        })?;
        let Some((model, fit)) = fitted else { return Ok(false) };
        self.say_plan(&model.plan());
        rows.drop_weights();
        rows.account.rows = model.n_samples();
        rows.account.say(words);
        rows.account.note_constant_columns(words);
        let mut seconds = Seconds { fit, ..Seconds::default() };
        self.say(&*model);
        let drawn =
            |plot: &crate::values::PlotRequest| matches!(plot.kind, PlotKind::Scatter | PlotKind::Whitening);
        let output = self.asked.output;
        let sample = if output.report.is_some() || output.plot.iter().any(drawn) {
            self.session
                .watched(quiet, |watch| sample_scores(model.fitted(), model.n_samples(), &mut rows, watch))?
        } else {
            (Matrix::zeros(0, model.fitted().n_outputs()), None)
        };
        let shown = Shown { scores: &sample.0, target: sample.1.as_ref(), rows: None };
        let story =
            FitStory { step: shown_step(model.n_samples()), ..self.story(&rows.account, &*model, shown) };
        let mut files = self.write_model(&story, &mut seconds)?;
        if let Some(out) = self.scores_output() {
            let mut spent = transform::Seconds::default();
            RowSource::rewind(&mut rows)?;
            files.put(out, "scores", || {
                self.session.watched(quiet, |watch| {
                    let named = Named { fitted: model.fitted(), names: model.score_names() };
                    transform::project(&named, &mut rows, Some(out), &mut spent, watch)
                })
            })?;
            seconds.read += spent.read;
            seconds.write += spent.transform + spent.write;
        }
        rows.account.readings = Some(rows.readings());
        let told = self.tell(&rows.account, &*model, seconds, files.written());
        files.end(told).map(|()| true)
    }

    fn say_plan(&self, plan: &str) {
        if !self.json() {
            self.words().say(format_args!("plan:\n{}", indented(plan)));
        }
    }

    fn say(&self, model: &dyn Model) {
        let words = self.words();
        if self.json() {
            model.warnings().iter().for_each(|warning| words.warn(warning));
        } else {
            method::say(model, words);
        }
    }

    fn tell(
        &self,
        data: &DataAccount,
        model: &dyn Model,
        seconds: Seconds,
        files: &[Written],
    ) -> Result<(), Failure> {
        if self.json() {
            let command = format!("fit {}", self.asked.method.name());
            return outputs::print_json(&FitAccount::new(&command, data, model, seconds, files)?);
        }
        account::say_end(seconds, files, self.words());
        Ok(())
    }

    /// Writes files first and standard output last, so that a reader who leaves early loses no file.
    fn write_model(&self, story: &FitStory<'_>, seconds: &mut Seconds) -> Result<OutputFiles, Failure> {
        let model = story.model;
        let mut files = OutputFiles::default();
        if let Some(path) = &self.asked.output.model {
            seconds.write += files.put(path, "model", || saved::save(model.fitted(), path))?;
        }
        if let Some(path) = self.asked.loadings {
            seconds.write += files.put(path, "loadings", || model.write_loadings(path))?;
        }
        for request in &self.asked.output.plot {
            let draw =
                || figures::save(&model.draw(request.kind, &story.shown, &story.title)?, &request.path);
            *seconds.plot.get_or_insert(0.0) += files.put(&request.path, request.kind.name(), draw)?;
        }
        if let Some(path) = &self.asked.output.report {
            let write = || report::save(&story.report()?, path);
            *seconds.plot.get_or_insert(0.0) += files.put(path, "report", write)?;
        }
        Ok(files)
    }

    fn story<'s>(&'s self, data: &'s DataAccount, model: &'s dyn Model, shown: Shown<'s>) -> FitStory<'s> {
        FitStory {
            title: title_of(self.asked.method.title(), data),
            data,
            model,
            shown,
            step: 1,
            image: self.asked.output.image,
            command: report::command_line(),
        }
    }

    fn scores_output(&self) -> Option<&Path> {
        outputs::table_output(self.asked.output.out.as_deref(), self.json())
    }
}

/// The labels that colour the rows: those of the table, unless the model shows what it found.
pub(crate) fn shown_labels<'a>(
    model: &dyn Model,
    target: Option<&'a Target>,
    found: Option<&'a Target>,
) -> Option<&'a Target> {
    if model.shows_labels() { found.or(target) } else { target.or(found) }
}

/// Puts the labels that a fit found in front of the scores.
pub(crate) fn add_labels(carried: &mut Carried, labels: Option<Target>) -> Result<(), Failure> {
    if let Some(Target { name, values, .. }) = labels {
        let name = label_title(&name, &carried.names())?;
        carried.text.push(TextColumn { name, position: usize::MAX, values });
    }
    Ok(())
}

/// Refuses images that rows cannot be.
fn check_image(image: Option<ImageSize>, columns: usize) -> Result<(), Failure> {
    match image {
        Some(ImageSize { height, width }) if height.checked_mul(width) != Some(columns) => {
            Err(Failure::usage(
                format!("--image {height}x{width} of {}", counted(columns, "data column")),
                "an image has one pixel for each data column",
                "Change the size, or choose the columns",
            ))
        }
        _ => Ok(()),
    }
}

/// "Kernel CCA of a.csv and b.csv".
fn title_of(method: &str, data: &DataAccount) -> String {
    let mut paths: Vec<&Path> = data.views.iter().map(|view| view.path.as_path()).collect();
    paths.dedup();
    match paths[..] {
        [] | [_] => title(method, &data.path),
        [first, second] => match (first.file_name(), second.file_name()) {
            (Some(one), Some(other)) => format!("{method} of {} and {}", one.display(), other.display()),
            _ => method.into(),
        },
        _ => format!("{method} of {}", counted(paths.len(), "table")),
    }
}
