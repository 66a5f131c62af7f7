use hesc_schemes::rlwe::noise::{
    TAILS, public_key_square, secret_key_deviation, truncation_reach_square,
};

use super::code::Code;
use super::declared::{Declared, Source};

/// Octaves that are tried.
const OCTAVES: std::ops::RangeInclusive<u32> = 1..=60;

/// The root mean squares of the errors of outputs, from the variances of products of shares: these are independent. What
/// doubles are off by in a sum is there as well.
pub(super) fn laws(
    declared: &Declared,
    scales: &[f64],
    variance: impl Fn(usize) -> f64,
) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); declared.outputs()];
    for &(output, product, weight) in &declared.sums.terms {
        let scale = scales[product as usize] * weight;
        let (variances, sizes) = &mut sums[output as usize];
        *variances += scale * scale * variance(product as usize);
        *sizes += scale.abs();
    }
    let doubles = (declared.products() + 64) as f64 * 2f64.powi(-52);
    sums.iter()
        .map(|(variance, size)| (variance + (doubles * size) * (doubles * size)).sqrt())
        .collect()
}

/// What error and noise depend on, beside the code and the set.
pub(super) struct Demand<'a> {
    declared: &'a Declared,
    secret: usize,
    public: usize,
    scales: Vec<f64>,
    depths: Vec<u32>,
}

impl<'a> Demand<'a> {
    pub fn new(declared: &'a Declared) -> Self {
        let count =
            |source| declared.operands.iter().filter(|operand| operand.source == source).count();
        let (secret, public) = (count(Source::Secret), count(Source::Public));
        Self { declared, secret, public, scales: declared.scales(), depths: declared.depths() }
    }

    fn factors(&self) -> u32 {
        self.declared.operands.len() as u32
    }

    /// The code of so many bits whose products have the least error, and the error of outputs.
    pub fn code(&self, bits: u32) -> Option<(Code, f64)> {
        let factors = self.factors();
        let mut best: Option<(Code, f64)> = None;
        for code in OCTAVES.filter_map(|octaves| Code::new(bits, factors, octaves)) {
            let worst = code.worst(factors);
            if best.is_none_or(|(_, least)| worst < least) {
                best = Some((code, worst));
            }
        }
        let (code, _) = best?;
        let worst: Vec<f64> = (0..=factors).map(|depth| code.worst(depth)).collect();
        let of_product = |product: usize| worst[self.depths[product] as usize];
        let laws = laws(self.declared, &self.scales, of_product);
        Some((code, laws.into_iter().fold(0.0, f64::max)))
    }

    /// The fewest bits of an answer with which what is decrypted is the plaintext of so many bits, and what noise stays
    /// within then.
    pub fn answer_bits(&self, ring_degree: usize, modulus: u64, bits: u32) -> Option<(u32, u64)> {
        let secret = secret_key_deviation() * secret_key_deviation() * self.secret as f64;
        let public = public_key_square(ring_degree) * self.public as f64;
        // Plaintexts are rounded to residues, one and a half off at most.
        let roundings = 1.5 * f64::from(self.factors()) + 2.0;
        // A plaintext is rounded with a share of q / 2^64 of a unit more.
        let unit = modulus as f64 / (1u64 << bits) as f64;
        let room = unit * (0.5 - modulus as f64 * 2f64.powi(-64) - 1e-9);
        (bits + 1..=modulus.ilog2() + 1).find_map(|answer| {
            let noise = secret + public + truncation_reach_square(modulus, answer, ring_degree);
            let reach = TAILS * noise.sqrt() + roundings;
            (reach <= room).then_some((answer, reach as u64))
        })
    }
}
