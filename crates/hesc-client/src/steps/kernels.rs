//! Sums and products of several columns.

use crate::matrix::Matrix;

/// `(x - centre) @ matrix.T`.
#[derive(Debug)]
pub(super) struct Projection {
    pub(super) centre: Vec<f64>,
    pub(super) matrix: Matrix,
}

impl Projection {
    pub(super) fn widths(&self) -> (usize, usize) {
        (self.matrix.inputs, self.matrix.outputs)
    }

    pub(super) fn apply(&self, numbers: &mut [f64]) -> Vec<f64> {
        for row in numbers.chunks_exact_mut(self.centre.len()) {
            row.iter_mut().zip(&self.centre).for_each(|(x, centre)| *x -= centre);
        }
        self.matrix.times(numbers)
    }
}

/// Products of columns.
#[derive(Debug)]
pub(super) struct Monomials {
    pub(super) inputs: usize,
    /// Factors of each product, `degree` of them; `inputs` stands for none.
    pub(super) factors: Vec<usize>,
    pub(super) degree: usize,
}

impl Monomials {
    pub(super) fn widths(&self) -> (usize, usize) {
        (self.inputs, self.factors.len() / self.degree)
    }

    /// From the last factor on, as `PolynomialFeatures` multiplies.
    pub(super) fn apply(&self, numbers: &[f64]) -> Vec<f64> {
        let rows = numbers.chunks_exact(self.inputs);
        let mut found = Vec::with_capacity(rows.len() * self.widths().1);
        for row in rows {
            found.extend(self.factors.chunks_exact(self.degree).map(|factors| {
                let value = |&at: &usize| row.get(at).copied().unwrap_or(1.0);
                factors.iter().rev().map(value).reduce(|product, x| product * x).unwrap_or(1.0)
            }));
        }
        found
    }
}

/// Which kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Linear,
    Polynomial,
    Rbf,
    Sigmoid,
}

/// Nystroem's features: kernels of a row with components, times a matrix.
#[derive(Debug)]
pub(super) struct Kernel {
    pub(super) form: Form,
    pub(super) components: Matrix,
    /// Sums of the squares of each.
    pub(super) squares: Vec<f64>,
    pub(super) matrix: Matrix,
    /// gamma, coef0 and degree.
    pub(super) options: [f64; 3],
}

impl Kernel {
    pub(super) fn widths(&self) -> (usize, usize) {
        (self.components.inputs, self.matrix.outputs)
    }

    pub(super) fn components(&self) -> usize {
        self.components.outputs
    }

    pub(super) fn apply(&self, numbers: &[f64]) -> Vec<f64> {
        let mut values = self.components.times(numbers);
        let [gamma, coef0, degree] = self.options;
        match self.form {
            Form::Linear => {}
            Form::Polynomial => {
                values.iter_mut().for_each(|x| *x = (gamma * *x + coef0).powf(degree))
            }
            Form::Sigmoid => values.iter_mut().for_each(|x| *x = (gamma * *x + coef0).tanh()),
            Form::Rbf => {
                let rows = numbers.chunks_exact(self.components.inputs);
                for (row, values) in rows.zip(values.chunks_exact_mut(self.squares.len())) {
                    let own: f64 = row.iter().map(|x| x * x).sum();
                    for (value, squares) in values.iter_mut().zip(&self.squares) {
                        *value = (-gamma * (own + squares - 2.0 * *value).max(0.0)).exp();
                    }
                }
            }
        }
        self.matrix.times(&values)
    }
}
