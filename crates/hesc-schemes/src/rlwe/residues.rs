//! Residues of polynomials modulo several primes: views of rows by prime and component, which [`super::polys::Polys`]
//! owns. The type says whether a row is coefficients or evaluations; only evaluations are multiplied. Memory that is yet
//! to be written is [`Blank`]: what writes it says what it is then.

use std::marker::PhantomData;
use std::ops::Range;

use hesc_math::residues::{Factor, correlations, kernels};
use hesc_math::ring::{Automorphism, Coeff, Eval, Prime};
use hesc_math::rns::Conversion;
use hesc_math::{AesCtrRng, RngSeed, sampling};
use rand_core::SeedableRng as _;
use rayon::prelude::*;
use zeroize::Zeroize as _;

/// In the domain that a scheme stores its ciphertexts in: [`super::domain::Domain`] says which.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stored {}

/// Memory with anything in it, which is written before it is read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Blank {}

/// What the words of a row are.
pub(crate) trait RowDomain: Send + Sync {}

impl RowDomain for Coeff {}
impl RowDomain for Eval {}
impl RowDomain for Stored {}
impl RowDomain for Blank {}

/// A polynomial modulo one prime.
pub(crate) struct Row<'a, D: RowDomain> {
    words: &'a [u64],
    domain: PhantomData<D>,
}

impl<D: RowDomain> Clone for Row<'_, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D: RowDomain> Copy for Row<'_, D> {}

impl<'a, D: RowDomain> Row<'a, D> {
    fn new(words: &'a [u64]) -> Self {
        Self { words, domain: PhantomData }
    }

    /// Words that the caller knows to be of this domain.
    pub fn assume(words: &'a [u64]) -> Self {
        Self::new(words)
    }

    /// The words.
    pub fn words(self) -> &'a [u64] {
        self.words
    }
}

/// A polynomial modulo one prime, to be changed or written.
pub(crate) struct RowMut<'a, D: RowDomain> {
    words: &'a mut [u64],
    domain: PhantomData<D>,
}

impl<'a, D: RowDomain> RowMut<'a, D> {
    pub(super) fn new(words: &'a mut [u64]) -> Self {
        Self { words, domain: PhantomData }
    }

    /// Words that the caller knows to be of this domain.
    pub fn assume(words: &'a mut [u64]) -> Self {
        Self::new(words)
    }

    /// Words side by side as rows.
    pub fn all(words: &'a mut [u64], ring_degree: usize) -> impl ExactSizeIterator<Item = Self> {
        words.chunks_exact_mut(ring_degree).map(Self::new)
    }

    /// The same for a while.
    pub fn reborrow(&mut self) -> RowMut<'_, D> {
        RowMut::new(self.words)
    }

    /// Memory to be written again.
    pub fn blank(self) -> RowMut<'a, Blank> {
        RowMut::new(self.words)
    }

    /// What has been written.
    pub fn row(&self) -> Row<'_, D> {
        Row::new(self.words)
    }

    /// The same, to be read from now on.
    pub fn into_row(self) -> Row<'a, D> {
        Row::new(self.words)
    }

    /// The words.
    pub fn words(self) -> &'a mut [u64] {
        self.words
    }

    /// Where it begins in memory.
    pub(super) fn start(&self) -> *const u64 {
        self.words.as_ptr()
    }

    /// Clears what was a secret's.
    pub fn wipe(self) {
        self.words.zeroize();
    }

    pub fn negate(&mut self, q: &Prime) {
        kernels::negate(self.words, q);
    }

    pub fn add(&mut self, other: Row<'_, D>, q: &Prime) {
        kernels::add(self.words, other.words, q);
    }

    pub fn subtract(&mut self, other: Row<'_, D>, q: &Prime) {
        kernels::subtract(self.words, other.words, q);
    }

    pub fn scale(&mut self, factor: Factor, q: &Prime) {
        kernels::scale(self.words, factor, q);
    }

    pub fn add_scaled(&mut self, a: Row<'_, D>, factor: Factor, q: &Prime) {
        kernels::scale_add(self.words, a.words, factor, q);
    }

    /// What is there less `a`, times a factor: the last step of a division by primes.
    pub fn subtract_and_scale(&mut self, a: Row<'_, D>, factor: Factor, q: &Prime) {
        kernels::subtract_scale(self.words, a.words, factor, q);
    }
}

impl<'a> RowMut<'a, Blank> {
    /// Memory that is to be written.
    pub fn over(words: &'a mut [u64]) -> Self {
        Self::new(words)
    }

    /// The row after a kernel has written all of it.
    fn written<D: RowDomain>(self, kernel: impl FnOnce(&mut [u64])) -> RowMut<'a, D> {
        kernel(self.words);
        RowMut::new(self.words)
    }

    /// Zero, which is the same in every domain.
    #[must_use]
    pub fn zero<D: RowDomain>(self) -> RowMut<'a, D> {
        self.written(|out| out.fill(0))
    }

    #[must_use]
    pub fn copy<D: RowDomain>(self, from: Row<'_, D>) -> RowMut<'a, D> {
        self.written(|out| out.copy_from_slice(from.words))
    }

    /// The uniform polynomial of a seed. It is uniform in every domain; this one is the caller's convention.
    #[must_use]
    pub fn uniform<D: RowDomain>(self, seed: RngSeed, q: &Prime) -> RowMut<'a, D> {
        let rng = &mut AesCtrRng::from_seed(seed);
        self.written(|out| sampling::fill_uniform_row(out, q.value(), rng))
    }

    #[must_use]
    pub fn sum<D: RowDomain>(self, a: Row<'_, D>, b: Row<'_, D>, q: &Prime) -> RowMut<'a, D> {
        self.written(|out| kernels::add_into(out, a.words, b.words, q))
    }

    #[must_use]
    pub fn difference<D: RowDomain>(
        self,
        a: Row<'_, D>,
        b: Row<'_, D>,
        q: &Prime,
    ) -> RowMut<'a, D> {
        self.written(|out| kernels::subtract_into(out, a.words, b.words, q))
    }

    #[must_use]
    pub fn scaled<D: RowDomain>(self, a: Row<'_, D>, factor: Factor, q: &Prime) -> RowMut<'a, D> {
        self.written(|out| kernels::scale_into(out, a.words, factor, q))
    }

    #[must_use]
    pub fn product(self, a: Row<'_, Eval>, b: Row<'_, Eval>, q: &Prime) -> RowMut<'a, Eval> {
        self.written(|out| kernels::multiply(out, a.words, b.words, q))
    }

    /// Small signed integers: noise, or a secret.
    #[must_use]
    pub fn small(self, small: &[i16], q: &Prime) -> RowMut<'a, Coeff> {
        let mut row = self.zero::<Coeff>();
        row.add_small(small, q);
        row
    }

    /// Signed integers below `2^51` in absolute value.
    #[must_use]
    pub fn reduce_signed(self, signed: &[i64], q: &Prime) -> RowMut<'a, Coeff> {
        self.written(|out| kernels::reduce_small_signed(out, signed, q))
    }

    /// Centred representatives of residues modulo `t`.
    #[must_use]
    pub fn lift_centred(self, words: &[u64], t: u64, q: &Prime) -> RowMut<'a, Coeff> {
        self.written(|out| kernels::lift_centred(out, words, t, q))
    }

    /// Centred representatives of residues modulo another prime `p`.
    #[must_use]
    pub fn recentre(self, a: Row<'_, Coeff>, p: u64, q: &Prime) -> RowMut<'a, Coeff> {
        self.written(|out| kernels::recentre(out, a.words, p, q))
    }

    /// A conversion's residues modulo one of its targets.
    #[must_use]
    pub fn convert(
        self,
        conversion: &Conversion,
        target: usize,
        prepared: &[u64],
    ) -> RowMut<'a, Coeff> {
        self.written(|out| conversion.row(out, target, prepared))
    }

    #[must_use]
    pub fn image_of_coefficients(
        self,
        a: Row<'_, Coeff>,
        under: &Automorphism,
        q: &Prime,
    ) -> RowMut<'a, Coeff> {
        self.written(|out| under.coefficients(out, a.words, q))
    }

    #[must_use]
    pub fn image_of_evaluations(self, a: Row<'_, Eval>, under: &Automorphism) -> RowMut<'a, Eval> {
        self.written(|out| under.evaluations(out, a.words))
    }
}

impl<'a> RowMut<'a, Coeff> {
    /// The values at the roots of unity, in place.
    pub fn forward(self, q: &Prime) -> RowMut<'a, Eval> {
        q.forward(self.words);
        RowMut::new(self.words)
    }

    /// Adds small signed integers: noise.
    pub fn add_small(&mut self, small: &[i16], q: &Prime) {
        kernels::add_small(self.words, small, q);
    }

    /// Adds signed integers below the prime in absolute value.
    pub fn add_signed(&mut self, signed: &[i64], q: &Prime) {
        kernels::add_signed(self.words, signed, q);
    }

    /// Signed integers below `2^51` in absolute value, in the place of what is there.
    pub fn reduce_signed(&mut self, signed: &[i64], q: &Prime) {
        kernels::reduce_small_signed(self.words, signed, q);
    }
}

impl<'a> RowMut<'a, Eval> {
    /// The coefficients, in place.
    pub fn inverse(self, q: &Prime) -> RowMut<'a, Coeff> {
        q.inverse(self.words);
        RowMut::new(self.words)
    }

    /// The coefficients times [`Prime::unscaled_factor`], in place: whoever takes them multiplies by a constant anyway.
    #[must_use]
    pub fn inverse_unscaled(self, q: &Prime) -> RowMut<'a, Coeff> {
        q.inverse_unscaled(self.words);
        RowMut::new(self.words)
    }

    pub fn multiply(&mut self, other: Row<'_, Eval>, q: &Prime) {
        kernels::multiply_assign(self.words, other.words, q);
    }

    /// Adds a constant polynomial, which is the same at every root.
    pub fn add_constant(&mut self, constant: u64, q: &Prime) {
        kernels::add_constant(self.words, constant, q);
    }
}

/// Polynomials modulo one prime, side by side.
pub(crate) struct Rows<'a, D: RowDomain> {
    words: &'a [u64],
    ring_degree: usize,
    domain: PhantomData<D>,
}

impl<D: RowDomain> Clone for Rows<'_, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D: RowDomain> Copy for Rows<'_, D> {}

impl<'a, D: RowDomain> Rows<'a, D> {
    /// How many there are.
    pub fn count(self) -> usize {
        self.words.len() / self.ring_degree
    }

    pub fn row(self, index: usize) -> Row<'a, D> {
        Row::new(&self.words[index * self.ring_degree..][..self.ring_degree])
    }

    /// Both, where there are two.
    pub fn pair(self) -> Option<[Row<'a, D>; 2]> {
        (self.count() == 2).then(|| [0, 1].map(|index| self.row(index)))
    }

    /// One after the other.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Row<'a, D>> {
        self.words.chunks_exact(self.ring_degree).map(Row::new)
    }
}

/// Polynomials modulo one prime, side by side, to be changed or written.
pub(crate) struct RowsMut<'a, D: RowDomain> {
    words: &'a mut [u64],
    ring_degree: usize,
    domain: PhantomData<D>,
}

/// Rows to work in.
pub(crate) type Scratch<'a> = RowsMut<'a, Blank>;

impl<'a, D: RowDomain> RowsMut<'a, D> {
    pub(super) fn new(words: &'a mut [u64], ring_degree: usize) -> Self {
        Self { words, ring_degree, domain: PhantomData }
    }

    /// The same words in another domain, which they have been brought to.
    fn in_domain<E: RowDomain>(self) -> RowsMut<'a, E> {
        RowsMut::new(self.words, self.ring_degree)
    }

    /// The same for a while.
    pub fn reborrow(&mut self) -> RowsMut<'_, D> {
        RowsMut::new(self.words, self.ring_degree)
    }

    /// What has been written.
    pub fn rows(&self) -> Rows<'_, D> {
        Rows { words: self.words, ring_degree: self.ring_degree, domain: PhantomData }
    }

    /// The words of all, for kernels that treat them as one.
    pub fn words(self) -> &'a mut [u64] {
        self.words
    }

    /// The first row.
    pub fn row(self) -> RowMut<'a, D> {
        RowMut::new(&mut self.words[..self.ring_degree])
    }

    /// Where two rows begin in memory.
    pub(super) fn starts(&self) -> [*const u64; 2] {
        [0, self.ring_degree].map(|at| self.words[at..].as_ptr())
    }

    /// All rows, of which there are so many.
    pub fn split<const N: usize>(self) -> [RowMut<'a, D>; N] {
        assert_eq!(self.words.len(), N * self.ring_degree, "there are so many rows");
        let mut rows = self.words.chunks_exact_mut(self.ring_degree);
        std::array::from_fn(|_| RowMut::new(rows.next().unwrap_or_default()))
    }

    /// The first rows, and the others.
    pub fn split_at(self, rows: usize) -> (Self, Self) {
        let (first, others) = self.words.split_at_mut(rows * self.ring_degree);
        (Self::new(first, self.ring_degree), Self::new(others, self.ring_degree))
    }

    /// One after the other.
    pub fn each(self) -> impl ExactSizeIterator<Item = RowMut<'a, D>> {
        RowMut::all(self.words, self.ring_degree)
    }

    /// Two after two.
    pub fn pairs(self) -> impl ExactSizeIterator<Item = [RowMut<'a, D>; 2]> {
        let n = self.ring_degree;
        self.words.chunks_exact_mut(2 * n).map(move |pair| RowsMut::new(pair, n).split())
    }

    /// One after the other, on several threads where there is enough to do.
    pub fn each_in_parallel<T: Send>(
        self,
        body: impl Fn((usize, RowMut<'a, D>)) -> T + Send + Sync,
    ) -> Vec<T> {
        if super::parallel::worth_threads(self.words.len()) {
            let rows = self.words.par_chunks_exact_mut(self.ring_degree).map(RowMut::new);
            rows.enumerate().map(body).collect()
        } else {
            self.each().enumerate().map(body).collect()
        }
    }

    /// Every row changed, each in its place: `body(component, row)`.
    #[must_use]
    pub fn map<E: RowDomain>(
        self,
        mut body: impl for<'r> FnMut(usize, RowMut<'r, D>) -> RowMut<'r, E>,
    ) -> RowsMut<'a, E> {
        for (component, words) in self.words.chunks_exact_mut(self.ring_degree).enumerate() {
            in_place(words, |words| body(component, RowMut::new(words)).words);
        }
        self.in_domain()
    }

    /// The first row changed, the others as they are.
    #[must_use]
    pub fn map_first(self, body: impl for<'r> FnOnce(RowMut<'r, D>) -> RowMut<'r, D>) -> Self {
        in_place(&mut self.words[..self.ring_degree], |words| body(RowMut::new(words)).words);
        self
    }

    /// Adds some and subtracts others, of as many rows.
    pub fn add_rows(&mut self, plus: &[Rows<'_, D>], minus: &[Rows<'_, D>], q: &Prime) {
        kernels::sum_of_rows(self.words, true, &words_of(plus), &words_of(minus), q);
    }

    pub fn add_scaled(&mut self, a: Rows<'_, D>, factor: Factor, q: &Prime) {
        kernels::scale_add(self.words, a.words, factor, q);
    }

    pub fn scale(&mut self, factor: Factor, q: &Prime) {
        kernels::scale(self.words, factor, q);
    }
}

impl<'a> RowsMut<'a, Blank> {
    /// The sum of some less that of others, of as many rows.
    #[must_use]
    pub fn sum<D: RowDomain>(
        self,
        plus: &[Rows<'_, D>],
        minus: &[Rows<'_, D>],
        q: &Prime,
    ) -> RowsMut<'a, D> {
        kernels::sum_of_rows(self.words, false, &words_of(plus), &words_of(minus), q);
        self.in_domain()
    }

    #[must_use]
    pub fn copy<D: RowDomain>(self, from: Rows<'_, D>) -> RowsMut<'a, D> {
        self.words.copy_from_slice(from.words);
        self.in_domain()
    }

    /// `(a_0 b_0, a_0 b_1 + a_1 b_0, a_1 b_1)`; the square of `a` without `b`.
    #[must_use]
    pub fn tensor(
        mut self,
        a: [Row<'_, Eval>; 2],
        b: Option<[Row<'_, Eval>; 2]>,
        q: &Prime,
    ) -> RowsMut<'a, Eval> {
        let (out, a) = (self.reborrow().split().map(RowMut::words), a.map(Row::words));
        match b {
            Some(b) => kernels::tensor(out, a, b.map(Row::words), q),
            None => kernels::square_tensor(out, a, q),
        }
        self.in_domain()
    }

    /// The first row, and the others made of it: `others(index, first, row)`.
    #[must_use]
    pub fn first_and_others<D: RowDomain>(
        mut self,
        first: impl for<'r> FnOnce(RowMut<'r, Blank>) -> RowMut<'r, D>,
        mut others: impl for<'r> FnMut(usize, Row<'_, D>, RowMut<'r, Blank>) -> RowMut<'r, D>,
    ) -> RowsMut<'a, D> {
        let (own, rows) = self.reborrow().split_at(1);
        let own = first(own.row());
        let _ = rows.map(|index, row| others(index, own.row(), row));
        self.in_domain()
    }

    /// For each pair of rows the inner products of `a`, rotated by its shift, with the first and with the second of some
    /// pairs: see [`correlations`].
    #[must_use]
    pub fn correlations<'b>(
        mut self,
        shifts: &[usize],
        a: impl Iterator<Item = Row<'b, Eval>>,
        pairs: impl Iterator<Item = [Row<'b, Eval>; 2]>,
        q: &Prime,
    ) -> RowsMut<'a, Eval> {
        let mut out: Vec<_> = self.reborrow().pairs().map(|pair| pair.map(RowMut::words)).collect();
        let a: Vec<&[u64]> = a.map(Row::words).collect();
        let (first, second): (Vec<_>, Vec<_>) = pairs.map(|[x, y]| (x.words, y.words)).unzip();
        correlations(&mut out, shifts, &a, &first, &second, q);
        self.in_domain()
    }

    /// The sum of the tensors of pairs of factors.
    #[must_use]
    pub fn sum_of_tensors<'b>(
        mut self,
        pairs: impl Iterator<Item = [[Row<'b, Eval>; 2]; 2]>,
        q: &Prime,
    ) -> RowsMut<'a, Eval> {
        let rows: Vec<kernels::TensorRows<'_>> =
            pairs.map(|[[a_0, a_1], [b_0, b_1]]| [a_0, a_1, b_0, b_1].map(Row::words)).collect();
        kernels::sum_of_tensors(self.reborrow().split().map(RowMut::words), &rows, q);
        self.in_domain()
    }
}

fn words_of<'a, D: RowDomain>(rows: &[Rows<'a, D>]) -> Vec<&'a [u64]> {
    rows.iter().map(|rows| rows.words).collect()
}

/// Lets `body` change words, which it gives back: a row of another domain is the one that was given.
pub(super) fn in_place(
    words: &mut [u64],
    body: impl for<'r> FnOnce(&'r mut [u64]) -> &'r mut [u64],
) {
    let (start, length) = (words.as_ptr(), words.len());
    let changed = body(words);
    assert!(
        changed.as_ptr() == start && changed.len() == length,
        "rows are changed in their place"
    );
}

/// The inner products of `a` with the first and with the second of some pairs.
pub(crate) fn inner_products<'r, 'a, O: RowDomain>(
    out: [RowMut<'r, O>; 2],
    a: impl Iterator<Item = Row<'a, Eval>>,
    pairs: impl Iterator<Item = [Row<'a, Eval>; 2]>,
    q: &Prime,
) -> [RowMut<'r, Eval>; 2] {
    let a: Vec<&[u64]> = a.map(Row::words).collect();
    let (first, second): (Vec<_>, Vec<_>) = pairs.map(|[x, y]| (x.words, y.words)).unzip();
    let [x, y] = out.map(RowMut::words);
    kernels::inner_products([&mut *x, &mut *y], &a, &first, &second, q);
    [x, y].map(RowMut::new)
}

/// Polynomials modulo several primes: for each prime the components side by side.
pub(crate) struct Residues<'a, D: RowDomain> {
    words: &'a [u64],
    components: usize,
    ring_degree: usize,
    domain: PhantomData<D>,
}

impl<D: RowDomain> Clone for Residues<'_, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D: RowDomain> Copy for Residues<'_, D> {}

impl<'a, D: RowDomain> Residues<'a, D> {
    pub(super) fn new(words: &'a [u64], components: usize, ring_degree: usize) -> Self {
        debug_assert!(words.len().is_multiple_of(components * ring_degree), "rows are whole");
        Self { words, components, ring_degree, domain: PhantomData }
    }

    /// Words that the caller knows to be of this domain, whole rows of them.
    pub fn assume(words: &'a [u64], components: usize, ring_degree: usize) -> Self {
        Self::new(words, components, ring_degree)
    }

    /// Components of each prime.
    pub fn components(self) -> usize {
        self.components
    }

    /// Coefficients or values of each polynomial.
    pub fn ring_degree(self) -> usize {
        self.ring_degree
    }

    /// How many primes there are.
    pub fn primes(self) -> usize {
        self.words.len() / (self.components * self.ring_degree)
    }

    /// A component modulo a prime.
    pub fn row(self, prime: usize, component: usize) -> Row<'a, D> {
        assert!(component < self.components, "there are {} components", self.components);
        let at = (prime * self.components + component) * self.ring_degree;
        Row::new(&self.words[at..][..self.ring_degree])
    }

    /// All components modulo a prime.
    pub fn at(self, prime: usize) -> Rows<'a, D> {
        let length = self.components * self.ring_degree;
        let words = &self.words[prime * length..][..length];
        Rows { words, ring_degree: self.ring_degree, domain: PhantomData }
    }

    /// All components modulo a prime, one after the other.
    pub fn rows(self, prime: usize) -> impl ExactSizeIterator<Item = Row<'a, D>> {
        self.at(prime).iter()
    }

    /// Two components of several pairs modulo a prime.
    pub fn pair(self, prime: usize, pair: usize) -> [Row<'a, D>; 2] {
        [0, 1].map(|i| self.row(prime, 2 * pair + i))
    }

    /// All pairs of components modulo a prime.
    pub fn pairs(self, prime: usize) -> impl ExactSizeIterator<Item = [Row<'a, D>; 2]> {
        (0..self.components / 2).map(move |pair| self.pair(prime, pair))
    }

    /// Modulo some of the primes.
    pub fn of_primes(self, primes: Range<usize>) -> Self {
        let length = self.components * self.ring_degree;
        Self { words: &self.words[primes.start * length..primes.end * length], ..self }
    }

    /// One component modulo all primes.
    pub fn component(self, component: usize) -> Component<'a, D> {
        assert!(component < self.components, "there are {} components", self.components);
        Component { of: self, component }
    }

    /// The same words in another domain, which the caller knows them to be of.
    pub(super) fn assume_domain<E: RowDomain>(self) -> Residues<'a, E> {
        Residues::new(self.words, self.components, self.ring_degree)
    }
}

/// One component modulo several primes.
pub(crate) struct Component<'a, D: RowDomain> {
    of: Residues<'a, D>,
    component: usize,
}

impl<D: RowDomain> Clone for Component<'_, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D: RowDomain> Copy for Component<'_, D> {}

impl<'a, D: RowDomain> Component<'a, D> {
    pub fn row(self, prime: usize) -> Row<'a, D> {
        self.of.row(prime, self.component)
    }

    /// Modulo one prime after the other.
    pub fn rows(self) -> impl Iterator<Item = Row<'a, D>> {
        (0..self.of.primes()).map(move |prime| self.row(prime))
    }

    /// The same where it is in another domain.
    pub fn within<E: RowDomain>(self, of: Residues<'a, E>) -> Component<'a, E> {
        of.component(self.component)
    }

    /// All components.
    pub fn of(self) -> Residues<'a, D> {
        self.of
    }
}
