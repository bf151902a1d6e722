//! Programs that documents show, so that they can be run.

/// A fenced block of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// Line of the opening fence, counted from 1.
    pub(crate) line: usize,
    /// The last heading above it; empty when there is none.
    pub(crate) heading: String,
    /// What stands between the fences.
    pub(crate) code: String,
}

/// Blocks that open with ``` and the language, in order.
pub(crate) fn blocks(text: &str, language: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut heading = String::new();
    // Inside a fence: the block, and whether it is in the language asked for.
    let mut open: Option<(Block, bool)> = None;
    for (at, line) in text.lines().enumerate() {
        let fence = line.trim_start().strip_prefix("```");
        match (open.take(), fence) {
            (Some((block, wanted)), Some(_)) => found.extend(wanted.then_some(block)),
            (Some((mut block, wanted)), None) => {
                block.code.push_str(line);
                block.code.push('\n');
                open = Some((block, wanted));
            }
            (None, Some(info)) => {
                let block = Block { line: at + 1, heading: heading.clone(), code: String::new() };
                open = Some((block, info.trim() == language));
            }
            (None, None) if line.starts_with('#') => heading = line.trim_start_matches('#').trim().into(),
            (None, None) => {}
        }
    }
    found
}

/// The first block in the language under a heading that has the word in it.
pub(crate) fn first_under(text: &str, word: &str, language: &str) -> Option<Block> {
    blocks(text, language).into_iter().find(|block| block.heading.contains(word))
}

/// The blocks as one file in which every line has the number that it has in the document.
pub(crate) fn on_their_lines(blocks: &[Block]) -> String {
    let mut out = String::new();
    let mut lines = 0;
    for block in blocks {
        (lines..block.line).for_each(|_| out.push('\n'));
        out.push_str(&block.code);
        lines = block.line + block.code.lines().count();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "\
# Title

```python
first()
```

## From Rust

```rust
# not a heading
let x = 1;
```

## From Python, with a picture

Words.

```sh
pip install eigenlift
```

```python
second()

# a comment, no heading
third()
```

### Notes

```python
fourth()
```
";

    #[test]
    fn blocks_have_their_language_heading_and_line() {
        let found = blocks(PAGE, "python");
        let headings: Vec<&str> = found.iter().map(|block| block.heading.as_str()).collect();
        assert_eq!(headings, ["Title", "From Python, with a picture", "Notes"]);
        assert_eq!(found.iter().map(|block| block.line).collect::<Vec<_>>(), [3, 22, 31]);
        assert_eq!(found[1].code, "second()\n\n# a comment, no heading\nthird()\n");
        assert_eq!(blocks(PAGE, "rust")[0].code, "# not a heading\nlet x = 1;\n");
        assert!(blocks(PAGE, "c").is_empty());
    }

    #[test]
    fn a_block_that_is_not_closed_is_no_block() {
        assert!(blocks("```python\nfirst()\n", "python").is_empty());
    }

    #[test]
    fn the_first_block_under_a_heading_with_the_word() {
        assert_eq!(first_under(PAGE, "Python", "python").map(|block| block.line), Some(22));
        assert_eq!(first_under(PAGE, "Fortran", "python"), None);
    }

    #[test]
    fn lines_keep_their_numbers() {
        let text = on_their_lines(&blocks(PAGE, "python"));
        let wanted: Vec<&str> = PAGE.lines().collect();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
            assert_eq!(wanted[at], line);
        }
        assert_eq!(text.matches("()").count(), 4);
    }
}
