//! The group of slots: units modulo the index, but for powers of the plaintext's prime.

/// A cyclic factor of the group of slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimension {
    /// The automorphism `zeta -> zeta^generator` takes each slot the value of the next one along the dimension.
    pub generator: usize,
    /// Slots along it.
    pub length: usize,
    /// Frobenius maps that a value has undergone which has come once around: none, or the values must be numbers
    /// for a rotation to be one.
    pub twist: usize,
}

/// The cyclic factors of the units modulo `m` but for the powers of `p`, the longest first.
pub(super) fn dimensions(m: usize, units: &[usize], p: usize) -> Vec<Dimension> {
    let d = super::construction::order(p as u64, m as u64);
    let powers: Vec<usize> =
        std::iter::successors(Some(1 % m), |x| Some(x * p % m)).take(d).collect();
    // The subgroup generated so far, and the powers of p alone.
    let mut inside = Members::of(m, &powers);
    let trivial = Members::of(m, &powers);
    let mut members = powers.clone();
    let mut found = Vec::new();
    while members.len() < units.len() {
        // An element of the largest order generates a direct factor; one of its lifts has that order before as well.
        let (generator, length) = units
            .iter()
            .map(|&unit| (unit, inside.order(unit)))
            .fold((1, 1), |best, next| if next.1 > best.1 { next } else { best });
        let lift = members.iter().map(|x| x * generator % m);
        let generator = lift.filter(|&x| trivial.order(x) == length).min().unwrap_or(generator);
        found.push(untwisted(generator, length, m, &powers));
        let shifts: Vec<usize> =
            std::iter::successors(Some(1), |x| Some(x * generator % m)).take(length).collect();
        members = shifts.iter().flat_map(|s| members.iter().map(move |x| x * s % m)).collect();
        inside = Members::of(m, &members);
    }
    found
}

/// With a power of `p` such that coming around changes nothing, where there is one.
fn untwisted(generator: usize, length: usize, m: usize, powers: &[usize]) -> Dimension {
    let around = |x: usize| (0..length).fold(1 % m, |product, _| product * x % m);
    let best = powers.iter().map(|power| generator * power % m).map(|candidate| {
        let twist = powers.iter().position(|&power| power == around(candidate)).unwrap_or(0);
        Dimension { generator: candidate, length, twist }
    });
    best.min_by_key(|dimension| (dimension.twist, dimension.generator)).unwrap_or(Dimension {
        generator,
        length,
        twist: 0,
    })
}

/// A subgroup of the units.
struct Members(Vec<bool>);

impl Members {
    fn of(m: usize, members: &[usize]) -> Self {
        let mut inside = vec![false; m];
        members.iter().for_each(|&x| inside[x] = true);
        Self(inside)
    }

    /// The smallest power of a unit that is a member.
    fn order(&self, unit: usize) -> usize {
        let m = self.0.len();
        let powers = std::iter::successors(Some(unit % m), |x| Some(x * unit % m));
        1 + powers.take_while(|&x| !self.0[x]).count()
    }
}
