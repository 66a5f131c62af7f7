//! Residues of polynomials modulo several primes, as typed views over one buffer: rows by prime and component. The type
//! says whether a row is coefficients or evaluations; only evaluations are multiplied.

use std::marker::PhantomData;

use hesc_math::residues::{Factor, kernels};
use hesc_math::ring::{Automorphism, Coeff, Eval, Prime};
use hesc_math::rns::Conversion;
use zeroize::Zeroize as _;

/// In the domain that a scheme's ciphertexts rest in: [`super::domain::Domain`] says which.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AtRest {}

/// What the words of a row are.
pub(crate) trait RowDomain {}

impl RowDomain for Coeff {}
impl RowDomain for Eval {}
impl RowDomain for AtRest {}

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
    /// Words that the caller knows to be of this domain.
    pub fn assume(words: &'a [u64]) -> Self {
        Self { words, domain: PhantomData }
    }

    /// Words side by side as rows.
    pub fn all(words: &'a [u64], ring_degree: usize) -> impl ExactSizeIterator<Item = Self> {
        words.chunks_exact(ring_degree).map(Self::assume)
    }

    /// The words.
    pub fn words(self) -> &'a [u64] {
        self.words
    }
}

/// A polynomial modulo one prime, to be written.
pub(crate) struct RowMut<'a, D: RowDomain> {
    words: &'a mut [u64],
    domain: PhantomData<D>,
}

impl<'a, D: RowDomain> RowMut<'a, D> {
    /// Words that the caller knows to be of this domain, or is about to write.
    pub fn assume(words: &'a mut [u64]) -> Self {
        Self { words, domain: PhantomData }
    }

    /// Rows of the same length.
    pub fn split<const N: usize>(words: &'a mut [u64]) -> [Self; N] {
        let ring_degree = words.len() / N;
        assert_eq!(words.len(), N * ring_degree, "rows are of one length");
        let mut rows = words.chunks_exact_mut(ring_degree);
        std::array::from_fn(|_| Self::assume(rows.next().unwrap_or_default()))
    }

    /// Words side by side as rows.
    pub fn all(words: &'a mut [u64], ring_degree: usize) -> impl ExactSizeIterator<Item = Self> {
        words.chunks_exact_mut(ring_degree).map(Self::assume)
    }

    /// The same for a while.
    pub fn reborrow(&mut self) -> RowMut<'_, D> {
        RowMut::assume(self.words)
    }

    /// What has been written.
    pub fn row(&self) -> Row<'_, D> {
        Row::assume(self.words)
    }

    /// The words.
    pub fn words(self) -> &'a mut [u64] {
        self.words
    }

    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Clears what was a secret's.
    pub fn wipe(self) {
        self.words.zeroize();
    }

    pub fn copy(&mut self, from: Row<'_, D>) {
        self.words.copy_from_slice(from.words);
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

    pub fn set_sum(&mut self, a: Row<'_, D>, b: Row<'_, D>, q: &Prime) {
        kernels::add_into(self.words, a.words, b.words, q);
    }

    pub fn set_difference(&mut self, a: Row<'_, D>, b: Row<'_, D>, q: &Prime) {
        kernels::subtract_into(self.words, a.words, b.words, q);
    }

    pub fn scale(&mut self, factor: Factor, q: &Prime) {
        kernels::scale(self.words, factor, q);
    }

    pub fn set_scaled(&mut self, a: Row<'_, D>, factor: Factor, q: &Prime) {
        kernels::scale_into(self.words, a.words, factor, q);
    }

    pub fn add_scaled(&mut self, a: Row<'_, D>, factor: Factor, q: &Prime) {
        kernels::scale_add(self.words, a.words, factor, q);
    }

    /// What is there less `a`, times a factor: the last step of a division by primes.
    pub fn subtract_and_scale(&mut self, a: Row<'_, D>, factor: Factor, q: &Prime) {
        kernels::subtract_scale(self.words, a.words, factor, q);
    }
}

impl<'a> RowMut<'a, Coeff> {
    /// The values at the roots of unity, in place.
    pub fn forward(self, q: &Prime) -> RowMut<'a, Eval> {
        q.forward(self.words);
        RowMut::assume(self.words)
    }

    /// Adds small signed integers: noise.
    pub fn add_small(&mut self, small: &[i16], q: &Prime) {
        kernels::add_small(self.words, small, q);
    }

    /// Adds signed integers below the prime in absolute value.
    pub fn add_signed(&mut self, signed: &[i64], q: &Prime) {
        kernels::add_signed(self.words, signed, q);
    }

    /// Signed integers below `2^51` in absolute value.
    pub fn reduce_signed(&mut self, signed: &[i64], q: &Prime) {
        kernels::reduce_small_signed(self.words, signed, q);
    }

    /// Centred representatives of residues modulo `t`.
    pub fn lift_centred(&mut self, words: &[u64], t: u64, q: &Prime) {
        kernels::lift_centred(self.words, words, t, q);
    }

    /// Centred representatives of residues modulo another prime `p`.
    pub fn recentre(&mut self, a: Row<'_, Coeff>, p: u64, q: &Prime) {
        kernels::recentre(self.words, a.words, p, q);
    }

    /// A conversion's residues modulo one of its targets.
    pub fn convert(&mut self, conversion: &Conversion, target: usize, prepared: &[u64]) {
        conversion.row(self.words, target, prepared);
    }

    pub fn set_image(&mut self, a: Row<'_, Coeff>, under: &Automorphism, q: &Prime) {
        under.coefficients(self.words, a.words, q);
    }
}

impl<'a> RowMut<'a, Eval> {
    /// The coefficients, in place.
    pub fn inverse(self, q: &Prime) -> RowMut<'a, Coeff> {
        q.inverse(self.words);
        RowMut::assume(self.words)
    }

    /// The coefficients times [`Prime::unscaled_factor`], in place: whoever takes them multiplies by a constant anyway.
    pub fn inverse_unscaled(self, q: &Prime) -> RowMut<'a, Coeff> {
        q.inverse_unscaled(self.words);
        RowMut::assume(self.words)
    }

    pub fn multiply(&mut self, other: Row<'_, Eval>, q: &Prime) {
        kernels::multiply_assign(self.words, other.words, q);
    }

    pub fn set_product(&mut self, a: Row<'_, Eval>, b: Row<'_, Eval>, q: &Prime) {
        kernels::multiply(self.words, a.words, b.words, q);
    }

    /// Adds a constant polynomial, which is the same at every root.
    pub fn add_constant(&mut self, constant: u64, q: &Prime) {
        kernels::add_constant(self.words, constant, q);
    }

    pub fn set_image(&mut self, a: Row<'_, Eval>, under: &Automorphism) {
        under.evaluations(self.words, a.words);
    }
}

/// `(a_0 b_0, a_0 b_1 + a_1 b_0, a_1 b_1)`; the square of `a` without `b`.
pub(crate) fn tensor(
    out: [RowMut<'_, Eval>; 3],
    a: [Row<'_, Eval>; 2],
    b: Option<[Row<'_, Eval>; 2]>,
    q: &Prime,
) {
    let (out, a) = (out.map(RowMut::words), a.map(Row::words));
    match b {
        Some(b) => kernels::tensor(out, a, b.map(Row::words), q),
        None => kernels::square_tensor(out, a, q),
    }
}

/// The inner products of `a` with the first and with the second of some pairs.
pub(crate) fn inner_products<'a>(
    out: [RowMut<'_, Eval>; 2],
    a: impl Iterator<Item = Row<'a, Eval>>,
    pairs: impl Iterator<Item = [Row<'a, Eval>; 2]>,
    q: &Prime,
) {
    let a: Vec<&[u64]> = a.map(Row::words).collect();
    let (first, second): (Vec<_>, Vec<_>) = pairs.map(|[x, y]| (x.words, y.words)).unzip();
    kernels::inner_products(out.map(RowMut::words), &a, &first, &second, q);
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
    /// Words that the caller knows to be of this domain, whole rows of them.
    pub fn assume(words: &'a [u64], components: usize, ring_degree: usize) -> Self {
        debug_assert!(words.len().is_multiple_of(components * ring_degree), "rows are whole");
        Self { words, components, ring_degree, domain: PhantomData }
    }

    /// Components of each prime.
    pub fn components(self) -> usize {
        self.components
    }

    /// A component modulo a prime.
    pub fn row(self, prime: usize, component: usize) -> Row<'a, D> {
        let at = (prime * self.components + component) * self.ring_degree;
        Row::assume(&self.words[at..][..self.ring_degree])
    }

    /// All components modulo a prime.
    pub fn rows(self, prime: usize) -> impl ExactSizeIterator<Item = Row<'a, D>> {
        Row::all(self.at(prime), self.ring_degree)
    }

    /// Two components modulo a prime.
    pub fn pair(self, prime: usize) -> [Row<'a, D>; 2] {
        [0, 1].map(|component| self.row(prime, component))
    }

    /// The words of all components modulo a prime, for what treats them alike.
    pub fn at(self, prime: usize) -> &'a [u64] {
        let length = self.components * self.ring_degree;
        &self.words[prime * length..][..length]
    }

    /// One component modulo all primes.
    pub fn component(self, component: usize) -> Component<'a, D> {
        Component { of: self, component }
    }

    /// The same words in another domain, which the caller knows them to be of.
    pub(super) fn assume_domain<E: RowDomain>(self) -> Residues<'a, E> {
        Residues::assume(self.words, self.components, self.ring_degree)
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
        let step = self.of.components * self.of.ring_degree;
        let at = self.component * self.of.ring_degree;
        self.of
            .words
            .chunks_exact(step)
            .map(move |all| Row::assume(&all[at..][..self.of.ring_degree]))
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
