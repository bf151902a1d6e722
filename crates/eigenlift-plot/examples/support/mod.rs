//! What the galleries share.

use std::error::Error;
use std::path::{Path, PathBuf};

use eigenlift_plot::{FORMATS, Figure};

pub(crate) type Outcome = Result<(), Box<dyn Error>>;

/// The folder that the command line names, made when it is not there.
pub(crate) fn folder() -> Result<PathBuf, Box<dyn Error>> {
    let folder = PathBuf::from(std::env::args_os().nth(1).ok_or("pass the folder for the pictures")?);
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Writes a picture in every format.
pub(crate) fn write(folder: &Path, name: &str, figure: &Figure) -> Outcome {
    for format in FORMATS {
        std::fs::write(folder.join(name).with_extension(format), figure.encode(format)?)?;
    }
    Ok(())
}

/// Small repeatable random numbers.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    pub(crate) fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }
}
