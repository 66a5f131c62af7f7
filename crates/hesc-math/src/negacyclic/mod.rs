//! Transforms of power-of-two rings. They are `tfhe-ntt`'s where that is fastest, which takes all instructions
//! that the processor has: with AVX-512, and on words of 32 bits with AVX2. Ours take those of [`hesc_kernels`],
//! and give the same results in the same order.

mod arithmetic;
mod layers;

use hesc_kernels::{Kernels, at_least, best, vectorised};
use tfhe_ntt::{prime32, prime64};

use crate::Modulus;
use arithmetic::{Doubles, Words32, Words64};
use layers::{Arithmetic, Root, Roots};

/// Moduli below this power of two fit [`Doubles`].
const DOUBLE_BITS: u32 = 50;

/// Roots of one modulus, for one form of residues.
#[derive(Debug, Clone)]
pub struct Tables<A, W> {
    arithmetic: A,
    roots: Roots<W>,
    inverse_roots: Roots<W>,
    /// The inverse of the degree.
    inverse_degree: Root<W>,
}

impl<A: Arithmetic<Word = W>, W: Copy + Default> Tables<A, W> {
    /// For the ring of degree `n`, with the `2n`-th root of unity whose powers values are taken at.
    fn new(n: usize, root: u64, q: u64, arithmetic: A, word: impl Fn(u64) -> W) -> Self {
        let modulus = Modulus::new(q);
        let powers = |root: u64| {
            let mut powers = vec![W::default(); n];
            let mut power = 1;
            for i in 0..n {
                powers[i.reverse_bits() >> (usize::BITS - n.ilog2())] = word(power);
                power = modulus.mul(power, root);
            }
            Roots::new(&powers, arithmetic)
        };
        Self {
            arithmetic,
            roots: powers(root),
            inverse_roots: powers(modulus.inverse(root)),
            inverse_degree: arithmetic.root(word(modulus.inverse(n as u64))),
        }
    }

    #[inline(always)]
    fn multiply_scaled(&self, a: &mut [W], b: &[W]) {
        let f = self.arithmetic;
        for (x, &y) in a.iter_mut().zip(b) {
            *x = f.leave(f.scale(f.product(f.enter(*x), f.enter(y)), self.inverse_degree));
        }
    }

    #[inline(always)]
    fn scale(&self, a: &mut [W]) {
        let f = self.arithmetic;
        for x in a {
            *x = f.leave(f.scale(f.enter(*x), self.inverse_degree));
        }
    }
}

/// The loops of one arithmetic, compiled for all kernels.
macro_rules! compiled {
    ($module:ident, $arithmetic:ident, $word:ident) => {
        mod $module {
            use super::*;

            pub type Own = Tables<$arithmetic, $word>;

            vectorised! {
                pub fn forward(plan: &Own, a: &mut [$word]) {
                    layers::forward(a, &plan.roots, plan.arithmetic);
                }

                pub fn inverse(plan: &Own, a: &mut [$word]) {
                    layers::inverse(a, &plan.inverse_roots, plan.arithmetic);
                }

                pub fn multiply_scaled(plan: &Own, a: &mut [$word], b: &[$word]) {
                    plan.multiply_scaled(a, b);
                }

                pub fn scale(plan: &Own, a: &mut [$word]) {
                    plan.scale(a);
                }
            }
        }
    };
}

compiled!(doubles, Doubles, u64);
compiled!(words32, Words32, u32);
compiled!(words64, Words64, u64);

macro_rules! plans {
    ($module:ident, $word:ident, $library:ident from $least:ident, $words:ident, $arithmetic:ident $(, $doubles:ident)?) => {
        pub mod $module {
            use super::*;

            /// The transform of one ring modulo one prime.
            #[derive(Debug, Clone)]
            pub enum Plan {
                /// `tfhe-ntt`'s.
                Library(Box<$library::Plan>),
                /// On words.
                Words(Box<$words::Own>),
                $(
                    /// On doubles.
                    Doubles(Box<$doubles::Own>),
                )?
            }

            impl Plan {
                /// The transform that is best with the kernels of this process, or `None` if the modulus is no prime
                /// of the ring.
                pub fn new(n: usize, q: $word) -> Option<Self> {
                    if at_least(best().max(Kernels::$least)) || n < layers::TILE {
                        return Some(Self::Library(Box::new($library::Plan::try_new(n, q)?)));
                    }
                    let root = root(n, q)?;
                    $(
                        if at_least(Kernels::Avx2) && q >> DOUBLE_BITS == 0 {
                            let form = Doubles::new(q);
                            let tables: $doubles::Own = Tables::new(n, root, q, form, |x| x);
                            return Some(Self::Doubles(Box::new(tables)));
                        }
                    )?
                    Some(Self::words(n, root, q))
                }

                fn words(n: usize, root: u64, q: $word) -> Self {
                    let word = |x| x as $word;
                    let arithmetic = $arithmetic::new(q);
                    Self::Words(Box::new(Tables::new(n, root, u64::from(q), arithmetic, word)))
                }

                /// Coefficients to evaluations, in place.
                pub fn forward(&self, a: &mut [$word]) {
                    match self {
                        Self::Library(plan) => plan.fwd(a),
                        Self::Words(plan) => $words::forward(plan, a),
                        $(Self::Doubles(plan) => $doubles::forward(plan, a),)?
                    }
                }

                /// Evaluations to coefficients times the degree, in place.
                pub fn inverse(&self, a: &mut [$word]) {
                    match self {
                        Self::Library(plan) => plan.inv(a),
                        Self::Words(plan) => $words::inverse(plan, a),
                        $(Self::Doubles(plan) => $doubles::inverse(plan, a),)?
                    }
                }

                /// The pointwise product over the degree, in `a`.
                pub fn multiply_scaled(&self, a: &mut [$word], b: &[$word]) {
                    match self {
                        Self::Library(plan) => plan.mul_assign_normalize(a, b),
                        Self::Words(plan) => $words::multiply_scaled(plan, a, b),
                        $(Self::Doubles(plan) => $doubles::multiply_scaled(plan, a, b),)?
                    }
                }

                /// All places over the degree.
                pub fn scale(&self, a: &mut [$word]) {
                    match self {
                        Self::Library(plan) => plan.normalize(a),
                        Self::Words(plan) => $words::scale(plan, a),
                        $(Self::Doubles(plan) => $doubles::scale(plan, a),)?
                    }
                }
            }

            /// The root of unity whose powers `tfhe-ntt` takes values at: its first value of X.
            fn root(n: usize, q: $word) -> Option<u64> {
                let library = $library::Plan::try_new(n, q)?;
                let mut x = vec![0; n];
                x[1] = 1;
                library.fwd(&mut x);
                Some(x[0].into())
            }

            #[cfg(test)]
            mod tests {
                use super::*;
                use crate::ntt_primes;
                use crate::ring::definition::random;

                /// With roots of all primes near powers of two, largest residues among them.
                #[test]
                fn all_ways_agree() {
                    for n in [256usize, 512, 2048, 4096] {
                        for bits in [20, 27, 30, 31, 40, 45, 49, 50, 52, 55, 60, 62] {
                            if bits > $word::BITS.min(62) - ($word::BITS == 32) as u32 {
                                continue;
                            }
                            let q = ntt_primes(bits, n, 1).unwrap()[0] as $word;
                            let root = root(n, q).unwrap();
                            let library = Plan::Library(Box::new($library::Plan::try_new(n, q).unwrap()));
                            let others = [
                                Some(Plan::words(n, root, q)),
                                $((bits <= DOUBLE_BITS).then(|| {
                                    let form = Doubles::new(q);
                                    let tables: $doubles::Own = Tables::new(n, root, q, form, |x| x);
                                    Plan::Doubles(Box::new(tables))
                                }),)?
                            ];
                            let word = |x: u64| x as $word;
                            let residues = |seed| -> Vec<$word> {
                                random(n, q.into(), seed).into_iter().map(word).collect()
                            };
                            let peaks = |seed| {
                                let place = |x: u64| [0, 1, q / 2, q - 1][(x % 4) as usize];
                                random(n, 1 << 20, seed).into_iter().map(place).collect()
                            };
                            let all = [residues(1), vec![q - 1; n], peaks(3), vec![1; n], vec![0; n]];
                            for (a, other) in all.iter().flat_map(|a| others.iter().flatten().map(move |o| (a, o))) {
                                let ways = |change: &dyn Fn(&Plan, &mut [$word])| {
                                    let [mut x, mut y] = [a.clone(), a.clone()];
                                    change(&library, &mut x);
                                    change(other, &mut y);
                                    assert_eq!(x, y, "{n} {q}");
                                };
                                ways(&|plan, a| plan.forward(a));
                                ways(&|plan, a| plan.inverse(a));
                                ways(&|plan, a| plan.scale(a));
                                ways(&|plan, a| plan.multiply_scaled(a, &residues(5)));
                                ways(&|plan, a| plan.multiply_scaled(a, &vec![q - 1; n]));
                            }
                        }
                    }
                }
            }
        }
    };
}

plans!(u32, u32, prime32 from Avx2, words32, Words32);
plans!(u64, u64, prime64 from Avx512, words64, Words64, doubles);
