use crate::{BitStreams, StochasticError};

/// Stochastic cross-correlation of each pair of streams (Alaghi and Hayes 2013): 0 for
/// independent streams, 1 and -1 for the largest and the least overlap that their shares of ones
/// allow. Zero where a stream is constant.
///
/// # Errors
/// [`StochasticError::Shape`] for batches of different shapes.
pub fn scc(a: &BitStreams, b: &BitStreams) -> Result<Vec<f64>, StochasticError> {
    let both = a.and(b)?;
    let length = a.stream_length() as f64;
    Ok((0..a.streams())
        .map(|i| {
            let (pa, pb) = (f64::from(a.ones(i)) / length, f64::from(b.ones(i)) / length);
            let excess = f64::from(both.ones(i)) / length - pa * pb;
            let most = if excess > 0.0 {
                pa.min(pb) - pa * pb
            } else {
                pa * pb - (pa + pb - 1.0).max(0.0)
            };
            if most > 0.0 { excess / most } else { 0.0 }
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_and_independence() {
        let stream = |word: u64| BitStreams::from_words(vec![word], 64).unwrap();
        let low = stream(0xFFFF_FFFF);
        assert_eq!(scc(&low, &low).unwrap(), [1.0]);
        assert_eq!(scc(&low, &stream(0xFFFF_FFFF_0000_0000)).unwrap(), [-1.0]);
        assert_eq!(scc(&low, &stream(0x5555_5555_5555_5555)).unwrap(), [0.0]);
        assert_eq!(scc(&low, &stream(0)).unwrap(), [0.0]);
    }
}
