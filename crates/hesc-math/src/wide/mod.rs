//! Residues of thousands of bits, eight at a time.
//!
//! The schemes on groups (`koseki2022hesc` Table 1) multiply many independent residues by the same
//! modulus, one for each bit of a stream. Numbers therefore lie side by side: limb `i` of eight
//! numbers is one [`Octet`], a *group* is the [`WideModulus::limbs`] octets of eight residues, and
//! a batch is a slice of groups. AVX-512 IFMA multiplies eight limbs of 52 bits at once; the
//! portable twin gives the same results everywhere.
//!
//! No operation branches on residues, exponents or symbols, or indexes memory by them, unless its
//! name ends in `_vartime`.
//!
//! ```
//! use hesc_math::wide::{Octet, WideModulus};
//!
//! let modulus = WideModulus::from_be_bytes(&[0xFF; 256])?;
//! let mut numbers = [[0; 256]; 8];
//! for (i, number) in numbers.iter_mut().enumerate() {
//!     number[255] = i as u8 + 1;
//! }
//! let mut a = vec![Octet::ZERO; modulus.limbs()];
//! assert!(modulus.read_be(&mut a, numbers.as_flattened()));
//! modulus.to_montgomery(&mut a);
//! modulus.square_assign(&mut a);
//! modulus.from_montgomery(&mut a);
//! let mut squares = [[0; 256]; 8];
//! modulus.write_be(squares.as_flattened_mut(), &a);
//! assert_eq!(squares.map(|square| square[255]), [1, 4, 9, 16, 25, 36, 49, 64]);
//! # Ok::<(), hesc_math::MathError>(())
//! ```

mod jacobi;
mod modulus;
mod power;
mod product;

pub use crate::lanes::{LANES, LIMB_BITS, Octet, copy_number, replace_where};
pub use jacobi::JacobiSymbol;
pub use modulus::WideModulus;
pub(crate) use modulus::{be_from_limbs, limbs_from_be};
pub use power::{FixedBase, WINDOW_BITS, windows_of};
