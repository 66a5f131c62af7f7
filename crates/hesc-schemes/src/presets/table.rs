//! The table. Single primes are those of the paper or the largest that fit; runs of bits stand for the
//! largest primes of that size. All together fill the modulus that the standard allows for 128 bits.

use super::{Numbers, Preset, Runs, Set, Vectors};
use crate::Assurance::{self, Guidelines2024, HeStd2018, Insecure};
use crate::rlwe::Packing::{self, Coefficients, ComplexSlots, Slots};
use crate::rlwe::PlaintextSpace;
use crate::rlwe::SchemeKind;
use crate::streams::classical_sets::GroupName;

/// Every preset, those to start with first among their like.
#[rustfmt::skip] // A row a line.
pub static PRESETS: [Preset; 72] = [
    // Blocks of bits that add.
    bits("bfv_1024", 1024, &[67104769], Coefficients, modulo(2), "Parity alone survives: the key owner sees no counts. Smallest noise."),
    bits("bfv_1024_fusion", 1024, &[67104769], Coefficients, modulo(32), "Room for fusion: three products as digits of base 3."),
    bits("bfv_2048_slots", 2048, &[67043329, 134176769], Slots, modulo(12289), "Slots: products with masks, hence multiplexed sums."),
    bits("ckks_1024", 1024, &[67104769], Coefficients, scaled(21), "Counts as approximate numbers, one in each coefficient."),
    bits("ckks_1024_slots", 1024, &[67104769], ComplexSlots, scaled(21), "As koseki2022hesc packs: two bits in each complex slot."),
    bits("ckks_2048", 2048, &[67043329, 134176769], ComplexSlots, scaled(24), "Two bits in each complex slot, and room for many additions."),
    bits("hestd2018_koseki_bfv_1024", 1024, &[134215681], Slots, modulo(12289), "koseki2022hesc, section 4: 27 bits.").reaching(HeStd2018),
    bits("hestd2018_koseki_bfv_2048", 2048, &[18014398509404161], Slots, modulo(12289), "koseki2022hesc, section 4: 54 bits.").reaching(HeStd2018),
    bits("hestd2018_koseki_ckks_1024", 1024, &[134215681], ComplexSlots, scaled(22), "koseki2022hesc, section 4: 27 bits.").reaching(HeStd2018),
    bits("hestd2018_koseki_ckks_2048", 2048, &[18014398509404161], ComplexSlots, scaled(38), "koseki2022hesc, section 4: 54 bits; the scale leaves room for five digits of base 6.").reaching(HeStd2018),
    bits("hestd2018_koseki_bfv_2048_rns", 2048, &[134176769, 134111233], Slots, modulo(12289), "The same 54 bits as two primes: words of 32 bits are a quarter faster.").reaching(HeStd2018),
    bits("hestd2018_koseki_ckks_2048_rns", 2048, &[134176769, 134111233], ComplexSlots, scaled(24), "The same 54 bits as two primes: words of 32 bits are a quarter faster.").reaching(HeStd2018),
    // Distances of binary codes; the larger ones have room for noise that hides the other side's codes.
    bits("bfv_1024_distances", 1024, &[67104769], Coefficients, modulo(1024), "Distances of codes of up to 1023 bits: search in what may be seen."),
    bits("bfv_4096_distances", 4096, &[2147377153, 2147352577], Coefficients, modulo(513), "Codes of 512 bits with the clear ones hidden: 40 million distances."),
    bits("bfv_4096_distances_large", 4096, &[2147377153, 2147352577, 2147295233], Coefficients, modulo(513), "The same for more distances, half as fast: 68 thousand million."),
    // Bits that bootstrap. The noise is what the lattice estimator wants for 132 bits with binary secrets; the
    // 2024 guidelines are kept as well.
    gates("tfhe_2048", [2048, 860], [-48.32, -18.749], [(23, 1), (3, 5), (16, 1)], "Gate circuits: each bootstrap fails with a probability below 2^-128."),
    gates("tfhe_2048_40", [2048, 790], [-48.32, -17.007], [(23, 1), (3, 4), (16, 1)], "An eighth faster, for circuits that may fail with a probability of 2^-40."),
    gates("insecure_tfhe_512", [512, 64], [-50.0, -30.0], [(23, 1), (3, 5), (16, 1)], "For tests: a hundred times faster, broken in minutes.").reaching(Insecure),
    // A ciphertext for each bit; secret factors and logarithms.
    factors("gm_3072", 3072, "A residue for each bit that keeps its parity only; 128 bits of security."),
    factors("gm_4096", 4096, "Beyond 128 bits of security."),
    factors("insecure_gm_2048", 2048, "For comparisons: 112 bits of security.").reaching(Insecure),
    pads("pad_1024", 1024, "A bit for each bit, where the key owner encrypts everything: no homomorphic encryption."),
    logarithms("elgamal_ffdhe3072", GroupName::Ffdhe3072, Some(64), "Counts up to 64: three products as digits of base 3, or 64 factors; 125 bits by RFC 7919, 128 by NIST."),
    logarithms("elgamal_ffdhe3072_full_exponents", GroupName::Ffdhe3072FullExponents, Some(64), "Exponents as long as the order, as in koseki2022hesc; RFC 7919 allows short ones."),
    logarithms("ec_elgamal_ristretto255", GroupName::Ristretto255, Some(64), "Counts up to 64 over the fastest group, 32 bytes an element."),
    logarithms("ec_elgamal_secp256r1", GroupName::Secp256r1, Some(64), "The curve of koseki2022hesc."),
    logarithms("unipolar_elgamal_ffdhe3072", GroupName::Ffdhe3072, None, "Unipolar streams over a prime field."),
    logarithms("unipolar_elgamal_ristretto255", GroupName::Ristretto255, None, "Unipolar streams: the fastest group."),
    logarithms("unipolar_elgamal_secp256r1", GroupName::Secp256r1, None, "Unipolar streams over the curve of koseki2022hesc."),
    // Bits in slots, which multiply.
    conjunctions("unipolar_bfv_4096", BITS, 8192, &[(35, 2), (36, 1)], "Unipolar streams: three factors one after the other, four at once."),
    conjunctions("unipolar_bfv_8192", BITS, 16384, &[(42, 1), (43, 4)], "Unipolar streams: seven factors one after the other, thirteen at once."),
    conjunctions("unipolar_bfv_16384", BITS, 32768, &[(47, 2), (48, 7)], "Unipolar streams: fourteen factors one after the other, fifteen at once."),
    conjunctions("unipolar_bgv_4096", FACTORS, 8192, &[(35, 2), (36, 1)], "The same by BGV, several times as fast: three factors, four at once."),
    conjunctions("unipolar_bgv_8192", FACTORS, 16384, &[(50, 3), (34, 1), (30, 1)], "Six factors one after the other, ten at once: the one to start with."),
    conjunctions("unipolar_bgv_16384", FACTORS, 32768, &[(50, 7), (46, 1), (34, 1)], "Thirteen factors one after the other, fifteen at once."),
    conjunctions("unipolar_bgv_4369", BINARY, 4369, &[(35, 2), (36, 1)], "Slots modulo 2, 256 of them: six factors one after the other, seven at once."),
    conjunctions("unipolar_bgv_13107", BINARY, 13107, &[(50, 3), (34, 1), (30, 1)], "Slots modulo 2, 512 of them: twelve factors one after the other, fifteen at once."),
    // Vectors of numbers. Primes stay below 2^50, where the kernels are fastest; several special primes make
    // fewer digits and smaller keys. In CKKS all primes but the first are the scale, so that products keep it;
    // the first leaves room for numbers above 1.
    vectors("bfv_4096", BFV, 4096, INTEGERS[0], LINEAR),
    vectors("bfv_8192", BFV, 8192, INTEGERS[1], POLYNOMIALS),
    vectors("bfv_16384", BFV, 16384, INTEGERS[2], NETWORKS),
    vectors("bfv_32768", BFV, 32768, INTEGERS[3], DEEP),
    vectors("bgv_4096", BGV, 4096, (&[(36, 1), (34, 1)], &[(36, 1)]), LINEAR),
    vectors("bgv_8192", BGV, 8192, STEPS[0], POLYNOMIALS),
    vectors("bgv_16384", BGV, 16384, STEPS[1], NETWORKS),
    vectors("bgv_32768", BGV, 32768, STEPS[2], DEEP),
    // Bits in slots of odd rings, several of them in one number: packing, circuits on bits. The name has the index.
    slots("bgv_4369", 4369, (&[(24, 2), (26, 1)], &[(31, 1)]), "256 slots of 16 bits: small circuits, the fastest of its kind."),
    slots("bgv_13107", 13107, (&[(49, 2), (34, 1), (30, 1)], &[(49, 1)]), "512 slots of 16 bits: packed bits, circuits of a few products in sequence."),
    slots("bgv_13107_circuits", 13107, (&[(39, 3), (31, 1), (26, 1)], &[(35, 1)]), "The same slots with more room for products, and none for unpacking: circuits on bits."),
    slots("bgv_13107_shallow", 13107, (&[(45, 2), (24, 1)], &[(36, 1)]), "The same slots with fewer primes: circuits of three or four products in sequence, a quarter faster."),
    slots("bgv_21845", 21845, (&[(45, 7), (34, 1), (28, 1)], &[(50, 1)]), "1024 slots of 16 bits: deeper circuits, adders and multipliers."),
    slots("bgv_21845_circuits", 21845, (&[(50, 5), (33, 2)], &[(50, 2)]), "The same slots with smaller keys: circuits on bits, a sixth faster and less deep."),
    slots("bgv_21845_deep", 21845, (&[(50, 6), (33, 2)], &[(50, 1)]), "The same slots with the most room that 128 bits of security allow: transciphering."),
    slots("bgv_65535", 65535, (&[(50, 13), (33, 1), (31, 1)], &[(50, 3)]), "2048 slots of 16 bits: long programs."),
    slots("bgv_65535_deep", 65535, (&[(48, 13), (43, 1), (40, 1), (33, 1), (30, 1)], &[(49, 2)]), "The same slots with more room and larger keys: AES on an encrypted key."),
    slots("bgv_8191", 8191, (&[(50, 1), (45, 1), (33, 2)], &[(50, 1)]), "630 slots of 13 bits, a prime index: carpov2016packing, xu2016integers."),
    slots("bgv_6529", 6529, (&[(48, 1), (39, 1), (33, 1)], &[(48, 1)]), "64 slots of 102 bits: the most bits that carpov2016packing unpacks."),
    vectors("ckks_4096", CKKS, 4096, (&[(38, 1), (29, 1)], &[(38, 1)]), LINEAR),
    vectors("ckks_8192", CKKS, 8192, (&[(49, 1), (38, 3)], &[(50, 1)]), POLYNOMIALS),
    vectors("ckks_16384", CKKS, 16384, (&[(50, 1), (46, 6)], &[(50, 2)]), NETWORKS),
    vectors("ckks_32768", CKKS, 32768, (&[(50, 1), (47, 14)], &[(50, 3)]), DEEP),
    vectors("hestd2018_bfv_4096", BFV, 4096, INTEGERS_2018[0], LINEAR).reaching(HeStd2018),
    vectors("hestd2018_bfv_8192", BFV, 8192, INTEGERS_2018[1], POLYNOMIALS).reaching(HeStd2018),
    vectors("hestd2018_bfv_16384", BFV, 16384, INTEGERS_2018[2], NETWORKS).reaching(HeStd2018),
    vectors("hestd2018_bfv_32768", BFV, 32768, INTEGERS_2018[3], DEEP).reaching(HeStd2018),
    vectors("hestd2018_bgv_4096", BGV, 4096, INTEGERS_2018[0], LINEAR).reaching(HeStd2018),
    vectors("hestd2018_bgv_8192", BGV, 8192, STEPS_2018[0], POLYNOMIALS).reaching(HeStd2018),
    vectors("hestd2018_bgv_16384", BGV, 16384, STEPS_2018[1], NETWORKS).reaching(HeStd2018),
    vectors("hestd2018_bgv_32768", BGV, 32768, STEPS_2018[2], DEEP).reaching(HeStd2018),
    vectors("hestd2018_ckks_4096", CKKS, 4096, (&[(39, 1), (31, 1)], &[(39, 1)]), LINEAR).reaching(HeStd2018),
    vectors("hestd2018_ckks_8192", CKKS, 8192, (&[(50, 1), (39, 3)], &[(50, 1)]), POLYNOMIALS).reaching(HeStd2018),
    vectors("hestd2018_ckks_16384", CKKS, 16384, (&[(50, 1), (48, 6)], &[(50, 2)]), NETWORKS).reaching(HeStd2018),
    vectors("hestd2018_ckks_32768", CKKS, 32768, (&[(50, 1), (48, 14)], &[(50, 3)]), DEEP).reaching(HeStd2018),
];

impl Preset {
    /// The same, reaching another assurance than the guidelines of 2024.
    const fn reaching(mut self, assurance: Assurance) -> Self {
        self.assurance = assurance;
        self
    }
}

/// A prime of 20 bits has slots in every ring of the table.
const BFV: Vectors = Vectors {
    scheme: SchemeKind::Bfv,
    numbers: Numbers::PrimeOfBits(20),
    steps: false,
    keeps_factor: false,
};
/// The smallest prime with slots in all rings of the table: noise grows with it at each product.
const BGV: Vectors = Vectors {
    scheme: SchemeKind::Bgv,
    numbers: Numbers::Modulo(65537),
    steps: true,
    keeps_factor: true,
};
const CKKS: Vectors = Vectors {
    scheme: SchemeKind::Ckks,
    numbers: Numbers::Scaled,
    steps: false,
    keeps_factor: false,
};
/// Bits: the plaintext modulus that only odd rings have slots for.
const BINARY: Vectors = Vectors {
    scheme: SchemeKind::Bgv,
    numbers: Numbers::Modulo(2),
    steps: true,
    keeps_factor: true,
};
/// Bits need no more than the smallest prime with slots.
const BITS: Vectors = Vectors {
    scheme: SchemeKind::Bfv,
    numbers: Numbers::Modulo(65537),
    steps: false,
    keeps_factor: false,
};
/// Products alone, which no factor on plaintexts disturbs.
const FACTORS: Vectors = Vectors { keeps_factor: false, ..BGV };

/// BGV: a product takes 28 to 35 bits, fewer than the primes that fill the kernels have. Large primes and a few
/// small ones, which levels have in any combination, make levels that are about so far apart. All are 1 modulo
/// 65537 times the index, of which there are few small ones.
const STEPS: [(Runs, Runs); 3] = [
    (&[(47, 2), (38, 1), (34, 1)], &[(48, 1)]),
    (&[(50, 5), (44, 1), (34, 1)], &[(50, 2)]),
    (&[(50, 12), (42, 1), (39, 1), (37, 1)], &[(50, 3)]),
];
/// The same by the 2018 standard.
const STEPS_2018: [(Runs, Runs); 3] = [
    (&[(48, 2), (38, 1), (35, 1)], &[(49, 1)]),
    (&[(50, 5), (47, 1), (34, 1)], &[(50, 2)]),
    (&[(50, 12), (46, 1), (39, 1), (37, 1)], &[(50, 3)]),
];

const LINEAR: &str = "Linear models: sums, and products with numbers in the clear.";
const POLYNOMIALS: &str = "A few products in sequence: small polynomials, one hidden layer.";
const NETWORKS: &str = "Networks of several layers.";
const DEEP: &str = "Deep polynomials and long programs.";

/// Primes of ciphertexts, and of keys beyond those.
type AllRuns = (Runs, Runs);

/// By ring degree, from 4096 to 32768: 106, 214, 430 and 868 bits in all.
const INTEGERS: [AllRuns; 4] = [
    (&[(35, 2)], &[(36, 1)]),
    (&[(42, 1), (43, 3)], &[(43, 1)]),
    (&[(47, 2), (48, 5)], &[(48, 2)]),
    (&[(48, 14), (49, 1)], &[(49, 3)]),
];

/// The same of the 2018 standard: 109, 218, 438 and 881 bits.
const INTEGERS_2018: [AllRuns; 4] = [
    (&[(36, 2)], &[(37, 1)]),
    (&[(43, 2), (44, 2)], &[(44, 1)]),
    (&[(48, 3), (49, 4)], &[(49, 2)]),
    (&[(48, 1), (49, 14)], &[(49, 3)]),
];

const fn modulo(plain_modulus: u64) -> PlaintextSpace {
    PlaintextSpace::Integers { plain_modulus }
}

const fn scaled(log2_scale: u32) -> PlaintextSpace {
    PlaintextSpace::Approximate { scale: (1u64 << log2_scale) as f64 }
}

const fn bits(
    name: &'static str,
    ring_degree: usize,
    coeff_moduli: &'static [u64],
    packing: Packing,
    plaintext: PlaintextSpace,
    about: &'static str,
) -> Preset {
    Preset {
        name,
        about,
        assurance: Guidelines2024,
        set: Set::Lattice { ring_degree, coeff_moduli, packing, plaintext },
    }
}

const fn gates(
    name: &'static str,
    dimensions: [usize; 2],
    log2_noise: [f64; 2],
    digits: [(u32, u32); 3],
    about: &'static str,
) -> Preset {
    Preset {
        name,
        about,
        assurance: Guidelines2024,
        set: Set::Tfhe { dimensions, log2_noise, digits },
    }
}

const fn factors(name: &'static str, modulus_bits: u32, about: &'static str) -> Preset {
    Preset { name, about, assurance: Guidelines2024, set: Set::Gm { modulus_bits } }
}

const fn pads(name: &'static str, block_length: usize, about: &'static str) -> Preset {
    Preset { name, about, assurance: Guidelines2024, set: Set::Pad { block_length } }
}

const fn logarithms(
    name: &'static str,
    group: GroupName,
    max_count: Option<u64>,
    about: &'static str,
) -> Preset {
    Preset { name, about, assurance: Guidelines2024, set: Set::Elgamal { group, max_count } }
}

const fn conjunctions(
    name: &'static str,
    of: Vectors,
    index: usize,
    coeff: Runs,
    about: &'static str,
) -> Preset {
    Preset { name, about, assurance: Guidelines2024, set: Set::UnipolarSlots { of, index, coeff } }
}

const fn vectors(
    name: &'static str,
    of: Vectors,
    ring_degree: usize,
    (coeff, special): AllRuns,
    about: &'static str,
) -> Preset {
    Preset {
        name,
        about,
        assurance: Guidelines2024,
        set: Set::Vectors { of, index: 2 * ring_degree, coeff, special },
    }
}

const fn slots(
    name: &'static str,
    index: usize,
    (coeff, special): AllRuns,
    about: &'static str,
) -> Preset {
    Preset {
        name,
        about,
        assurance: Guidelines2024,
        set: Set::Vectors { of: BINARY, index, coeff, special },
    }
}
