//! What follows from scores: classes, probabilities and numbers, as scikit-learn has them.

use crate::document::Fields;
use crate::json::Json;
use crate::labels::Classes;
use crate::steps::sigmoid;
use crate::{ClientError, document};

/// What a client makes of scores: probabilities of classes, or a regressor's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// Classes by the highest score, or numbers that are the scores.
    None,
    /// Probabilities of one score.
    Sigmoid,
    /// Of all scores.
    Softmax,
    /// Of each score, brought to a sum of one.
    OneAgainstRest,
    /// Scores are probabilities, of two classes less 1/2.
    Shares,
    /// Averages of several models' [`Link::Sigmoid`] or [`Link::OneAgainstRest`], whose scores stand one after the other.
    MeanSigmoid,
    /// Averages of several models' [`Link::Softmax`].
    MeanSoftmax,
    /// Averages of several models' calibrated scores.
    MeanIsotonic,
    /// A number is the exponential of its score.
    Exp,
    /// The same less one.
    Expm1,
    /// A power of two.
    Exp2,
    /// A square.
    Square,
    /// A square root.
    Sqrt,
    /// A hyperbolic sine.
    Sinh,
    /// `1 / (1 + exp(-x))`.
    Expit,
}

impl Link {
    /// Names of all, as documents have them.
    pub const NAMES: [&'static str; 15] = [
        "none",
        "sigmoid",
        "softmax",
        "one_against_rest",
        "shares",
        "mean_sigmoid",
        "mean_softmax",
        "mean_isotonic",
        "exp",
        "expm1",
        "exp2",
        "square",
        "sqrt",
        "sinh",
        "expit",
    ];

    /// All of them, in the order of their names.
    pub const ALL: [Self; 15] = [
        Self::None,
        Self::Sigmoid,
        Self::Softmax,
        Self::OneAgainstRest,
        Self::Shares,
        Self::MeanSigmoid,
        Self::MeanSoftmax,
        Self::MeanIsotonic,
        Self::Exp,
        Self::Expm1,
        Self::Exp2,
        Self::Square,
        Self::Sqrt,
        Self::Sinh,
        Self::Expit,
    ];

    /// The link of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().position(|own| *own == name).map(|place| Self::ALL[place])
    }

    /// What documents call it.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    pub(crate) fn read(value: &Json, what: &str) -> Result<Self, ClientError> {
        document::one_of(value, &Self::NAMES, what).map(|place| Self::ALL[place])
    }

    /// Whether scores are those of several models whose probabilities are averaged.
    pub fn is_mean(self) -> bool {
        matches!(self, Self::MeanSigmoid | Self::MeanSoftmax | Self::MeanIsotonic)
    }

    /// Whether it makes probabilities of classes.
    pub fn has_probabilities(self) -> bool {
        let places = [Self::Sigmoid, Self::Softmax, Self::OneAgainstRest, Self::Shares];
        self.is_mean() || places.contains(&self)
    }

    /// Whether it makes numbers of a regressor's scores.
    pub fn has_numbers(self) -> bool {
        self != Self::None && !self.has_probabilities()
    }

    /// A regressor's number: the score itself where the link has none.
    pub fn number(self, score: f64) -> f64 {
        match self {
            Self::Exp => score.exp(),
            Self::Expm1 => score.exp_m1(),
            Self::Exp2 => score.exp2(),
            Self::Square => score * score,
            Self::Sqrt => score.sqrt(),
            Self::Sinh => score.sinh(),
            Self::Expit => sigmoid(score),
            _ => score,
        }
    }

    /// Probabilities of one model's row of scores, behind what was found before.
    fn add(self, row: &[f64], found: &mut Vec<f64>) {
        let start = found.len();
        match (self, row) {
            // Errors bring some below zero.
            (Self::Shares, [score]) => {
                found.extend([0.5 - score, 0.5 + score].map(|x| x.max(0.0)));
            }
            (Self::Shares, _) => found.extend(row.iter().map(|x| x.max(0.0))),
            (Self::MeanIsotonic, [share]) => return found.extend([1.0 - share, *share]),
            (Self::MeanIsotonic, _) => found.extend(row),
            (_, [score]) => {
                let high = sigmoid(*score);
                return found.extend([1.0 - high, high]);
            }
            (Self::Softmax | Self::MeanSoftmax, _) => {
                let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                found.extend(row.iter().map(|x| (x - most).exp()));
            }
            _ => found.extend(row.iter().map(|x| sigmoid(*x))),
        }
        normalise(&mut found[start..]);
    }
}

/// Functions that rise from point to point, one for each score: isotonic regressions.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Points of each function: where they are, and the share of the class at each.
    functions: Vec<Vec<[f64; 2]>>,
}

impl Calibration {
    /// Functions of these numbers of points, one after the other.
    ///
    /// # Errors
    /// [`ClientError::Document`] for numbers of points that are none, places that do not rise, and what is no share.
    pub fn new(counts: &[f64], scores: &[f64], shares: &[f64]) -> Result<Self, ClientError> {
        let refused = |problem: &str| Err(ClientError::document(problem));
        let whole = counts.iter().all(|&count| count == count.floor() && count >= 1.0);
        let total: f64 = counts.iter().sum();
        if !whole
            || counts.is_empty()
            || total != scores.len() as f64
            || scores.len() != shares.len()
        {
            return refused("a calibration has one point or more for each of its functions");
        }
        if !shares.iter().all(|share| (0.0..=1.0).contains(share)) {
            return refused("a calibration gives shares, from 0 to 1");
        }
        let mut points = scores.iter().zip(shares).map(|(&score, &share)| [score, share]);
        // Counts are no larger than a list that there is.
        let functions: Vec<Vec<[f64; 2]>> =
            counts.iter().map(|&count| points.by_ref().take(count as usize).collect()).collect();
        if functions.iter().any(|points| points.windows(2).any(|pair| pair[0][0] >= pair[1][0])) {
            return refused("the points of a calibration rise");
        }
        Ok(Self { functions })
    }

    pub(crate) fn read(value: &Json) -> Result<Self, ClientError> {
        let fields = Fields::exactly(value, &["counts", "scores", "shares"], "calibration")?;
        Self::new(&fields.row("counts")?, &fields.row("scores")?, &fields.row("shares")?)
    }

    /// The points of each function: where they are, and the share at each.
    pub fn functions(&self) -> &[Vec<[f64; 2]>] {
        &self.functions
    }

    /// How many functions there are.
    pub fn outputs(&self) -> usize {
        self.functions.len()
    }

    /// Shares of a row of scores, as `numpy.interp` computes them.
    fn shares(&self, row: &[f64]) -> Vec<f64> {
        row.iter()
            .zip(&self.functions)
            .map(|(&score, points)| interpolated(points, score))
            .collect()
    }
}

fn interpolated(points: &[[f64; 2]], at: f64) -> f64 {
    match points.partition_point(|point| point[0] <= at) {
        0 => points[0][1],
        place if place == points.len() => points[place - 1][1],
        place => {
            let ([x, y], [next, top]) = (points[place - 1], points[place]);
            (top - y) / (next - x) * (at - x) + y
        }
    }
}

/// How classes follow from scores.
#[derive(Debug, Clone, Copy)]
pub struct Concluding<'a> {
    /// What is made of scores.
    pub link: Link,
    /// Scores of a sample.
    pub outputs: usize,
    /// Classes, two at least.
    pub classes: usize,
    /// Where the link is isotonic.
    pub calibration: Option<&'a Calibration>,
}

impl Concluding<'_> {
    /// Refuses classes that so many scores do not tell, and a calibration of something else.
    ///
    /// # Errors
    /// [`ClientError::Document`], naming which.
    pub fn check(&self) -> Result<(), ClientError> {
        let refused = |problem: &str| Err(ClientError::document(problem));
        let each = self.each();
        if self.link.has_numbers() {
            return refused("a plan of classes has a link of numbers");
        }
        let fits = if self.link.is_mean() {
            self.outputs.is_multiple_of(each)
        } else {
            self.outputs == each
        };
        if !fits || self.outputs == 0 {
            return refused("a plan has another number of classes than of scores");
        }
        check_calibration(self.link, self.outputs, self.calibration)
    }

    /// Scores of each model.
    fn each(&self) -> usize {
        if self.classes == 2 { 1 } else { self.classes }
    }

    /// Probabilities of all classes: a row for each of these rows of scores.
    ///
    /// # Errors
    /// [`ClientError::NoProbabilities`] for scores that give none.
    pub fn probabilities(&self, scores: &[f64]) -> Result<Vec<f64>, ClientError> {
        if !self.link.has_probabilities() {
            return Err(ClientError::NoProbabilities);
        }
        let mut found = Vec::with_capacity(scores.len() / self.outputs * self.classes);
        for row in scores.chunks_exact(self.outputs) {
            if self.link.is_mean() {
                found.extend(self.averaged(row));
            } else {
                self.link.add(row, &mut found);
            }
        }
        Ok(found)
    }

    fn averaged(&self, row: &[f64]) -> Vec<f64> {
        let shares = self.calibration.map(|calibration| calibration.shares(row));
        let models = shares.as_deref().unwrap_or(row).chunks_exact(self.each());
        let count = models.len() as f64;
        let mut total = vec![0.0; self.classes];
        let mut own = Vec::with_capacity(self.classes);
        for model in models {
            own.clear();
            self.link.add(model, &mut own);
            total.iter_mut().zip(&own).for_each(|(total, own)| *total += own);
        }
        total.iter_mut().for_each(|total| *total /= count);
        total
    }

    /// Places of classes, one for each row of scores: by the highest score, or average.
    ///
    /// # Errors
    /// As [`Concluding::probabilities`], where they decide.
    pub fn places(&self, scores: &[f64]) -> Result<Vec<usize>, ClientError> {
        if !self.link.is_mean() {
            return Ok(places(scores, self.outputs));
        }
        let shares = self.probabilities(scores)?;
        if self.classes > 2 {
            return Ok(places(&shares, self.classes));
        }
        Ok(shares.chunks_exact(2).map(|pair| usize::from(pair[1] > 0.5)).collect())
    }
}

/// What a plan says of scores: of how many, and what follows from them.
#[derive(Debug)]
pub struct Conclusions {
    outputs: usize,
    classes: Option<Classes>,
    link: Link,
    calibration: Option<Calibration>,
}

impl Conclusions {
    /// Reads the fields `classes` and `link` of a plan of so many scores, and where it has one its calibration.
    pub(crate) fn read(
        fields: &Fields<'_>,
        outputs: usize,
        calibration: Option<&Json>,
    ) -> Result<Self, ClientError> {
        let classes = Classes::read_or_none(fields.get("classes"))?;
        let link = Link::read(fields.get("link"), "link of a plan")?;
        let calibration = match calibration {
            None | Some(Json::Null) => None,
            Some(value) => Some(Calibration::read(value)?),
        };
        Self { outputs, classes, link, calibration }.checked()
    }

    /// Of one model's scores of classes.
    pub(crate) fn of_classes(classes: Classes, link: Link) -> Result<Self, ClientError> {
        let outputs = if classes.len() == 2 { 1 } else { classes.len() };
        Self { outputs, classes: Some(classes), link, calibration: None }.checked()
    }

    fn checked(self) -> Result<Self, ClientError> {
        match self.concluding() {
            Some(concluding) => concluding.check()?,
            None if self.link.has_probabilities() => {
                let text = "a plan has another number of classes than of scores";
                return Err(ClientError::document(text));
            }
            None => check_calibration(self.link, self.outputs, self.calibration())?,
        }
        Ok(self)
    }

    /// Scores of a sample.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// A classifier's classes.
    pub fn classes(&self) -> Option<&Classes> {
        self.classes.as_ref()
    }

    /// What is made of scores.
    pub fn link(&self) -> Link {
        self.link
    }

    /// Functions of scores whose values are shares of classes, where the link is isotonic.
    pub fn calibration(&self) -> Option<&Calibration> {
        self.calibration.as_ref()
    }

    /// How classes follow from scores; none of a regressor.
    fn concluding(&self) -> Option<Concluding<'_>> {
        self.classes.as_ref().map(|classes| Concluding {
            link: self.link,
            outputs: self.outputs,
            classes: classes.len(),
            calibration: self.calibration.as_ref(),
        })
    }

    /// Places of the classes that rows of scores are of; none of a regressor, see [`Conclusions::numbers`].
    ///
    /// # Errors
    /// None of a plan that was read.
    pub fn predictions(&self, scores: &[f64]) -> Result<Option<Vec<usize>>, ClientError> {
        self.concluding().map(|concluding| concluding.places(scores)).transpose()
    }

    /// A regressor's numbers for scores.
    pub fn numbers(&self, scores: &[f64]) -> Vec<f64> {
        scores.iter().map(|&score| self.link.number(score)).collect()
    }

    /// Probabilities of all classes, a row for each row of scores.
    ///
    /// # Errors
    /// [`ClientError::NoProbabilities`] for scores that give none.
    pub fn probabilities(&self, scores: &[f64]) -> Result<Vec<f64>, ClientError> {
        self.concluding().ok_or(ClientError::NoProbabilities)?.probabilities(scores)
    }
}

/// Refuses a calibration that is missing, of another link, or of another number of scores.
fn check_calibration(
    link: Link,
    outputs: usize,
    calibration: Option<&Calibration>,
) -> Result<(), ClientError> {
    if calibration.is_some() != (link == Link::MeanIsotonic) {
        let text = "a plan has a calibration where its link is isotonic, and no other";
        return Err(ClientError::document(text));
    }
    if calibration.is_some_and(|calibration| calibration.outputs() != outputs) {
        let text = "a calibration of a plan has another number of functions than of scores";
        return Err(ClientError::document(text));
    }
    Ok(())
}

/// Brings a row to a sum of one; as scikit-learn does, evenly where no class wants a sample.
fn normalise(row: &mut [f64]) {
    let total: f64 = row.iter().sum();
    let even = 1.0 / row.len() as f64;
    row.iter_mut().for_each(|x| *x = if total > 0.0 { *x / total } else { even });
}

/// Places of classes, one for each row of so many scores: of one score the second where it is above zero, otherwise the
/// first of the highest.
fn places(scores: &[f64], outputs: usize) -> Vec<usize> {
    let place = |row: &[f64]| match row {
        [score] => usize::from(*score > 0.0),
        _ => (1..row.len()).fold(0, |best, at| if row[at] > row[best] { at } else { best }),
    };
    scores.chunks_exact(outputs).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, classes: usize, row: &[f64]) -> Result<Vec<f64>, ClientError> {
        let link = Link::named(name).unwrap();
        Concluding { link, outputs: row.len(), classes, calibration: None }.probabilities(row)
    }

    #[test]
    fn probabilities_are_scikit_learns() {
        assert_eq!(of("none", 2, &[0.0]), Err(ClientError::NoProbabilities));
        assert_eq!(of("exp", 2, &[0.0]), Err(ClientError::NoProbabilities));
        assert_eq!(of("sigmoid", 2, &[0.0]), Ok(vec![0.5, 0.5]));
        assert_eq!(of("shares", 2, &[-0.75]), Ok(vec![1.0, 0.0]));
        assert_eq!(of("shares", 3, &[-1.0, -2.0, 0.0]), Ok(vec![1.0 / 3.0; 3]));
        assert_eq!(of("one_against_rest", 4, &[-1e9; 4]), Ok(vec![0.25; 4]));
        assert_eq!(of("softmax", 2, &[1e300, 1e300 - 1.0]), Ok(vec![0.5, 0.5]));
        assert_eq!(of("mean_sigmoid", 2, &[0.0, 1e9]), Ok(vec![0.25, 0.75]));
        assert_eq!(of("mean_softmax", 3, &[1e9, 0.0, 0.0, 0.0, 1e9, 0.0]), Ok(vec![0.5, 0.5, 0.0]));
    }

    #[test]
    fn the_first_of_the_highest_scores_wins() {
        assert_eq!(places(&[1.0, 3.0, 3.0, 2.0, 1.0, 2.0], 3), [1, 0]);
        assert_eq!(places(&[0.0, 1e-300, -1.0], 1), [0, 1, 0]);
        let mean = Link::MeanSigmoid;
        let two = Concluding { link: mean, outputs: 2, classes: 2, calibration: None };
        // The sum of scores would say the other class.
        assert_eq!(two.places(&[-0.1, 50.0, -50.0, 1.0]), Ok(vec![1, 0]));
    }

    #[test]
    fn calibrations_are_those_of_interp() {
        let counts = [2.0, 1.0];
        let made = Calibration::new(&counts, &[0.0, 2.0, 5.0], &[0.25, 0.75, 1.0]).unwrap();
        assert_eq!(made.shares(&[1.0, -9.0]), [0.5, 1.0]);
        assert_eq!([made.shares(&[-1.0, 0.0])[0], made.shares(&[3.0, 0.0])[0]], [0.25, 0.75]);
        for (counts, scores, shares) in [
            (vec![2.0], vec![0.0], vec![0.0]),
            (vec![1.5], vec![0.0], vec![0.0]),
            (vec![2.0], vec![0.0, 0.0], vec![0.0, 1.0]),
            (vec![1.0], vec![0.0], vec![1.5]),
            (vec![], vec![], vec![]),
        ] {
            assert!(Calibration::new(&counts, &scores, &shares).is_err());
        }
    }

    #[test]
    fn links_have_names() {
        for (link, name) in Link::ALL.into_iter().zip(Link::NAMES) {
            assert_eq!((link.name(), Link::named(name)), (name, Some(link)));
        }
        assert_eq!(Link::named("cube"), None);
    }

    #[test]
    fn numbers_follow_from_scores() {
        assert_eq!(Link::named("square").map(|link| link.number(-3.0)), Some(9.0));
        assert_eq!(Link::Exp.number(0.0), 1.0);
        assert_eq!(Link::None.number(2.5), 2.5);
        assert!(Link::Sqrt.number(-1.0).is_nan());
    }
}
