use hesc_math::rns::kernels;

use super::ciphertext::Body;
use super::key_switching::Limbs;
use super::keys::{GaloisKey, GaloisKeys, RelinKey, SwitchKey};
use super::noise::Noise;
use super::parallel::{self, Buffer};
use super::{Ciphertext, Leveled, Plaintext, SchemeKind, bfv, inverse_modulo};
use crate::SchemeError;

/// Scales that differ by less are the same: what rounding of doubles leaves.
const SCALE_TOLERANCE: f64 = 1e-12;

impl Leveled {
    /// Refuses operands of different sets, keys, levels or scales.
    fn check_operands(&self, a: &Ciphertext, b: &Ciphertext) -> Result<(), SchemeError> {
        self.check_ciphertext(a)?;
        self.check_ciphertext(b)?;
        b.tag.check(self.fingerprint(), Some(a.tag))?;
        if a.level != b.level {
            return Err(SchemeError::LevelMismatch { expected: a.level, found: b.level });
        }
        Ok(())
    }

    fn check_scales(a: f64, b: f64) -> Result<(), SchemeError> {
        if (a / b - 1.0).abs() > SCALE_TOLERANCE {
            return Err(SchemeError::ScaleMismatch { expected: a, found: b });
        }
        Ok(())
    }

    fn require_two_parts(a: &Ciphertext, operation: &'static str) -> Result<(), SchemeError> {
        if a.size == 2 { Ok(()) } else { Err(SchemeError::NotRelinearised { operation }) }
    }

    fn part<'a>(&self, a: &'a Ciphertext, part: usize) -> Limbs<'a> {
        let n = self.ring_degree();
        Limbs { words: &a.words, step: a.size * n, at: part * n, ring_degree: n }
    }

    /// `a + b`.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`],
    /// [`SchemeError::LevelMismatch`], [`SchemeError::ScaleMismatch`], and
    /// [`SchemeError::NoiseBudget`] if the sum could not be decrypted.
    pub fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.combine(a, b, false)
    }

    /// `a - b`; as [`Self::add`].
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn sub(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.combine(a, b, true)
    }

    fn combine(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
        subtract: bool,
    ) -> Result<Ciphertext, SchemeError> {
        self.check_operands(a, b)?;
        Self::check_scales(a.scale, b.scale)?;
        if a.factor != b.factor {
            let (a, b) = self.common_factor(a, b)?;
            return self.combine(&a, &b, subtract);
        }
        let noise = a.noise.plus(b.noise);
        self.check_noise(noise, a.level, a.scale)?;
        let n = self.ring_degree();
        let size = a.size.max(b.size);
        let mut words = Buffer::take(a.level * size * n);
        let limbs = words.chunks_exact_mut(size * n).zip(self.chain().primes());
        for (limb, (out, prime)) in limbs.enumerate() {
            for (part, out) in out.chunks_exact_mut(n).enumerate() {
                let row = |c: &Ciphertext| {
                    let at = (limb * c.size + part) * n;
                    (part < c.size).then_some(at..at + n)
                };
                match (row(a), row(b)) {
                    (Some(x), Some(y)) if subtract => {
                        kernels::subtract_into(out, &a.words[x], &b.words[y], prime);
                    }
                    (Some(x), Some(y)) => {
                        kernels::add_into(out, &a.words[x], &b.words[y], prime);
                    }
                    (Some(x), None) => out.copy_from_slice(&a.words[x]),
                    (None, Some(y)) => {
                        out.copy_from_slice(&b.words[y]);
                        if subtract {
                            kernels::negate(out, prime);
                        }
                    }
                    (None, None) => {}
                }
            }
        }
        Ok(Ciphertext { size, words, noise, ..a.shell() })
    }

    /// Two BGV ciphertexts brought to one factor, by the smallest constants: `x f_a = y f_b` with
    /// `x` and `y` about the root of the plaintext modulus (half of Euclid's algorithm).
    fn common_factor(
        &self,
        a: &Ciphertext,
        b: &Ciphertext,
    ) -> Result<(Ciphertext, Ciphertext), SchemeError> {
        let t = self.plain_factor() as i64;
        let ratio = i128::from(b.factor) * i128::from(inverse_modulo(a.factor, t as u64));
        let (mut remainders, mut factors) = ((t, (ratio % i128::from(t)) as i64), (0i64, 1i64));
        // remainders.1 = ratio * factors.1 modulo t, at every step.
        while i128::from(remainders.1) * i128::from(remainders.1) > i128::from(t) {
            let quotient = remainders.0 / remainders.1;
            remainders = (remainders.1, remainders.0 - quotient * remainders.1);
            factors = (factors.1, factors.0 - quotient * factors.1);
        }
        let scaled = |c: &Ciphertext, by: i64| -> Result<Ciphertext, SchemeError> {
            let mut c = self.multiply_integer(c, by)?;
            let by = by.rem_euclid(t) as u64;
            c.factor = (u128::from(c.factor) * u128::from(by) % t as u128) as u64;
            Ok(c)
        };
        Ok((scaled(a, remainders.1)?, scaled(b, factors.1)?))
    }

    /// `-a`.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`].
    pub fn negate(&self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.check_ciphertext(a)?;
        let mut result = a.clone();
        let size = a.limb_words();
        for (limb, prime) in result.words.chunks_exact_mut(size).zip(self.chain().primes()) {
            kernels::negate(limb, prime);
        }
        Ok(result)
    }

    /// `a + plaintext`. CKKS: the plaintext has the ciphertext's level and scale.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn add_plain(
        &self,
        a: &Ciphertext,
        plaintext: &Plaintext,
    ) -> Result<Ciphertext, SchemeError> {
        self.check_ciphertext(a)?;
        let message = self.message(plaintext, a.level, a.factor)?;
        Self::check_scales(a.scale, plaintext.scale())?;
        let magnitude = match plaintext.body {
            Body::Integers(_) => 0.0,
            Body::Approximate { magnitude, .. } => magnitude,
        };
        let own = Noise { deviation: self.plain_deviation(), magnitude, degree: 1 };
        let noise = a.noise.plus(own);
        self.check_noise(noise, a.level, a.scale)?;
        let n = self.ring_degree();
        let mut result = Ciphertext { noise, ..a.clone() };
        let size = a.limb_words();
        parallel::for_each_chunk(&mut result.words, size, n, |row, limb, words| {
            let prime = &self.chain().primes()[limb];
            Self::add_message(&mut words[..n], row, &message, limb, prime);
        });
        Ok(result)
    }

    /// `a * plaintext`: slot by slot for what was encoded into slots, as polynomials otherwise.
    /// CKKS: scales multiply. Cost: in BFV a transform back and forth for each part and prime.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn multiply_plain(
        &self,
        a: &Ciphertext,
        plaintext: &Plaintext,
    ) -> Result<Ciphertext, SchemeError> {
        self.check_ciphertext(a)?;
        self.check_params(plaintext.params)?;
        let n = self.ring_degree();
        let (noise, scale) = self.plain_product_noise(a, plaintext);
        self.check_noise(noise, a.level, scale)?;
        if let Body::Approximate { level, .. } = plaintext.body
            && level != a.level
        {
            return Err(SchemeError::LevelMismatch { expected: a.level, found: level });
        }
        let plain_modulus = self.plain_factor() as u64;
        let mut words = Buffer::take(a.words.len());
        let size = a.limb_words();
        parallel::for_each_chunk(&mut words, size, n, |row, limb, out| {
            let prime = &self.chain().primes()[limb];
            let factor = match &plaintext.body {
                Body::Integers(coefficients) => {
                    kernels::lift_centred(row, coefficients, plain_modulus, prime);
                    prime.forward(row);
                    &*row
                }
                Body::Approximate { words, .. } => &words[limb * n..][..n],
            };
            let parts = a.words[limb * size..][..size].chunks_exact(n);
            for (out, part) in out.chunks_exact_mut(n).zip(parts) {
                if self.scheme().evaluated() {
                    kernels::multiply(out, part, factor, prime);
                } else {
                    out.copy_from_slice(part);
                    prime.forward(out);
                    kernels::multiply_assign(out, factor, prime);
                    prime.inverse(out);
                }
            }
        });
        Ok(Ciphertext { words, noise, scale, ..a.shell() })
    }

    fn plain_product_noise(&self, a: &Ciphertext, plaintext: &Plaintext) -> (Noise, f64) {
        let n = self.ring_degree() as f64;
        match &plaintext.body {
            Body::Integers(coefficients) => {
                let t = hesc_math::Modulus::new(self.plain_factor() as u64);
                let centred = coefficients.iter().map(|&m| t.centre(m) as f64);
                let norm = centred.map(|m| m * m).sum::<f64>().sqrt().max(1.0);
                // BGV: the product of the plaintexts, which need not be random.
                let plain = if self.scheme() == SchemeKind::Bgv {
                    n.sqrt() * norm * self.plain_factor() / 2.0
                } else {
                    0.0
                };
                (a.noise.times_plain(norm, plain), 1.0)
            }
            Body::Approximate { scale, magnitude, .. } => {
                // Slot by slot: errors times the other's numbers.
                let own = a.noise.magnitude * a.scale * 0.5;
                let deviation = a.noise.deviation * magnitude * scale + own;
                let noise =
                    Noise { deviation, magnitude: a.noise.magnitude * magnitude, degree: 1 };
                (noise, a.scale * scale)
            }
        }
    }

    /// `a * scalar`, an integer: the cheapest product there is, one pass.
    ///
    /// # Errors
    /// As [`Self::add`]; [`SchemeError::Value`] for an integer not below the plaintext modulus in
    /// absolute value.
    pub fn multiply_scalar(&self, a: &Ciphertext, scalar: i64) -> Result<Ciphertext, SchemeError> {
        if let Some(plain) = self.plain()
            && scalar.unsigned_abs() >= plain.value()
        {
            return Err(SchemeError::Value {
                value: scalar.to_string(),
                position: 0,
                remedy: "scalars are below the plaintext modulus in absolute value",
            });
        }
        self.multiply_integer(a, scalar)
    }

    /// `a * scalar` for CKKS: any real number, at the price of `scale`, which is multiplied to the
    /// ciphertext's.
    ///
    /// # Errors
    /// [`SchemeError::NotInScheme`] for exact schemes; [`SchemeError::Value`] for numbers that are
    /// not finite or leave the range of 62 bits with the scale; as [`Self::add`].
    pub fn multiply_real(
        &self,
        a: &Ciphertext,
        scalar: f64,
        scale: f64,
    ) -> Result<Ciphertext, SchemeError> {
        self.require(SchemeKind::Ckks, "a product with a real number", "scale it to an integer")?;
        let scaled = (scalar * scale).round();
        if !(scale >= 1.0 && scaled.abs() < 2f64.powi(62)) {
            return Err(SchemeError::Value {
                value: scalar.to_string(),
                position: 0,
                remedy: "give a finite number and a scale that keep their product below 2^62",
            });
        }
        let mut result = self.multiply_integer(a, scaled as i64)?;
        result.scale = a.scale * scale;
        result.noise.magnitude = a.noise.magnitude * scalar.abs();
        result.noise.deviation += a.noise.magnitude * a.scale * 0.5;
        self.check_noise(result.noise, result.level, result.scale)?;
        Ok(result)
    }

    fn multiply_integer(&self, a: &Ciphertext, scalar: i64) -> Result<Ciphertext, SchemeError> {
        self.check_ciphertext(a)?;
        let size = scalar.unsigned_abs() as f64;
        let noise = Noise {
            deviation: a.noise.deviation * size.max(1.0),
            magnitude: a.noise.magnitude * size,
            ..a.noise
        };
        self.check_noise(noise, a.level, a.scale)?;
        let mut words = Buffer::take(a.words.len());
        let limb_words = a.limb_words();
        let limbs = words.chunks_exact_mut(limb_words).zip(a.words.chunks_exact(limb_words));
        for ((out, limb), prime) in limbs.zip(self.chain().primes()) {
            let factor = prime.factor(prime.modulus().reduce_signed(scalar));
            kernels::scale_into(out, limb, factor, prime);
        }
        Ok(Ciphertext { words, noise, ..a.shell() })
    }

    /// `a * b`, of three parts: [`Self::relinearise`] brings it back to two. CKKS: scales multiply,
    /// [`Self::rescale`] brings them back.
    ///
    /// Cost: BGV and CKKS one pass; BFV seven transforms for each prime of two bases (Halevi,
    /// Polyakov and Shoup 2019).
    ///
    /// # Errors
    /// As [`Self::add`]; [`SchemeError::NotRelinearised`].
    pub fn multiply(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.check_operands(a, b)?;
        self.product(a, Some(b))
    }

    /// `a^2`; cheaper than [`Self::multiply`].
    ///
    /// # Errors
    /// As [`Self::multiply`].
    pub fn square(&self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.check_ciphertext(a)?;
        self.product(a, None)
    }

    fn product(&self, a: &Ciphertext, b: Option<&Ciphertext>) -> Result<Ciphertext, SchemeError> {
        let other = b.unwrap_or(a);
        Self::require_two_parts(a, "a product")?;
        Self::require_two_parts(other, "a product")?;
        let noise = self.product_noise(a, other);
        let scale = a.scale * other.scale;
        self.check_noise(noise, a.level, scale)?;
        let words = match self.multiplier() {
            Some(multiplier) => {
                parallel::together(a.words.len(), || bfv::multiply(self, multiplier, a, b))
            }
            None => self.tensor(a, b),
        };
        let factor = match self.plain() {
            Some(plain) if self.scheme() == SchemeKind::Bgv => {
                plain.modulus().mul(a.factor, other.factor)
            }
            _ => 1,
        };
        Ok(Ciphertext { size: 3, words, noise, scale, factor, ..a.shell() })
    }

    /// Products of evaluations.
    fn tensor(&self, a: &Ciphertext, b: Option<&Ciphertext>) -> Buffer {
        let n = self.ring_degree();
        let mut words = Buffer::take(3 * n * a.level);
        let one_limb = |limb: usize, out: &mut [u64]| {
            let prime = &self.chain().primes()[limb];
            let (first, rest) = out.split_at_mut(n);
            let (second, third) = rest.split_at_mut(n);
            let parts = |c: &'_ Ciphertext| [0, 1].map(|part| (c.size * limb + part) * n);
            let x = parts(a).map(|at| &a.words[at..][..n]);
            match b {
                Some(b) => {
                    let y = parts(b).map(|at| &b.words[at..][..n]);
                    kernels::tensor([first, second, third], x, y, prime);
                }
                None => kernels::square_tensor([first, second, third], x, prime),
            }
        };
        if words.len() >= parallel::PASS_WORDS {
            parallel::for_each_chunk(&mut words, 3 * n, 0, |_, limb, out| one_limb(limb, out));
        } else {
            for (limb, out) in words.chunks_exact_mut(3 * n).enumerate() {
                one_limb(limb, out);
            }
        }
        words
    }

    /// Brings a product back to two parts.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::KeyMismatch`],
    /// [`SchemeError::NoiseBudget`].
    pub fn relinearise(&self, a: &Ciphertext, key: &RelinKey) -> Result<Ciphertext, SchemeError> {
        self.check_ciphertext(a)?;
        key.0.tag.check(self.fingerprint(), Some(a.tag))?;
        if a.size == 2 {
            return Ok(a.clone());
        }
        let noise = self.switched_noise(a)?;
        let n = self.ring_degree();
        let words = parallel::together(a.words.len(), || {
            let digits = self.cut(self.part(a, 2), a.level);
            let mut words = self.switch(&digits, &key.0);
            parallel::for_each_chunk(&mut words, 2 * n, 0, |_, limb, out| {
                kernels::add(out, &a.words[limb * 3 * n..][..2 * n], &self.chain().primes()[limb]);
            });
            words
        });
        Ok(Ciphertext { size: 2, words, noise, ..a.shell() })
    }

    /// The noise after switching a key, refused if it does not fit.
    fn switched_noise(&self, a: &Ciphertext) -> Result<Noise, SchemeError> {
        let noise = a.noise.with(self.switching_deviation(a.level));
        self.check_noise(noise, a.level, a.scale)?;
        Ok(noise)
    }

    /// `a` under another secret: re-encryption without decryption.
    ///
    /// # Errors
    /// [`SchemeError::ParameterMismatch`], [`SchemeError::NotRelinearised`],
    /// [`SchemeError::NoiseBudget`]. A key made from another secret than the ciphertext's cannot be
    /// told from the right one and gives noise.
    pub fn switch_key(&self, a: &Ciphertext, key: &SwitchKey) -> Result<Ciphertext, SchemeError> {
        self.check_ciphertext(a)?;
        key.tag.check(self.fingerprint(), None)?;
        Self::require_two_parts(a, "key switching")?;
        let noise = self.switched_noise(a)?;
        let n = self.ring_degree();
        let words = parallel::together(a.words.len(), || {
            let mut words = self.switch(&self.cut(self.part(a, 1), a.level), key);
            parallel::for_each_chunk(&mut words, 2 * n, 0, |_, limb, out| {
                let prime = &self.chain().primes()[limb];
                kernels::add(&mut out[..n], &a.words[limb * 2 * n..][..n], prime);
            });
            words
        });
        Ok(Ciphertext { tag: key.tag, words, noise, ..a.shell() })
    }

    fn galois_key<'a>(
        &self,
        a: &Ciphertext,
        element: usize,
        keys: &'a GaloisKeys,
    ) -> Result<&'a GaloisKey, SchemeError> {
        self.check_ciphertext(a)?;
        keys.tag.check(self.fingerprint(), Some(a.tag))?;
        Self::require_two_parts(a, "a rotation")?;
        keys.keys.get(&element).ok_or_else(|| SchemeError::MissingKey {
            what: format!("the automorphism X -> X^{element}"),
        })
    }

    /// `a(X^element)`.
    ///
    /// # Errors
    /// [`SchemeError::MissingKey`], [`SchemeError::NotRelinearised`], and as [`Self::relinearise`].
    pub fn apply_galois(
        &self,
        a: &Ciphertext,
        element: usize,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, SchemeError> {
        if element == 1 {
            self.check_ciphertext(a)?;
            return Ok(a.clone());
        }
        let key = self.galois_key(a, element, keys)?;
        let noise = self.switched_noise(a)?;
        Ok(parallel::together(a.words.len(), || {
            let switched = self.switch(&self.cut(self.part(a, 1), a.level), &key.key);
            self.finish_galois(a, switched, key, noise)
        }))
    }

    /// Adds `c_0` to a switched `c_1` and applies the automorphism to both.
    fn finish_galois(
        &self,
        a: &Ciphertext,
        mut switched: Buffer,
        key: &GaloisKey,
        noise: Noise,
    ) -> Ciphertext {
        let n = self.ring_degree();
        parallel::for_each_chunk(&mut switched, 2 * n, n, |row, limb, out| {
            let prime = &self.chain().primes()[limb];
            kernels::add(&mut out[..n], &a.words[limb * 2 * n..][..n], prime);
            for part in out.chunks_exact_mut(n) {
                row.copy_from_slice(part);
                if self.scheme().evaluated() {
                    key.automorphism.evaluations(part, row);
                } else {
                    key.automorphism.coefficients(part, row, prime);
                }
            }
        });
        Ciphertext { words: switched, noise, ..a.shell() }
    }

    /// Slots rotated by `steps` to the left, in each of two rows of `N / 2` (BFV, BGV) or in the one
    /// of CKKS.
    ///
    /// # Errors
    /// As [`Self::apply_galois`].
    pub fn rotate(
        &self,
        a: &Ciphertext,
        steps: i64,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, SchemeError> {
        self.apply_galois(a, self.rotation_element(steps), keys)
    }

    /// Several rotations of one ciphertext: digits are lifted once for all (hoisting, Halevi and
    /// Shoup 2018), which is where a rotation spends most of its time.
    ///
    /// # Errors
    /// As [`Self::apply_galois`].
    pub fn rotate_many(
        &self,
        a: &Ciphertext,
        steps: &[i64],
        keys: &GaloisKeys,
    ) -> Result<Vec<Ciphertext>, SchemeError> {
        let elements: Vec<usize> = steps.iter().map(|&s| self.rotation_element(s)).collect();
        for &element in elements.iter().filter(|&&element| element != 1) {
            self.galois_key(a, element, keys)?;
        }
        self.check_ciphertext(a)?;
        Self::require_two_parts(a, "a rotation")?;
        let noise = self.switched_noise(a)?;
        parallel::together(a.words.len(), || {
            let lifted = self.lift_everywhere(&self.cut(self.part(a, 1), a.level));
            let rotated = elements.into_iter().map(|element| {
                if element == 1 {
                    return Ok(a.clone());
                }
                let key = self.galois_key(a, element, keys)?;
                let switched = self.switch_lifted(&lifted, &key.key);
                Ok(self.finish_galois(a, switched, key, noise))
            });
            rotated.collect()
        })
    }

    /// BFV and BGV: the two rows of slots exchanged. CKKS: complex conjugates.
    ///
    /// # Errors
    /// As [`Self::apply_galois`].
    pub fn swap_or_conjugate(
        &self,
        a: &Ciphertext,
        keys: &GaloisKeys,
    ) -> Result<Ciphertext, SchemeError> {
        self.apply_galois(a, 2 * self.ring_degree() - 1, keys)
    }

    /// One level down, the plaintext unchanged. BFV and BGV divide by the last prime, and so does
    /// the noise; CKKS drops it, scale and error unchanged.
    ///
    /// # Errors
    /// [`SchemeError::LastLevel`], [`SchemeError::NoiseBudget`].
    pub fn mod_switch(&self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.check_ciphertext(a)?;
        self.check_not_last(a, a.level.saturating_sub(1))?;
        if self.scheme() == SchemeKind::Ckks {
            self.check_noise(a.noise, a.level - 1, a.scale)?;
            let words = Buffer::from(&a.words[..a.words.len() - a.limb_words()]);
            return Ok(Ciphertext { level: a.level - 1, words, ..a.shell() });
        }
        self.divide_by_last(a)
    }

    /// Down to a level.
    ///
    /// # Errors
    /// As [`Self::mod_switch`].
    pub fn mod_switch_to(&self, a: &Ciphertext, level: usize) -> Result<Ciphertext, SchemeError> {
        if level > a.level {
            return Err(SchemeError::LastLevel { level: a.level, wanted: level });
        }
        self.check_not_last(a, level)?;
        let mut result = a.clone();
        while result.level > level {
            result = self.mod_switch(&result)?;
        }
        Ok(result)
    }

    /// CKKS: divides by the last prime, and the scale with it.
    ///
    /// # Errors
    /// [`SchemeError::NotInScheme`] for exact schemes, [`SchemeError::LastLevel`].
    pub fn rescale(&self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        self.require(SchemeKind::Ckks, "rescaling", "use mod_switch, which keeps the plaintext")?;
        self.check_ciphertext(a)?;
        self.check_not_last(a, a.level.saturating_sub(1))?;
        self.divide_by_last(a)
    }

    /// `a` down to the level of `target`, in CKKS also to its scale: on its way it is multiplied by 1
    /// at the scale that the rescaling turns into the other's. A ciphertext at that level or below
    /// comes back as it is.
    ///
    /// # Errors
    /// As [`Self::mod_switch`] and [`Self::multiply_real`].
    pub fn matched(&self, a: &Ciphertext, target: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        let same_scale = (a.scale / target.scale - 1.0).abs() <= SCALE_TOLERANCE;
        if a.level <= target.level {
            return Ok(a.clone());
        }
        if self.scheme() != SchemeKind::Ckks || same_scale {
            return self.mod_switch_to(a, target.level);
        }
        let above = self.mod_switch_to(a, target.level + 1)?;
        let prime = self.chain().primes()[target.level].value() as f64;
        self.rescale(&self.multiply_real(&above, 1.0, target.scale * prime / above.scale)?)
    }

    fn check_not_last(&self, a: &Ciphertext, level: usize) -> Result<(), SchemeError> {
        if level == 0 {
            return Err(SchemeError::LastLevel { level: a.level, wanted: level });
        }
        Ok(())
    }

    /// Every part divided by the last prime and rounded.
    fn divide_by_last(&self, a: &Ciphertext) -> Result<Ciphertext, SchemeError> {
        let (n, level) = (self.ring_degree(), a.level - 1);
        let chain = self.chain();
        let last = &chain.primes()[level];
        let value = last.value() as f64;
        let mut result = Ciphertext { level, ..a.shell() };
        result.noise = self.divided_noise(a, value);
        match self.scheme() {
            SchemeKind::Ckks => result.scale = a.scale / value,
            SchemeKind::Bgv => {
                if let Some(plain) = self.plain() {
                    let inverse = inverse_modulo(last.value() % plain.value(), plain.value());
                    result.factor = plain.modulus().mul(a.factor, inverse);
                }
            }
            SchemeKind::Bfv => {}
        }
        self.check_noise(result.noise, level, result.scale)?;
        let division = chain.last_division(a.level);
        let room = division.remainder.prepared_words(n);
        let (kept, dropped) = a.words.split_at(level * a.limb_words());
        let mut coefficients = Buffer::take(dropped.len());
        parallel::for_each_chunk(&mut coefficients, n, 0, |_, part, words| {
            words.copy_from_slice(&dropped[part * n..][..n]);
            if self.scheme().evaluated() {
                last.inverse(words);
            }
        });
        let mut prepared = Buffer::take(a.size * room);
        parallel::prepare(&division.remainder, &mut prepared, n, |part, _| {
            &coefficients[part * n..][..n]
        });
        result.words = Buffer::from(kept);
        parallel::for_each_chunk(&mut result.words, n, n, |row, index, out| {
            let (limb, part) = (index / a.size, index % a.size);
            let prime = &chain.primes()[limb];
            division.remainder.row(row, limb, &prepared[part * room..][..room]);
            if self.scheme().evaluated() {
                prime.forward(row);
            }
            kernels::subtract_scale(out, row, division.inverses[limb], prime);
        });
        Ok(result)
    }
}

impl Ciphertext {
    /// Everything but the words.
    fn shell(&self) -> Self {
        Self { words: Buffer::default(), ..*self }
    }
}
