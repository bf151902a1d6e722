//! A report: one HTML file that needs no network and no server.
//!
//! The page holds its own style and scripts and allows no others: a content security policy names them by
//! their SHA-256, so that nothing a label or a file name says can run.

mod embedded;
mod encode;
mod page;
mod points;

use serde::{Deserialize, Serialize};

use crate::error::{Result, check_length};

/// What a report says, from top to bottom; also what other languages hand over as JSON.
///
/// ```
/// use eigenlift_plot::{Block, Report, Section};
///
/// let report = Report {
///     title: "Kernel PCA of three rows".into(),
///     warnings: vec!["Row 2 is twice in the table.".into()],
///     sections: vec![Section {
///         heading: "Numbers".into(),
///         blocks: vec![Block::Facts { rows: vec![("rows".into(), "3".into())] }],
///     }],
///     ..Report::default()
/// };
/// assert!(report.to_html()?.contains("Row 2 is twice in the table."));
/// # Ok::<(), eigenlift_plot::PlotError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The heading of the page and the name of its window.
    pub title: String,
    /// One line below the title.
    #[serde(default)]
    pub subtitle: String,
    /// What the reader should know first.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// The parts of the report in their order.
    #[serde(default)]
    pub sections: Vec<Section>,
}

/// A part of a report under one heading.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Section {
    /// The heading, also in the table of contents.
    pub heading: String,
    /// What the section shows.
    #[serde(default)]
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Block {
    /// Paragraphs.
    Text {
        /// One paragraph each.
        lines: Vec<String>,
    },
    /// Names and values.
    Facts {
        /// Name and value of each fact.
        rows: Vec<(String, String)>,
    },
    /// Text in a typewriter face, with its spaces and line breaks.
    Preformatted {
        /// The text.
        text: String,
    },
    /// A command to type, with a button that copies it.
    Command {
        /// The command.
        text: String,
    },
    /// A table; columns of numbers are aligned at the right.
    Table {
        /// The name of each column.
        heading: Vec<String>,
        /// The cells, row by row.
        rows: Vec<Vec<String>>,
        /// A line below the table; may be empty.
        #[serde(default)]
        caption: String,
    },
    /// A picture that zooms.
    Figure {
        /// The name of the picture.
        name: String,
        /// The picture as [`Figure::to_svg`](crate::Figure::to_svg) gives it.
        svg: String,
        /// A line below the picture; may be empty.
        #[serde(default)]
        caption: String,
    },
    /// Points to hover over, zoom into and select.
    Points(Points),
}

/// An embedding that the reader explores: scores of n rows on k axes, and what is known of each row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Points {
    /// The name of the picture.
    pub name: String,
    /// A line below the picture; may be empty.
    #[serde(default)]
    pub caption: String,
    /// The name of each of the k axes.
    pub axes: Vec<String>,
    /// n × k scores, row by row; rows that are not finite are counted and not drawn.
    #[serde(with = "nullable")]
    pub scores: Vec<f64>,
    /// What gives the points their colour.
    #[serde(default)]
    pub color: PointColor,
    /// A unit is equally long on both axes.
    #[serde(default)]
    pub equal_aspect: bool,
    /// The rows of the table behind the points.
    #[serde(default)]
    pub rows: Option<RowTable>,
    /// Height and width, if a row is an image.
    #[serde(default)]
    pub image: Option<[usize; 2]>,
    /// The number of each row in its table, counted from 1; empty for 1, 2, 3 and so on.
    #[serde(default)]
    pub row_numbers: Vec<u64>,
}

/// What gives points their colour.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PointColor {
    /// All points look the same.
    #[default]
    None,
    /// A colour and shape for each class.
    Classes {
        /// What the classes are.
        name: String,
        /// The class of each point.
        labels: Vec<String>,
    },
    /// A ramp of colours from the smallest to the largest value.
    Values {
        /// What the values are.
        name: String,
        /// The value of each point; those that are not finite are grey.
        #[serde(with = "nullable")]
        values: Vec<f64>,
    },
}

/// Columns of numbers that are known of each point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RowTable {
    /// The name of each of the d columns.
    pub names: Vec<String>,
    /// n × d values, row by row.
    #[serde(with = "nullable")]
    pub values: Vec<f64>,
}

impl Report {
    /// The report as one HTML file.
    ///
    /// Cost: about 11 bytes for each score and 3 for each label, beside the pictures.
    ///
    /// # Errors
    /// [`PlotError::LengthMismatch`](crate::PlotError::LengthMismatch) when the parts of a table or of points
    /// disagree about their number.
    pub fn to_html(&self) -> Result<String> {
        for block in self.sections.iter().flat_map(|section| &section.blocks) {
            block.check()?;
        }
        Ok(page::write(self))
    }
}

impl Block {
    fn check(&self) -> Result<()> {
        match self {
            Block::Points(points) => points.check(),
            Block::Table { heading, rows, .. } => rows.iter().try_for_each(|row| {
                check_length("a row of a table", row.len(), heading.len(), "the table's columns")
            }),
            _ => Ok(()),
        }
    }
}

impl Points {
    /// How many points there are; part of a row counts, so that the check of lengths sees it.
    fn n_points(&self) -> usize {
        if self.axes.is_empty() { 0 } else { self.scores.len().div_ceil(self.axes.len()) }
    }

    fn check(&self) -> Result<()> {
        let n = self.n_points();
        check_length("scores", self.scores.len(), n * self.axes.len(), "the axes of each point")?;
        match &self.color {
            PointColor::None => {}
            PointColor::Classes { labels, .. } => check_length("labels", labels.len(), n, "the points")?,
            PointColor::Values { values, .. } => check_length("values", values.len(), n, "the points")?,
        }
        if !self.row_numbers.is_empty() {
            check_length("row_numbers", self.row_numbers.len(), n, "the points")?;
        }
        let Some(table) = &self.rows else { return Ok(()) };
        check_length(
            "values of rows",
            table.values.len(),
            n * table.names.len(),
            "the columns of each point",
        )?;
        match self.image {
            Some([height, width]) => {
                check_length("a row", table.names.len(), height.saturating_mul(width), "the image's pixels")
            }
            None => Ok(()),
        }
    }
}

/// Numbers in JSON, where one that is not finite is `null`.
mod nullable {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(values: &[f64], to: S) -> Result<S::Ok, S::Error> {
        values.serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
        let values = Vec::<Option<f64>>::deserialize(from)?;
        Ok(values.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect())
    }
}
