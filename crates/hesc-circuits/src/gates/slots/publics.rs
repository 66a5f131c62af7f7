//! What a circuit makes of public inputs alone, in the clear.

use std::collections::HashMap;

use super::arithmetic::{Arithmetic, Value, centred};
use crate::gates::GateError;

/// Values of public inputs, each after those it is made of.
#[derive(Debug, Default)]
pub(super) struct Publics {
    values: Vec<(usize, Value)>,
    modulus: i64,
}

/// A number modulo the plaintext modulus in each slot, by value.
pub(super) type Numbers = HashMap<usize, Vec<i64>>;

impl Publics {
    pub(super) fn new(arithmetic: &Arithmetic, modulus: u64) -> Self {
        let all = arithmetic.values.iter().cloned().enumerate();
        let values = all.filter(|&(at, _)| arithmetic.public[at]).collect();
        Self { values, modulus: modulus as i64 }
    }

    /// Public inputs.
    pub(super) fn inputs(&self) -> usize {
        self.values.iter().take_while(|(_, value)| matches!(value, Value::Input)).count()
    }

    /// All values, of a bit for each slot and input.
    ///
    /// # Errors
    /// [`GateError::Inputs`] for other than as many inputs, or rows that are not as long as there are slots.
    pub(super) fn numbers(&self, inputs: &[Vec<bool>], slots: usize) -> Result<Numbers, GateError> {
        let check = |what, expected, found| {
            if expected == found {
                Ok(())
            } else {
                Err(GateError::Inputs { what, expected, found })
            }
        };
        check("public inputs", self.inputs(), inputs.len())?;
        inputs.iter().try_for_each(|row| check("slots", slots, row.len()))?;
        let mut numbers = Numbers::new();
        for (index, (at, value)) in self.values.iter().enumerate() {
            let made = match value {
                Value::Input => inputs[index].iter().map(|&bit| i64::from(bit)).collect(),
                Value::Product(a, b) => {
                    let pairs = numbers[a].iter().zip(&numbers[b]);
                    pairs.map(|(x, y)| centred(x * y, self.modulus)).collect()
                }
                Value::Sum(sum) => {
                    let mut made = vec![sum.constant; slots];
                    for (k, term) in &sum.terms {
                        for (made, x) in made.iter_mut().zip(&numbers[term]) {
                            *made = centred(*made + k * x, self.modulus);
                        }
                    }
                    made
                }
            };
            numbers.insert(*at, made);
        }
        Ok(numbers)
    }
}
