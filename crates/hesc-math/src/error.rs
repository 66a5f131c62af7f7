/// What [`crate::Ring`], [`crate::ntt_primes`] and the generator refuse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MathError {
    /// The ring degree is no power of two, or outside the supported range.
    #[error(
        "ring degree {ring_degree} is not a power of two in [{min}, {max}]; choose one that is"
    )]
    RingDegree {
        /// The degree asked for.
        ring_degree: usize,
        /// Smallest supported degree.
        min: usize,
        /// Largest supported degree.
        max: usize,
    },
    /// There is no ring of this index here.
    #[error(
        "ring index {index} is neither a power of two from 512 to {} nor odd, squarefree and of degree at \
         most {max}; choose one that is",
        2 * max
    )]
    RingIndex {
        /// The index asked for.
        index: usize,
        /// Largest supported degree.
        max: usize,
    },
    /// A modulus has no transform in this ring, or does not fit its word.
    #[error(
        "modulus {modulus} is not a prime below 2^{max_bits} with modulus = 1 (mod {step}); \
         take moduli from `ntt_primes`"
    )]
    Modulus {
        /// The modulus asked for.
        modulus: u64,
        /// The word's limit, in bits.
        max_bits: u32,
        /// What primes of the ring are 1 modulo: twice the degree of a power-of-two ring.
        step: u64,
    },
    /// A modulus for which transforms would be wrong.
    #[error(
        "modulus {modulus} has 51 bits: the transforms that we build on are wrong modulo some of these on \
         machines with AVX-512; take primes of 50 or of 52 bits"
    )]
    WrongTransform {
        /// The modulus asked for.
        modulus: u64,
    },
    /// The same modulus occurs twice in a basis.
    #[error("modulus {modulus} occurs twice; the moduli of a ring must be distinct")]
    RepeatedModulus {
        /// The modulus that occurs twice.
        modulus: u64,
    },
    /// A ring needs at least one modulus.
    #[error("a ring needs at least one modulus; got none")]
    NoModulus,
    /// There are not enough primes of that size.
    #[error(
        "found {found} of {wanted} primes of {bits} bits that are 1 (mod {step}); ask for larger \
         or fewer primes"
    )]
    NotEnoughPrimes {
        /// Bits asked for.
        bits: u32,
        /// What primes of the ring are 1 modulo: twice the degree of a power-of-two ring.
        step: u64,
        /// Number asked for.
        wanted: usize,
        /// Number found.
        found: usize,
    },
    /// Slots of more coordinates than there are tables for.
    #[error(
        "slots would have {degree} coordinates each, more than {most}; take an index or a plaintext modulus with more \
         and smaller slots"
    )]
    SlotDegree {
        /// Coordinates of a slot.
        degree: usize,
        /// The most.
        most: usize,
    },
    /// There is no extension of the integers modulo this prime power by a root of unity of this order.
    #[error(
        "no Galois ring modulo {prime}^{power} has a root of unity of order {index} here; choose a prime that does \
         not divide the order, a power of at least 1 below 2^56, and an order that divides prime^d - 1 for a d up \
         to 1024"
    )]
    GaloisRing {
        /// The order of the root of unity.
        index: u64,
        /// The prime.
        prime: u64,
        /// Its power.
        power: u32,
    },
    /// No modulus for residues of thousands of bits.
    #[error("a modulus of {bits} bits (odd: {odd}) is not usable; give an odd one of 512 to 8192")]
    WideModulus {
        /// Its size.
        bits: u32,
        /// Whether it is odd.
        odd: bool,
    },
    /// A number that is no residue other than zero.
    #[error("a number is zero or not below the modulus; give a reduced residue")]
    Residue,
    /// The operating system gave no randomness.
    #[error("the operating system's random generator failed; keys cannot be made without it")]
    NoEntropy,
}
