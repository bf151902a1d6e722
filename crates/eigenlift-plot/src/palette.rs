//! Colours: ink, classes and continuous ramps.

use crate::scene::Rgba;

/// Text.
pub(crate) const INK: Rgba = Rgba::hex(0x222222);
/// Notes that are less important than labels.
pub(crate) const FAINT_INK: Rgba = Rgba::hex(0x666666);
/// Axes and ticks.
pub(crate) const AXIS: Rgba = Rgba::hex(0x999999);
/// Grid lines behind the data.
pub(crate) const GRID: Rgba = Rgba::hex(0xececec);
/// Points without a class or value of their own.
pub(crate) const OTHER: Rgba = Rgba::hex(0xb0b0b0);
/// The first series of a picture.
pub(crate) const FIRST: Rgba = Rgba::hex(0x0072b2);
/// The second series of a picture; darkened vermilion, so that text in it is readable.
pub(crate) const SECOND: Rgba = Rgba::hex(0xb84e00);
/// The third series of a picture; darkened reddish purple.
pub(crate) const THIRD: Rgba = Rgba::hex(0x7a2c66);

/// The eight colours of Okabe and Ito, which people with any colour vision can tell apart. The yellow
/// comes last and is darkened for white paper.
pub(crate) const CLASSES: [Rgba; 8] = [
    Rgba::hex(0x0072b2),
    Rgba::hex(0xe69f00),
    Rgba::hex(0x009e73),
    Rgba::hex(0xcc79a7),
    Rgba::hex(0xd55e00),
    Rgba::hex(0x56b4e9),
    Rgba::hex(0x000000),
    Rgba::hex(0xdccb12),
];

/// Colours of further classes where shapes cannot tell them apart.
pub(crate) const MORE_CLASSES: [Rgba; 12] = [
    Rgba::hex(0x4b2a91),
    Rgba::hex(0x8c1d40),
    Rgba::hex(0x14622d),
    Rgba::hex(0x8a8f2a),
    Rgba::hex(0x5b2c06),
    Rgba::hex(0xb23fb0),
    Rgba::hex(0x36a5a0),
    Rgba::hex(0x6b7a8f),
    Rgba::hex(0xf07c8c),
    Rgba::hex(0x1b3a6b),
    Rgba::hex(0x9fbf5f),
    Rgba::hex(0xa9825a),
];

/// Anchors of the ramp in Oklab: lightness, chroma, hue in degrees. Lightness rises in equal steps, so equal
/// differences of value look like equal differences of colour, also in greyscale.
const RAMP: [[f64; 3]; 6] = [
    [0.280, 0.120, 310.0],
    [0.400, 0.130, 280.0],
    [0.520, 0.100, 238.0],
    [0.640, 0.105, 185.0],
    [0.760, 0.150, 145.0],
    [0.880, 0.175, 108.0],
];

/// The sequential ramp from dark violet (0) over blue and green to yellow (1).
pub(crate) fn ramp(t: f64) -> Rgba {
    let t = if t.is_finite() { t.clamp(0.0, 1.0) } else { 0.0 };
    let place = t * (RAMP.len() - 1) as f64;
    let below = (place.floor() as usize).min(RAMP.len() - 2);
    let share = place - below as f64;
    let (Some(from), Some(to)) = (RAMP.get(below), RAMP.get(below + 1)) else { return OTHER };
    let mix = |k: fn(&[f64; 3]) -> f64| k(from) + share * (k(to) - k(from));
    oklch(mix(|anchor| anchor[0]), mix(|anchor| anchor[1]), mix(|anchor| anchor[2]))
}

/// The light diverging ramp: blue (−1), nearly white (0), orange (1).
pub(crate) fn diverging(t: f64) -> Rgba {
    let t = if t.is_finite() { t.clamp(-1.0, 1.0) } else { 0.0 };
    let hue = if t < 0.0 { 245.0 } else { 55.0 };
    oklch(0.985 - 0.185 * t.abs(), 0.09 * t.abs(), hue)
}

/// The strong diverging ramp for cells without lines on top: blue (−1), nearly white (0), vermilion (1). Both
/// ends are equally dark.
pub(crate) fn strong_diverging(t: f64) -> Rgba {
    let t = if t.is_finite() { t.clamp(-1.0, 1.0) } else { 0.0 };
    let hue = if t < 0.0 { 248.0 } else { 48.0 };
    oklch(0.985 - 0.435 * t.abs(), 0.145 * t.abs(), hue)
}

/// The light sequential ramp for shading under lines: nearly white (0) to blue (1).
pub(crate) fn light(t: f64) -> Rgba {
    diverging(if t.is_finite() { -t.clamp(0.0, 1.0) } else { 0.0 })
}

/// The ramp of counts on white paper: light blue for few (0), dark indigo for many (1).
pub(crate) fn crowd(t: f64) -> Rgba {
    let t = if t.is_finite() { t.clamp(0.0, 1.0) } else { 0.0 };
    oklch(0.76 - 0.52 * t, 0.095 + 0.03 * t, 238.0 + 52.0 * t)
}

/// The colour laid on white paper with this opacity.
pub(crate) fn mixed(color: Rgba, opacity: f64) -> Rgba {
    let mix = |v: u8| (255.0 - (255.0 - f64::from(v)) * opacity.clamp(0.0, 1.0)).round() as u8;
    Rgba { rgb: color.rgb.map(mix), alpha: 1.0 }
}

/// The CIE lightness of a colour, 0 to 100.
pub(crate) fn lightness(color: Rgba) -> f64 {
    let [r, g, b] = color.rgb.map(|v| {
        let v = f64::from(v) / 255.0;
        if v <= 0.040_45 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
    });
    let y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
    if y > 0.008_856 { 116.0 * y.cbrt() - 16.0 } else { 903.3 * y }
}

/// Oklab in polar form to sRGB (Ottosson 2020); colours outside sRGB are clipped.
fn oklch(lightness: f64, chroma: f64, hue_degrees: f64) -> Rgba {
    let (sin, cos) = hue_degrees.to_radians().sin_cos();
    let (a, b) = (chroma * cos, chroma * sin);
    let l = (lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let m = (lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let s = (lightness - 0.089_484_177_5 * a - 1.291_485_548_0 * b).powi(3);
    let linear = [
        4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s,
        -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s,
        -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701_0 * s,
    ];
    let encode = |v: f64| {
        let v = v.clamp(0.0, 1.0);
        let v = if v <= 0.003_130_8 { 12.92 * v } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 };
        (v * 255.0).round() as u8
    };
    Rgba { rgb: linear.map(encode), alpha: 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ramp_brightens_in_nearly_equal_steps() {
        let steps: Vec<f64> = (0..16)
            .map(|k| lightness(ramp((f64::from(k) + 1.0) / 16.0)) - lightness(ramp(f64::from(k) / 16.0)))
            .collect();
        let mean = steps.iter().sum::<f64>() / 16.0;
        for step in steps {
            assert!(step > 0.4 * mean && step < 1.8 * mean, "step {step}, mean {mean}");
        }
    }

    #[test]
    fn ends_and_bad_values_have_colours() {
        assert_eq!(ramp(f64::NAN), ramp(0.0));
        assert_eq!(ramp(7.0), ramp(1.0));
        assert_ne!(ramp(0.0), ramp(1.0));
        assert!(lightness(diverging(0.0)) > 95.0);
        assert_ne!(diverging(-1.0), diverging(1.0));
        assert_eq!(strong_diverging(f64::NAN), strong_diverging(0.0));
    }

    #[test]
    fn strong_ends_differ_in_hue_and_not_in_lightness() {
        let (cold, warm) = (strong_diverging(-1.0), strong_diverging(1.0));
        assert!((lightness(cold) - lightness(warm)).abs() < 4.0, "{cold:?} {warm:?}");
        assert!(lightness(warm) < 60.0 && lightness(strong_diverging(0.0)) > 95.0);
        assert!(cold.rgb[2] > cold.rgb[0] && warm.rgb[0] > warm.rgb[2]);
    }
}
