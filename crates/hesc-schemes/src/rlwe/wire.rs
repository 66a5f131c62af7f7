//! Wire forms. Polynomials travel as coefficients, whatever domain they are stored in: the order of
//! evaluations is the transform's own business.

use hesc_math::RngSeed;
use hesc_math::ring::{Automorphism, Coeff, Prime};
use zeroize::Zeroizing;

use super::ciphertext::State;
use super::key_pair::{PublicKey, SecretKey};
use super::keys::{GaloisKey, GaloisKeys, RelinKey, SwitchKey};
use super::noise::{MOST_COMPONENTS, Noise};
use super::polys::Polys;
use super::residue_wire::{read_residues, residues_length, write_residues};
use super::residues::{Residues, Stored};
use super::{Ciphertext, Encryption, Rlwe, SeededCiphertext};
use crate::wire::{BYTE, COUNT, Kind, Reader, SEED, TAG, WORD, Writer, framed};
use crate::{SchemeError, Tag};

/// Factors that no circuit within a modulus of 881 bits brings together.
const MOST_DEGREE: u32 = 1 << 16;

/// Bytes of scale and noise: five doubles and a degree.
const NOISE: usize = 5 * WORD + COUNT;

/// Primes, each as often as it has polynomials.
fn moduli(primes: &[Prime], per_prime: usize) -> impl Iterator<Item = u64> {
    primes.iter().flat_map(move |prime| std::iter::repeat_n(prime.value(), per_prime))
}

impl Rlwe {
    fn polynomials_length(&self, (primes, per_prime): (&[Prime], usize)) -> usize {
        residues_length(self.ring_degree(), moduli(primes, per_prime))
    }

    /// Writes the coefficients of polynomials, modulo each of some primes.
    fn write_polys(&self, writer: &mut Writer, polys: &Polys<Coeff>, primes: &[Prime]) {
        let moduli = moduli(primes, polys.components());
        write_residues(writer, polys.words(), self.ring_degree(), moduli);
    }

    /// Reads the coefficients of `per_prime` polynomials modulo each of some primes.
    fn read_polys(
        &self,
        reader: &mut Reader<'_>,
        (primes, per_prime): (&[Prime], usize),
    ) -> Result<Polys<Coeff, Vec<u64>>, SchemeError> {
        let words = read_residues(reader, self.ring_degree(), moduli(primes, per_prime))?;
        Ok(Polys::assume(words, per_prime, self.ring_degree()))
    }

    /// The coefficients of what is as ciphertexts of a level are.
    fn coefficients_of_all(&self, own: Residues<'_, Stored>, level: usize) -> Polys<Coeff> {
        let primes = self.chain().level(level);
        let copies = Polys::take(primes.len(), own.components(), own.ring_degree());
        copies.map_rows(0, |_, prime, component, row| {
            self.domain().coefficients(row.copy(own.row(prime, component)), &primes[prime])
        })
    }

    fn read_level(&self, reader: &mut Reader<'_>) -> Result<usize, SchemeError> {
        let level = usize::from(reader.u8()?);
        if (1..=self.levels()).contains(&level) {
            Ok(level)
        } else {
            Err(reader.error("the level does not exist"))
        }
    }

    /// Reads scale and noise and refuses what no honest sender has.
    fn read_noise(
        &self,
        reader: &mut Reader<'_>,
        level: usize,
    ) -> Result<(f64, Noise), SchemeError> {
        let scale = reader.f64()?;
        let noise = Noise {
            deviation: reader.f64()?,
            canonical_norm: reader.f64()?,
            infinity_norm: reader.f64()?,
            magnitude: reader.f64()?,
            degree: reader.u32()?,
        };
        if !self.operations().admits_scale(scale) {
            return Err(reader.error("the scale is not the scheme's"));
        }
        if !(1..=MOST_DEGREE).contains(&noise.degree)
            || !self.operations().admits_magnitude(noise.magnitude)
        {
            return Err(reader.error("the bounds on noise and message are impossible"));
        }
        // Who claims less noise than any ciphertext has would have results trusted that are none.
        let least = self.white(self.least_deviation());
        if noise.deviation < least.deviation
            || noise.canonical_norm < least.canonical_norm
            || noise.infinity_norm < least.infinity_norm
        {
            return Err(reader.error("it claims less noise than an encryption has"));
        }
        self.check_noise(noise, level, scale)?;
        Ok((scale, noise))
    }

    fn write_noise(writer: &mut Writer, scale: f64, noise: Noise) {
        writer.f64(scale).f64(noise.deviation).f64(noise.canonical_norm).f64(noise.infinity_norm);
        writer.f64(noise.magnitude).u32(noise.degree);
    }

    /// Bytes of a ciphertext of so many components at a level, one of the set's.
    pub fn ciphertext_length(&self, level: usize, components: usize) -> usize {
        let polynomials = self.polynomials_length((self.chain().level(level), components));
        // Level, components, factor.
        framed(TAG + BYTE + BYTE + WORD + NOISE + polynomials)
    }

    /// Wire form of a ciphertext.
    pub fn ciphertext_to_bytes(&self, a: &Ciphertext) -> Vec<u8> {
        let State { level, components, scale, factor, noise } = a.state;
        let length = self.ciphertext_length(level, components);
        let mut writer = Writer::of_length(Kind::VectorCiphertext, length);
        writer.tag(a.tag).u8(level as u8).u8(components as u8).u64(factor);
        Self::write_noise(&mut writer, scale, noise);
        let coefficients = self.coefficients_of_all(a.residues(), level);
        self.write_polys(&mut writer, &coefficients, self.chain().level(level));
        writer.finish()
    }

    /// Reads a ciphertext and refuses what no honest writer sends: numbers out of range, claims of less noise
    /// than an encryption has, bytes left over.
    ///
    /// # Errors
    /// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`], [`SchemeError::NoiseBudget`].
    pub fn ciphertext_from_bytes(&self, bytes: &[u8]) -> Result<Ciphertext, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::VectorCiphertext)?;
        let tag = reader.tag(self.fingerprint())?;
        let level = self.read_level(&mut reader)?;
        let components = usize::from(reader.u8()?);
        if !(2..=MOST_COMPONENTS).contains(&components) {
            return Err(reader.error("the number of components is impossible"));
        }
        let factor = reader.u64()?;
        if !self.operations().admits_factor(factor) {
            return Err(reader.error("the plaintext's factor has no inverse"));
        }
        let (scale, noise) = self.read_noise(&mut reader, level)?;
        let primes = self.chain().level(level);
        let coefficients = self.read_polys(&mut reader, (primes, components))?;
        reader.finish()?;
        let polys = Polys::take(primes.len(), components, self.ring_degree());
        let polys = polys.map_rows(0, |_, prime, component, row| {
            let row = row.copy(coefficients.row(prime, component));
            self.domain().store_coefficients(row, &primes[prime])
        });
        Ok(Ciphertext { tag, state: State { level, components, scale, factor, noise }, polys })
    }

    /// Bytes of a seeded ciphertext at a level, one of the set's.
    pub fn seeded_length(&self, level: usize) -> usize {
        framed(TAG + BYTE + SEED + NOISE + self.polynomials_length((self.chain().level(level), 1)))
    }

    /// Wire form of a seeded ciphertext.
    pub fn seeded_to_bytes(&self, a: &SeededCiphertext) -> Vec<u8> {
        let State { level, scale, noise, .. } = a.state;
        let length = self.seeded_length(level);
        let mut writer = Writer::of_length(Kind::SeededVectorCiphertext, length);
        writer.tag(a.tag).u8(level as u8).bytes(&a.seed);
        Self::write_noise(&mut writer, scale, noise);
        let coefficients = self.coefficients_of_all(a.polys.residues(), level);
        self.write_polys(&mut writer, &coefficients, self.chain().level(level));
        writer.finish()
    }

    /// Reads a seeded ciphertext and refuses what no honest writer sends.
    ///
    /// # Errors
    /// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`], [`SchemeError::NoiseBudget`].
    pub fn seeded_from_bytes(&self, bytes: &[u8]) -> Result<SeededCiphertext, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::SeededVectorCiphertext)?;
        let tag = reader.tag(self.fingerprint())?;
        let level = self.read_level(&mut reader)?;
        let seed: RngSeed = reader.array()?;
        let (scale, noise) = self.read_noise(&mut reader, level)?;
        let primes = self.chain().level(level);
        let coefficients = self.read_polys(&mut reader, (primes, 1))?;
        reader.finish()?;
        let polys = coefficients
            .map_rows(0, |_, prime, _, row| self.domain().store_coefficients(row, &primes[prime]));
        let state = State { level, scale, noise, ..self.fresh_state(Encryption::SecretKey) };
        Ok(SeededCiphertext { tag, state, seed, polys })
    }

    /// Bytes of the public key.
    pub fn public_key_length(&self) -> usize {
        PublicKey::<u64>::length(self.chain().level(self.levels()))
    }

    /// Wire form of the public key.
    pub fn public_key_to_bytes(&self, key: &PublicKey) -> Vec<u8> {
        key.to_bytes(self.chain().level(self.levels()))
    }

    /// Reads a public key.
    ///
    /// # Errors
    /// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`].
    pub fn public_key_from_bytes(&self, bytes: &[u8]) -> Result<PublicKey, SchemeError> {
        PublicKey::from_bytes(bytes, self.fingerprint(), self.chain().level(self.levels()))
    }

    /// Primes of a key that switches, and its polynomials for each.
    fn switch_key_shape(&self) -> (&[Prime], usize) {
        (self.chain().primes(), self.chain().key_digits().len())
    }

    fn switch_key_length(&self) -> usize {
        SEED + self.polynomials_length(self.switch_key_shape())
    }

    fn write_switch_key(&self, writer: &mut Writer, key: &SwitchKey) {
        writer.bytes(&key.seed);
        let (primes, digits) = self.switch_key_shape();
        let first = Polys::take(primes.len(), digits, self.ring_degree());
        let first = first.map_rows(0, |_, prime, digit, row| {
            let [b_d, _] = key.polys.residues().pair(prime, digit);
            row.copy(b_d).inverse(&primes[prime])
        });
        self.write_polys(writer, &first, primes);
    }

    fn read_switch_key(&self, reader: &mut Reader<'_>, tag: Tag) -> Result<SwitchKey, SchemeError> {
        if self.chain().special().is_empty() {
            return Err(reader.error("the parameter set has no special primes"));
        }
        let seed = reader.array()?;
        let shape = self.switch_key_shape();
        let first = self.read_polys(reader, shape)?;
        let first = first.map_rows(0, |_, prime, _, row| row.forward(&shape.0[prime]));
        let polys =
            self.key_pairs(seed, |_, prime, digit, b_d, _| b_d.copy(first.row(prime, digit)));
        Ok(SwitchKey { tag, seed, polys })
    }

    fn one_key_to_bytes(&self, kind: Kind, key: &SwitchKey) -> Vec<u8> {
        let mut writer = Writer::of_length(kind, self.relin_key_length());
        writer.tag(key.tag);
        self.write_switch_key(&mut writer, key);
        writer.finish()
    }

    fn one_key_from_bytes(&self, kind: Kind, bytes: &[u8]) -> Result<SwitchKey, SchemeError> {
        let mut reader = Reader::open(bytes, kind)?;
        let tag = reader.tag(self.fingerprint())?;
        let key = self.read_switch_key(&mut reader, tag)?;
        reader.finish()?;
        Ok(key)
    }

    /// Bytes of the relinearisation key, or of another that switches; of a set with special primes.
    pub fn relin_key_length(&self) -> usize {
        framed(TAG + self.switch_key_length())
    }

    /// Wire form of the relinearisation key.
    pub fn relin_key_to_bytes(&self, key: &RelinKey) -> Vec<u8> {
        self.one_key_to_bytes(Kind::RelinKey, &key.0)
    }

    /// Reads a relinearisation key.
    ///
    /// # Errors
    /// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`].
    pub fn relin_key_from_bytes(&self, bytes: &[u8]) -> Result<RelinKey, SchemeError> {
        self.one_key_from_bytes(Kind::RelinKey, bytes).map(RelinKey)
    }

    /// Wire form of a switching key.
    pub fn switch_key_to_bytes(&self, key: &SwitchKey) -> Vec<u8> {
        self.one_key_to_bytes(Kind::SwitchKey, key)
    }

    /// Reads a switching key.
    ///
    /// # Errors
    /// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`].
    pub fn switch_key_from_bytes(&self, bytes: &[u8]) -> Result<SwitchKey, SchemeError> {
        self.one_key_from_bytes(Kind::SwitchKey, bytes)
    }

    /// Bytes of the keys of so many automorphisms; of a set with special primes.
    pub fn galois_keys_length(&self, automorphisms: usize) -> usize {
        framed(TAG + COUNT + automorphisms * (COUNT + self.switch_key_length()))
    }

    /// Wire form of rotation keys.
    pub fn galois_keys_to_bytes(&self, keys: &GaloisKeys) -> Vec<u8> {
        let length = self.galois_keys_length(keys.keys.len());
        let mut writer = Writer::of_length(Kind::GaloisKeys, length);
        writer.tag(keys.tag).u32(keys.keys.len() as u32);
        for (&element, key) in &keys.keys {
            writer.u32(element as u32);
            self.write_switch_key(&mut writer, &key.key);
        }
        writer.finish()
    }

    /// Reads rotation keys.
    ///
    /// # Errors
    /// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`].
    pub fn galois_keys_from_bytes(&self, bytes: &[u8]) -> Result<GaloisKeys, SchemeError> {
        let mut reader = Reader::open(bytes, Kind::GaloisKeys)?;
        let tag = reader.tag(self.fingerprint())?;
        let mut keys = GaloisKeys { tag, keys: Default::default() };
        for _ in 0..reader.u32()? {
            let element = reader.u32()? as usize;
            let last = keys.keys.keys().next_back().copied();
            if !self.ring().has_automorphism(element) || last.is_some_and(|last| last >= element) {
                return Err(reader.error("exponents are those of automorphisms and ascend"));
            }
            let key = self.read_switch_key(&mut reader, tag)?;
            let automorphism = Automorphism::new(self.ring(), element);
            keys.keys.insert(element, GaloisKey { key, automorphism });
        }
        reader.finish()?;
        Ok(keys)
    }

    /// Wire form of the secret key: write it to private storage only.
    pub fn secret_key_to_bytes(&self, key: &SecretKey) -> Zeroizing<Vec<u8>> {
        key.to_bytes(self.chain().primes())
    }

    /// Reads a secret key.
    ///
    /// # Errors
    /// [`SchemeError::Wire`], [`SchemeError::ParameterMismatch`].
    pub fn secret_key_from_bytes(&self, bytes: &[u8]) -> Result<SecretKey, SchemeError> {
        SecretKey::from_bytes(bytes, self.fingerprint(), self.chain().primes())
    }
}
