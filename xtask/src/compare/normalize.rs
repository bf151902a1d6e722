//! What differs between two runs of one build, put aside. Nothing else is.

/// A number that differs from run to run: what stands before and behind it.
struct Varying {
    before: &'static str,
    behind: &'static str,
}

/// Free memory is what the machine has at the moment, and plans name it, on the terminal, as JSON, and in model files, where JSON is text within JSON.
/// The most memory a process held depends on how its threads took turns. Seconds are seconds.
const VARYING: [Varying; 11] = [
    Varying { before: "because ", behind: " of memory are free" },
    Varying { before: "\"", behind: " of memory are free" },
    Varying { before: " of ", behind: " allowed" },
    Varying { before: "peak memory ", behind: "" },
    Varying { before: "\"seconds\": ", behind: "" },
    Varying { before: "\"seconds\":", behind: "" },
    Varying { before: "\"peak_memory_bytes\": ", behind: "" },
    Varying { before: "\"peak_memory_bytes\":", behind: "" },
    Varying { before: "\"bytes_allowed\": ", behind: "" },
    Varying { before: "\"bytes_allowed\":", behind: "" },
    Varying { before: "\\\"bytes_allowed\\\":", behind: "" },
];
/// How a line begins that says how long the command took.
const TOOK: [&str; 2] = ["took: ", "took "];
/// The numbers of such a line in JSON, up to the closing brace.
const SECONDS: [&str; 2] = ["\"seconds\": {", "\"seconds\":{"];
const UNITS: [&str; 5] = [" KiB", " MiB", " GiB", " TiB", " bytes"];
/// What stands for a number.
const MARK: &[u8] = b"#";

/// The bytes with a mark in place of every number that differs from run to run.
pub(super) fn normalized(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let begins_line = at == 0 || bytes[at - 1] == b'\n';
        if begins_line && TOOK.iter().any(|took| rest.starts_with(took.as_bytes())) {
            let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            out.extend(without_numbers(&rest[..end]));
            at += end;
        } else if let Some(head) = SECONDS.iter().find(|head| rest.starts_with(head.as_bytes())) {
            let end = rest.iter().position(|byte| *byte == b'}').unwrap_or(head.len());
            out.extend(without_numbers(&rest[..end]));
            at += end;
        } else if let Some((before, length)) = VARYING.iter().find_map(|varying| varying.found(rest)) {
            out.extend(before.as_bytes());
            out.extend(MARK);
            at += before.len() + length;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    out
}

impl Varying {
    /// What stands before the number and the length of the number with its unit, if `rest` begins so.
    fn found(&self, rest: &[u8]) -> Option<(&'static str, usize)> {
        let tail = rest.strip_prefix(self.before.as_bytes())?;
        let digits = number(tail);
        let unit = UNITS.iter().find(|unit| tail[digits..].starts_with(unit.as_bytes()));
        let length = digits + unit.map_or(0, |unit| unit.len());
        (digits > 0 && tail[length..].starts_with(self.behind.as_bytes())).then_some((self.before, length))
    }
}

/// Length of the number at the start; a point, an exponent and its sign belong to it.
fn number(bytes: &[u8]) -> usize {
    let mut length = 0;
    while let Some(byte) = bytes.get(length) {
        let signed = *byte == b'-' && length > 0 && bytes[length - 1] == b'e';
        let inside = length > 0 && (*byte == b'.' || *byte == b'e');
        if !(byte.is_ascii_digit() || inside || signed) {
            break;
        }
        length += 1;
    }
    length
}

/// A mark in place of every number and its unit of memory.
fn without_numbers(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let length = number(&bytes[at..]);
        if length == 0 {
            out.push(bytes[at]);
            at += 1;
            continue;
        }
        out.extend(MARK);
        at += length;
        let unit = UNITS.iter().find(|unit| bytes[at..].starts_with(unit.as_bytes()));
        at += unit.map_or(0, |unit| unit.len());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(input: &str) -> String {
        String::from_utf8(normalized(input.as_bytes())).unwrap()
    }

    #[test]
    fn times_and_peak_memory_are_marked() {
        assert_eq!(
            text("a\ntook: read 0.00 s, fit 1.03 s; peak memory 17.3 MiB\nwrote 3\n"),
            "a\ntook: read # s, fit # s; peak memory #\nwrote 3\n"
        );
        assert_eq!(text("took 0.06 s"), "took # s");
        assert_eq!(text("took: fit 2e-5 s; peak memory 900 bytes"), "took: fit # s; peak memory #");
    }

    #[test]
    fn free_memory_is_marked_and_what_is_needed_is_not() {
        assert_eq!(
            text(
                "  memory       758.2 KiB of 15.5 GiB allowed\n  because 19.4 GiB of memory are free, of which 80 % may be used"
            ),
            "  memory       758.2 KiB of # allowed\n  because # of memory are free, of which 80 % may be used"
        );
        assert_eq!(text("\"20.4 GiB of memory are free, of\""), "\"# of memory are free, of\"");
        assert_eq!(text("10 of 10 components"), "10 of 10 components");
    }

    #[test]
    fn numbers_in_json_and_in_headers_are_marked_by_name() {
        assert_eq!(
            text("\"bytes_allowed\": 166,\n\"bytes_needed\": 9"),
            "\"bytes_allowed\": #,\n\"bytes_needed\": 9"
        );
        assert_eq!(
            text("\\\"bytes_allowed\\\":12,\\\"bytes_needed\\\":9"),
            "\\\"bytes_allowed\\\":#,\\\"bytes_needed\\\":9"
        );
        assert_eq!(
            text("{\"seconds\": {\n \"fit\": 1.5e-3,\n \"plot\": null\n}, \"threads\": 2, \"x\": 1.5}"),
            "{\"seconds\": {\n \"fit\": #,\n \"plot\": null\n}, \"threads\": 2, \"x\": 1.5}"
        );
        assert_eq!(text("\"seconds\": 2.19355629,\n"), "\"seconds\": #,\n");
        assert_eq!(text("\"peak_memory_bytes\": 81920\n"), "\"peak_memory_bytes\": #\n");
    }

    #[test]
    fn all_else_stays_byte_for_byte() {
        for same in [
            "it took: 3 s",
            "because 150 samples are few",
            "peak memory unknown",
            "x,1.5,-2e-7\n",
            "\"secondsx\": {1}",
        ] {
            assert_eq!(text(same), same);
        }
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(normalized(&bytes), bytes);
    }
}
