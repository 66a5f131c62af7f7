//! Every scheme with a small set, two key pairs and, where its kind has several, another set; and where the
//! wire forms have what is random. Laws are written over [`Case`] and run by [`on_every_scheme`] and
//! [`on_every_encryption`], each scheme a test of its own.

use std::sync::LazyLock;

use hesc_math::{AesCtrRng, RingIndex, Word, ntt_primes};
use hesc_schemes::rlwe::PlaintextSpace;
use hesc_schemes::rlwe::Spec;
use hesc_schemes::rlwe::{self, SchemeKind};
use hesc_schemes::streams::bitwise::{BitCipher, Bitwise};
use hesc_schemes::streams::elgamal::{Exponents, Ffdhe3072, Ristretto255};
use hesc_schemes::streams::lattice::{Encoding, Lattice};
use hesc_schemes::wire::Kind;
use hesc_schemes::{
    Assurance, Bfv, BitProduct, Ckks, EcElgamal, EcElgamalSecp256r1, Elgamal, Gm, Packing, Pad,
    Plain, Scheme, SchemeError, Simulated, UnipolarElgamal, UnipolarSlots,
};
use rand_core::SeedableRng;

use super::frames::{self, HEADER, TAGGED};

/// Generators of tests are seeded, so that a failure can be repeated.
pub fn rng(seed: u8) -> AesCtrRng {
    AesCtrRng::from_seed([seed; 32])
}

/// One parameter set, its owner, and a stranger with another key pair of the same set.
pub struct Party<S: Scheme> {
    pub scheme: S,
    pub secret: S::SecretKey,
    pub public: S::PublicKey,
    pub stranger: (S::SecretKey, S::PublicKey),
    /// Another set, where there is one.
    pub sibling: Option<S>,
}

impl<S: Scheme> Party<S> {
    fn new((scheme, sibling): (S, Option<S>)) -> Self {
        let rng = &mut rng(100);
        let (secret, public) = scheme.generate_keys(rng);
        let stranger = scheme.generate_keys(rng);
        Self { scheme, secret, public, stranger, sibling }
    }

    /// The same word everywhere.
    pub fn filled(&self, blocks: usize, word: u64) -> Vec<u64> {
        vec![word; blocks * self.scheme.block_length() / 64]
    }

    /// Blocks of the same word under the public key, or the secret one where no other encrypts.
    pub fn encrypt(&self, blocks: usize, word: u64, rng: &mut AesCtrRng) -> S::Ciphertexts {
        self.encrypt_as((&self.secret, &self.public), blocks, word, rng)
    }

    /// The same with keys of another pair.
    pub fn encrypt_as(
        &self,
        (secret, public): (&S::SecretKey, &S::PublicKey),
        blocks: usize,
        word: u64,
        rng: &mut AesCtrRng,
    ) -> S::Ciphertexts {
        let bits = self.filled(blocks, word);
        match self.scheme.encrypt(public, &bits, rng) {
            Err(SchemeError::NotInScheme { .. }) => {
                let seeded = self.scheme.encrypt_seeded(secret, &bits, rng).unwrap();
                self.scheme.expand(&seeded).unwrap()
            }
            fresh => fresh.unwrap(),
        }
    }

    /// Whether whoever has the public key encrypts.
    pub fn encrypts_publicly(&self, rng: &mut AesCtrRng) -> bool {
        let outcome = self.scheme.encrypt(&self.public, &self.filled(1, 0), rng);
        !matches!(outcome, Err(SchemeError::NotInScheme { .. }))
    }

    /// Blocks of the same word under the secret key, which have the least noise.
    pub fn encrypt_secretly(
        &self,
        blocks: usize,
        word: u64,
        rng: &mut AesCtrRng,
    ) -> S::Ciphertexts {
        let bits = self.filled(blocks, word);
        let seeded = self.scheme.encrypt_seeded(&self.secret, &bits, rng).unwrap();
        self.scheme.expand(&seeded).unwrap()
    }
}

/// Keeps positions, or says why the scheme cannot.
pub fn mask_positions<S: Scheme>(
    scheme: &S,
    a: &mut S::Ciphertexts,
    bits: &[u64],
) -> Result<(), SchemeError> {
    let packing = scheme.packing();
    let cannot = SchemeError::PackingCannot { operation: "mask", packing, remedy: "slot" };
    scheme.masking().ok_or(cannot)?.mask_assign(a, bits)
}

/// Sums with weights of a scheme that has them.
pub fn horner<S: Scheme>(
    scheme: &S,
    parts: &[&S::Ciphertexts],
    rows: &[Vec<(usize, usize)>],
    bases: &[u64],
) -> Result<S::Ciphertexts, SchemeError> {
    scheme.weighting().unwrap().horner(parts, rows, bases)
}

/// Reads a batch that is no form for transport alone.
pub fn read_ciphertexts<S: Scheme>(
    scheme: &S,
    frame: &[u8],
) -> Result<S::Ciphertexts, SchemeError> {
    scheme.read(frame)
}

/// Reads a batch from the secret key.
pub fn read_seeded<S: Scheme>(
    scheme: &S,
    frame: &[u8],
) -> Result<S::SeededCiphertexts, SchemeError> {
    scheme.read(frame)
}

/// Reads a compact batch.
pub fn read_compact<S: Scheme>(
    scheme: &S,
    frame: &[u8],
) -> Result<S::CompactCiphertexts, SchemeError> {
    scheme.read(frame)
}

/// Reads a public key.
pub fn read_public_key<S: Scheme>(scheme: &S, frame: &[u8]) -> Result<S::PublicKey, SchemeError> {
    scheme.read(frame)
}

/// What laws must know of a scheme beside its trait: where its frames have what.
pub trait Case: Scheme {
    /// Where a frame of this kind has its number of blocks.
    fn blocks_at(&self, kind: u8) -> usize;
}

/// The same of a scheme that encrypts: what of its frames is random.
pub trait Encryption: Case {
    /// The numbers in a batch that are random each on its own.
    fn parts<'a>(&self, ciphertexts: &'a [u8]) -> Vec<&'a [u8]>;
    /// The same of a batch from the secret key.
    fn seeded_parts<'a>(&self, seeded: &'a [u8]) -> Vec<&'a [u8]>;
    /// The public seeds of a batch from the secret key.
    fn seeds<'a>(&self, seeded: &'a [u8]) -> Vec<&'a [u8]>;
    /// The public seed of a public key.
    fn key_seed<'a>(&self, _public: &'a [u8]) -> Option<&'a [u8]> {
        None
    }
    /// Whether a ciphertext from the secret key is its public seed, its bits and nothing random beside.
    fn seed_says_all(&self) -> bool {
        false
    }
}

/// Where a seed lies behind a tag and, in a batch, the number of blocks.
fn seed_at(frame: &[u8], at: usize) -> &[u8] {
    &frame[at..at + 32]
}

/// The residues of whole polynomials, row after row.
fn rows<'a>(body: &'a [u8], ring_degree: usize, moduli: &[u64]) -> Vec<&'a [u8]> {
    let sizes = moduli.iter().map(|q| ring_degree * (q.ilog2() as usize + 1) / 8).cycle();
    let mut rest = body;
    let mut rows = Vec::new();
    for size in sizes {
        if rest.is_empty() {
            break;
        }
        let (row, behind) = rest.split_at(size);
        rows.push(row);
        rest = behind;
    }
    rows
}

impl<W: Word, E: Encoding<W>> Case for Lattice<W, E> {
    fn blocks_at(&self, kind: u8) -> usize {
        // Noise and scale lie before.
        if kind == Kind::Ciphertexts as u8 { TAGGED + 16 } else { TAGGED }
    }
}

impl<C: BitCipher> Case for Bitwise<C> {
    fn blocks_at(&self, kind: u8) -> usize {
        // The bound on counts lies before.
        if kind == Kind::Ciphertexts as u8 { TAGGED + 8 } else { TAGGED }
    }
}

impl Case for UnipolarSlots {
    fn blocks_at(&self, _kind: u8) -> usize {
        // Each ciphertext has its own tag.
        HEADER
    }
}

macro_rules! blocks_behind_the_tag {
    ($($(#[$when:meta])* $scheme:ty),*) => {
        $(
            $(#[$when])*
            impl Case for $scheme {
                fn blocks_at(&self, _kind: u8) -> usize {
                    TAGGED
                }
            }
        )*
    };
}
blocks_behind_the_tag!(
    Pad,
    Plain,
    Simulated,
    #[cfg(feature = "tfhe")]
    hesc_schemes::Tfhe
);

impl<W: Word, E: Encoding<W>> Encryption for Lattice<W, E> {
    fn parts<'a>(&self, ciphertexts: &'a [u8]) -> Vec<&'a [u8]> {
        let spec = self.spec();
        rows(frames::body(ciphertexts, TAGGED + 20), spec.ring_degree(), &spec.coeff_moduli)
    }

    fn seeded_parts<'a>(&self, seeded: &'a [u8]) -> Vec<&'a [u8]> {
        let spec = self.spec();
        rows(frames::body(seeded, TAGGED + 36), spec.ring_degree(), &spec.coeff_moduli)
    }

    fn seeds<'a>(&self, seeded: &'a [u8]) -> Vec<&'a [u8]> {
        vec![seed_at(seeded, TAGGED + 4)]
    }

    fn key_seed<'a>(&self, public: &'a [u8]) -> Option<&'a [u8]> {
        Some(seed_at(public, TAGGED))
    }
}

impl<C: BitCipher> Encryption for Bitwise<C> {
    fn parts<'a>(&self, ciphertexts: &'a [u8]) -> Vec<&'a [u8]> {
        let size = element_bytes(self.cipher());
        let start = TAGGED + 12 + self.cipher().context_bytes();
        frames::body(ciphertexts, start).chunks_exact(size).collect()
    }

    fn seeded_parts<'a>(&self, seeded: &'a [u8]) -> Vec<&'a [u8]> {
        // Goldwasser and Micali's two words a block, or an element a bit.
        let cipher = self.cipher();
        let parts = if cipher.name() == "gm" { 2 } else { 64 };
        let start = TAGGED + 36 + cipher.context_bytes();
        frames::body(seeded, start).chunks_exact(cipher.seeded_block_bytes() / parts).collect()
    }

    fn seeds<'a>(&self, seeded: &'a [u8]) -> Vec<&'a [u8]> {
        vec![seed_at(seeded, TAGGED + 4)]
    }

    fn seed_says_all(&self) -> bool {
        // An encrypted zero of the multiplicative scheme is a random element.
        self.cipher().name() != "unipolar_elgamal"
    }
}

/// Bytes of one residue or point.
pub fn element_bytes<C: BitCipher>(cipher: &C) -> usize {
    cipher.block_bytes() / if cipher.name() == "gm" { 64 } else { 128 }
}

impl Encryption for UnipolarSlots {
    fn parts<'a>(&self, ciphertexts: &'a [u8]) -> Vec<&'a [u8]> {
        // Level, parts, factor and five numbers of noise; then the parts of each row.
        unipolar_rows(self, ciphertexts, TAGGED + 54, 2)
    }

    fn seeded_parts<'a>(&self, seeded: &'a [u8]) -> Vec<&'a [u8]> {
        unipolar_rows(self, seeded, TAGGED + 77, 1)
    }

    fn seeds<'a>(&self, seeded: &'a [u8]) -> Vec<&'a [u8]> {
        frames::nested(seeded).into_iter().map(|block| seed_at(block, TAGGED + 1)).collect()
    }

    fn key_seed<'a>(&self, public: &'a [u8]) -> Option<&'a [u8]> {
        Some(seed_at(public, TAGGED))
    }
}

/// The rows of the ciphertexts in a batch.
fn unipolar_rows<'a>(
    scheme: &UnipolarSlots,
    batch: &'a [u8],
    start: usize,
    parts: usize,
) -> Vec<&'a [u8]> {
    let spec = scheme.spec();
    let moduli: Vec<u64> = spec.coeff_moduli.iter().flat_map(|&q| vec![q; parts]).collect();
    let blocks = frames::nested(batch).into_iter();
    blocks.flat_map(|block| rows(frames::body(block, start), spec.ring_degree(), &moduli)).collect()
}

#[cfg(feature = "tfhe")]
impl Encryption for hesc_schemes::Tfhe {
    fn parts<'a>(&self, ciphertexts: &'a [u8]) -> Vec<&'a [u8]> {
        frames::body(ciphertexts, TAGGED + 21).chunks_exact(8 * self.spec().ring_degree).collect()
    }

    fn seeded_parts<'a>(&self, seeded: &'a [u8]) -> Vec<&'a [u8]> {
        frames::body(seeded, TAGGED + 36).chunks_exact(8 * self.spec().ring_degree).collect()
    }

    fn seeds<'a>(&self, seeded: &'a [u8]) -> Vec<&'a [u8]> {
        vec![seed_at(seeded, TAGGED + 4)]
    }

    fn key_seed<'a>(&self, public: &'a [u8]) -> Option<&'a [u8]> {
        Some(seed_at(public, TAGGED))
    }
}

/// A set of a lattice scheme with primes of so many bits.
pub fn spec(ring_degree: usize, bits: &[u32], packing: Packing, plaintext: PlaintextSpace) -> Spec {
    let mut coeff_moduli: Vec<u64> = Vec::new();
    for &bits in bits {
        let primes = ntt_primes(bits, ring_degree, bits.min(4) as usize).unwrap();
        coeff_moduli.extend(primes.into_iter().find(|q| !coeff_moduli.contains(q)));
    }
    Spec::streams(ring_degree, coeff_moduli, packing, plaintext).unwrap()
}

pub fn integers(plain_modulus: u64) -> PlaintextSpace {
    PlaintextSpace::Integers { plain_modulus }
}

pub fn approximate(bits: i32) -> PlaintextSpace {
    PlaintextSpace::Approximate { scale: 2f64.powi(bits) }
}

/// A set of BFV with multiplication.
pub fn unipolar(ring_degree: usize, primes: usize) -> rlwe::Spec {
    rlwe::Spec {
        scheme: SchemeKind::Bfv,
        ring: RingIndex::power_of_two(ring_degree).unwrap(),
        coeff_moduli: ntt_primes(43, ring_degree, primes).unwrap(),
        special_moduli: Vec::new(),
        plaintext: integers(65537),
        bound: 1.0,
        packing: None,
        levels: Vec::new(),
    }
}

#[cfg(feature = "tfhe")]
pub fn small_tfhe(lwe_dimension: usize) -> hesc_schemes::Tfhe {
    use hesc_schemes::streams::tfhe::{Decomposition, Spec, Tfhe};
    let digits = |base_log, levels| Decomposition { base_log, levels };
    let spec = Spec {
        ring_degree: 512,
        lwe_dimension,
        log2_ring_noise: -50.0,
        log2_lwe_noise: -30.0,
        bootstrap: digits(23, 1),
        keyswitch: digits(3, 5),
        packing: digits(16, 1),
    };
    Tfhe::new(spec, Assurance::Insecure).unwrap()
}

fn bfv<W: Word>(degree: usize, bits: &[u32], packing: Packing, t: u64) -> Bfv<W> {
    Bfv::new(spec(degree, bits, packing, integers(t)), Assurance::Insecure).unwrap()
}

fn ckks<W: Word>(degree: usize, bits: &[u32], packing: Packing, scale: i32) -> Ckks<W> {
    Ckks::new(spec(degree, bits, packing, approximate(scale)), Assurance::Insecure).unwrap()
}

fn unipolar_bfv(primes: usize) -> UnipolarSlots {
    UnipolarSlots::new(unipolar(1024, primes), Assurance::Insecure).unwrap()
}

/// The same by BGV.
pub fn unipolar_bgv(ring_degree: usize, primes: usize) -> UnipolarSlots {
    let spec = rlwe::Spec { scheme: SchemeKind::Bgv, ..unipolar(ring_degree, primes) };
    UnipolarSlots::new(spec, Assurance::Insecure).unwrap()
}

/// Binary slots of an odd ring.
pub fn unipolar_binary(index: usize, primes: usize) -> UnipolarSlots {
    let ring = RingIndex::new(index).unwrap();
    let spec = rlwe::Spec {
        scheme: SchemeKind::Bgv,
        ring,
        coeff_moduli: ring.ntt_primes_of_bits(&vec![43; primes], 1).unwrap(),
        plaintext: integers(2),
        ..unipolar(1024, 1)
    };
    UnipolarSlots::new(spec, Assurance::Insecure).unwrap()
}

fn simulated(product: BitProduct) -> (Simulated, Option<Simulated>) {
    let of_length = |length| Simulated::new(length, product).unwrap();
    (of_length(128), Some(of_length(192)))
}

/// The parties, each made once, and the macros that make a test of a law for each of them.
macro_rules! parties {
    (
        lattices { $($(#[$torus:meta])* $lattice:ident: $lattice_scheme:ty = $of_lattice:expr;)* }
        others { $($other:ident: $other_scheme:ty = $of_other:expr;)* }
        clear { $($clear:ident: $clear_scheme:ty = $of_clear:expr;)* }
    ) => {
        $(party! { $(#[$torus])* $lattice: $lattice_scheme = $of_lattice })*
        $(party! { $other: $other_scheme = $of_other })*
        $(party! { $clear: $clear_scheme = $of_clear })*

        /// Makes a test of this law for each scheme whose noise can be seen.
        macro_rules! on_every_lattice {
            ($law:ident) => {
                mod $law {
                    $(law! { $(#[$torus])* $law of $lattice })*
                }
            };
        }

        /// The same for each scheme that encrypts.
        macro_rules! on_every_encryption {
            ($law:ident) => {
                mod $law {
                    $(law! { $(#[$torus])* $law of $lattice })*
                    $(law! { $law of $other })*
                }
            };
        }

        /// The same for each scheme.
        macro_rules! on_every_scheme {
            ($law:ident) => {
                mod $law {
                    $(law! { $(#[$torus])* $law of $lattice })*
                    $(law! { $law of $other })*
                    $(law! { $law of $clear })*
                }
            };
        }
    };
}

macro_rules! party {
    ($(#[$when:meta])* $name:ident: $scheme:ty = $make:expr) => {
        $(#[$when])*
        pub fn $name() -> &'static Party<$scheme> {
            static PARTY: LazyLock<Party<$scheme>> = LazyLock::new(|| Party::new($make));
            &PARTY
        }
    };
}

macro_rules! law {
    ($(#[$when:meta])* $law:ident of $name:ident) => {
        $(#[$when])*
        #[test]
        fn $name() {
            super::$law($crate::streams::parties::$name());
        }
    };
}

parties! {
    lattices {
        bfv_coefficients: Bfv<u32> = {
            let of = |t| bfv(1024, &[26], Packing::Coefficients, t);
            (of(27), Some(of(28)))
        };
        bfv_slots: Bfv<u32> = {
            let of = |bits: &[u32]| bfv(2048, bits, Packing::Slots, 12289);
            (of(&[26, 27]), Some(of(&[27, 27])))
        };
        bfv_wide_slots: Bfv<u64> = {
            // Fewer bits of room than a double has, so that the smallest noise still counts.
            let of = |bits: &[u32]| bfv(2048, bits, Packing::Slots, 12289);
            (of(&[33, 33]), Some(of(&[34, 34])))
        };
        ckks_coefficients: Ckks<u32> = {
            let of = |scale| ckks(2048, &[27, 27], Packing::Coefficients, scale);
            (of(38), Some(of(37)))
        };
        ckks_complex_slots: Ckks<u32> = {
            let of = |scale| ckks(1024, &[26], Packing::ComplexSlots, scale);
            (of(22), Some(of(21)))
        };
        ckks_wide_slots: Ckks<u64> = {
            let of = |scale| ckks(2048, &[29, 29], Packing::Slots, scale);
            (of(23), Some(of(24)))
        };
        #[cfg(feature = "tfhe")]
        torus: hesc_schemes::Tfhe = (small_tfhe(64), Some(small_tfhe(65)));
    }
    others {
        goldwasser_micali: Gm = {
            let of = |bits| Gm::new(bits, Assurance::Insecure).unwrap();
            (of(2048), Some(of(3072)))
        };
        elgamal: Elgamal = {
            let of = |exponents| Elgamal::over(Ffdhe3072::new(exponents), 16).unwrap();
            (of(Exponents::Short), Some(of(Exponents::Full)))
        };
        ec_elgamal: EcElgamal = {
            let of = |max| EcElgamal::new(max).unwrap();
            (of(16), Some(of(17)))
        };
        ec_elgamal_secp256r1: EcElgamalSecp256r1 = {
            let of = |max| EcElgamalSecp256r1::new(max).unwrap();
            (of(16), Some(of(17)))
        };
        unipolar_elgamal: UnipolarElgamal<Ristretto255> = (UnipolarElgamal::over(Ristretto255), None);
        unipolar_bfv_slots: UnipolarSlots = (unipolar_bfv(3), Some(unipolar_bfv(4)));
        unipolar_bgv_slots: UnipolarSlots = (unipolar_bgv(1024, 3), Some(unipolar_bgv(1024, 4)));
        unipolar_binary_slots: UnipolarSlots = {
            (unipolar_binary(1285, 3), Some(unipolar_binary(1285, 4)))
        };
    }
    clear {
        plain: Plain = {
            let of = |t| Plain::new(128, t).unwrap();
            (of(11), Some(of(12)))
        };
        pad: Pad = (Pad::new(128).unwrap(), Some(Pad::new(192).unwrap()));
        simulated_exclusive_or: Simulated = simulated(BitProduct::ExclusiveOr);
        simulated_conjunction: Simulated = simulated(BitProduct::Conjunction);
    }
}
