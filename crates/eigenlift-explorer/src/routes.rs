//! What each address answers.

use crate::jobs::{Job, Jobs};
use crate::{Download, FitRequest, Opening, Problem, Workbench, assets, body, guard};
use axum::Json;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// How long a request for a fit waits for a quick one.
const QUICK: Duration = Duration::from_millis(150);
/// The longest that a question about a fit waits.
const MOST_PATIENCE: u64 = 10_000;

/// What all requests share.
pub(crate) struct Desk<W: Workbench> {
    workbench: Arc<W>,
    jobs: Jobs<W::Fit>,
    most_upload: usize,
}

type Shared<W> = State<Arc<Desk<W>>>;
type Answer = Result<Response, Refusal>;

/// A problem as an answer.
struct Refusal(Problem);

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, Json(serde_json::json!({"error": self.0.to_string()}))).into_response()
    }
}

/// All addresses below the token.
pub(crate) fn router<W: Workbench>(workbench: Arc<W>, most_upload: usize) -> Router {
    let desk = Arc::new(Desk { workbench, jobs: Jobs::default(), most_upload });
    Router::new()
        .route("/{token}/", get(|| async { file("") }))
        .route("/{token}/{file}", get(|Path((_, name)): Path<(String, String)>| async move { file(&name) }))
        .route("/{token}/api/catalogue", get(catalogue::<W>))
        .route("/{token}/api/data", post(open::<W>))
        .route("/{token}/api/upload", post(upload::<W>))
        .route("/{token}/api/fit", post(fit::<W>))
        .route("/{token}/api/job/{job}", get(job::<W>))
        .route("/{token}/api/cancel/{job}", post(cancel::<W>))
        .route("/{token}/api/leave/{workspace}", post(leave::<W>))
        .route("/{token}/api/row/{data}/{row}", get(row::<W>))
        .route("/{token}/api/column/{data}/{column}", get(column::<W>))
        .route("/{token}/api/figure/{job}/{name}", get(figure::<W>))
        .route("/{token}/api/preimage", post(preimage::<W>))
        .route("/{token}/api/download/{job}/{file}", get(download::<W>))
        .fallback(|| async { Refusal(nothing_here()) })
        .method_not_allowed_fallback(|| async { guard::wrong_method() })
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(most_upload, receive))
        .with_state(desk)
}

/// Takes the body of a request before it is answered.
async fn receive(State(most): State<usize>, request: Request, next: Next) -> Response {
    let (parts, body) = request.into_parts();
    match body::received(body, most).await {
        Ok(bytes) => next.run(Request::from_parts(parts, Body::from(bytes))).await,
        Err(problem) => Refusal(problem).into_response(),
    }
}

fn nothing_here() -> Problem {
    Problem::Missing("nothing is at this address.".into())
}

fn file(name: &str) -> Answer {
    let (kind, content) = assets::find(name).ok_or_else(nothing_here)?;
    Ok(([(header::CONTENT_TYPE, kind)], content).into_response())
}

/// A number in an address.
fn whole<T: std::str::FromStr>(text: &str) -> Result<T, Problem> {
    text.parse().map_err(|_| Problem::Missing(format!("{text:?} is not a number that the page gave.")))
}

/// Runs work that may take long where it does not hold up other requests.
async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Refusal> {
    let ended = tokio::task::spawn_blocking(work).await;
    let internal = |_| Problem::Machine("the request ended in an internal error; please report it.".into());
    Ok(ended.map_err(internal)??)
}

async fn catalogue<W: Workbench>(State(desk): Shared<W>) -> Answer {
    let mut found = apart({
        let desk = Arc::clone(&desk);
        move || desk.workbench.catalogue()
    })
    .await?;
    if let Value::Object(map) = &mut found {
        map.insert("most_upload_bytes".into(), desk.most_upload.into());
    }
    Ok(Json(found).into_response())
}

/// The JSON of a request, or words about what is wrong with it.
fn given<T>(body: Result<Json<T>, JsonRejection>) -> Result<T, Problem> {
    body.map(|Json(value)| value).map_err(|error| Problem::Request(error.body_text()))
}

async fn open<W: Workbench>(State(desk): Shared<W>, body: Result<Json<Opening>, JsonRejection>) -> Answer {
    let opening = given(body)?;
    let answer = apart(move || desk.workbench.open(&opening)).await?;
    Ok(Json(answer).into_response())
}

#[derive(Deserialize)]
struct Upload {
    name: String,
    target: Option<String>,
    columns: Option<String>,
    missing: Option<String>,
}

async fn upload<W: Workbench>(
    State(desk): Shared<W>,
    about: Result<Query<Upload>, QueryRejection>,
    bytes: Bytes,
) -> Answer {
    let Query(about) = about.map_err(|error| Problem::Request(error.body_text()))?;
    let Upload { name, target, columns, missing } = about;
    let opening = Opening { target, columns, missing, ..Opening::default() };
    let answer = apart(move || desk.workbench.upload(&name, bytes.into(), &opening)).await?;
    Ok(Json(answer).into_response())
}

async fn fit<W: Workbench>(State(desk): Shared<W>, body: Result<Json<FitRequest>, JsonRejection>) -> Answer {
    let request = given(body)?;
    let job = desk.jobs.start(Arc::clone(&desk.workbench), request)?;
    stand(job, QUICK).await
}

#[derive(Deserialize)]
struct Patience {
    #[serde(default)]
    wait: u64,
}

/// How a fit stands.
async fn stand<F: Send + Sync + 'static>(job: Arc<Job<F>>, patience: Duration) -> Answer {
    let stands = apart(move || Ok(job.wait(patience))).await?;
    Ok(Json(stands).into_response())
}

async fn job<W: Workbench>(
    State(desk): Shared<W>,
    Path((_, number)): Path<(String, String)>,
    patience: Result<Query<Patience>, QueryRejection>,
) -> Answer {
    let Query(Patience { wait }) = patience.map_err(|error| Problem::Request(error.body_text()))?;
    stand(desk.jobs.get(whole(&number)?)?, Duration::from_millis(wait.min(MOST_PATIENCE))).await
}

async fn cancel<W: Workbench>(State(desk): Shared<W>, Path((_, number)): Path<(String, String)>) -> Answer {
    let job = desk.jobs.get(whole(&number)?)?;
    job.cancel();
    stand(job, Duration::ZERO).await
}

/// A page was closed.
async fn leave<W: Workbench>(State(desk): Shared<W>, Path((_, workspace)): Path<(String, String)>) -> Answer {
    desk.jobs.leave(&workspace);
    Ok(Json(serde_json::json!({})).into_response())
}

async fn row<W: Workbench>(
    State(desk): Shared<W>,
    Path((_, data, row)): Path<(String, String, String)>,
) -> Answer {
    let (data, row) = (whole(&data)?, whole(&row)?);
    Ok(Json(apart(move || desk.workbench.row(data, row)).await?).into_response())
}

async fn column<W: Workbench>(
    State(desk): Shared<W>,
    Path((_, data, column)): Path<(String, String, String)>,
) -> Answer {
    let (data, column) = (whole(&data)?, whole(&column)?);
    Ok(Json(apart(move || desk.workbench.column(data, column)).await?).into_response())
}

async fn figure<W: Workbench>(
    State(desk): Shared<W>,
    Path((_, job, name)): Path<(String, String, String)>,
) -> Answer {
    let fit = desk.jobs.get(whole(&job)?)?.fit()?;
    Ok(Json(apart(move || desk.workbench.figure(&fit, &name)).await?).into_response())
}

#[derive(Deserialize)]
struct Place {
    job: u64,
    scores: Vec<f64>,
}

async fn preimage<W: Workbench>(State(desk): Shared<W>, body: Result<Json<Place>, JsonRejection>) -> Answer {
    let Place { job, scores } = given(body)?;
    let fit = desk.jobs.get(job)?.fit()?;
    Ok(Json(apart(move || desk.workbench.preimage(&fit, &scores)).await?).into_response())
}

#[derive(Deserialize)]
struct Look {
    image: Option<String>,
}

/// `HxW`.
fn image_size(text: &str) -> Result<[usize; 2], Problem> {
    let sizes = text.split_once('x').and_then(|(h, w)| Some([h.parse().ok()?, w.parse().ok()?]));
    sizes.ok_or_else(|| Problem::Request(format!("image {text:?}; a size such as 8x8 is required.")))
}

async fn download<W: Workbench>(
    State(desk): Shared<W>,
    Path((_, job, file)): Path<(String, String, String)>,
    about: Result<Query<Look>, QueryRejection>,
) -> Answer {
    let Query(Look { image }) = about.map_err(|error| Problem::Request(error.body_text()))?;
    let image = image.as_deref().map(image_size).transpose()?;
    let known = Download::ALL.iter().find(|(name, _, _)| *name == file);
    let (name, kind, what) = known.ok_or_else(nothing_here)?;
    let fit = desk.jobs.get(whole(&job)?)?.fit()?;
    let bytes = apart(move || desk.workbench.download(&fit, *what, image)).await?;
    let attachment = format!("attachment; filename=\"{name}\"");
    let headers = [(header::CONTENT_TYPE, (*kind).to_owned()), (header::CONTENT_DISPOSITION, attachment)];
    Ok((headers, bytes).into_response())
}
