//! Declared arrays.

use super::super::tests::example;
use super::super::write;
use super::*;

const DECLARED: [Declared; 5] = [
    Declared::f64("values", &[Dim::Of("k")])
        .rules(&[Rule::Positive("each is above 0"), Rule::Descending("the largest comes first")]),
    Declared::f64("pairs", &[Dim::Of("free"), Dim::Is(2)]).rules(&[Rule::Intervals("low comes first")]),
    Declared::u32("labels", &[Dim::Of("n")]).rules(&[Rule::Below("k", "there are k of them")]),
    Declared::f64("scale", &[Dim::Of("d")]).with("scaled"),
    Declared::f64("mean", &[Dim::Of("d")]).optional(),
];

fn table(scaled: bool) -> Table {
    Table::new("a.", &DECLARED, "f64").dim("k", 2).dim("n", 3).dim("d", 2).mark("scaled", scaled)
}

fn given<'a>(values: &'a [f64], pairs: &'a [f64], labels: &'a [u32]) -> Out<'a> {
    let mut out = Out::new();
    out.at("a.").f64("values", values).f64("pairs", pairs).u32("labels", labels);
    out
}

const VALUES: [f64; 2] = [2.0, 1.0];
const PAIRS: [f64; 6] = [0.0, 1.0, 2.0, 2.0, -3.0, 4.0];
const LABELS: [u32; 3] = [0, 1, 0];

fn bytes(table: Table, out: Out<'_>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    write(&example(), &arrays_of(vec![table], out)?, &mut |piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    })?;
    Ok(bytes)
}

fn refusal<T: std::fmt::Debug>(result: Result<T>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn arrays_come_back_by_their_declaration() {
    let bytes = bytes(table(false), given(&VALUES, &PAIRS, &LABELS)).unwrap();
    let mut file = ModelReader::from_bytes(&bytes).unwrap();
    let mut arrays = Arrays::read(&mut file, vec![table(false)]).unwrap();
    let arrays = arrays.at("a.");
    assert_eq!(arrays.f64("values").unwrap(), VALUES);
    let pairs = arrays.matrix("pairs").unwrap();
    assert_eq!((pairs.n_rows(), pairs.n_cols(), pairs.as_slice()), (3, 2, &PAIRS[..]));
    assert_eq!(arrays.u32("labels").unwrap(), LABELS);
    assert_eq!((arrays.optional("mean"), arrays.optional("scale")), (None, None));
    assert!(refusal(arrays.f64("values")).contains("no array \"a.values\""), "it was taken");
    assert!(refusal(arrays.samples()).contains("no array \"a.samples\""));
}

#[test]
fn broken_rules_are_named_with_place_and_number_when_written_and_when_read() {
    let free = [
        Declared::f64("values", &[Dim::Of("k")]),
        Declared::f64("pairs", &[Dim::Of("free"), Dim::Is(2)]),
        Declared::u32("labels", &[Dim::Of("n")]),
    ];
    let unruled = || Table::new("a.", &free, "f64").dim("k", 2).dim("n", 3);
    type Case<'a> = (Out<'a>, Out<'a>, &'a str);
    let both = |values: &'static [f64],
                pairs: &'static [f64],
                labels: &'static [u32],
                says: &'static str|
     -> Case<'static> { (given(values, pairs, labels), given(values, pairs, labels), says) };
    let cases = [
        both(&[1.0, 0.0], &PAIRS, &LABELS, "a.values[1] is 0; each is above 0"),
        both(&[1.0, 3.0], &PAIRS, &LABELS, "a.values[0] is 1 and the next 3; the largest comes first"),
        both(&VALUES, &[0.0, 1.0, 5.0, 4.0], &LABELS, "a.pairs[1] runs from 5 to 4; low comes first"),
        both(&VALUES, &PAIRS, &[0, 1, 2], "a.labels[2] is 2, beyond 2; there are k of them"),
    ];
    for (written, read, says) in cases {
        let message = refusal(bytes(table(false), written));
        assert!(message.starts_with(says), "{message}");
        let sound = bytes(unruled(), read).unwrap();
        let mut file = ModelReader::from_bytes(&sound).unwrap();
        let message = refusal(Arrays::read(&mut file, vec![table(false)]));
        assert!(message.starts_with(says), "{message}");
    }
}

#[test]
fn arrays_that_are_not_as_declared_are_refused() {
    let mut more = given(&VALUES, &PAIRS, &LABELS);
    more.f64("other", &VALUES[..]);
    assert!(refusal(bytes(table(false), more)).contains("given and not declared"));
    let missing = bytes(table(true), given(&VALUES, &PAIRS, &LABELS));
    assert!(refusal(missing).contains("array \"a.scale\" that is declared and not given"));
    let wide = bytes(table(false), given(&[3.0, 2.0, 1.0], &PAIRS, &LABELS));
    assert!(refusal(wide).contains("the shape says how many there are"));
    let sound = bytes(table(false), given(&VALUES, &PAIRS, &LABELS)).unwrap();
    let mut file = ModelReader::from_bytes(&sound).unwrap();
    assert!(refusal(Arrays::read(&mut file, vec![table(true)])).contains("no array \"a.scale\""));
    let fewer = Table::new("a.", &DECLARED[..2], "f64").dim("k", 2);
    assert!(refusal(Arrays::read(&mut file, vec![fewer])).contains("an array \"a.labels\""));
    let longer = Table::new("a.", &DECLARED, "f64").dim("k", 3).dim("n", 3).dim("d", 2);
    let message = refusal(Arrays::read(&mut file, vec![longer]));
    assert!(message.contains("has the shape [2]; the header makes it [3]"), "{message}");
}
