//! Who may ask, and what every answer says about itself.
//!
//! A page of another site can make a browser send requests here. It cannot know the token, it cannot set `Host`, and
//! it cannot hide its `Origin`; each of the three alone keeps it out.

use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use std::fmt::Write;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// Bytes of the token.
const TOKEN_BYTES: usize = 16;

const ANSWER_HEADERS: [(HeaderName, &str); 6] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; \
         form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// What is at addresses of other starts, for programs.
const OTHER_START: &str =
    "nothing is at this address; open the address that eigenlift explore printed when it was last started.";

/// The same for a person whose browser was sent to such an address.
const OTHER_START_PAGE: &str = "<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<meta name=\"color-scheme\" content=\"light dark\">
<title>eigenlift explorer: another address</title>
</head>
<body>
<h1>The explorer has another address</h1>
<p>The address of the explorer changes every time it is started, and this one is not the address of the explorer that runs now.</p>
<p>Open the address that <code>eigenlift explore</code> printed in the terminal. If it is out of sight, end the explorer with
Ctrl-C and start it again.</p>
</body>
</html>
";

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refused {
    /// It comes from elsewhere.
    Foreign(&'static str),
    /// Its token is not that of this server; it may be that of an earlier one.
    OtherStart,
}

impl Refused {
    fn answer(self, for_a_person: bool) -> Response {
        match self {
            Self::Foreign(words) => {
                (StatusCode::FORBIDDEN, axum::Json(serde_json::json!({"error": words}))).into_response()
            }
            Self::OtherStart if for_a_person => {
                (StatusCode::NOT_FOUND, Html(OTHER_START_PAGE)).into_response()
            }
            Self::OtherStart => {
                let told = serde_json::json!({"error": OTHER_START, "other_start": true});
                (StatusCode::NOT_FOUND, axum::Json(told)).into_response()
            }
        }
    }
}

/// Whether a browser asks for a page to show, and not a script for an answer.
fn is_for_a_person(headers: &HeaderMap) -> bool {
    headers
        .get(header::ACCEPT)
        .and_then(|kinds| kinds.to_str().ok())
        .is_some_and(|kinds| kinds.starts_with("text/html"))
}

/// What a request must show.
#[derive(Debug)]
pub(crate) struct Guard {
    token: String,
    address: SocketAddr,
}

impl Guard {
    /// A guard with a new token for a server at this address.
    pub(crate) fn new(address: SocketAddr) -> Result<Self, getrandom::Error> {
        let mut bytes = [0_u8; TOKEN_BYTES];
        getrandom::fill(&mut bytes)?;
        let mut token = String::new();
        for byte in bytes {
            // Writing into a string cannot fail.
            let _ = write!(token, "{byte:02x}");
        }
        Ok(Self { token, address })
    }

    /// Where the page is.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/{}/", self.address, self.token)
    }

    /// Whether a header `Host` names this server, by address or as `localhost`: another name may be anyone's.
    fn is_own_host(&self, host: &str) -> bool {
        // Clients leave out the usual port.
        let with_port = host.rsplit_once(':').filter(|(_, port)| !port.ends_with(']'));
        let (name, port) = with_port.unwrap_or((host, "80"));
        let own = self.address.ip();
        let is_own = |ip: IpAddr| {
            if own.is_unspecified() { true } else { ip == own || (ip.is_loopback() && own.is_loopback()) }
        };
        let name = name.trim_start_matches('[').trim_end_matches(']');
        let named = name.eq_ignore_ascii_case("localhost") && (own.is_loopback() || own.is_unspecified());
        port.parse() == Ok(self.address.port()) && (named || name.parse().is_ok_and(is_own))
    }

    /// Why a request is refused, if it is.
    fn refusal(&self, headers: &HeaderMap, uri: &Uri) -> Option<Refused> {
        let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        let host = text(header::HOST).unwrap_or_default();
        // A second name, in another header or in the address itself, may be what somebody between goes by.
        let is_one = headers.get_all(header::HOST).iter().count() == 1 && uri.authority().is_none();
        if !is_one || !self.is_own_host(host) {
            return Some(Refused::Foreign("the header Host is not that of this server."));
        }
        let origin = text(header::ORIGIN);
        if origin.is_some_and(|origin| origin != format!("http://{host}")) {
            return Some(Refused::Foreign("the request comes from another site."));
        }
        // A link to the page may stand anywhere; whoever has it has the token.
        let is_link = text(HeaderName::from_static("sec-fetch-mode")) == Some("navigate")
            && text(HeaderName::from_static("sec-fetch-dest")) == Some("document")
            && uri.path().trim_matches('/').len() <= 2 * TOKEN_BYTES;
        let site = text(HeaderName::from_static("sec-fetch-site"));
        if site.is_some_and(|site| !matches!(site, "same-origin" | "none")) && !is_link {
            return Some(Refused::Foreign("the request comes from another site."));
        }
        let given = uri.path().trim_start_matches('/').split('/').next().unwrap_or_default();
        if !same(given, &self.token) {
            return Some(Refused::OtherStart);
        }
        None
    }
}

/// Whether two texts are the same, in a time that does not tell where they differ.
fn same(given: &str, wanted: &str) -> bool {
    given.len() == wanted.len()
        && given.bytes().zip(wanted.bytes()).fold(0, |different, (a, b)| different | (a ^ b)) == 0
}

/// The answer to a request of another kind than the address takes.
pub(crate) fn wrong_method() -> Response {
    let words = "this address is not asked in this way; see the page's own requests.";
    (StatusCode::METHOD_NOT_ALLOWED, axum::Json(serde_json::json!({"error": words}))).into_response()
}

/// Lets requests pass that may, and marks all answers.
pub(crate) async fn check(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let is_known = matches!(*request.method(), Method::GET | Method::HEAD | Method::POST);
    let mut response = match guard.refusal(request.headers(), request.uri()) {
        Some(refused) => refused.answer(is_for_a_person(request.headers())),
        None if !is_known => wrong_method(),
        None => next.run(request).await,
    };
    for (name, value) in ANSWER_HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(address: &str, headers: &[(HeaderName, &str)], path: &str) -> Option<u16> {
        let guard = Guard { token: "secret".into(), address: address.parse().unwrap() };
        let mut all = HeaderMap::new();
        for (name, value) in headers {
            all.append(name.clone(), HeaderValue::from_str(value).unwrap());
        }
        let refused = guard.refusal(&all, &path.parse().unwrap())?;
        Some(refused.answer(false).status().as_u16())
    }

    #[test]
    fn only_its_own_names_are_hosts() {
        let host = |value| refused("127.0.0.1:80", &[(header::HOST, value)], "/secret/");
        for own in ["127.0.0.1:80", "localhost:80", "LOCALHOST:80", "[::1]:80", "127.0.0.1", "[::1]"] {
            assert_eq!(host(own), None, "{own}");
        }
        for other in ["", "127.0.0.1:81", "evil.example:80", "localhost.evil.example:80", "1.2.3.4:80"] {
            assert_eq!(host(other), Some(403), "{other}");
        }
        let open = |value| refused("0.0.0.0:80", &[(header::HOST, value)], "/secret/");
        assert_eq!((open("192.168.1.7:80"), open("evil.example:80")), (None, Some(403)));
        // One name only, and not in the address.
        let own = (header::HOST, "127.0.0.1:80");
        for other in ["127.0.0.1:80", "evil.example"] {
            assert_eq!(refused("127.0.0.1:80", &[own.clone(), (header::HOST, other)], "/secret/"), Some(403));
            assert_eq!(
                refused("127.0.0.1:80", std::slice::from_ref(&own), &format!("http://{other}/secret/")),
                Some(403)
            );
        }
    }

    #[test]
    fn other_sites_and_wrong_tokens_are_refused() {
        let own = (header::HOST, "127.0.0.1:80");
        let asked = |more: (HeaderName, &str), path| refused("127.0.0.1:80", &[own.clone(), more], path);
        let none = (header::ACCEPT, "*/*");
        assert_eq!(asked((header::ORIGIN, "http://127.0.0.1:80"), "/secret/api/catalogue"), None);
        assert_eq!(asked((header::ORIGIN, "http://evil.example"), "/secret/"), Some(403));
        assert_eq!(asked((header::ORIGIN, "null"), "/secret/"), Some(403));
        assert_eq!(asked((HeaderName::from_static("sec-fetch-site"), "cross-site"), "/secret/"), Some(403));
        for path in ["/", "/secre/", "/secret2/", "/Secret/", "//secret2/"] {
            assert_eq!(asked(none.clone(), path), Some(404), "{path}");
        }
    }

    #[test]
    fn tokens_differ() {
        let address: SocketAddr = "127.0.0.1:80".parse().unwrap();
        let (one, other) = (Guard::new(address).unwrap(), Guard::new(address).unwrap());
        assert_eq!(one.token.len(), 2 * TOKEN_BYTES);
        assert_ne!(one.token, other.token);
    }
}
