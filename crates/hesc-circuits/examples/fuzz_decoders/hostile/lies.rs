//! Well-formed objects that do not tell the truth: fields with other plausible values, the values of
//! other fields and other objects, and objects put in place of others. Lengths and checksums are right.

use rand_core::Rng;

use super::frames::{Field, Frame, Part, Type};

/// A number below `n`.
pub fn below(rng: &mut impl Rng, n: usize) -> usize {
    (rng.next_u64() % n.max(1) as u64) as usize
}

/// An integer that a careless reader trips over.
fn integer(of: u64, rng: &mut impl Rng) -> u64 {
    let near = [of.wrapping_add(1), of.wrapping_sub(1), of.wrapping_mul(2), of / 2];
    let far = [0, 1, 2, u64::MAX, u64::from(u32::MAX), 1 << 31, 1 << 32, 1 << 63];
    match below(rng, 3) {
        0 => far[below(rng, far.len())],
        1 => 1 << below(rng, 64),
        _ => near[below(rng, near.len())],
    }
}

/// A double that a careless reader trips over.
fn double(of: f64, rng: &mut impl Rng) -> f64 {
    let values = [
        0.0,
        -0.0,
        1.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        5e-324,
        f64::MIN_POSITIVE,
        f64::MAX,
        1e150,
        1.000_001e150,
        1e-150,
        -of,
        of * 2.0,
        of / 2.0,
        of * 0.999,
        of * 1e6,
        of / 1e6,
        of.next_up(),
        of.next_down(),
    ];
    values[below(rng, values.len())]
}

/// Another origin: another draw, source, dimension or generator.
fn origin(bytes: &mut [u8], rng: &mut impl Rng) {
    let at = [0, 1, 8, 9, 24, 31][below(rng, 6)];
    bytes[at] = match below(rng, 3) {
        0 => bytes[at].wrapping_add(1),
        1 => 0,
        _ => below(rng, 16) as u8,
    };
}

/// Another value for a field.
fn change(field: &mut Field, rng: &mut impl Rng) {
    match field.of {
        Type::U8 | Type::U32 | Type::U64 => {
            let value = integer(field.number(), rng).to_le_bytes();
            let size = field.bytes.len();
            field.bytes.copy_from_slice(&value[..size]);
        }
        Type::Double => {
            field.bytes = double(field.double(), rng).to_le_bytes().to_vec();
        }
        Type::Origin => origin(&mut field.bytes, rng),
        Type::Tag => {
            let at = below(rng, 32);
            field.bytes[at] ^= 1 << below(rng, 8);
        }
        Type::Words(size) => {
            let at = below(rng, size);
            let end = (at + 1 + below(rng, 8)).min(size);
            let byte = [0, 1, 0x7f, 0x80, 0xff][below(rng, 5)];
            field.bytes[at..end].fill(byte);
        }
    }
}

fn field_mut<'a>(
    frame: &'a mut Frame,
    of: impl Fn(&Field) -> bool,
    rng: &mut impl Rng,
) -> Option<&'a mut Field> {
    let count = frame.fields().filter(|field| of(field)).count();
    let chosen = below(rng, count);
    let fields = frame.parts.iter_mut().filter_map(|part| match part {
        Part::Field(field) if of(field) => Some(field),
        _ => None,
    });
    fields.into_iter().nth(chosen)
}

/// Tells a lie or a few, perhaps with parts of another object.
pub fn lie(frame: &mut Frame, other: &Frame, rng: &mut impl Rng) {
    for _ in 0..1 + below(rng, 3) {
        let chosen = below(rng, frame.all().len());
        let own = frame.all_mut(chosen);
        let others: Vec<&Frame> =
            other.all().into_iter().filter(|other| other.kind == own.kind).collect();
        match below(rng, 8) {
            // The value that another object's field of this name has.
            0 | 1 if !others.is_empty() => {
                let other = others[below(rng, others.len())];
                let Some(field) = field_mut(own, |_| true, rng) else { continue };
                let like: Vec<&Field> =
                    other.fields().filter(|f| f.name == field.name && f.of == field.of).collect();
                if !like.is_empty() {
                    field.bytes.clone_from(&like[below(rng, like.len())].bytes);
                }
            }
            // Two fields of one type.
            2 => {
                let Some(first) = field_mut(own, |_| true, rng) else { continue };
                let (of, bytes) = (first.of, first.bytes.clone());
                let Some(second) = field_mut(own, |field| field.of == of, rng) else { continue };
                second.bytes = bytes;
            }
            // Another object's body in this one's frame.
            3 if !others.is_empty() => *own = others[below(rng, others.len())].clone(),
            // Words are many fields: numbers first.
            4..7 => {
                let number = |field: &Field| !matches!(field.of, Type::Words(_));
                if let Some(field) = field_mut(own, number, rng) {
                    change(field, rng);
                }
            }
            _ => {
                if let Some(field) = field_mut(own, |_| true, rng) {
                    change(field, rng);
                }
            }
        }
    }
}
