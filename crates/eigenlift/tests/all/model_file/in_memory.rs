//! Models taken apart into header and arrays, and put together again.

use super::{bits, rows, sparse};
use eigenlift::data::{AnySamples, Samples, SharedBuffer};
use eigenlift::error::Result;
use eigenlift::features::{LowRank, Rank};
use eigenlift::methods::{AnyModel, FittedKernelPca, KernelPca, Pca, Whitening, WhiteningMethod};
use eigenlift::model::{Array, Header, Lift, Numbers};
use eigenlift::progress::Watch;
use std::borrow::Cow;
use std::sync::Arc;

/// Header as text and arrays of their own.
fn taken_apart(model: &AnyModel) -> (String, Vec<Array<'static>>) {
    let (mut text, mut kept) = (String::new(), Vec::new());
    let mut keep = |header: &Header, arrays: &[Array<'_>]| -> Result<()> {
        text = header.to_text()?;
        kept = arrays
            .iter()
            .map(|array| {
                let numbers = match &array.numbers {
                    Numbers::F32(x) => Numbers::F32(Cow::Owned(x.to_vec())),
                    Numbers::F64(x) => Numbers::F64(Cow::Owned(x.to_vec())),
                    Numbers::U32(x) => Numbers::U32(Cow::Owned(x.to_vec())),
                    Numbers::U64(x) => Numbers::U64(Cow::Owned(x.to_vec())),
                    shared => unreachable!("{shared:?} is lent, a model owns its arrays"),
                };
                Array::new(array.name.to_string(), &array.shape, numbers)
            })
            .collect();
        Ok(())
    };
    model.with_parts(&mut keep).unwrap();
    (text, kept)
}

fn models() -> Vec<(AnyModel, AnySamples)> {
    let dense: AnySamples = rows(40, 3).into();
    let scattered: AnySamples = AnySamples::F64(Samples::from(sparse(40, 5)));
    let kernel = || KernelPca::new(3).kernel("rbf(gamma=0.4)".parse().unwrap());
    vec![
        (AnyModel::from(kernel().fit(dense.clone()).unwrap()), dense.clone()),
        (AnyModel::from(kernel().fit(dense.to_single()).unwrap()), dense.to_single()),
        (AnyModel::from(kernel().fit(scattered.clone()).unwrap()), scattered),
        (
            AnyModel::from(
                kernel().low_rank(LowRank::fourier(Rank::Exactly(40))).fit(dense.clone()).unwrap(),
            ),
            dense.clone(),
        ),
        (AnyModel::from(Pca::new(2).standardize().fit(dense.clone()).unwrap()), dense.clone()),
        (AnyModel::from(Whitening::new(WhiteningMethod::Cholesky).fit(dense.clone()).unwrap()), dense),
    ]
}

#[test]
fn parts_make_the_same_model_bit_for_bit() {
    for (model, x) in models() {
        let (text, arrays) = taken_apart(&model);
        let again = AnyModel::from_parts(Header::from_text(&text).unwrap(), arrays).unwrap();
        let scores = |model: &AnyModel| model.fitted().project(x.points(), &Watch::default()).unwrap();
        assert_eq!(bits(&scores(&again)), bits(&scores(&model)), "{}", model.fitted().method());
        assert_eq!(taken_apart(&again).0, text);
    }
}

/// Memory that counts who uses it.
struct Lent(Vec<f64>);

impl SharedBuffer<f64> for Lent {
    fn numbers(&self) -> &[f64] {
        &self.0
    }
}

#[test]
fn samples_in_shared_memory_are_not_copied() {
    let (model, x) = models().swap_remove(0);
    let (text, mut arrays) = taken_apart(&model);
    let lent: Arc<dyn SharedBuffer<f64>> = Arc::new(Lent(x.points().to_dense::<f64>().into_vec()));
    for array in arrays.iter_mut().filter(|array| array.name == "samples") {
        array.numbers = Numbers::SharedF64(lent.clone());
    }
    let again = AnyModel::from_parts(Header::from_text(&text).unwrap(), arrays).unwrap();
    let Some(again) = again.take::<FittedKernelPca>() else { panic!("another method") };
    let Lift::Kernel { samples: AnySamples::F64(samples), .. } = &again.projection().lift else {
        panic!("another lift")
    };
    let eigenlift::data::Points::Dense(view) = samples.points() else { panic!("sparse") };
    assert_eq!(view.buffer().as_ptr(), lent.numbers().as_ptr());
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let (model, _) = models().swap_remove(4);
    let (text, arrays) = taken_apart(&model);
    let header = || Header::from_text(&text).unwrap();
    let refused = |change: &dyn Fn(&mut Vec<Array<'static>>)| {
        let mut arrays = arrays.clone();
        change(&mut arrays);
        AnyModel::from_parts(header(), arrays).unwrap_err().to_string()
    };
    let message = refused(&|arrays| {
        arrays.pop();
    });
    assert!(message.contains("no array") || message.contains("array"), "{message}");
    let message = refused(&|arrays| arrays[0].numbers = Numbers::F64(Cow::Owned(vec![f64::NAN, 0.0, 0.0])));
    assert!(message.contains("is NaN"), "{message}");
    let message = refused(&|arrays| arrays[0].numbers = Numbers::F64(Cow::Owned(vec![0.0; 2])));
    assert!(message.contains("with 2 numbers"), "{message}");
    let message = refused(&|arrays| arrays[0].numbers = Numbers::F32(Cow::Owned(vec![0.0; 3])));
    assert!(message.contains("has the type F32"), "{message}");
    let changed = text.replace("\"n_components\":2", "\"n_components\":1");
    assert!(Header::from_text(&changed).unwrap_err().to_string().contains("checksum"));
}
