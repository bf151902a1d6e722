//! A search that can be taken up again.

use super::columns::Goal;
use super::recipe::Data;
use super::report::Step;
use super::search::Direction;
use eigenlift::error::{Error, Result};
use eigenlift_atomic::{AtomicFile, refuse_special};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::Path;

/// What a file of steps says it is.
const WHAT: &str = "eigenlift selection";

/// How far a search has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelectionProgress {
    /// Of data and settings.
    pub fingerprint: String,
    /// The steps taken.
    pub steps: Vec<Step>,
}

/// The same on file; its keys stay.
#[derive(Serialize, Deserialize)]
struct OnFile<P> {
    what: String,
    version: String,
    progress: P,
    /// Of the progress as JSON.
    #[serde(default)]
    sha256: String,
}

/// The checksum of what a file of steps holds.
fn checksum(progress: &SelectionProgress) -> serde_json::Result<String> {
    let sum = Sha256::digest(serde_json::to_vec(progress)?);
    Ok(sum.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl SelectionProgress {
    /// Writes the steps as JSON: the whole file or nothing of it.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn save(&self, path: &Path) -> Result<()> {
        let doing = "keeping the steps of a search";
        let bytes = checksum(self).and_then(|sha256| {
            let (what, version) = (WHAT.into(), env!("CARGO_PKG_VERSION").into());
            serde_json::to_vec(&OnFile { what, version, progress: self, sha256 })
        });
        let failed = |source| Error::Io { path: path.to_owned(), doing, source };
        let bytes = bytes.map_err(|error| failed(error.into()))?;
        refuse_special(path).map_err(failed)?;
        let mut file = AtomicFile::create(path).map_err(failed)?;
        file.write_all(&bytes).map_err(failed)?;
        file.commit().map_err(failed)
    }

    /// Reads what [`SelectionProgress::save`] wrote; none where there is no such file.
    ///
    /// # Errors
    /// When the file cannot be read or holds something else.
    pub fn load(path: &Path) -> Result<Option<Self>> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => {
                return Err(Error::Io {
                    path: path.to_owned(),
                    doing: "reading the steps of a search",
                    source,
                });
            }
        };
        let refused = |found: String| {
            Error::data(
                format!("{}: {found}", path.display()),
                "a file that a search has kept its steps in is required",
                "Name such a file, or one that does not exist yet",
            )
        };
        // Text that is not UTF-8 is refused here, too.
        let file: OnFile<Self> = serde_json::from_slice(&bytes)
            .map_err(|error| refused(format!("not the steps of a search ({error})")))?;
        if file.what != WHAT {
            return Err(refused(format!("it says that it is {:?}", file.what)));
        }
        if checksum(&file.progress).ok() != Some(file.sha256) {
            return Err(refused("its checksum is not that of its steps: it was changed or damaged".into()));
        }
        Ok(Some(file.progress))
    }

    /// # Errors
    /// When it is of other data or settings, or its steps cannot be taken among `n_features` features.
    pub fn check(&self, fingerprint: &str, (n_features, direction): (usize, Direction)) -> Result<()> {
        if self.fingerprint != fingerprint {
            return Err(Error::data(
                "a search that was begun on other data or with another method, scorer, split or seed",
                "a search is taken up with the data and settings that it was begun with",
                "Give those, or begin anew without it",
            ));
        }
        let mut present = vec![direction == Direction::Backward; n_features];
        let mut possible = |step: &Step| {
            let there = present.get_mut(step.feature);
            there.is_some_and(|there| std::mem::replace(there, step.added) != step.added)
        };
        if self.steps.iter().all(&mut possible) {
            return Ok(());
        }
        Err(Error::data(
            "steps of a search that cannot be taken one after the other",
            "each adds a feature that is not there or takes out one that is",
            "Begin anew without them",
        ))
    }
}

/// Told how far a search has come after each step.
pub type Keep<'a> = dyn FnMut(&SelectionProgress) -> Result<()> + Send + 'a;

/// Where a search begins and who is told of its steps.
pub(super) struct Resume<'a> {
    fingerprint: String,
    earlier: Option<SelectionProgress>,
    keep: Option<&'a mut Keep<'a>>,
}

impl<'a> Resume<'a> {
    /// # Errors
    /// When the earlier search was of other data or settings.
    pub(super) fn new(
        fingerprint: String,
        earlier: Option<SelectionProgress>,
        of: (usize, Direction),
        keep: &'a mut Keep<'a>,
    ) -> Result<Self> {
        if let Some(earlier) = &earlier {
            earlier.check(&fingerprint, of)?;
        }
        Ok(Self { fingerprint, earlier, keep: Some(keep) })
    }

    /// Begins anew and tells nobody.
    pub(super) fn none() -> Self {
        Self { fingerprint: String::new(), earlier: None, keep: None }
    }

    pub(super) fn take_earlier(&mut self) -> Vec<Step> {
        self.earlier.take().map_or(Vec::new(), |earlier| earlier.steps)
    }

    pub(super) fn tell(&mut self, steps: &[Step]) -> Result<()> {
        let Some(keep) = &mut self.keep else { return Ok(()) };
        keep(&SelectionProgress { fingerprint: self.fingerprint.clone(), steps: steps.to_vec() })
    }
}

/// A number that tells data and settings apart (FNV-1a of 64 bits).
pub(super) struct Fingerprint(u64);

impl Fingerprint {
    pub(super) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }

    pub(super) fn words(mut self, text: &str) -> Self {
        text.bytes().chain([0]).for_each(|byte| self.byte(byte));
        self
    }

    /// Numbers are taken eight bytes at a time.
    fn number(&mut self, bits: u64) {
        self.0 = (self.0 ^ bits).wrapping_mul(0x0100_0000_01b3);
        self.0 ^= self.0 >> 29;
    }

    pub(super) fn data(mut self, data: &Data) -> Self {
        self.number(data.columns.n_cols() as u64);
        for j in 0..data.columns.n_cols() {
            data.columns.column(j).iter().for_each(|x| self.number(x.to_bits()));
        }
        match &data.goal {
            Goal::Classes { of_rows, .. } => of_rows.iter().for_each(|class| self.number(u64::from(*class))),
            Goal::Numbers(numbers) => numbers.iter().for_each(|y| self.number(y.to_bits())),
        }
        self
    }

    pub(super) fn text(self) -> String {
        format!("{:016x}", self.0)
    }
}
