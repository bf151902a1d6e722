//! How text and numbers stand in the page.

use crate::svg;
use crate::web::base64;
use sha2::{Digest, Sha256};

/// Text that is safe between tags and in quoted attributes. Characters that HTML does not know are left out.
pub(super) fn escaped(text: &str) -> String {
    let known: String = text.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()).collect();
    svg::escaped(&known)
}

/// How a content security policy names a script or a style.
pub(super) fn source_hash(text: &str) -> String {
    format!("'sha256-{}'", base64(&Sha256::digest(text.as_bytes())))
}

/// JSON that is safe inside a script element: no tag can start in it.
pub(super) fn script_json(value: &serde_json::Value) -> String {
    value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_place() {
        assert_eq!(escaped("a<b> & \"c\" 'd'\u{0}"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
        let json = script_json(&serde_json::json!({"a": "</script><!--&"}));
        assert_eq!(json, "{\"a\":\"\\u003c/script\\u003e\\u003c!--\\u0026\"}");
    }

    #[test]
    fn a_hash_is_that_of_the_bytes() {
        assert_eq!(source_hash(""), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
    }
}
