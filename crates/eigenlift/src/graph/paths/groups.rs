//! Which sources are relaxed together.

use super::dijkstra::Dijkstra;
use super::links::Links;
use crate::graph::Graph;

/// Near-by sources.
pub(super) struct Group {
    /// Vertices that the search started from; one, unless parts of the graph are not connected.
    pub(super) leaders: Vec<u32>,
    /// The sources, as they are numbered in their list.
    pub(super) members: Vec<u32>,
}

/// Groups of sources, on a copy of the graph whose vertices are renamed.
pub(super) struct Groups {
    /// New names of the vertices: by distance from the first source.
    pub(super) names: Vec<u32>,
    /// The graph under the new names, as far as sources reach.
    pub(super) links: Links,
    /// Leaders are given by their new names.
    pub(super) groups: Vec<Group>,
}

impl Groups {
    /// Gathers the sources in groups of `size`: the first that is left, then those nearest to it among those that are left.
    ///
    /// The first ones are taken in the order of the new names, so that groups sweep over the graph and leave no
    /// scattered rest. A group goes on in another part of the graph when its own is exhausted.
    ///
    /// Cost: one search over the graph, and one that ends early for each group.
    pub(super) fn new(graph: &Graph, sources: &[usize], size: usize) -> Self {
        let n = graph.n_vertices();
        let mut search = Dijkstra::new(n);
        for source in sources {
            search.add(*source);
            search.finish(graph);
        }
        let mut names = vec![u32::MAX; n];
        search.order.iter().enumerate().for_each(|(name, v)| names[*v as usize] = name as u32);
        let unreached = names.iter_mut().filter(|name| **name == u32::MAX);
        unreached.zip(search.order.len() as u32..).for_each(|(name, next)| *name = next);
        let links = Links::renamed(graph, &search.order, &names);
        search.clear();
        let mut members: Vec<u32> = (0..sources.len() as u32).collect();
        let name = |member: u32| names[sources[member as usize]];
        members.sort_by_key(|member| name(*member));
        let mut waiting: Vec<&[u32]> = vec![&[]; links.n_rows()];
        for same in members.chunk_by(|a, b| name(*a) == name(*b)) {
            waiting[name(same[0]) as usize] = same;
        }
        let groups = gather(&links, &mut waiting, search, size);
        Self { names, links, groups }
    }
}

/// `waiting` has the sources at each vertex that are in no group yet.
fn gather(links: &Links, waiting: &mut [&[u32]], mut search: Dijkstra, size: usize) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut current = Group { leaders: Vec::new(), members: Vec::new() };
    for leader in 0..waiting.len() {
        if waiting[leader].is_empty() {
            continue;
        }
        current.leaders.push(leader as u32);
        search.add(leader);
        while current.members.len() < size
            && let Some(v) = search.next(links, |_, _| true)
        {
            current.members.extend_from_slice(std::mem::take(&mut waiting[v]));
        }
        if current.members.len() >= size {
            groups.push(std::mem::replace(&mut current, Group { leaders: Vec::new(), members: Vec::new() }));
            search.clear();
        }
    }
    if !current.members.is_empty() {
        groups.push(current);
    }
    groups
}
