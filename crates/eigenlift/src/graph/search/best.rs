//! The nearest of what is offered.

use super::Reach;

/// Up to this many neighbours a list is kept sorted; longer ones are gathered and cut now and then.
const SHORT: usize = 128;

/// A sample and its distance.
pub(super) type Found = (f64, u32);

/// The neighbours of one row among the samples offered so far.
pub(super) struct Best {
    list: Vec<Found>,
    most: usize,
    limit: f64,
}

/// Nearest first, equal distances in the order of the samples.
fn order(a: &Found, b: &Found) -> std::cmp::Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

impl Best {
    pub(super) fn new(reach: Reach) -> Self {
        match reach {
            Reach::Nearest(k) => Self { list: Vec::new(), most: k, limit: f64::INFINITY },
            Reach::Within(radius) => Self { list: Vec::new(), most: usize::MAX, limit: radius },
        }
    }

    /// Samples farther than this are of no use.
    #[inline]
    pub(super) fn limit(&self) -> f64 {
        self.limit
    }

    /// No square of a useful distance lies above.
    ///
    /// Numerics: roots of squares that differ in the last places may be equal, and squares may underflow.
    #[inline]
    pub(super) fn limit_of_squares(&self) -> f64 {
        self.limit * self.limit * (1.0 + 4.0 * f64::EPSILON) + f64::MIN_POSITIVE
    }

    pub(super) fn offer(&mut self, distance: f64, sample: u32) {
        // A distance that is no number passes, so that it is seen in the end.
        if distance > self.limit {
            return;
        }
        let found = (distance, sample);
        if self.most > SHORT {
            self.list.push(found);
            if self.most < usize::MAX && self.list.len() >= 2 * self.most {
                self.cut();
            }
            return;
        }
        let at = self.list.partition_point(|other| order(other, &found).is_lt());
        if at < self.most {
            self.list.truncate(self.most - 1);
            self.list.insert(at, found);
            if let (true, Some(last)) = (self.list.len() == self.most, self.list.last()) {
                self.limit = last.0;
            }
        }
    }

    fn cut(&mut self) {
        let (_, last, _) = self.list.select_nth_unstable_by(self.most - 1, order);
        self.limit = last.0;
        self.list.truncate(self.most);
    }

    /// The neighbours, sorted.
    pub(super) fn into_list(mut self) -> Vec<Found> {
        self.list.sort_unstable_by(order);
        self.list.truncate(self.most);
        self.list.shrink_to_fit();
        self.list
    }
}
