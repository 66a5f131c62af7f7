//! Steps from documents: every part is held against what it has to be before anything is made of it.

use std::collections::HashMap;

use super::branches::Branch;
use super::categories::{Categories, Cell, Codes, Column, Else, Fill, IsMissing};
use super::functions::{self, Function, Power};
use super::kernels::{Form, Kernel, Monomials, Projection};
use super::numbers::Each;
use super::one_hot::{Bins, Block, Edged, Exceeds, Inside, Lookup};
use super::quantiles::Output;
use super::tokens::Tokens;
use super::{DEEPEST, MOST, Norm, Step, WIDEST, unfit, width_after};
use crate::ClientError;
use crate::document::{Fields, number, one_of, same};
use crate::json::Json;
use crate::matrix::Matrix;

type Found<T> = Result<T, ClientError>;

/// Degree of monomials, at most.
const HIGHEST: usize = 32;
/// Columns that a step of few bytes may say that it takes.
const INPUTS: usize = u32::MAX as usize;
const NAMES: [&str; 21] = [
    "affine",
    "standard",
    "stretch",
    "clip",
    "projection",
    "monomials",
    "kernel",
    "bins",
    "exceeds",
    "inside",
    "branches",
    "codes",
    "one_hot",
    "lookup",
    "fill",
    "is_missing",
    "function",
    "power",
    "quantiles",
    "normalise",
    "tokens",
];

/// Steps that take so many columns; `left` more may be read, so deep.
pub(super) fn list(value: &Json, inputs: usize, deep: usize, left: &mut usize) -> Found<Vec<Step>> {
    let Json::List(items) = value else { return Err(no_list()) };
    *left = left.checked_sub(items.len()).ok_or_else(no_list)?;
    let mut steps = Vec::with_capacity(items.len());
    for item in items {
        let step = one(item, deep, left)?;
        let (takes, gives) = step.widths();
        if takes != width_after(&steps, inputs) || !(1..=WIDEST).contains(&gives) {
            let text = "a transform takes another number of features than there are";
            return Err(ClientError::document(text));
        }
        steps.push(step);
    }
    Ok(steps)
}

fn no_list() -> ClientError {
    ClientError::document(format!(
        "the transforms of a plan are a list, of {MOST} at most in all, {DEEPEST} branches deep at most"
    ))
}

fn one(item: &Json, deep: usize, left: &mut usize) -> Found<Step> {
    let kind = match item {
        Json::Object(given) => given.get("step").unwrap_or(&Json::Null),
        _ => &Json::Null,
    };
    let name = NAMES[one_of(kind, &NAMES, "a transform")?];
    let fields = |names: &[&str]| Fields::exactly(item, &[&["step"], names].concat(), name);
    Ok(match name {
        "affine" => {
            let [centre, factor] = rows(&fields(&["centre", "factor"])?, ["centre", "factor"])?;
            Step::Each(Each::Affine { centre, factor })
        }
        "standard" => {
            let [centre, scale] = rows(&fields(&["centre", "scale"])?, ["centre", "scale"])?;
            fitting(!scale.contains(&0.0), name)?;
            Step::Each(Each::Standard { centre, scale })
        }
        "stretch" => {
            let [factor, offset] = rows(&fields(&["factor", "offset"])?, ["factor", "offset"])?;
            fitting(!factor.contains(&0.0), name)?;
            Step::Each(Each::Stretch { factor, offset })
        }
        "clip" => {
            let [low, high] = rows(&fields(&["low", "high"])?, ["low", "high"])?;
            fitting(low.iter().zip(&high).all(|(low, high)| low <= high), name)?;
            Step::Each(Each::Clip { low, high })
        }
        "projection" => {
            let fields = fields(&["centre", "matrix"])?;
            let (centre, ([_, inputs], matrix)) = (fields.row("centre")?, fields.matrix("matrix")?);
            fitting(centre.len() == inputs, name)?;
            Step::Projection(Projection { centre, matrix: Matrix::new(&matrix, inputs) })
        }
        "monomials" => Step::Monomials(monomials(&fields(&["inputs", "factors"])?)?),
        "kernel" => {
            let names = ["kernel", "components", "matrix", "options"];
            Step::Kernel(Box::new(kernel(&fields(&names)?)?))
        }
        "bins" => Step::Bins(bins(&fields(&["inputs", "features", "counts", "edges"])?)?),
        "exceeds" => {
            let names = ["inputs", "features", "counts", "missing", "edges"];
            Step::Exceeds(exceeds(&fields(&names)?)?)
        }
        "inside" => {
            let names = ["inputs", "conditions", "negated", "terms", "columns"];
            Step::Inside(inside(&fields(&names)?)?)
        }
        "branches" => {
            let fields = fields(&["inputs", "branches"])?;
            let deep = deep.checked_sub(1).ok_or_else(no_list)?;
            let inputs = fields.whole("inputs", 1, WIDEST)?;
            let list = fields.list("branches")?;
            fitting(!list.is_empty(), name)?;
            let branches = list.iter().map(|each| branch(each, inputs, deep, left));
            Step::Branches { inputs, branches: branches.collect::<Found<_>>()? }
        }
        "codes" => {
            let columns = fields(&["columns"])?.list("columns")?.iter().map(column);
            Step::Codes(Codes { columns: columns.collect::<Found<_>>()? })
        }
        "one_hot" => {
            let sizes = fields(&["sizes"])?.list("sizes")?;
            Step::OneHot(places(sizes, 1, WIDEST).ok_or_else(|| unfit(name))?)
        }
        "lookup" => {
            let tables = fields(&["tables"])?.list("tables")?;
            Step::Lookup(Lookup { tables: tables.iter().map(table).collect::<Found<_>>()? })
        }
        "fill" => Step::Fill(fill(&fields(&["values", "missing"])?)?),
        "is_missing" => {
            let fields = fields(&["inputs", "missing"])?;
            let inputs = fields.whole("inputs", 1, WIDEST)?;
            Step::IsMissing(IsMissing { inputs, missing: missing(&fields)? })
        }
        "function" => {
            let fields = fields(&["inputs", "function"])?;
            let function = Function(fields.one_of("function", &functions::NAMES)?);
            Step::Each(Each::Function { inputs: fields.whole("inputs", 1, WIDEST)?, function })
        }
        "power" => {
            let fields = fields(&["method", "lambdas"])?;
            let powers = [Power::YeoJohnson, Power::BoxCox];
            let power = powers[fields.one_of("method", &["yeo_johnson", "box_cox"])?];
            Step::Each(Each::Power { power, lambdas: fields.row("lambdas")? })
        }
        "quantiles" => Step::Each(quantiles(&fields(&["references", "quantiles", "output"])?)?),
        "normalise" => {
            let fields = fields(&["inputs", "norm"])?;
            let norm =
                [Norm::L1, Norm::L2, Norm::Max][fields.one_of("norm", &["l1", "l2", "max"])?];
            Step::Normalise { inputs: fields.whole("inputs", 1, WIDEST)?, norm }
        }
        _ => Step::Tokens(Box::new(Tokens::read(item)?)),
    })
}

fn fitting(fits: bool, step: &str) -> Found<()> {
    if fits { Ok(()) } else { Err(unfit(step)) }
}

/// Two rows of one length.
fn rows(fields: &Fields<'_>, names: [&str; 2]) -> Found<[Vec<f64>; 2]> {
    let [a, b] = [fields.row(names[0])?, fields.row(names[1])?];
    fitting(a.len() == b.len(), fields.what)?;
    Ok([a, b])
}

/// Whole numbers within bounds.
fn places(list: &[Json], least: usize, most: usize) -> Option<Vec<usize>> {
    let place = |value: &Json| match value {
        Json::Whole(place) => usize::try_from(*place).ok().filter(|at| (least..=most).contains(at)),
        _ => None,
    };
    list.iter().map(place).collect()
}

/// A number of an array as a whole one below another.
fn whole(number: f64, below: usize) -> Option<usize> {
    super::one_hot::code_below(number, below)
}

fn monomials(fields: &Fields<'_>) -> Found<Monomials> {
    let inputs = fields.whole("inputs", 1, INPUTS).map_err(|_| unfit("monomials"))?;
    let ([_, degree], factors) = fields.matrix("factors")?;
    let place = |&factor: &f64| if factor == -1.0 { Some(inputs) } else { whole(factor, inputs) };
    let factors: Option<Vec<usize>> = factors.iter().map(place).collect();
    match factors {
        Some(factors) if degree <= HIGHEST => Ok(Monomials { inputs, factors, degree }),
        _ => Err(unfit("monomials")),
    }
}

fn kernel(fields: &Fields<'_>) -> Found<Kernel> {
    let forms = [Form::Linear, Form::Polynomial, Form::Rbf, Form::Sigmoid];
    let names = ["linear", "polynomial", "rbf", "sigmoid"];
    let form = forms[one_of(fields.get("kernel"), &names, "a kernel")?];
    let ([count, inputs], components) = fields.matrix("components")?;
    let ([_, from], matrix) = fields.matrix("matrix")?;
    let options = <[f64; 3]>::try_from(fields.row("options")?).ok();
    let Some(options) = options.filter(|_| count == from) else { return Err(unfit("kernel")) };
    let squares = components.chunks_exact(inputs).map(|row| row.iter().map(|x| x * x).sum());
    Ok(Kernel {
        form,
        squares: squares.collect(),
        components: Matrix::new(&components, inputs),
        matrix: Matrix::new(&matrix, from),
        options,
    })
}

fn bins(fields: &Fields<'_>) -> Found<Bins> {
    let refused = || unfit("bins");
    let inputs = fields.whole("inputs", 1, INPUTS).map_err(|_| refused())?;
    let (shape, features) = fields.matrix("features")?;
    let (counted, counts) = fields.matrix("counts")?;
    let edges = fields.row("edges")?;
    fitting(shape[1] == 2 && counted == shape && shape[0] <= WIDEST, "bins")?;
    let mut start = 0;
    let mut part = |feature: f64, count: f64| {
        let count = whole(count, WIDEST)?;
        let own = edges.get(start..start + count)?;
        let part = [whole(feature, inputs)?, start, count];
        start += count;
        own.is_sorted().then_some(part)
    };
    let pairs = features.chunks_exact(2).zip(counts.chunks_exact(2));
    let blocks = pairs.map(|(features, counts)| {
        let first = part(features[0], counts[0])?;
        let second = match (features[1], counts[1]) {
            (-1.0, 0.0) => None,
            (feature, count) => Some(part(feature, count)?),
        };
        Some(Block { first, second })
    });
    let blocks: Vec<Block> = blocks.collect::<Option<_>>().ok_or_else(refused)?;
    fitting(start == edges.len(), "bins")?;
    // Cells of 2^16 pairs are fewer than 2^48, which 32 bits do not hold.
    let outputs = blocks.iter().try_fold(0u64, |sum, block| {
        let [a, b] = [block.first[2], block.second.map_or(0, |part| part[2])];
        Some(sum + (a as u64 + 1) * (b as u64 + 1)).filter(|&sum| sum <= WIDEST as u64)
    });
    let wide =
        || ClientError::document("a transform takes another number of features than there are");
    let outputs = outputs.ok_or_else(wide)? as usize;
    Ok(Bins { inputs, blocks, edges, outputs })
}

fn exceeds(fields: &Fields<'_>) -> Found<Exceeds> {
    let refused = || unfit("exceeds");
    let inputs = fields.whole("inputs", 1, INPUTS).map_err(|_| refused())?;
    let [features, counts] = rows(fields, ["features", "counts"])?;
    let (missing, edges) = (fields.row("missing")?, fields.row("edges")?);
    fitting(missing.len() == features.len() && features.len() <= WIDEST, "exceeds")?;
    let (mut start, mut outputs) = (0, 0);
    let columns =
        features.iter().zip(&counts).zip(&missing).map(|((&feature, &count), &missing)| {
            let (count, missing) = (whole(count, WIDEST)?, whole(missing, 2)? == 1);
            // Each edge is above the one before.
            let own = edges.get(start..start + count)?;
            own.windows(2).all(|pair| pair[0] < pair[1]).then_some(())?;
            let edged = Edged { column: whole(feature, inputs)?, start, count, missing };
            start += count;
            outputs += count + usize::from(missing);
            Some(edged)
        });
    let columns = columns.collect::<Option<_>>().ok_or_else(refused)?;
    fitting(start == edges.len() && outputs <= WIDEST, "exceeds")?;
    Ok(Exceeds { inputs, columns, edges, outputs })
}

fn inside(fields: &Fields<'_>) -> Found<Inside> {
    let refused = || unfit("inside");
    let inputs = fields.whole("inputs", 1, INPUTS).map_err(|_| refused())?;
    let (counts, columns) = (fields.row("conditions")?, fields.row("columns")?);
    let [negated, terms] = rows(fields, ["negated", "terms"])?;
    fitting(counts.len() <= WIDEST, "inside")?;
    let ends = |counts: &[f64], all: usize| {
        let mut end = 0;
        let sum = |&count: &f64| {
            end += whole(count, all + 1)?;
            Some(end)
        };
        let ends: Option<Vec<usize>> = counts.iter().map(sum).collect();
        ends.filter(|_| end == all)
    };
    let of_conditions = ends(&terms, columns.len()).ok_or_else(refused)?;
    let wanted = negated.iter().map(|&each| Some(whole(each, 2)? == 1));
    let conditions = wanted.zip(of_conditions).map(|(wanted, end)| Some((wanted?, end)));
    let columns = columns.iter().map(|&column| whole(column, inputs));
    Ok(Inside {
        inputs,
        ends: ends(&counts, negated.len()).ok_or_else(refused)?,
        conditions: conditions.collect::<Option<_>>().ok_or_else(refused)?,
        columns: columns.collect::<Option<_>>().ok_or_else(refused)?,
    })
}

fn branch(value: &Json, inputs: usize, deep: usize, left: &mut usize) -> Found<Branch> {
    let fields = Fields::exactly(value, &["columns", "steps"], "branch")?;
    let columns = places(fields.list("columns")?, 0, inputs - 1);
    let fits = |columns: &Vec<usize>| (1..=WIDEST).contains(&columns.len());
    let columns = columns.filter(fits).ok_or_else(|| unfit("branches"))?;
    let steps = list(fields.get("steps"), columns.len(), deep, left)?;
    Ok(Branch { columns, steps })
}

fn column(value: &Json) -> Found<Column> {
    let names = ["categories", "codes", "unknown", "missing"];
    let fields = Fields::exactly(value, &names, "column of codes")?;
    let (given, codes) = (fields.list("categories")?, fields.row("codes")?);
    fitting(given.len() == codes.len(), "codes")?;
    let words: Option<HashMap<Box<str>, f64>> = given
        .iter()
        .zip(&codes)
        .map(|(category, &code)| match category {
            Json::Text(text) => Some((text.as_str().into(), code)),
            _ => None,
        })
        .collect();
    let numbers = || -> Option<HashMap<u64, f64>> {
        let pairs = given.iter().zip(&codes);
        pairs.map(|(category, &code)| Some((same(number(category)?), code))).collect()
    };
    let categories = match words {
        Some(words) => Categories::Words(words),
        None => Categories::Numbers(numbers().ok_or_else(|| unfit("codes"))?),
    };
    let apart = match &categories {
        Categories::Words(codes) => codes.len(),
        Categories::Numbers(codes) => codes.len(),
    };
    fitting(apart == given.len(), "codes")?;
    let other = |name| match fields.get(name) {
        Json::Null => Ok(Else::Refused),
        Json::Text(text) if text == "missing" => Ok(Else::Missing),
        value => number(value).map(Else::Code).ok_or_else(|| unfit("codes")),
    };
    Ok(Column { categories, unknown: other("unknown")?, missing: other("missing")? })
}

fn table(value: &Json) -> Found<([usize; 2], Vec<f64>)> {
    let (shape, table) = crate::document::unpacked::<2>(value, "a table of lookup")?;
    fitting(shape[1] <= WIDEST, "lookup")?;
    Ok((shape, table))
}

fn cell(value: &Json) -> Option<Cell> {
    match value {
        Json::Text(text) => Some(Cell::Word(text.as_str().into())),
        value => number(value).map(Cell::Number),
    }
}

fn missing(fields: &Fields<'_>) -> Found<Option<Cell>> {
    match fields.get("missing") {
        Json::Null => Ok(None),
        value => cell(value).map(Some).ok_or_else(|| unfit(fields.what)),
    }
}

fn fill(fields: &Fields<'_>) -> Found<Fill> {
    let columns: Option<Vec<Cell>> = fields.list("values")?.iter().map(cell).collect();
    let columns = columns.ok_or_else(|| unfit("fill"))?;
    let missing = missing(fields)?;
    let same = |missing: &Cell| columns.iter().all(|value| value.kind() == missing.kind());
    fitting(missing.as_ref().is_none_or(same), "fill")?;
    Ok(Fill { columns, missing })
}

fn quantiles(fields: &Fields<'_>) -> Found<Each> {
    let references = fields.row("references")?;
    let ([count, features], given) = fields.matrix("quantiles")?;
    fitting(count == references.len() && references.is_sorted(), "quantiles")?;
    let within = references.iter().all(|share| (0.0..=1.0).contains(share));
    let mut quantiles = Vec::with_capacity(given.len());
    for feature in 0..features {
        quantiles.extend(given.iter().skip(feature).step_by(features));
    }
    let sorted = quantiles.chunks_exact(count).all(<[f64]>::is_sorted);
    fitting(within && sorted, "quantiles")?;
    let outputs = [Output::Uniform, Output::Normal];
    let output = outputs[fields.one_of("output", &["uniform", "normal"])?];
    Ok(Each::Quantiles { references, quantiles, output })
}
