//! The first look at a table: what its columns hold, and the means of its numbers.

use crate::draft::{Draft, Means};
use crate::error::Result;
use crate::feed::{Feed, Survey};
use crate::table::Missing;

/// Cells that are looked at together.
const CELLS_AT_ONCE: usize = 1 << 16;

/// What a survey has found, besides what the draft now knows of its columns.
#[derive(Default)]
pub(super) struct Found {
    /// The rows of the table, where all were read.
    pub(super) n_rows: Option<usize>,
    pub(super) means: Option<Means>,
    /// Whether all rows were read, from a file that is read again.
    pub(super) read_all: bool,
    /// Whether there are rows that were not looked at though they might contradict.
    pub(super) early: bool,
}

/// Reads what has to be read before the columns are known, and goes back to the first row.
pub(super) fn run(feed: &mut dyn Feed, draft: &mut Draft, survey: Survey, missing: Missing) -> Result<Found> {
    draft.begin_survey();
    match survey {
        Survey::Head { feed: mut head, complete } => look_at_head(head.as_mut(), draft, complete, missing),
        Survey::UntilKnown if missing != Missing::Mean => {
            let rows = rows_at_once(draft);
            let mut read = false;
            while draft.has_unknown_columns() {
                read = true;
                let n = feed.read_rows(draft, rows)?;
                draft.forget_rows();
                if n == 0 {
                    draft.check_rows()?;
                    break;
                }
            }
            if read {
                feed.rewind()?;
            }
            Ok(Found::default())
        }
        Survey::UntilKnown | Survey::Full => {
            let mut means = (missing == Missing::Mean).then(|| Means::new(draft.width()));
            read_all(feed, draft, means.as_mut())?;
            let n_rows = check_all(draft, missing)?;
            feed.rewind()?;
            Ok(Found { n_rows, means, read_all: true, early: false })
        }
    }
}

/// Reads the rest of a table to learn what is wrong with it as a whole.
pub(super) fn drain(feed: &mut dyn Feed, draft: &mut Draft) -> Result<()> {
    draft.forget_rows();
    read_all(feed, draft, None)
}

fn look_at_head(head: &mut dyn Feed, draft: &mut Draft, complete: bool, missing: Missing) -> Result<Found> {
    let read = read_all(head, draft, None);
    if complete {
        read?;
        let n_rows = check_all(draft, missing)?;
        return Ok(Found { n_rows, ..Found::default() });
    }
    // Whatever is wrong comes again when the rows themselves are read; a quote may be closed only after the head.
    Ok(Found { early: true, ..Found::default() })
}

fn check_all(draft: &Draft, missing: Missing) -> Result<Option<usize>> {
    draft.check_rows()?;
    draft.check_missing(&draft.layout()?, missing)?;
    Ok(Some(draft.next_row()))
}

fn read_all(feed: &mut dyn Feed, draft: &mut Draft, mut means: Option<&mut Means>) -> Result<()> {
    let rows = rows_at_once(draft);
    while feed.read_rows(draft, rows)? > 0 {
        if let Some(means) = means.as_deref_mut() {
            draft.add_to(means);
        }
        draft.forget_rows();
    }
    Ok(())
}

fn rows_at_once(draft: &Draft) -> usize {
    (CELLS_AT_ONCE / draft.width().max(1)).max(1)
}
