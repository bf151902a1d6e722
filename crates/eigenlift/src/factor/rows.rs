//! Rows that a fit through features goes over, wherever they are.

use super::moments::accumulate;
use crate::data::{AnySamples, RowSource, RowsInMemory, gather};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::features::{FeatureSums, Features, RowFeatures};
use crate::model::Plan;
use crate::progress::Watch;
use crate::rows::KernelPieces;

/// Rows to be fitted.
pub(crate) enum Rows<'a> {
    /// In memory, and as a source.
    Memory(&'a mut RowsInMemory<'a>, &'a AnySamples),
    /// Read a piece at a time.
    Source(&'a mut dyn RowSource),
    /// In pieces that others hold.
    Elsewhere(&'a dyn KernelPieces),
}

impl<'a> Rows<'a> {
    /// Those who hold the rows, if they lie elsewhere.
    pub(crate) fn pieces(&self) -> Option<&'a dyn KernelPieces> {
        if let Self::Elsewhere(pieces) = self { Some(*pieces) } else { None }
    }

    /// The rows themselves, if they are in memory.
    pub(crate) fn samples(&self) -> Option<&AnySamples> {
        if let Self::Memory(_, samples) = self { Some(samples) } else { None }
    }

    /// The rows named, in ascending order, in the plan's precision.
    pub(crate) fn gather(&mut self, rows: &[usize], plan: &Plan) -> Result<AnySamples> {
        let chosen: AnySamples = match self {
            Self::Memory(_, samples) => return Ok(samples.gather(rows)),
            Self::Source(source) => gather(*source, rows, plan.chunk_rows)?.into(),
            Self::Elsewhere(pieces) => pieces.gather(rows)?.into(),
        };
        Ok(if plan.precision == "f32" { chosen.to_single() } else { chosen })
    }

    /// Moments of features of all rows.
    pub(crate) fn accumulate(
        &mut self,
        features: &Features,
        plan: &Plan,
        (engine, watch): (&dyn Engine, &Watch),
    ) -> Result<FeatureSums> {
        let source: &mut dyn RowSource = match self {
            Self::Memory(source, _) => *source,
            Self::Source(source) => *source,
            Self::Elsewhere(pieces) => return sums_elsewhere(features, *pieces, plan.seed, (engine, watch)),
        };
        accumulate(features, source, plan.chunk_rows, (engine, watch))
    }
}

/// Moments of features of rows that lie elsewhere.
fn sums_elsewhere(
    features: &Features,
    pieces: &dyn KernelPieces,
    seed: u64,
    (engine, watch): (&dyn Engine, &Watch),
) -> Result<FeatureSums> {
    watch.check()?;
    let sent = RowFeatures::new(features.clone(), pieces.n_rows()).seeded(seed);
    let (mut sum, mut whole) = (Some(pieces.feature_sums(&sent)?), None);
    engine.run(&mut || whole = sum.take().map(|sum| sent.finish(sum)));
    whole.ok_or(Error::Cancelled)
}
