//! Polynomials modulo several primes, with their memory. What they are, coefficients or evaluations, is a type, and
//! conversions consume them: whoever has evaluations in hand has transformed the coefficients.

use std::marker::PhantomData;

use hesc_math::ring::Coeff;
use hesc_math::rns::Conversion;
use zeroize::Zeroizing;

use super::buffer::Buffer;
use super::parallel;
use super::residues::{
    Blank, Residues, Row, RowDomain, RowMut, RowsMut, Scratch, Stored, in_place,
};

/// Polynomials modulo several primes: for each prime the components side by side, in memory of the pool or of another
/// owner `S`.
///
/// Loops over rows or primes take a body that is given each of them once, and has to give back the same in the domain
/// of the result. `scratch` is a number of rows that each thread has to work in.
#[derive(Debug, Clone)]
pub(crate) struct Polys<D: RowDomain, S = Buffer> {
    words: S,
    components: usize,
    ring_degree: usize,
    domain: PhantomData<D>,
}

/// `c_0 + c_1 s + ...`, wiped on drop.
pub(crate) type Phase = Polys<Stored, Zeroizing<Vec<u64>>>;

impl Polys<Blank> {
    /// Memory of the pool.
    pub fn take(primes: usize, components: usize, ring_degree: usize) -> Self {
        Self::over(Buffer::take(primes * components * ring_degree), components, ring_degree)
    }
}

impl<S: AsRef<[u64]>> Polys<Blank, S> {
    /// Memory that is to be written.
    pub fn over(words: S, components: usize, ring_degree: usize) -> Self {
        Self::new(words, components, ring_degree)
    }
}

impl<D: RowDomain> Polys<D, Vec<u64>> {
    /// Zeros, which are the same in every domain.
    pub fn zeros(primes: usize, components: usize, ring_degree: usize) -> Self {
        Self::new(vec![0; primes * components * ring_degree], components, ring_degree)
    }
}

impl<D: RowDomain, S: AsRef<[u64]>> Polys<D, S> {
    /// Words that the caller knows to be of this domain, whole rows of them.
    pub fn assume(words: S, components: usize, ring_degree: usize) -> Self {
        Self::new(words, components, ring_degree)
    }

    fn new(words: S, components: usize, ring_degree: usize) -> Self {
        let length = words.as_ref().len();
        assert!(length.is_multiple_of(components * ring_degree), "rows are whole");
        Self { words, components, ring_degree, domain: PhantomData }
    }

    /// All of them, to be read.
    pub fn residues(&self) -> Residues<'_, D> {
        Residues::new(self.words.as_ref(), self.components, self.ring_degree)
    }

    /// Polynomials for each prime.
    pub fn components(&self) -> usize {
        self.components
    }

    /// A component modulo a prime.
    pub fn row(&self, prime: usize, component: usize) -> Row<'_, D> {
        self.residues().row(prime, component)
    }

    /// Words of all.
    pub fn len(&self) -> usize {
        self.words.as_ref().len()
    }

    /// The words, prime after prime, in each component after component.
    pub fn into_words(self) -> S {
        self.words
    }

    /// The words of [`Self::into_words`].
    pub fn words(&self) -> &[u64] {
        self.words.as_ref()
    }

    /// The same words, all of which have been brought to another domain.
    fn in_domain<E: RowDomain>(self) -> Polys<E, S> {
        let Self { words, components, ring_degree, .. } = self;
        Polys { words, components, ring_degree, domain: PhantomData }
    }
}

impl<D: RowDomain, S: AsRef<[u64]> + AsMut<[u64]>> Polys<D, S> {
    /// Every row in another domain: `body(scratch, prime, component, row)`.
    #[must_use]
    pub fn map_rows<E: RowDomain>(
        mut self,
        scratch: usize,
        body: impl for<'r> Fn(Scratch<'_>, usize, usize, RowMut<'r, D>) -> RowMut<'r, E> + Send + Sync,
    ) -> Polys<E, S> {
        let (n, components) = (self.ring_degree, self.components);
        let row = |scratch: &mut [u64], index: usize, words: &mut [u64]| {
            let (prime, component) = (index / components, index % components);
            in_place(words, |words| {
                body(Scratch::new(scratch, n), prime, component, RowMut::new(words)).words()
            });
        };
        parallel::for_each_chunk(self.words.as_mut(), n, scratch * n, &row);
        self.in_domain()
    }

    /// [`Self::map_rows`] for two components after two, `body(scratch, prime, pair, rows)`.
    #[must_use]
    pub fn map_pairs<E: RowDomain>(
        mut self,
        scratch: usize,
        body: impl for<'r> Fn(Scratch<'_>, usize, usize, [RowMut<'r, D>; 2]) -> [RowMut<'r, E>; 2]
        + Send
        + Sync,
    ) -> Polys<E, S> {
        let (n, pairs) = (self.ring_degree, self.components / 2);
        assert_eq!(self.components, 2 * pairs, "components are pairs");
        let pair = |scratch: &mut [u64], index: usize, words: &mut [u64]| {
            let rows = RowsMut::new(words, n);
            let starts = rows.starts();
            let changed =
                body(Scratch::new(scratch, n), index / pairs, index % pairs, rows.split());
            assert_eq!(starts, changed.map(|row| row.start()), "rows are changed in their place");
        };
        parallel::for_each_chunk(self.words.as_mut(), 2 * n, scratch * n, &pair);
        self.in_domain()
    }

    /// [`Self::map_rows`] for all components modulo a prime, `body(scratch, prime, rows)`.
    #[must_use]
    pub fn map_primes<E: RowDomain>(
        mut self,
        scratch: usize,
        body: impl for<'r> Fn(Scratch<'_>, usize, RowsMut<'r, D>) -> RowsMut<'r, E> + Send + Sync,
    ) -> Polys<E, S> {
        let (n, length) = (self.ring_degree, self.components * self.ring_degree);
        parallel::for_each_chunk(self.words.as_mut(), length, scratch * n, &one_prime(n, body));
        self.in_domain()
    }

    /// [`Self::map_primes`] for a pass of arithmetic, which waits for memory: on several threads only where there is much
    /// of it.
    #[must_use]
    pub fn map_primes_in_pass<E: RowDomain>(
        mut self,
        scratch: usize,
        body: impl for<'r> Fn(Scratch<'_>, usize, RowsMut<'r, D>) -> RowsMut<'r, E> + Send + Sync,
    ) -> Polys<E, S> {
        let (n, length) = (self.ring_degree, self.components * self.ring_degree);
        parallel::for_each_pass(self.words.as_mut(), length, scratch * n, &one_prime(n, body));
        self.in_domain()
    }

    /// Modulo the first primes, and modulo the others.
    pub fn split_primes(&mut self, primes: usize) -> [Polys<D, &mut [u64]>; 2] {
        let (components, n) = (self.components, self.ring_degree);
        let (first, others) = self.words.as_mut().split_at_mut(primes * components * n);
        [first, others].map(|words| Polys::new(words, components, n))
    }
}

/// What a loop over primes does with the words of one.
fn one_prime<D: RowDomain, E: RowDomain>(
    ring_degree: usize,
    body: impl for<'r> Fn(Scratch<'_>, usize, RowsMut<'r, D>) -> RowsMut<'r, E> + Send + Sync,
) -> impl Fn(&mut [u64], usize, &mut [u64]) + Send + Sync {
    move |scratch, prime, words| {
        in_place(words, |words| {
            let scratch = Scratch::new(scratch, ring_degree);
            body(scratch, prime, RowsMut::new(words, ring_degree)).words()
        });
    }
}

/// What a conversion has prepared of several polynomials.
pub(crate) struct Prepared {
    words: Buffer,
    each: usize,
}

impl Prepared {
    /// What is prepared of one of them.
    pub fn of(&self, polynomial: usize) -> &[u64] {
        &self.words[polynomial * self.each..][..self.each]
    }
}

impl Residues<'_, Coeff> {
    /// All components prepared for a conversion from these primes.
    pub fn prepare(self, conversion: &Conversion) -> Prepared {
        let n = self.ring_degree();
        let (block, each) = (conversion.block_words(n), conversion.prepared_words(n));
        let blocks = each / block;
        let mut words = Buffer::take(self.components() * each);
        parallel::for_each_chunk(&mut words, block, 0, &|_: &mut [u64], index, out: &mut [u64]| {
            let (component, block) = (index / blocks, index % blocks);
            conversion.prepare_block(out, block, |prime| self.row(prime, component).words());
        });
        Prepared { words, each }
    }
}
