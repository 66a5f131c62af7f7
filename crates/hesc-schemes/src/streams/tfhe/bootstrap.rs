//! Lookups: a weighted sum of bits is a position on the torus, and a bootstrap gives fresh encryptions of
//! one or two bits for it (Chillotti, Gama, Georgieva and Izabachène 2020 §3; two tables at once as in
//! Carpov, Izabachène and Mollimard 2019, by interleaving).

use ::tfhe::core_crypto::fft_impl::fft64::math::fft::FftView;
use ::tfhe::core_crypto::prelude::{
    CiphertextModulusLog, ComputationBuffers, GlweCiphertext, GlweCiphertextOwned, LweCiphertext,
    LweCiphertextOwned, LweDimension, LweSize, ModulusSwitchedLweCiphertext, MonomialDegree,
    PolynomialSize, blind_rotate_assign_mem_optimized,
    blind_rotate_assign_mem_optimized_requirement, extract_lwe_sample_from_glwe_ciphertext,
    keyswitch_lwe_ciphertext, lwe_ciphertext_centered_binary_modulus_switch,
};

use super::keys::{MODULUS, RING};
use super::{EvaluationKey, GRID, Tfhe, polynomial};
use crate::SchemeError;
use crate::error::refuse;

/// A bit on the torus.
const STEP: u64 = 1 << (64 - GRID.ilog2());

/// Tables of a bootstrap, at most.
const MOST_TABLES: usize = 2;

/// One or two tables as a ring element.
#[derive(Debug, Clone)]
pub struct LookupTable {
    polynomial: Vec<u64>,
    tables: usize,
}

/// What a thread needs for bootstraps.
pub struct Workspace {
    sum: LweCiphertextOwned<u64>,
    small: LweCiphertextOwned<u64>,
    accumulator: GlweCiphertextOwned<u64>,
    buffers: ComputationBuffers,
}

/// Positions that leave the lowest bit of the rotation to the choice of the table.
struct Doubled<M>(M);

impl<M: ModulusSwitchedLweCiphertext<usize>> ModulusSwitchedLweCiphertext<usize> for Doubled<M> {
    fn log_modulus(&self) -> CiphertextModulusLog {
        CiphertextModulusLog(self.0.log_modulus().0 + 1)
    }

    fn lwe_dimension(&self) -> LweDimension {
        self.0.lwe_dimension()
    }

    fn body(&self) -> usize {
        2 * self.0.body()
    }

    fn mask(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.0.mask().map(|x| 2 * x)
    }
}

impl Tfhe {
    /// One or two tables; each gives the bit for a position below [`GRID`], or nothing for positions that
    /// no input reaches. Opposite positions have opposite bits: only the first half is asked for.
    ///
    /// # Errors
    /// [`SchemeError::Parameter`] for no table, more than two, or one without any position.
    pub fn lookup_table(
        &self,
        tables: &[&dyn Fn(usize) -> Option<bool>],
    ) -> Result<LookupTable, SchemeError> {
        let refuse = |value: String, remedy| refuse("tables", value, remedy);
        let count = tables.len();
        if !(1..=MOST_TABLES).contains(&count) {
            return refuse(count.to_string(), "give one or two");
        }
        let (n, half) = (self.ring_degree(), GRID as usize / 2);
        let mut polynomial = vec![0; n];
        for (first, table) in tables.iter().enumerate() {
            // A position on either side of the half too, where the bits are inverted.
            let at = |position: usize| Some(table(position % half)? != (position / half % 2 == 1));
            let reached: Vec<(usize, bool)> =
                (0..3 * half).filter_map(|p| at(p).map(|bit| (p, bit))).collect();
            if reached.is_empty() {
                return refuse("no position".into(), "give a bit for at least one position");
            }
            let mut nearest = 0;
            for place in (first..n).step_by(count) {
                // Eighths of the ring are positions; half a turn is added so that all are positive.
                let distance = |i: usize| (reached[i].0 * n).abs_diff(half * (n + place - first));
                while nearest + 1 < reached.len() && distance(nearest + 1) <= distance(nearest) {
                    nearest += 1;
                }
                // A turn by half a ring inverts.
                let bit = !reached[nearest].1;
                polynomial[place] = if bit { STEP / 2 } else { (STEP / 2).wrapping_neg() };
            }
        }
        Ok(LookupTable { polynomial, tables: count })
    }

    /// What a thread needs for bootstraps under this key.
    pub fn workspace(&self, key: &EvaluationKey) -> Workspace {
        let degree = PolynomialSize(self.ring_degree());
        let size =
            blind_rotate_assign_mem_optimized_requirement::<u64>(RING, degree, key.fft.as_view());
        let mut buffers = ComputationBuffers::new();
        buffers.resize(size.unaligned_bytes_required());
        let small = LweSize(self.spec().lwe_dimension + 1);
        Workspace {
            sum: LweCiphertext::new(0, LweSize(self.sample_words()), MODULUS),
            small: LweCiphertext::new(0, small, MODULUS),
            accumulator: GlweCiphertext::new(0, RING, degree, MODULUS),
            buffers,
        }
    }

    /// Looks the weighted sum of samples up and appends a sample for each table to `out`. Cost: one
    /// bootstrap, whatever the tables; 25 ms at a ring degree of 2048.
    ///
    /// The caller keeps to [`super::Noise`]: positions must stay apart.
    pub fn look_up<'a>(
        &self,
        key: &EvaluationKey,
        terms: impl Iterator<Item = (&'a [u64], u64)>,
        table: &LookupTable,
        workspace: &mut Workspace,
        out: &mut Vec<u64>,
    ) {
        let Workspace { sum, small, accumulator, buffers } = workspace;
        sum.as_mut().fill(0);
        for (sample, weight) in terms {
            polynomial::add_scaled(sum.as_mut(), weight, sample);
        }
        keyswitch_lwe_ciphertext(&key.keyswitch, sum, small);
        let n = self.ring_degree();
        let (mask, body) = accumulator.as_mut().split_at_mut(n);
        mask.fill(0);
        body.copy_from_slice(&table.polynomial);
        let log_positions = 1 + n.ilog2() as usize - (table.tables - 1);
        let positions = lwe_ciphertext_centered_binary_modulus_switch::<u64, usize, _>(
            small.as_view(),
            CiphertextModulusLog(log_positions),
        );
        let fft: FftView<'_> = key.fft.as_view();
        if table.tables == 1 {
            blind_rotate_assign_mem_optimized(
                &positions,
                accumulator,
                &key.bootstrap,
                fft,
                buffers.stack(),
            );
        } else {
            blind_rotate_assign_mem_optimized(
                &Doubled(positions),
                accumulator,
                &key.bootstrap,
                fft,
                buffers.stack(),
            );
        }
        for at in 0..table.tables {
            let first = out.len();
            out.resize(first + self.sample_words(), 0);
            let sample = &mut out[first..];
            extract_lwe_sample_from_glwe_ciphertext(
                accumulator,
                &mut LweCiphertext::from_container(&mut *sample, MODULUS),
                MonomialDegree(at),
            );
            // From minus and plus a half to zero and one.
            sample[n] = sample[n].wrapping_add(STEP / 2);
        }
    }
}
