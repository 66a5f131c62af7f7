//! Integers and Kreyvium of the `tfhe` crate called directly: what encrypted integers are measured against.

use std::time::Instant;

use pyo3::prelude::*;
use tfhe::prelude::*;
use tfhe::shortint;
use tfhe::shortint::parameters::current_params::V1_8_PARAM_MESSAGE_2_CARRY_2_KS_PBS_TUNIFORM_2M128 as FOR_KREYVIUM;
use tfhe::transciphering::{
    KreyviumFheState, KreyviumPlainKey, KreyviumPlainState, StreamCipher, Transcipherer,
};
use tfhe::{
    ClientKey, ConfigBuilder, FheUint8, FheUint16, FheUint32, FheUint64, ServerKey, generate_keys,
    set_server_key,
};

use crate::errors::ParameterError;
use crate::workers::Compute;

/// Keys of the crate's integers, of its default parameters: failures below 2^-128.
#[pyclass(frozen, module = "hesc")]
pub struct TfheIntegers {
    client: ClientKey,
    server: ServerKey,
}

/// Seconds of an operation on encrypted numbers, and whether the result is that in the clear.
macro_rules! timed {
    ($encrypted:ty, $clear:ty, $client:expr, $name:expr, $a:expr, $b:expr) => {{
        let (a, b) = ($a as $clear, $b as $clear);
        let (x, y) = (<$encrypted>::encrypt(a, $client), <$encrypted>::encrypt(b, $client));
        let start = Instant::now();
        match $name {
            "add" => {
                let found = &x + &y;
                let (seconds, found): (_, $clear) = (start.elapsed(), found.decrypt($client));
                Ok((seconds, found == a.wrapping_add(b)))
            }
            "multiply" => {
                let found = &x * &y;
                let (seconds, found): (_, $clear) = (start.elapsed(), found.decrypt($client));
                Ok((seconds, found == a.wrapping_mul(b)))
            }
            "less" => {
                let found = x.lt(&y);
                let seconds = start.elapsed();
                Ok((seconds, found.decrypt($client) == (a < b)))
            }
            "divide" => {
                let (quotient, rest) = (&x).div_rem(&y);
                let seconds = start.elapsed();
                let (quotient, rest): ($clear, $clear) =
                    (quotient.decrypt($client), rest.decrypt($client));
                Ok((seconds, b != 0 && quotient == a / b && rest == a % b))
            }
            _ => Err(ParameterError::new_err("operations: add, multiply, less, divide")),
        }
    }};
}

#[pymethods]
impl TfheIntegers {
    #[new]
    fn new(py: Python<'_>) -> Self {
        py.compute(|| {
            let (client, server) = generate_keys(ConfigBuilder::default().build());
            Self { client, server }
        })
    }

    /// Seconds of "add", "multiply" (as many bits as the factors have), "less" or "divide" (with remainder) of
    /// numbers of 8, 16, 32 or 64 bits; the result is checked.
    fn time(&self, py: Python<'_>, operation: &str, width: u32, a: u64, b: u64) -> PyResult<f64> {
        let (seconds, right) = py.compute(|| {
            // Keys belong to threads there.
            set_server_key(self.server.clone());
            match width {
                8 => timed!(FheUint8, u8, &self.client, operation, a, b),
                16 => timed!(FheUint16, u16, &self.client, operation, a, b),
                32 => timed!(FheUint32, u32, &self.client, operation, a, b),
                64 => timed!(FheUint64, u64, &self.client, operation, a, b),
                _ => Err(ParameterError::new_err("widths: 8, 16, 32, 64")),
            }
        })?;
        assert!(right, "arithmetic of the crate is that of words");
        Ok(seconds.as_secs_f64())
    }
}

/// Seconds until the crate's Kreyvium has warmed up, and that so many bits of keystream take after it; they are
/// checked.
#[pyfunction]
pub fn time_tfhe_kreyvium(py: Python<'_>, bits: usize) -> (f64, f64) {
    py.compute(|| {
        let (client, server) = shortint::gen_keys(FOR_KREYVIUM);
        // The published test vector's key and initial value.
        let key = hex(*b"0053A6F94C9FF24598EB000000000000");
        let iv = hex(*b"0D74DB42A91077DE45AC000000000000");
        let encrypted = KreyviumPlainKey::from(key).encrypt(&client);
        let start = Instant::now();
        let mut stream = KreyviumFheState::new(encrypted, iv, &server);
        let warm = start.elapsed();
        let found = stream.next_keystream_bits(&server, bits).expect("a stream has so many bits");
        let all = start.elapsed();
        let expected = KreyviumPlainState::new(key, iv).next_keystream_bits(bits);
        let expected = expected.expect("a stream has so many bits");
        for (at, bit) in found.iter().enumerate() {
            assert_eq!(client.decrypt(bit), u64::from(expected[at / 8] >> (at % 8) & 1));
        }
        (warm.as_secs_f64(), (all - warm).as_secs_f64())
    })
}

fn hex(digits: [u8; 32]) -> [u8; 16] {
    let value = |digit: u8| (digit as char).to_digit(16).expect("a hexadecimal digit") as u8;
    std::array::from_fn(|at| value(digits[2 * at]) << 4 | value(digits[2 * at + 1]))
}
