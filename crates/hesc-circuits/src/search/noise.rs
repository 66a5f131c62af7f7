use hesc_math::residues::Reducer;
use hesc_math::residues::packed::sums_of_products;
use hesc_schemes::rlwe::SecretKey;

use super::server::{Asked, View};
use crate::plans::PlanError;

/// The noise of a query's scores before anything of them is rounded, as a root mean square over what the plan's law says. For
/// who has the key and the records, to hold the law against it. Cost: an answer's, in memory for all blocks.
///
/// # Errors
/// As [`View::answer`]; [`hesc_schemes::SchemeError::ParameterMismatch`] for the key of another set.
pub fn noise_over_law(
    view: &View<'_>,
    asked: Asked<'_>,
    key: &SecretKey,
) -> Result<f64, PlanError> {
    let plan = &view.plan;
    let (n, products) = (plan.ring_degree(), plan.products());
    let (_, factors) = view.constants(asked)?;
    let mut sums = vec![0; view.blocks.len() * 2 * n];
    let q = Reducer::new(products.modulus());
    sums_of_products(&mut sums, &plan.packing(), &view.blocks, &[&factors], &q);
    let unit = (plan.sizes().scale / plan.declared().step()) as i64;
    let mut square = 0.0;
    for (sums, records) in sums.chunks_exact_mut(2 * n).zip(plan.blocks(view.records)) {
        let (c_0, c_1) = sums.split_at_mut(n);
        products.inverse(c_0);
        products.inverse(c_1);
        products.unmask(key, c_1)?;
        for (&a, &b) in c_0.iter().zip(c_1.iter()).take(records) {
            let phase = products.centred_sum(a, b);
            let off = phase - (phase as f64 / unit as f64).round_ties_even() as i64 * unit;
            square += (off as f64).powi(2);
        }
    }
    Ok((square / view.records as f64 / plan.sizes().square).sqrt())
}
