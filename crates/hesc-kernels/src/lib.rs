//! Which vector instructions the loops of hesc take: the best that the processor has, or what the
//! environment variable `HESC_KERNELS` says, read once.
//!
//! Loops are plain Rust inside [`vectorised!`], compiled for each of the [`Kernels`] that differ in
//! them. All give the same results, bit by bit.
//!
//! ```
//! hesc_kernels::vectorised! {
//!     /// Adds one to every word.
//!     fn increment(words: &mut [u64]) {
//!         for word in words {
//!             *word += 1;
//!         }
//!     }
//! }
//! let mut words = [1, 2];
//! increment(&mut words);
//! assert_eq!(words, [2, 3]);
//! ```

use std::env::VarError;
use std::fmt;
use std::sync::OnceLock;

/// The environment variable that chooses kernels.
pub const VARIABLE: &str = "HESC_KERNELS";

/// Vector instructions, from fewest to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kernels {
    /// What every processor of its kind has: SSE2 on x86-64, NEON on AArch64.
    Portable,
    /// AVX2 and FMA on x86-64.
    Avx2,
    /// AVX-512 (F, BW, CD, DQ, VL) on x86-64.
    Avx512,
    /// AVX-512 with its 52-bit multipliers on x86-64.
    Avx512Ifma,
}

impl Kernels {
    /// All kernels, from fewest instructions to most.
    pub const ALL: [Self; 4] = [Self::Portable, Self::Avx2, Self::Avx512, Self::Avx512Ifma];

    /// The name that [`VARIABLE`] takes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Avx512Ifma => "avx512-ifma",
        }
    }
}

impl fmt::Display for Kernels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why kernels cannot be chosen as [`VARIABLE`] says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KernelsError {
    /// The variable names no kernels.
    #[error(
        "{VARIABLE}={found:?} names no kernels; take one of {}, or unset it for the best that \
         this processor has, {best}", names(*best)
    )]
    Unknown {
        /// The variable's value.
        found: String,
        /// The best kernels of this processor.
        best: Kernels,
    },
    /// The processor lacks the instructions.
    #[error(
        "{VARIABLE}={asked}, and this processor lacks these instructions; take one of {}, or \
         unset it for the best that it has, {best}", names(*best)
    )]
    Missing {
        /// What the variable asks for.
        asked: Kernels,
        /// The best kernels of this processor.
        best: Kernels,
    },
}

/// The names of what a processor can take whose best kernels are these.
fn names(best: Kernels) -> String {
    let names = Kernels::ALL.into_iter().filter(|kernels| *kernels <= best);
    names.map(Kernels::name).collect::<Vec<_>>().join(", ")
}

/// The kernels to take: `best`, or what the variable says.
fn choose(asked: Option<&str>, best: Kernels) -> Result<Kernels, KernelsError> {
    let Some(found) = asked else { return Ok(best) };
    let known = Kernels::ALL.into_iter().find(|kernels| kernels.name() == found);
    let asked = known.ok_or_else(|| KernelsError::Unknown { found: found.to_owned(), best })?;
    if asked <= best { Ok(asked) } else { Err(KernelsError::Missing { asked, best }) }
}

/// The best kernels of this processor.
pub fn best() -> Kernels {
    #[cfg(target_arch = "x86_64")]
    {
        if pulp::x86::V4::is_available() {
            let ifma = std::arch::is_x86_feature_detected!("avx512ifma");
            return if ifma { Kernels::Avx512Ifma } else { Kernels::Avx512 };
        }
        if pulp::x86::V3::is_available() {
            return Kernels::Avx2;
        }
    }
    Kernels::Portable
}

/// The kernels that this process takes, and the proof that the processor has their instructions.
#[derive(Debug, Clone, Copy)]
struct Choice {
    kernels: Kernels,
    #[cfg(target_arch = "x86_64")]
    simd: Simd,
}

#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
enum Simd {
    Portable,
    Avx2(pulp::x86::V3),
    Avx512(pulp::x86::V4),
}

static CHOICE: OnceLock<Choice> = OnceLock::new();

fn choice() -> Result<Choice, KernelsError> {
    if let Some(choice) = CHOICE.get() {
        return Ok(*choice);
    }
    let asked = match std::env::var(VARIABLE) {
        Ok(asked) => Some(asked),
        Err(VarError::NotPresent) => None,
        Err(VarError::NotUnicode(asked)) => Some(asked.to_string_lossy().into_owned()),
    };
    let asked = asked.as_deref().filter(|asked| !asked.is_empty());
    let kernels = choose(asked, best())?;
    #[cfg(target_arch = "x86_64")]
    let simd = {
        let wide = pulp::x86::V4::try_new().filter(|_| kernels >= Kernels::Avx512);
        let narrow = pulp::x86::V3::try_new().filter(|_| kernels >= Kernels::Avx2);
        wide.map(Simd::Avx512).or(narrow.map(Simd::Avx2)).unwrap_or(Simd::Portable)
    };
    let choice = Choice {
        kernels,
        #[cfg(target_arch = "x86_64")]
        simd,
    };
    Ok(*CHOICE.get_or_init(|| choice))
}

#[inline]
fn known() -> Choice {
    CHOICE.get().copied().unwrap_or_else(unknown)
}

#[cold]
fn unknown() -> Choice {
    choice().unwrap_or_else(|error| panic!("{error}"))
}

/// The kernels that this process takes.
///
/// # Errors
/// [`KernelsError`] if [`VARIABLE`] names none, or some that the processor lacks.
pub fn kernels() -> Result<Kernels, KernelsError> {
    choice().map(|choice| choice.kernels)
}

/// Whether this process takes these kernels, or some with more instructions.
///
/// # Panics
/// Where [`kernels`] has an error, which programs ask for first.
#[inline]
pub fn at_least(kernels: Kernels) -> bool {
    known().kernels >= kernels
}

/// Calls a closure that is inlined everywhere, compiled for the vector instructions that this
/// process takes. [`vectorised!`] writes such closures.
///
/// # Panics
/// Where [`kernels`] has an error, which programs ask for first.
#[inline(always)]
pub fn run<R>(body: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    match known().simd {
        Simd::Avx512(simd) => simd.vectorize(body),
        Simd::Avx2(simd) => simd.vectorize(body),
        Simd::Portable => body(),
    }
    #[cfg(not(target_arch = "x86_64"))]
    body()
}

/// Compiles functions for all [`Kernels`](crate::Kernels) and calls the version that this process
/// takes. What they call is compiled with them where it is inlined.
#[macro_export]
macro_rules! vectorised {
    ($(
        $(#[$meta:meta])*
        $visibility:vis fn $name:ident($($argument:ident: $type:ty),* $(,)?) $(-> $output:ty)?
        $body:block
    )+) => {$(
        $(#[$meta])*
        $visibility fn $name($($argument: $type),*) $(-> $output)? {
            #[inline(always)]
            fn body($($argument: $type),*) $(-> $output)? $body
            $crate::run(#[inline(always)] || body($($argument),*))
        }
    )+};
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_chooses_among_what_the_processor_has() {
        assert_eq!(choose(None, Kernels::Avx2), Ok(Kernels::Avx2));
        for best in Kernels::ALL {
            for asked in Kernels::ALL {
                let missing = KernelsError::Missing { asked, best };
                let expected = if asked <= best { Ok(asked) } else { Err(missing) };
                assert_eq!(choose(Some(asked.name()), best), expected);
            }
        }
    }

    #[test]
    fn errors_say_what_can_be_taken() {
        let unknown = choose(Some("sse9"), Kernels::Avx2).unwrap_err().to_string();
        assert_eq!(
            unknown,
            "HESC_KERNELS=\"sse9\" names no kernels; take one of portable, avx2, or unset it for \
             the best that this processor has, avx2"
        );
        let missing = choose(Some("avx512"), Kernels::Portable).unwrap_err().to_string();
        assert_eq!(
            missing,
            "HESC_KERNELS=avx512, and this processor lacks these instructions; take one of \
             portable, or unset it for the best that it has, portable"
        );
    }

    #[test]
    fn loops_take_the_kernels_of_the_process() {
        vectorised! {
            fn total(words: &[u64]) -> u64 {
                words.iter().sum()
            }
        }
        assert_eq!(total(&[1, 2, 3]), 6);
        assert!(at_least(kernels().unwrap()));
        assert!(kernels().unwrap() <= best());
    }
}
