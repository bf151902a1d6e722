//! Inputs made of other inputs.

/// Bytes that an input may have at most; mutations stay below.
const LONGEST: usize = 1 << 16;

/// Numbers in text at which readers have been wrong before.
const NUMBERS: [&str; 24] = [
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "3",
    "255",
    "65536",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e400",
    "-1e308",
    "1e-320",
    "0.1",
    "NaN",
    "inf",
    "-inf",
    "1_0",
];

/// Makes new inputs of others, the same ones for the same seed (SplitMix64).
pub struct Mutator {
    state: u64,
}

impl Mutator {
    /// With this seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    /// One of these; nothing of none.
    pub fn one_of<'a, T>(&mut self, things: &'a [T]) -> Option<&'a T> {
        if things.is_empty() { None } else { things.get(self.below(things.len())) }
    }

    /// One of the inputs, changed in one to eight places, in one of every two times in one alone.
    pub fn input(&mut self, corpus: &[Vec<u8>], words: &[&str]) -> Vec<u8> {
        let mut bytes = self.one_of(corpus).cloned().unwrap_or_default();
        let changes = if self.below(2) == 0 { 1 } else { 1 + self.below(8) };
        for _ in 0..changes {
            self.change(&mut bytes, corpus, words);
            bytes.truncate(LONGEST);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, corpus: &[Vec<u8>], words: &[&str]) {
        let at = self.below(bytes.len() + 1);
        match self.below(12) {
            0 | 1 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << self.below(8);
                }
            }
            2 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = [0, 1, 0x7f, 0x80, 0xff, b'\n', b'"', b'0'][self.below(8)];
                }
            }
            3 => bytes.insert(at, self.next() as u8),
            4 => bytes.truncate(at),
            5 => {
                let upto = at + self.below((bytes.len() - at).min(64) + 1);
                bytes.drain(at..upto);
            }
            6 => {
                let upto = at + self.below((bytes.len() - at).min(64) + 1);
                let copy = bytes[at..upto].to_vec();
                let to = self.below(bytes.len() + 1);
                bytes.splice(to..to, copy);
            }
            7 | 8 => self.change_number(bytes),
            9 => self.change_integer(bytes),
            10 if !words.is_empty() => {
                let word = self.one_of(words).map_or(&b""[..], |word| word.as_bytes()).to_vec();
                bytes.splice(at..at, word);
            }
            _ => {
                let other = self.one_of(corpus).cloned().unwrap_or_default();
                let from = self.below(other.len() + 1);
                let upto = from + self.below((other.len() - from).min(256) + 1);
                bytes.splice(at..at, other[from..upto].to_vec());
            }
        }
    }

    /// Puts another number in the place of one that is written in digits.
    fn change_number(&mut self, bytes: &mut Vec<u8>) {
        let start = self.below(bytes.len() + 1);
        let Some(from) = (start..bytes.len()).find(|at| bytes[*at].is_ascii_digit()) else { return };
        let upto = (from..bytes.len()).find(|at| !bytes[*at].is_ascii_digit()).unwrap_or(bytes.len());
        let number = self.one_of(&NUMBERS).map_or("0", |number| number);
        bytes.splice(from..upto, number.bytes());
    }

    /// Puts an integer of 1, 2, 4 or 8 bytes at the edge of its range over those that stand there.
    fn change_integer(&mut self, bytes: &mut [u8]) {
        let width = 1 << self.below(4);
        if bytes.len() < width {
            return;
        }
        let at = self.below(bytes.len() - width + 1);
        let edge = [0, 1, u64::MAX, u64::MAX >> 1, 1 << 63, 1 << 31, 1 << 32, self.next()][self.below(8)];
        bytes[at..at + width].copy_from_slice(&edge.to_le_bytes()[..width]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_makes_the_same_inputs_and_they_differ() {
        let corpus = [b"a,b\n1,2\n".to_vec(), b"x\n3\n".to_vec()];
        let make = |seed| {
            let mut mutator = Mutator::new(seed);
            (0..200).map(|_| mutator.input(&corpus, &["NA"])).collect::<Vec<_>>()
        };
        let (one, again) = (make(1), make(1));
        assert_eq!(one, again);
        assert_ne!(one, make(2));
        let different: std::collections::HashSet<_> = one.iter().collect();
        assert!(different.len() > 150, "{}", different.len());
        assert!(one.iter().any(|input| input.windows(2).any(|two| two == b"NA")));
        assert!(Mutator::new(3).input(&[], &[]).len() < LONGEST);
    }
}
