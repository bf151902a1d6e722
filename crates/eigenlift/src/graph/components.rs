//! Which vertices can be reached from each other.

use super::symmetric::Graph;

/// The connected components of a graph, numbered in the order of their first vertices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Components {
    labels: Vec<u32>,
    sizes: Vec<usize>,
}

impl Components {
    /// Finds them. Cost: O(vertices + edges).
    pub(crate) fn of(graph: &Graph) -> Self {
        let n = graph.n_vertices();
        let (mut labels, mut sizes, mut stack) = (vec![u32::MAX; n], Vec::new(), Vec::new());
        for start in 0..n {
            if labels[start] != u32::MAX {
                continue;
            }
            let label = sizes.len() as u32;
            let mut size = 0;
            labels[start] = label;
            stack.push(start);
            while let Some(vertex) = stack.pop() {
                size += 1;
                for next in graph.row(vertex).0 {
                    if labels[*next as usize] == u32::MAX {
                        labels[*next as usize] = label;
                        stack.push(*next as usize);
                    }
                }
            }
            sizes.push(size);
        }
        Self { labels, sizes }
    }

    /// The component of each vertex, from 0.
    pub(crate) fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// How many vertices each has.
    pub(crate) fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.sizes.len()
    }

    /// The largest; the first of several. 0 when there are none.
    pub(crate) fn largest(&self) -> usize {
        let largest = self.sizes.iter().copied().max().unwrap_or(0);
        self.sizes.iter().position(|size| *size == largest).unwrap_or(0)
    }

    /// Vertices of one component, ascending.
    pub(crate) fn members(&self, component: usize) -> Vec<usize> {
        (0..self.labels.len()).filter(|i| self.labels[*i] as usize == component).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Edge;

    #[test]
    fn components_are_numbered_by_first_vertex() {
        let edges = [(1, 3), (3, 4), (0, 2)].map(|(from, to)| Edge { from, to, length: 1.0 });
        let components = Components::of(&Graph::from_edges(6, &edges).unwrap());
        assert_eq!(components.labels(), [0, 1, 0, 1, 1, 2]);
        assert_eq!((components.sizes(), components.largest()), ([2, 3, 1].as_slice(), 1));
        assert_eq!(components.members(1), [1, 3, 4]);
    }
}
