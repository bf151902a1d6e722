//! Values on the command line: sizes, delimiters, numbers, pictures.

use eigenlift::features::Rank;
use eigenlift::tuning::kernel_choice::Mask;
use std::path::PathBuf;

/// A size in bytes: `500MB` (powers of 1000), `4GiB` or `1.5g` (powers of 1024), or a plain number.
pub(crate) fn memory(text: &str) -> Result<u64, String> {
    let refuse = || "a size such as 4GiB, 500MB, 1.5g or a number of bytes is required".to_string();
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let unit = unit.to_ascii_lowercase();
    let power = match unit.trim_end_matches('b').trim_end_matches('i') {
        "" if unit.len() < 2 => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return Err(refuse()),
    };
    let base: f64 = match unit.get(1..).unwrap_or("") {
        "" | "ib" => 1024.0,
        "b" => 1000.0,
        _ => return Err(refuse()),
    };
    let bytes = number.trim().parse::<f64>().map_err(|_| refuse())? * base.powi(power);
    if bytes >= 1.0 && bytes < u64::MAX as f64 { Ok(bytes as u64) } else { Err(refuse()) }
}

/// One ASCII character, or `tab`, `space`, `comma`, `semicolon`.
pub(crate) fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        b"space" => Ok(b' '),
        b"comma" => Ok(b','),
        b"semicolon" => Ok(b';'),
        [one] if one.is_ascii() && !one.is_ascii_alphanumeric() => Ok(*one),
        _ => Err("one ASCII character that is neither a letter nor a digit, or tab, space, comma, semicolon, is required".into()),
    }
}

/// A number of components.
pub(crate) fn components(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(k) if k > 0 => Ok(k),
        _ => Err("a whole number of at least 1 is required; 2 draws a picture".into()),
    }
}

/// A whole number that is not 0.
pub(crate) fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(n) if n > 0 => Ok(n),
        _ => Err("a whole number of at least 1 is required".into()),
    }
}

/// A whole number of at least 2.
pub(crate) fn at_least_two(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(n) if n > 1 => Ok(n),
        _ => Err("a whole number of at least 2 is required".into()),
    }
}

/// Lines of an image, and pixels in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ImageSize {
    pub(crate) height: usize,
    pub(crate) width: usize,
}

/// `HxW`, such as `8x8`.
pub(crate) fn image(text: &str) -> Result<ImageSize, String> {
    let number = |text: &str| text.parse::<u32>().ok().filter(|n| *n > 0).map(|n| n as usize);
    let sizes = text.split_once(['x', '×']).and_then(|(h, w)| Some((number(h)?, number(w)?)));
    sizes
        .map(|(height, width)| ImageSize { height, width })
        .ok_or_else(|| "a height and a width with an x between them, such as 8x8, are required".to_string())
}

/// What is hidden together when entries are to be predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MaskChoice(pub(crate) Mask);

/// `entries`, `blocks=L` or `image=HxW`.
pub(crate) fn mask(text: &str) -> Result<MaskChoice, String> {
    let refuse = || {
        "entries, blocks=L with a length of at least 1, or image=HxW such as image=8x8 is required"
            .to_string()
    };
    let found = match text.split_once('=') {
        None if text == "entries" => Ok(Mask::Entries),
        Some(("blocks", length)) => at_least_one(length).map(Mask::Blocks),
        Some(("image", size)) => image(size).map(|ImageSize { height, width }| Mask::Image { height, width }),
        _ => Err(String::new()),
    };
    found.map(MaskChoice).map_err(|_| refuse())
}

/// A number of components, or the rules that choose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ComponentChoice {
    /// So many.
    Exactly(usize),
    /// As many as the rules agree on.
    Auto,
}

/// A number of components, or `auto`.
pub(crate) fn component_choice(text: &str) -> Result<ComponentChoice, String> {
    match text {
        "auto" => Ok(ComponentChoice::Auto),
        _ => components(text)
            .map(ComponentChoice::Exactly)
            .map_err(|_| "a whole number of at least 1, or auto, is required; 2 draws a picture".into()),
    }
}

/// A number of features, or the rule that chooses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FeatureChoice {
    /// So many.
    Exactly(usize),
    /// As few as rows held out allow.
    Auto,
    /// As many as have the best score on rows held out.
    Best,
}

/// A number of features, `auto` or `best`.
pub(crate) fn feature_choice(text: &str) -> Result<FeatureChoice, String> {
    match text {
        "auto" => Ok(FeatureChoice::Auto),
        "best" => Ok(FeatureChoice::Best),
        _ => at_least_one(text)
            .map(FeatureChoice::Exactly)
            .map_err(|_| "a whole number of at least 1, auto or best is required".into()),
    }
}

/// A number that is not negative.
pub(crate) fn not_negative(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x >= 0.0 && x.is_finite() => Ok(x),
        _ => Err("a number of at least 0 is required".into()),
    }
}

/// A number above 0.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x.is_finite() => Ok(x),
        _ => Err("a number above 0 is required".into()),
    }
}

/// A number.
pub(crate) fn finite(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        _ => Err("a number is required".into()),
    }
}

/// A tolerance.
pub(crate) fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x < 1.0 => Ok(x),
        _ => Err("a number between 0 and 1 is required; the default is 1e-6".into()),
    }
}

/// How exact the answer must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RankChoice {
    /// Exact or not at all.
    Exact,
    /// So many landmarks or features, or as many as it takes.
    LowRank(Rank),
}

/// `exact`, a number, `auto` or `auto:SHARE`.
pub(crate) fn rank(text: &str) -> Result<RankChoice, String> {
    let refuse = || {
        "exact, a whole number of at least 1, auto, or auto:SHARE with a share between 0 and 1 is required"
            .to_string()
    };
    match (text, text.strip_prefix("auto:")) {
        ("exact", _) => Ok(RankChoice::Exact),
        ("auto", _) => Ok(RankChoice::LowRank(Rank::default())),
        (_, Some(number)) => {
            share(number).map(|x| RankChoice::LowRank(Rank::UntilShare(x))).map_err(|_| refuse())
        }
        _ => match text.parse::<usize>() {
            Ok(n) if n > 0 => Ok(RankChoice::LowRank(Rank::Exactly(n))),
            _ => Err(refuse()),
        },
    }
}

/// A number between 0 and 1.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x < 1.0 => Ok(x),
        _ => Err("a number between 0 and 1 is required".into()),
    }
}

/// A number above 0 and up to 1.
pub(crate) fn share_or_one(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x <= 1.0 => Ok(x),
        _ => Err("a number above 0 and up to 1 is required".into()),
    }
}

/// What a picture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlotKind {
    /// The first two components.
    Scatter,
    /// The spectrum.
    Scree,
    /// The components as functions over the plane.
    Contours,
    /// What the rules on the number of components say.
    Choice,
    /// The data before and after whitening.
    Whitening,
    /// The graph of neighbours.
    Graph,
    /// What becomes of the graph with more neighbours.
    Doctor,
    /// Rows before and after denoising, or from scores.
    Preimages,
    /// What the bandwidth does to the components.
    Sensitivity,
    /// The components over the plane, those of linear PCA beside them.
    Linear,
    /// The axes of feature space, drawn over the data.
    Curves,
    /// The kernel matrix and its centred form.
    Gram,
    /// Scores of one view against those of another.
    Canonical,
    /// Correlations on the rows of the fit and on rows held out.
    Correlations,
    /// What each regularisation did on rows held out.
    Regularization,
    /// Predicted classes or clusters over the plane.
    Regions,
    /// T² and squared prediction error over the rows in their order.
    Chart,
    /// What input columns contribute to how unusual rows are.
    Contributions,
    /// The score after each step of a selection.
    Path,
}

impl PlotKind {
    const ALL: [(&'static str, PlotKind); 19] = [
        ("scatter", Self::Scatter),
        ("scree", Self::Scree),
        ("contours", Self::Contours),
        ("choice", Self::Choice),
        ("whitening", Self::Whitening),
        ("graph", Self::Graph),
        ("doctor", Self::Doctor),
        ("preimages", Self::Preimages),
        ("sensitivity", Self::Sensitivity),
        ("linear", Self::Linear),
        ("curves", Self::Curves),
        ("gram", Self::Gram),
        ("canonical", Self::Canonical),
        ("correlations", Self::Correlations),
        ("regularization", Self::Regularization),
        ("regions", Self::Regions),
        ("chart", Self::Chart),
        ("contributions", Self::Contributions),
        ("path", Self::Path),
    ];

    /// What the picture is called above it.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Scatter => "Scores",
            Self::Scree => "Spectrum",
            Self::Contours => "Components",
            Self::Linear => "Linear and kernel components",
            Self::Curves => "Axes of feature space",
            Self::Gram => "Kernel matrix",
            Self::Choice => "Choice",
            Self::Whitening => "Whitening",
            Self::Graph => "Graph of neighbours",
            Self::Doctor => "Numbers of neighbours",
            Self::Preimages => "Pre-images",
            Self::Sensitivity => "Sensitivity to the bandwidth",
            Self::Canonical => "Views against each other",
            Self::Correlations => "Correlations",
            Self::Regularization => "Regularisation",
            Self::Regions => "Regions",
            Self::Chart => "How unusual the rows are",
            Self::Contributions => "Contributions",
            Self::Path => "Path of the selection",
        }
    }

    /// What the picture shows, in a sentence.
    pub(crate) fn caption(self) -> &'static str {
        match self {
            Self::Scatter => "The rows along the first two components.",
            Self::Scree => {
                "The spectrum: the variance along each component, with the bounds that the certificate gives."
            }
            Self::Contours => {
                "Each component as a function over the plane: along a line its score is the same."
            }
            Self::Choice => "What was compared, and what was chosen.",
            Self::Whitening => "The data and their covariance, before and after.",
            Self::Graph => "The graph of neighbours over the embedding.",
            Self::Doctor => "What becomes of the graph with more neighbours.",
            Self::Preimages => "Rows before and after.",
            Self::Sensitivity => "What the bandwidth does to the components.",
            Self::Linear => {
                "The components of linear PCA, whose lines are straight, beside those of the kernel."
            }
            Self::Curves => {
                "Axes of feature space pulled back to the data: the rows nearest to each axis. Dashed where none comes near."
            }
            Self::Gram => "The kernel between all pairs of rows, as it is and centred.",
            Self::Canonical => {
                "Scores of the first view against those of the second: the closer to a line, the more they have in common."
            }
            Self::Correlations => {
                "Correlations between the views on the rows of the fit and on rows held out, which alone count as evidence."
            }
            Self::Regularization => "What each regularisation did on rows held out, and which was chosen.",
            Self::Regions => "What is predicted at each place of the plane, with the rows over it.",
            Self::Chart => "T² and squared prediction error of the rows in their order, with their limits.",
            Self::Contributions => "What each input column contributes to how unusual rows are.",
            Self::Path => "What was selected, step by step, and how it did.",
        }
    }

    /// What the picture is called on the command line and in accounts.
    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

/// A picture and where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlotRequest {
    /// What it shows.
    pub(crate) kind: PlotKind,
    /// Where it goes.
    pub(crate) path: PathBuf,
}

/// `FILE` or `KIND=FILE`.
pub(crate) fn plot(text: &str) -> Result<PlotRequest, String> {
    plot_or(PlotKind::Scatter, text)
}

/// `FILE` or `choice=FILE`.
pub(crate) fn choice_plot(text: &str) -> Result<PlotRequest, String> {
    plot_among(&[PlotKind::Choice], text)
}

/// `FILE`, `choice=FILE` or `sensitivity=FILE`.
pub(crate) fn kernel_choice_plot(text: &str) -> Result<PlotRequest, String> {
    plot_among(&[PlotKind::Choice, PlotKind::Sensitivity], text)
}

/// `FILE` or `doctor=FILE`.
pub(crate) fn doctor_plot(text: &str) -> Result<PlotRequest, String> {
    plot_among(&[PlotKind::Doctor], text)
}

/// `FILE` or `gram=FILE`.
pub(crate) fn gram_plot(text: &str) -> Result<PlotRequest, String> {
    plot_among(&[PlotKind::Gram], text)
}

/// `FILE` or `scree=FILE`.
pub(crate) fn scree_plot(text: &str) -> Result<PlotRequest, String> {
    plot_among(&[PlotKind::Scree], text)
}

/// `FILE` or `scatter=FILE`.
pub(crate) fn scatter_plot(text: &str) -> Result<PlotRequest, String> {
    plot_among(&[PlotKind::Scatter], text)
}

/// `FILE`, `scatter=FILE`, `chart=FILE` or `contributions=FILE`.
pub(crate) fn score_plot(text: &str) -> Result<PlotRequest, String> {
    plot_among(&[PlotKind::Scatter, PlotKind::Chart, PlotKind::Contributions], text)
}

/// `FILE` or `preimages=FILE`.
pub(crate) fn preimage_plot(text: &str) -> Result<PlotRequest, String> {
    plot_among(&[PlotKind::Preimages], text)
}

/// `FILE` or `path=FILE`.
pub(crate) fn path_plot(text: &str) -> Result<PlotRequest, String> {
    plot_among(&[PlotKind::Path], text)
}

/// A picture of one of these kinds, of the first one when none is named.
fn plot_among(kinds: &[PlotKind], text: &str) -> Result<PlotRequest, String> {
    let usual = kinds.first().copied().unwrap_or(PlotKind::Scatter);
    match plot_or(usual, text) {
        Ok(request) if !kinds.contains(&request.kind) => {
            let names: Vec<String> = kinds.iter().map(|kind| format!("{}=FILE", kind.name())).collect();
            let (verb, s) = if names.len() == 1 { ("is", "") } else { ("are", "s") };
            Err(format!("the only picture{s} here {verb} {}", names.join(" and ")))
        }
        other => other,
    }
}

fn plot_or(usual: PlotKind, text: &str) -> Result<PlotRequest, String> {
    let named = text.split_once('=').and_then(|(word, path)| {
        PlotKind::ALL.iter().find(|(name, _)| *name == word).map(|(_, kind)| (*kind, path))
    });
    let (kind, path) = named.unwrap_or((usual, text));
    if path.is_empty() {
        return Err("a file name that ends in .svg or .png is required".into());
    }
    Ok(PlotRequest { kind, path: path.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_both_systems() {
        assert_eq!(memory("4GiB"), Ok(4 << 30));
        assert_eq!(memory("500MB"), Ok(500_000_000));
        assert_eq!(memory("1.5g"), Ok(3 << 29));
        assert_eq!(memory("2 kib"), Ok(2048));
        assert_eq!(memory("100"), Ok(100));
        assert_eq!(memory("7B"), Ok(7));
        for wrong in ["", "GiB", "4xb", "-1", "nan", "1e999", "4 gigs", "0", "1gg", "1gbb", "1ib"] {
            assert!(memory(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_delimiter_is_one_character_or_a_word() {
        assert_eq!((delimiter(";"), delimiter("tab"), delimiter("|")), (Ok(b';'), Ok(b'\t'), Ok(b'|')));
        for wrong in ["", "ab", "é", "1", "a"] {
            assert!(delimiter(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_rank_is_exact_a_number_or_found() {
        assert_eq!(rank("exact"), Ok(RankChoice::Exact));
        assert_eq!(rank("500"), Ok(RankChoice::LowRank(Rank::Exactly(500))));
        assert_eq!(rank("auto"), Ok(RankChoice::LowRank(Rank::UntilShare(0.01))));
        assert_eq!(rank("auto:0.2"), Ok(RankChoice::LowRank(Rank::UntilShare(0.2))));
        for wrong in ["", "0", "-1", "auto:", "auto:0", "auto:2", "some", "1.5"] {
            assert!(rank(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_image_has_a_height_and_a_width() {
        assert_eq!(image("8x16"), Ok(ImageSize { height: 8, width: 16 }));
        for wrong in ["", "8", "8x", "x8", "0x8", "8x-1", "8x8x8", "axb", "99999999999x1"] {
            assert!(image(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_mask_has_a_shape() {
        assert_eq!(mask("entries"), Ok(MaskChoice(Mask::Entries)));
        assert_eq!(mask("blocks=5"), Ok(MaskChoice(Mask::Blocks(5))));
        assert_eq!(mask("image=8x16"), Ok(MaskChoice(Mask::Image { height: 8, width: 16 })));
        for wrong in ["", "blocks", "blocks=0", "blocks=x", "image", "image=8", "entries=1", "squares"] {
            assert!(mask(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_picture_has_a_kind_and_a_place() {
        assert_eq!(plot("a.svg"), Ok(PlotRequest { kind: PlotKind::Scatter, path: "a.svg".into() }));
        assert_eq!(plot("scree=a=b.png"), Ok(PlotRequest { kind: PlotKind::Scree, path: "a=b.png".into() }));
        assert!(plot("contours=").is_err());
    }
}
