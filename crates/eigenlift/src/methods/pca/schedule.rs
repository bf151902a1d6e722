//! From settings to a plan: which route, and whether it fits.

use super::choose;
use super::expected::Passes;
use super::solve::SAMPLE_ROWS;
use super::{Pca, PcaPlan, PcaRoute};
use crate::eigen::Entries;
use crate::eigen::{basis_columns, dense_bytes};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::model::allowance;
use crate::model::check_column_names;
use crate::model::{human_bytes, human_bytes_enough};
use crate::rows::{column_numbers, moments_numbers, triangle_pieces};

/// Up to so many flops the accurate route costs nothing that anyone would notice.
const SMALL_FLOPS: f64 = 3e7;
/// Up to so many columns the covariance is taken without further thought, and at most so many.
const FEW_COLUMNS: usize = 2048;
const MOST_COLUMNS: usize = 16_384;
/// The same for rows that lie elsewhere, where every piece makes a matrix of its own that travels.
const MOST_COLUMNS_ELSEWHERE: usize = 8000;
/// Most rows whose products are stored.
const MOST_ROWS: usize = 8192;
/// The direct routes are taken up to this many times the cost of the iteration: they give the whole spectrum.
const WORTH: f64 = 8.0;
/// Flops that a second look after an iteration may take.
const SECOND_LOOK_FLOPS: f64 = 1e12;
/// Passes of the iteration, where routes are compared.
const PASSES: f64 = 10.0;
/// Bytes of rows read at a time at most, and the least and most rows.
const CHUNK_BYTES: u64 = 64 << 20;
const CHUNK_ROWS: (usize, usize) = (64, 65_536);
/// Steps in which the least memory of rows in chunks is found; each is a fraction of the last.
const ALLOWANCE_STEPS: usize = 64;
/// Share of the memory allowed that rows in hand may take.
const CHUNK_SHARE: u64 = 8;

/// What is asked for.
pub(super) struct Request<'a> {
    pub(super) n_samples: usize,
    pub(super) n_features: usize,
    pub(super) precision: &'static str,
    pub(super) in_memory: bool,
    /// Most rows that come at a time where they are not in memory.
    pub(super) most_rows: usize,
    /// Whether the rows lie in pieces on other machines.
    pub(super) elsewhere: bool,
    pub(super) sparse: bool,
    pub(super) weighted: bool,
    /// Threads that work at once.
    pub(super) threads: usize,
    /// Bytes that may be used.
    pub(super) bytes_allowed: u64,
    /// The way to go and why, when it is not the plan that decides.
    pub(super) route: Option<(PcaRoute, String)>,
    pub(super) settings: &'a Pca,
}

impl Request<'_> {
    /// Components that can come out.
    fn k(&self) -> usize {
        self.settings.wanted(self.n_features).min(self.n_samples.max(1))
    }

    fn chunk_rows(&self) -> usize {
        let bytes = CHUNK_BYTES.min(self.bytes_allowed / CHUNK_SHARE) as usize;
        let rows = (bytes / (8 * self.n_features.max(1))).clamp(CHUNK_ROWS.0, CHUNK_ROWS.1);
        rows.min(self.n_samples.max(1)).min(self.most_rows.max(1))
    }

    /// Rows that are in hand at a time.
    fn rows_at_once(&self) -> u128 {
        (if self.in_memory { self.n_samples } else { self.chunk_rows() }) as u128
    }

    /// Columns of a block of the iteration.
    fn block(&self) -> usize {
        2 * self.k().max(12)
    }

    /// Bytes that a route needs beside the rows: those of its work, of the choice of the number of components or of the model,
    /// whichever is more.
    fn bytes(&self, route: PcaRoute) -> u128 {
        let (n, d, k) = (self.n_samples as u128, self.n_features as u128, self.k() as u128);
        let chunk = if self.in_memory { 0 } else { self.chunk_rows() as u128 * d };
        let model = (1 + self.settings.further_copies as u128) * d * k;
        8 * (chunk + self.work(route, (n, d, k)).max(model).max(self.choice(d * k)))
    }

    /// Numbers that the work along a route takes, its phases one after the other.
    fn work(&self, route: PcaRoute, (n, d, k): (u128, u128, u128)) -> u128 {
        match route {
            PcaRoute::Covariance => {
                let rows = if self.in_memory { self.n_samples } else { self.chunk_rows() };
                let total = if self.in_memory { 0 } else { d * d };
                let sums = total + moments_numbers((rows, self.n_features), (self.threads, self.sparse));
                // The matrix of standardized columns is another.
                let matrices = (1 + u128::from(self.settings.standardize)) * d * d;
                sums.max(matrices + self.leading(Entries::Written, d))
            }
            PcaRoute::Tsqr => {
                // A few pieces at once, each a copy of rows and what its triangle is made in.
                let (height, group) = triangle_pieces(self.n_features);
                let group = group.min(self.threads.max(1));
                let held = 2 * d * self.rows_at_once().min((height * group) as u128);
                (8 + group as u128) * d * d.min(n) + held
            }
            PcaRoute::Dual if Entries::Written.direct(self.n_samples, self.k()).is_some() => {
                (if n <= 512 { 14 } else { 6 }) * n * n + 4 * n * 512 + 2 * d * k
            }
            PcaRoute::Dual => n * n + self.search(n).max(4 * n * 512) + 2 * d * k,
            PcaRoute::Krylov => {
                let pieces = column_numbers((self.rows_at_once() as usize, self.n_features), self.threads);
                pieces.max(self.leading(Entries::Passes, d) + self.rows_at_once() * self.block() as u128)
            }
            // The sketch, twice as high before it is cut, a copy of it, and what its singular vectors need.
            PcaRoute::Directions => {
                let rows = self.settings.sketch_size(self.n_features) as u128;
                d * (12 * rows + 4 + k) + 64 * rows * rows.min(d)
            }
        }
    }

    /// Numbers that the solver takes for the leading eigenpairs of a matrix of d columns, beside it.
    fn leading(&self, entries: Entries, d: u128) -> u128 {
        match entries.direct(self.n_features, self.k()) {
            Some(_) => dense_bytes(self.n_features) / 8,
            None => self.search(d),
        }
    }

    /// Numbers that the rules on the number of components hold, where they choose it, with all axes beside them.
    fn choice(&self, axes: u128) -> u128 {
        if self.settings.n_components.is_some() {
            return 0;
        }
        let rows = if self.in_memory { self.n_samples } else { self.n_samples.min(SAMPLE_ROWS as usize) };
        let gathered = if self.in_memory { 0 } else { rows as u128 * self.n_features as u128 };
        axes + gathered + choose::numbers((rows, self.n_features), self.threads)
    }

    /// Numbers of the search for k eigenpairs of a matrix of m rows.
    fn search(&self, m: u128) -> u128 {
        let basis = basis_columns(m as usize, self.k().min(m as usize)) as u128;
        m * (2 * basis + 4 * self.block() as u128)
    }

    /// Rough flops of the direct routes and of the iteration.
    fn flops(&self, route: PcaRoute) -> f64 {
        let (n, d) = (self.n_samples as f64, self.n_features as f64);
        match route {
            PcaRoute::Covariance => n * d * d + 4.0 * d * d * d,
            PcaRoute::Dual => n * n * d + 4.0 * n * n * n,
            PcaRoute::Tsqr => 2.0 * n * d * n.min(d),
            PcaRoute::Krylov => PASSES * 4.0 * n * d * self.block() as f64,
            PcaRoute::Directions => 12.0 * n * d * self.settings.sketch_size(self.n_features) as f64,
        }
    }

    /// Routes in the order in which they are tried, each with its reason.
    fn routes(&self) -> Vec<(PcaRoute, String)> {
        let (n, d) = (self.n_samples, self.n_features);
        let mut routes = Vec::new();
        let narrow = !self.elsewhere || d <= MOST_COLUMNS_ELSEWHERE;
        if self.flops(PcaRoute::Tsqr) <= SMALL_FLOPS && !self.sparse && narrow {
            let why = "the rows are few enough for the route that keeps faint components exact".to_string();
            routes.push((PcaRoute::Tsqr, why));
        }
        let direct = if n < d && self.in_memory { PcaRoute::Dual } else { PcaRoute::Covariance };
        let side = if direct == PcaRoute::Dual { n } else { d };
        let most = match direct {
            PcaRoute::Dual => MOST_ROWS,
            _ if self.elsewhere => MOST_COLUMNS_ELSEWHERE,
            _ => MOST_COLUMNS,
        };
        let whole = self.settings.n_components.is_none();
        let cheap = side <= FEW_COLUMNS || self.flops(direct) <= WORTH * self.flops(PcaRoute::Krylov);
        let direct_why = match direct {
            PcaRoute::Dual => {
                format!("{n} rows are fewer than {d} columns: the smaller matrix is that of their products")
            }
            _ => format!("{d} columns are few enough for their covariance"),
        };
        if side <= most && (cheap || whole) {
            routes.push((direct, direct_why));
        }
        if !whole {
            let why = format!(
                "{n} rows and {d} columns are many: {} components come from a few passes over the rows",
                self.k()
            );
            routes.push((PcaRoute::Krylov, why));
        }
        routes
    }
}

/// Decides, gives reasons, and refuses what does not fit.
pub(super) fn plan(request: &Request<'_>, engine: &dyn Engine) -> Result<PcaPlan> {
    let settings = request.settings;
    check_column_names(&request.settings.column_names, request.n_features)?;
    let (allowed, why) = allowance(settings.memory_limit, engine);
    let threads = engine.threads();
    let request = &Request { bytes_allowed: allowed, threads, route: request.route.clone(), ..*request };
    let mut reasons = vec![why];
    let fits = |route: PcaRoute| request.bytes(route) <= u128::from(allowed);
    let (route, why) = choose_route(request)?;
    reasons.push(why);
    let needed = request.bytes(route);
    if needed > u128::from(allowed) {
        return Err(too_big(request, route, allowed));
    }
    let again = request.route.is_none()
        && (matches!(route, PcaRoute::Covariance | PcaRoute::Dual)
            || (route == PcaRoute::Krylov && request.flops(PcaRoute::Tsqr) <= SECOND_LOOK_FLOPS))
        && fits(PcaRoute::Tsqr)
        && (!request.elsewhere || request.n_features <= MOST_COLUMNS_ELSEWHERE)
        && !(request.sparse && request.n_features > FEW_COLUMNS);
    let passes = match route {
        PcaRoute::Covariance | PcaRoute::Tsqr | PcaRoute::Directions | PcaRoute::Dual => Passes::exactly(1),
        PcaRoute::Krylov => {
            Passes::of_krylov((request.n_samples, request.n_features), request.k(), settings.tolerance)
        }
    };
    let second_look = again.then(|| request.bytes(PcaRoute::Tsqr));
    let bytes = |bytes: u128| u64::try_from(bytes).unwrap_or(u64::MAX);
    Ok(PcaPlan {
        n_samples: request.n_samples,
        n_features: request.n_features,
        n_components: settings.n_components,
        route,
        standardized: settings.standardize,
        weighted: request.weighted,
        sparse: request.sparse,
        precision: request.precision.into(),
        chunk_rows: if request.in_memory { 0 } else { request.chunk_rows() },
        second_look_bytes: second_look.map(bytes),
        planned_route: None,
        expected_passes: passes.expected,
        likely_passes: passes.likely,
        most_passes: passes.most.or(again.then_some(passes.expected)).map(|most| most + usize::from(again)),
        sketch_rows: (route == PcaRoute::Directions).then(|| settings.sketch_size(request.n_features)),
        tolerance: settings.tolerance,
        seed: settings.seed,
        engine: engine.name(),
        threads: engine.threads(),
        bytes_needed: bytes(needed),
        most_bytes: second_look.filter(|most| *most > needed).map(bytes),
        bytes_allowed: allowed,
        reasons,
    })
}

/// The route that was asked for, or the first that fits, or the one that needs least; and why.
fn choose_route(request: &Request<'_>) -> Result<(PcaRoute, String)> {
    if let Some((route, why)) = &request.route {
        check_route(request, *route)?;
        return Ok((*route, why.clone()));
    }
    let routes = request.routes();
    let found = routes.iter().find(|(route, _)| request.bytes(*route) <= u128::from(request.bytes_allowed));
    let least = routes.iter().min_by_key(|(route, _)| request.bytes(*route));
    found.or(least).cloned().ok_or_else(|| too_wide(request))
}

/// The least memory with which a route fits; rows that are read in chunks grow with what is allowed, up to a limit.
fn least_allowance(request: &Request<'_>, route: PcaRoute) -> u128 {
    let needed = |allowed: u64| {
        Request { bytes_allowed: allowed, route: request.route.clone(), ..*request }.bytes(route)
    };
    let mut least = needed(request.bytes_allowed);
    for _ in 0..ALLOWANCE_STEPS {
        let further = needed(u64::try_from(least).unwrap_or(u64::MAX));
        if further <= least {
            break;
        }
        least = further;
    }
    least
}

fn too_big(request: &Request<'_>, route: PcaRoute, allowed: u64) -> Error {
    let (needed, allowed) = (least_allowance(request, route), u128::from(allowed));
    Error::memory(
        format!(
            "the {route} route of {} × {} needs {} beside the rows",
            request.n_samples,
            request.n_features,
            human_bytes(needed)
        ),
        format!("{} are allowed for that", human_bytes(allowed)),
        format!(
            "Allow {} more, or use {}",
            human_bytes_enough(needed.saturating_sub(allowed)),
            if route == PcaRoute::Dual { "fewer rows or another route" } else { "fewer columns" }
        ),
    )
}

/// Refuses routes that cannot be had for these rows.
fn check_route(request: &Request<'_>, route: PcaRoute) -> Result<()> {
    if route == PcaRoute::Dual && !request.in_memory {
        return Err(Error::setting(
            "the dual route for rows that are read in pieces",
            "products of all pairs of rows need them in memory",
            "Leave the route to the plan, or allow more memory",
        ));
    }
    let few = matches!(route, PcaRoute::Krylov | PcaRoute::Directions);
    if few && request.settings.n_components.is_none() {
        return Err(Error::setting(
            format!("the {route} route with a number of components that rules choose"),
            "the rules need all eigenvalues, which it does not give",
            "Give a number of components, or leave the route to the plan",
        ));
    }
    let (rows, k) = (request.settings.sketch_size(request.n_features), request.k());
    if route == PcaRoute::Directions && rows <= k {
        return Err(Error::setting(
            format!("a sketch of {rows} rows for {k} components"),
            format!("it needs at least {}", k + 1),
            format!("Use {}, or leave the number of sketch rows out", 4 * k),
        ));
    }
    Ok(())
}

/// The way of rows that are brought in pieces and cannot be read again: exact where the covariance fits, else by a sketch.
pub(super) fn stream_route(request: &Request<'_>, engine: &dyn Engine) -> (PcaRoute, String) {
    if let Some(route) = request.settings.route {
        return (route, asked_for(route));
    }
    let (d, needed) = (request.n_features, request.bytes(PcaRoute::Covariance));
    let allowed = u128::from(allowance(request.settings.memory_limit, engine).0);
    if needed <= allowed {
        return (PcaRoute::Covariance, format!("{d} columns are few enough for their covariance"));
    }
    let why = format!(
        "the covariance of {d} columns needs {} and {} are allowed: a sketch stands for it, with a bound",
        human_bytes(needed),
        human_bytes(allowed)
    );
    (PcaRoute::Directions, why)
}

/// The reason for a route that was set.
pub(super) fn asked_for(route: PcaRoute) -> String {
    format!("the {route} route was asked for")
}

fn too_wide(request: &Request<'_>) -> Error {
    Error::setting(
        format!("a number of components chosen by rules for {} × {}", request.n_samples, request.n_features),
        format!(
            "the rules need all eigenvalues: at most {} columns or {MOST_ROWS} rows in memory",
            if request.elsewhere { MOST_COLUMNS_ELSEWHERE } else { MOST_COLUMNS }
        ),
        "Give a number of components",
    )
}
