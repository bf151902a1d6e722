//! The server of `eigenlift explore`, asked without a browser.

use crate::support::Folder;
use eigenlift::kernel::CATALOG;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

/// A page that is served.
struct Page {
    child: Child,
    /// `127.0.0.1:PORT`
    host: String,
    /// `/TOKEN/`
    base: String,
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&self.body)))
    }
}

impl Page {
    fn open(folder: &Folder, args: &[&str]) -> Self {
        let mut child = folder
            .command(&[&["explore", "--no-open"], args].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let mut url = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut url).expect("an address");
        let rest = url.trim().strip_prefix("http://").expect("an address");
        let (host, base) = rest.split_once('/').expect("a token");
        Self { child, host: host.into(), base: format!("/{base}") }
    }

    /// A request with any head; the connection is closed after it.
    fn raw(&self, head: &str, body: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(&self.host).expect("a server");
        let length = body.len();
        write!(stream, "{head}Content-Length: {length}\r\nConnection: close\r\n\r\n").expect("sent");
        let _ = stream.write_all(body);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let at = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8_lossy(&bytes[..at]).to_ascii_lowercase();
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a status");
        Answer { status, head, body: bytes[at + 4..].to_vec() }
    }

    fn get(&self, path: &str) -> Answer {
        self.raw(&format!("GET {}{path} HTTP/1.1\r\nHost: {}\r\n", self.base, self.host), b"")
    }

    fn post(&self, path: &str, body: &Value) -> Answer {
        let head = format!(
            "POST {}{path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n",
            self.base, self.host
        );
        self.raw(&head, body.to_string().as_bytes())
    }

    fn data(&self, request: &Value) -> Value {
        let answer = self.post("api/data", request);
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.body));
        answer.json()
    }

    /// A fit, waited for.
    fn fit(&self, data: &Value, args: &[&str]) -> Value {
        let mut job = self
            .post("api/fit", &json!({"workspace": "test", "pane": "a", "data": data["id"], "args": args}))
            .json();
        while job["state"] == "running" {
            job = self.get(&format!("api/job/{}?wait=2000", job["job"])).json();
        }
        job
    }
}

#[test]
fn the_worked_example_is_told_step_by_step() {
    let folder = Folder::new();
    let page = Page::open(&folder, &["worked-example"]);
    let data = page.data(&json!({"builtin": "worked-example"}));
    let done = page.fit(&data, &["kpca", "--kernel", "polynomial(degree=2)", "-k", "3"]);
    assert_eq!(done["state"], "done", "{done}");
    let steps = done["result"]["steps"].as_array().unwrap();
    let titles: Vec<&str> = steps.iter().map(|step| step["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["X", "K", "K̃", "eigenvalues", "β", "α", "scores"]);
    assert_eq!(steps[1]["rows"][1], json!([49.0, 441.0, 9.0, 169.0]));
    assert_eq!(steps[2]["rows"][0], json!([67.0, -43.0, 59.0, -83.0]));
    for (i, wanted) in [277.927517, 252.0, 2.07248280].iter().enumerate() {
        assert!((steps[3]["rows"][i][0].as_f64().unwrap() - wanted).abs() < 5e-7);
    }
    for (i, wanted) in [1.72801191, 11.66094908, -1.72801191, -11.66094908].iter().enumerate() {
        assert!((steps[6]["rows"][i][0].as_f64().unwrap() - wanted).abs() < 5e-9);
    }
}

#[test]
fn the_page_has_the_kernels_of_the_catalog() {
    let folder = Folder::prepared();
    let page = Page::open(&folder, &["iris.csv", "--target", "species"]);
    let catalogue = page.get("api/catalogue").json();
    let entries = catalogue["kernels"].as_array().unwrap();
    let names: Vec<&str> = entries.iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    assert_eq!(names, CATALOG.map(|entry| entry.name));
    assert_eq!(entries[2]["params"][0]["default"], "median");
    let data = page.data(&json!({"file": "iris.csv", "target": "species"}));
    let done = page.fit(&data, &["kpca", "--kernel", "tanimoto", "-k", "2"]);
    assert!(done["result"].is_object(), "{done}");
}

#[test]
fn what_is_downloaded_is_what_the_command_gives() {
    let folder = Folder::prepared();
    let before = folder.names();
    let page = Page::open(&folder, &["iris.csv", "--target", "species"]);
    assert_eq!(page.get("api/catalogue").json()["start"]["file"], "iris.csv");
    let data = page.data(&json!({"file": "iris.csv", "target": "species"}));
    let done = page.fit(&data, &["kpca", "--kernel", "rbf(gamma=0.3)", "-k", "2"]);
    let (job, result) = (&done["job"], &done["result"]);
    let download = |name: &str| page.get(&format!("api/download/{job}/{name}"));
    assert!(download("scores.csv").head.contains("attachment; filename=\"scores.csv\""));
    let scores = download("scores.csv").body;
    assert!(String::from_utf8_lossy(&download("report.html").body).contains("rbf(gamma=0.3)"));
    let model = download("model.safetensors").body;
    assert_eq!(folder.names(), before, "the page writes nothing");
    folder.shell(result["command"].as_str().unwrap()).ok();
    assert_eq!(folder.read("scores.csv").as_bytes(), scores);
    folder.write("model.safetensors", model);
    folder.say("transform model.safetensors iris.csv --target species --out again.csv").ok();
    crate::support::assert_close(&folder.numbers("again.csv"), &folder.numbers("scores.csv"), 1e-9);
    // The row of a point, and the row that has its scores.
    let row = page.get(&format!("api/row/{}/0", data["id"])).json();
    assert_eq!(
        (&row["row"], &row["values"], &row["text"]),
        (&json!(1), &json!([5.1, 3.5, 1.4, 0.2]), &json!([["species", "setosa"]]))
    );
    let place = folder.numbers("scores.csv")[0].clone();
    let back = page.post("api/preimage", &json!({"job": job, "scores": place})).json();
    let near = crate::support::list(&back["row"]);
    assert!(near.iter().zip([5.1, 3.5, 1.4, 0.2]).all(|(a, b)| (a - b).abs() < 0.6), "{near:?}");
    assert_eq!(page.post("api/preimage", &json!({"job": job, "scores": [1.0]})).status, 400);
}

#[test]
fn every_method_is_on_the_page() {
    let folder = Folder::new();
    let page = Page::open(&folder, &[]);
    let data = page.data(&json!({"builtin": "iris"}));
    for method in ["kpca", "pca", "whiten", "isomap", "mds", "laplacian", "diffusion", "lle"] {
        let done = page.fit(&data, &[method]);
        assert_eq!(done["state"], "done", "{method}: {done}");
        for figure in done["result"]["figures"].as_array().unwrap() {
            let address = format!("api/figure/{}/{}", done["job"], figure["name"].as_str().unwrap());
            let drawn = page.get(&address).json();
            assert!(drawn["svg"].as_str().unwrap().starts_with("<svg"), "{method} {figure}");
        }
    }
    let moons = page.data(&json!({"builtin": "moons"}));
    let done = page.fit(&moons, &["kpca", "--kernel", "rbf(gamma=5)"]);
    let names: Vec<&str> =
        done["result"]["figures"].as_array().unwrap().iter().filter_map(|f| f["name"].as_str()).collect();
    assert_eq!(names, ["scree", "contours", "linear", "curves", "gram"]);
    for name in names {
        let drawn = page.get(&format!("api/figure/{}/{name}", done["job"])).json();
        assert!(drawn["svg"].as_str().unwrap().starts_with("<svg"), "{name}");
    }
    assert_eq!(page.get(&format!("api/figure/{}/graph", done["job"])).status, 404);
    assert_eq!(page.get(&format!("api/column/{}/0", moons["id"])).json()["name"], "x1");
    assert_eq!(page.get(&format!("api/column/{}/2", moons["id"])).status, 404);
}

#[test]
fn long_fits_tell_their_progress_and_can_be_cancelled() {
    let folder = Folder::new();
    folder.say("data swiss-roll --rows 20000 --out roll.npy").ok();
    let page = Page::open(&folder, &[]);
    let data = page.data(&json!({"file": "roll.npy"}));
    let request = json!({"workspace": "test", "pane": "a", "data": data["id"], "args": ["kpca", "--rank", "exact", "-k", "40"]});
    let first = page.post("api/fit", &request).json();
    assert_eq!(first["state"], "running");
    let other = page
        .post("api/fit", &json!({"workspace": "test", "pane": "b", "data": data["id"], "args": ["pca"]}))
        .json();
    page.post(&format!("api/cancel/{}", first["job"]), &json!({}));
    let ended = page.get(&format!("api/job/{}?wait=10000", first["job"])).json();
    assert_eq!(ended["state"], "cancelled", "{ended}");
    // The other pane was left alone; a newer fit of the same pane ends the older.
    let other = page.get(&format!("api/job/{}?wait=10000", other["job"])).json();
    assert_eq!(other["state"], "done");
    let older = page.post("api/fit", &request).json();
    page.fit(&data, &["pca"]);
    let ended = page.get(&format!("api/job/{}?wait=10000", older["job"])).json();
    assert_eq!(ended["state"], "cancelled", "{ended}");
}

#[test]
fn bad_requests_are_answered_in_words() {
    let folder = Folder::prepared();
    folder.write("bad.csv", "a,b\n1,2\n3,x\n");
    let page = Page::open(&folder, &[]);
    let refused = |answer: Answer, status: u16, words: &str| {
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert_eq!(answer.status, status, "{text}");
        assert!(answer.json()["error"].as_str().unwrap().contains(words), "{text}");
    };
    refused(page.post("api/data", &json!({"file": "bad.csv"})), 400, "row 2");
    refused(page.post("api/data", &json!({"builtin": "nothing"})), 400, "nothing");
    refused(page.post("api/data", &json!({})), 400, "must be named");
    refused(page.post("api/data", &json!({"wrong": 1})), 400, "wrong");
    refused(page.get("api/row/1/99999"), 404, "no row");
    refused(page.get("api/row/77/1"), 404, "not open");
    refused(page.get("api/job/77"), 404, "77");
    refused(page.get("api/nothing"), 404, "nothing");
    let iris = page.data(&json!({"builtin": "iris"}));
    for (args, words) in [
        (vec!["kpca", "--kernel", "rbf(gamma=-1)"], "gamma"),
        (vec!["kpca", "-k", "0"], "at least 1"),
        (vec!["nothing"], "nothing"),
        (vec![], "method"),
        (vec!["kpca", "--help"], "--help"),
    ] {
        let failed = page.fit(&iris, &args);
        assert_eq!(failed["state"], "failed", "{args:?}");
        assert!(failed["error"].as_str().unwrap().contains(words), "{args:?}: {failed}");
    }
    let upload = |name: &str, bytes: &[u8]| {
        let head = format!("POST {}api/upload?name={name} HTTP/1.1\r\nHost: {}\r\n", page.base, page.host);
        page.raw(&head, bytes)
    };
    refused(upload("u.csv", b"a,b\n1,2\n3\n"), 400, "line 3");
    refused(upload("u.csv", b""), 400, "empty");
    assert_eq!(upload("u.csv", b"a,b\n1,2\n3,5\n").json()["rows"], 2);
}

#[test]
fn only_the_folder_and_only_this_page() {
    let outside = Folder::prepared();
    let folder = Folder::new();
    folder.write("in.csv", "a,b\n1,2\n3,4\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink(outside.path("iris.csv"), folder.path("link.csv")).unwrap();
    let page = Page::open(&folder, &["--most-upload", "1000"]);
    let secret = outside.path("iris.csv").display().to_string();
    for name in ["../in.csv", "./in.csv", "link.csv", "", "..", &secret, "sub/../in.csv", "in.csv/"] {
        let answer = page.post("api/data", &json!({"file": name}));
        assert_eq!(answer.status, 400, "{name}");
    }
    assert_eq!(page.data(&json!({"file": "in.csv"}))["rows"], 2);
    // Words that name files, also ones that are there.
    let model = outside.path("iris.safetensors").display().to_string();
    let data = page.data(&json!({"file": "in.csv"}));
    for args in [
        ["kpca", "--out", "x.csv"],
        ["kpca", "--model", "x.safetensors"],
        ["kpca", "--landmarks", &secret],
        ["kpca", "--plot", "x.svg"],
        ["kpca", "--report", "x.html"],
        ["pca", "--loadings", "x.csv"],
        ["kpca", "--like", &model],
    ] {
        let failed = page.fit(&data, &args);
        assert!(failed["error"].as_str().unwrap_or_default().contains("flags that name files"), "{failed}");
    }
    assert_eq!(folder.names().iter().filter(|name| name.starts_with('x')).count(), 0);
    let head = |line: &str, host: &str, more: &str| format!("{line} HTTP/1.1\r\nHost: {host}\r\n{more}");
    let (base, host) = (&page.base, &page.host);
    let status = |head: String| page.raw(&head, b"").status;
    assert_eq!(status(head(&format!("GET {base}"), host, "")), 200);
    assert_eq!(status(head("GET /", host, "")), 404);
    assert_eq!(status(head("GET /0123456789abcdef0123456789abcdef/", host, "")), 404);
    assert_eq!(status(head(&format!("GET {base}"), "evil.example", "")), 403);
    assert_eq!(status(head(&format!("GET {base}"), host, "Origin: http://evil.example\r\n")), 403);
    assert_eq!(status(head(&format!("GET {base}"), host, "Sec-Fetch-Site: cross-site\r\n")), 403);
    assert_eq!(status(head(&format!("OPTIONS {base}api/fit"), host, "")), 405);
    let answer = page.get("");
    assert!(answer.head.contains("content-security-policy: default-src 'none'"), "{}", answer.head);
    assert!(!answer.head.contains("access-control"));
    let too_large = format!("POST {base}api/upload?name=a.csv HTTP/1.1\r\nHost: {host}\r\n");
    assert_eq!(page.raw(&too_large, &[b'1'; 2000]).status, 413);
}

#[test]
fn names_that_look_like_flags_and_matrices_of_kernels_are_tables_too() {
    let folder = Folder::new();
    folder.write("-dash.csv", "--model=x,b,c\n1,2,1\n3,5,1\n4,1,2\n2,2,2\n");
    folder.write("gaps.csv", "a,b\n1,2\n,4\n3,5\n7,1\n");
    folder.write("gram.csv", "a,b,c\n2,1,0\n1,2,1\n0,1,2\n");
    let page = Page::open(&folder, &["gaps.csv", "--missing", "drop"]);
    assert_eq!(page.get("api/catalogue").json()["start"]["missing"], "drop");
    let dash = page.data(&json!({"file": "-dash.csv", "target": "--model=x"}));
    let done = page.fit(&dash, &["pca"]);
    assert_eq!(done["state"], "done", "{done}");
    folder.shell(done["result"]["command"].as_str().unwrap()).ok();
    let downloaded = page.get(&format!("api/download/{}/scores.csv", done["job"])).body;
    assert_eq!(folder.read("scores.csv").as_bytes(), downloaded);
    let gaps = page.data(&json!({"file": "gaps.csv", "missing": "drop"}));
    assert_eq!(gaps["rows"], 3);
    // A matrix has no rows to go back to and none to draw.
    let gram = page.data(&json!({"file": "gram.csv"}));
    let done = page.fit(&gram, &["kpca", "--kernel", "precomputed"]);
    assert_eq!(done["result"]["can_invert"], false, "{done}");
    let names: Vec<&str> =
        done["result"]["figures"].as_array().unwrap().iter().filter_map(|f| f["name"].as_str()).collect();
    assert_eq!(names, ["scree"]);
}

#[test]
fn a_report_shows_images_where_rows_are() {
    let folder = Folder::prepared();
    let page = Page::open(&folder, &[]);
    let iris = page.data(&json!({"file": "iris.csv", "target": "species"}));
    let done = page.fit(&iris, &["pca"]);
    let report = |query: &str| {
        let answer = page.get(&format!("api/download/{}/report.html{query}", done["job"]));
        (answer.status, String::from_utf8_lossy(&answer.body).into_owned())
    };
    assert!(report("?image=2x2").1.contains("--image 2x2"));
    assert!(!report("?image=3x3").1.contains("--image"), "nine pixels are not four columns");
    assert_eq!(report("?image=some").0, 400);
}

#[test]
fn a_beginning_that_cannot_be_is_refused() {
    let folder = Folder::prepared();
    for (args, code, words) in [
        (vec!["explore", "nothing.csv"], 3, "nothing.csv"),
        (vec!["explore", "iris.csv", "--target", "nothing"], 3, "nothing"),
        (vec!["explore", "--target", "species"], 2, "DATA"),
        (vec!["explore", "--folder", "nowhere"], 3, "nowhere"),
        (vec!["explore", "--host", "192.0.2.1"], 2, "192.0.2.1"),
    ] {
        let run = folder.run(&args);
        assert_eq!(run.code, code, "{args:?}: {}", run.err);
        assert!(run.err.contains(words), "{args:?}: {}", run.err);
    }
}
