//! Which streams each term of an array is a product of: what errors depend on.

use std::collections::HashMap;

use hesc_stochastic::{Factor, Origin, UNKNOWN_ROW};

/// The union of two sorted lists of identities.
pub(crate) fn merge(a: &[Origin], b: &[Origin]) -> Vec<Origin> {
    let mut union = [a, b].concat();
    union.sort_unstable();
    union.dedup();
    union
}

/// For each term, and each origin that its array has, one more than the number of the stream that is
/// its factor; 0 for none. [`UNKNOWN_ROW`] stands for a stream that is not told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Factors {
    origins: usize,
    rows: Vec<u32>,
}

impl Factors {
    /// From rows of this many origins.
    pub fn new(origins: usize, rows: Vec<u32>) -> Self {
        Self { origins, rows }
    }

    /// Fresh streams of one origin.
    pub fn fresh(streams: usize) -> Self {
        Self::new(1, (1..=streams as u32).collect())
    }

    /// All rows, term by term.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The rows of one term.
    pub fn of(&self, term: usize) -> &[u32] {
        &self.rows[term * self.origins..][..self.origins]
    }

    /// The same for an array with more origins.
    pub fn among(&self, own: &[Origin], all: &[Origin]) -> Self {
        if own == all {
            return self.clone();
        }
        let places: Vec<usize> = own.iter().filter_map(|o| all.binary_search(o).ok()).collect();
        let terms = self.rows.len() / self.origins;
        let mut rows = vec![0; terms * all.len()];
        for (new, old) in rows.chunks_exact_mut(all.len()).zip(self.rows.chunks_exact(self.origins))
        {
            for (place, row) in places.iter().zip(old) {
                new[*place] = *row;
            }
        }
        Self::new(all.len(), rows)
    }

    /// The terms of these numbers, in this order.
    pub fn select(&self, terms: impl Iterator<Item = usize>) -> Self {
        Self::new(self.origins, terms.flat_map(|term| self.of(term)).copied().collect())
    }

    /// All terms of `self`, then all of `other`, of the same origins.
    pub fn append(&mut self, other: &Self) {
        self.rows.extend_from_slice(&other.rows);
    }

    /// Products of terms, those of `a` and `b` in turn, of arrays with different origins.
    pub fn products(a: &Self, b: &Self, pairs: impl Iterator<Item = (usize, usize)>) -> Self {
        let mut rows = Vec::with_capacity(pairs.size_hint().0 * a.origins);
        for (i, j) in pairs {
            rows.extend(a.of(i).iter().zip(b.of(j)).map(|(x, y)| x | y));
        }
        Self::new(a.origins, rows)
    }

    /// The same terms with one more factor, `row(term)` of the origin at `place`.
    pub fn set(&mut self, place: usize, row: impl Fn(usize) -> u32) {
        for (term, rows) in self.rows.chunks_exact_mut(self.origins).enumerate() {
            rows[place] = row(term);
        }
    }

    /// Piece `piece` of each stream of a term that is cut into `pieces`: a stream of its own.
    pub fn piece(&self, term: usize, piece: usize, pieces: usize) -> Vec<u32> {
        let cut = |row: &u32| match *row {
            0 | UNKNOWN_ROW => *row,
            row => row_of(row - 1, piece as u32, pieces),
        };
        self.of(term).iter().map(cut).collect()
    }

    /// The same without a word about which streams they are.
    pub fn forgotten(&self) -> Self {
        let rows = self.rows.iter().map(|row| if *row == 0 { 0 } else { UNKNOWN_ROW });
        Self::new(self.origins, rows.collect())
    }

    /// The same without a word about which origins each term has: it may have them all.
    pub fn hidden(&self) -> Self {
        Self::new(self.origins, vec![UNKNOWN_ROW; self.rows.len()])
    }

    /// What tells which terms of an element share streams and nothing else: rows numbered as they
    /// appear, element by element; once if that is the same for all elements. Each origin has numbers
    /// of its own, but for jointly encoded factors: equal rows are those of one product. Of streams in
    /// `pieces` the pieces keep their places.
    pub fn pattern(&self, elements: usize, origins: &[Origin], pieces: usize) -> Self {
        let per_element = self.rows.len() / elements;
        let (joint, apart): (Vec<usize>, Vec<usize>) =
            (0..self.origins).partition(|&place| matches!(origins[place], Origin::Joint { .. }));
        let mut patterns = self.rows.clone();
        for rows in patterns.chunks_exact_mut(per_element) {
            apart.iter().for_each(|&place| renumber(rows, &[place], self.origins, pieces));
            renumber(rows, &joint, self.origins, pieces);
        }
        let same = patterns.chunks_exact(per_element).all(|rows| *rows == patterns[..per_element]);
        patterns.truncate(if same { per_element } else { patterns.len() });
        Self::new(self.origins, patterns)
    }
}

/// Numbers the streams at some places of each term as they appear.
fn renumber(rows: &mut [u32], places: &[usize], origins: usize, pieces: usize) {
    let named = |row: &u32| !matches!(*row, 0 | UNKNOWN_ROW);
    // Mostly those of one origin are in order and all different, and no table is needed.
    if let ([place], 1) = (places, pieces) {
        let own = rows.iter().skip(*place).step_by(origins).filter(|row| named(row));
        if own.is_sorted_by(|a, b| a < b) {
            let own = rows.iter_mut().skip(*place).step_by(origins).filter(|row| named(row));
            own.zip(1..).for_each(|(row, number)| *row = number);
            return;
        }
    }
    let mut numbers = HashMap::new();
    for term in rows.chunks_exact_mut(origins) {
        for &place in places {
            if named(&term[place]) {
                let (stream, piece) = stream_and_piece(term[place], pieces);
                let next = numbers.len() as u32;
                let number = *numbers.entry(stream).or_insert(next);
                term[place] = row_of(number, piece, pieces);
            }
        }
    }
}

/// The row of a piece of a stream, and which it is of; rows count from one.
fn row_of(stream: u32, piece: u32, pieces: usize) -> u32 {
    stream.wrapping_mul(pieces as u32).wrapping_add(piece + 1)
}

fn stream_and_piece(row: u32, pieces: usize) -> (u32, u32) {
    ((row - 1) / pieces as u32, (row - 1) % pieces as u32)
}

/// Which streams a term is a product of, and which piece of each it is: `None` if it is not told, or not
/// the same piece of all.
pub(crate) fn pieces_of(rows: &[u32], pieces: usize) -> Option<(Vec<u32>, u32)> {
    let mut streams = Vec::with_capacity(rows.len());
    let mut of_all = None;
    for &row in rows {
        streams.push(match row {
            0 => 0,
            UNKNOWN_ROW => return None,
            row => {
                let (stream, piece) = stream_and_piece(row, pieces);
                if *of_all.get_or_insert(piece) != piece {
                    return None;
                }
                stream + 1
            }
        });
    }
    Some((streams, of_all?))
}

/// The factors of a term.
pub(crate) fn factors_of(origins: &[Origin], rows: &[u32]) -> Vec<Factor> {
    let pairs = origins.iter().zip(rows).filter(|(_, row)| **row != 0);
    pairs.map(|(&origin, &row)| Factor { origin, row }).collect()
}

/// Origins as far as errors depend on them, without the names of encoders' random states.
pub(crate) fn anonymous(origins: &[Origin]) -> Vec<Origin> {
    let mut sources = Vec::new();
    let origins = origins.iter().enumerate().map(|(k, origin)| match *origin {
        Origin::Draw { generator, .. } => Origin::Draw { generator, source: 0, draw: k as u64 },
        Origin::Joint { source, first, factor, dimension } => {
            let number = sources.iter().position(|known| *known == source).unwrap_or_else(|| {
                sources.push(source);
                sources.len() - 1
            });
            Origin::Joint { source: number as u128, first, factor, dimension }
        }
        Origin::Selection { law, .. } => Origin::Selection { source: 0, number: k as u32, law },
        other => other,
    });
    origins.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_tell_which_streams_are_one_and_nothing_else() {
        let draw = |draw| Origin::Draw {
            generator: hesc_stochastic::Generator::Bernoulli,
            source: 1,
            draw,
        };
        let joint = |factor| Origin::Joint { source: 1, first: 0, factor, dimension: factor };
        let (draws, together) = ([draw(0), draw(1)], [joint(0), joint(1)]);
        // Two elements of three terms of two origins: places differ, what is shared does not.
        let rows = [[7, 3], [9, 3], [7, 0], [1, 8], [5, 8], [1, 0]].concat();
        let factors = Factors::new(2, rows);
        assert_eq!(factors.pattern(2, &draws, 1).rows(), [1, 1, 2, 1, 1, 0]);
        // Equal rows of two origins are one stream's only where they were encoded together.
        let factors = Factors::new(2, [[4, 4], [5, UNKNOWN_ROW], [6, 5], [6, 6]].concat());
        assert_eq!(factors.pattern(1, &draws, 1).rows(), [1, 1, 2, UNKNOWN_ROW, 3, 2, 3, 3]);
        let factors = Factors::new(2, [[4, 9], [9, 4], [5, UNKNOWN_ROW]].concat());
        assert_eq!(factors.pattern(1, &together, 1).rows(), [1, 2, 2, 1, 3, UNKNOWN_ROW]);
        // The second and third of four pieces of one stream, and the first of another.
        let factors = Factors::new(1, vec![30, 31, 5]);
        assert_eq!(factors.pattern(1, &draws[..1], 4).rows(), [2, 3, 5]);
        assert_eq!(pieces_of(&[3, 0], 4), Some((vec![1, 0], 2)));
        assert_eq!(pieces_of(&[3, 5], 4), None);
        assert_eq!(pieces_of(&[UNKNOWN_ROW], 4), None);
    }
}
