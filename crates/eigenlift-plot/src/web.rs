//! The scripts and the style shared by the report and the explorer. All of it is written for this project;
//! nothing is loaded from elsewhere.

/// Colours for light and dark, type, tables, buttons and cards.
pub const BASE_CSS: &str = include_str!("../web/base.css");

/// The scatter of up to a million points; defines the one global `EigenliftPoints`.
pub const POINTS_JS: &str = concat!(
    include_str!("../web/points-look.js"),
    include_str!("../web/points-axes.js"),
    include_str!("../web/points-index.js"),
    include_str!("../web/points-draw.js"),
    include_str!("../web/points-paint.js"),
    include_str!("../web/points-input.js"),
    include_str!("../web/points-legend.js"),
    include_str!("../web/points.js"),
);

/// Figures that zoom, tables and images of rows; defines the one global `EigenliftFigures`.
pub const FIGURES_JS: &str = include_str!("../web/figures.js");

pub(crate) const REPORT_CSS: &str = include_str!("../web/report.css");
pub(crate) const REPORT_JS: &str = concat!(
    include_str!("../web/report-rows.js"),
    include_str!("../web/report-points.js"),
    include_str!("../web/report.js"),
);

/// Bytes in base 64, as the page's scripts read them.
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let at = |k: usize| u32::from(group.get(k).copied().unwrap_or(0));
        let word = at(0) << 16 | at(1) << 8 | at(2);
        for k in 0..4 {
            let digit = (word >> (18 - 6 * k) & 63) as usize;
            let known = k <= group.len();
            out.push(DIGITS.get(digit).filter(|_| known).map_or('=', |&d| char::from(d)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        let known = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        for (k, expected) in known.iter().enumerate() {
            assert_eq!(base64(&b"foobar"[..k]), *expected);
        }
        assert_eq!(base64(&[255, 254, 253]), "//79");
    }
}
