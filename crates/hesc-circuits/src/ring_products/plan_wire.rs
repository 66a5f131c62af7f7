//! The wire form of what is declared.

use hesc_schemes::SchemeError;
use hesc_schemes::wire::{Reader, Writer};

use super::declared::{Declared, Hiding, MOST_PLACES, Protection, Under};

pub(super) fn write(declared: &Declared, writer: &mut Writer) {
    writer.u32(declared.low.len() as u32).u32(declared.centres.len() as u32);
    let lists = [&declared.low, &declared.high, &declared.centres];
    for number in lists.into_iter().flatten() {
        writer.f64(*number);
    }
    writer.f64(declared.offset).f64(declared.weights_l1).f64(declared.weights_l2);
    writer.f64(declared.error);
    let (kind, answers, bits) = match declared.protection {
        Protection::Open => (0, 0, 0),
        Protection::Hidden(Hiding { answers, statistical_bits }) => (1, answers, statistical_bits),
        Protection::Encrypted(Under::Secret) => (2, 0, 0),
        Protection::Encrypted(Under::Public) => (3, 0, 0),
    };
    writer.u8(kind).u64(answers).u32(bits);
}

pub(super) fn read(reader: &mut Reader<'_>) -> Result<Declared, SchemeError> {
    let (features, outputs) = (reader.u32()? as usize, reader.u32()? as usize);
    if features.max(outputs) > MOST_PLACES {
        return Err(reader.error("it has more features or outputs than a ring has places"));
    }
    let mut list = |count| (0..count).map(|_| reader.f64()).collect::<Result<Vec<_>, _>>();
    let (low, high, centres) = (list(features)?, list(features)?, list(outputs)?);
    let [offset, weights_l1, weights_l2, error] =
        [reader.f64()?, reader.f64()?, reader.f64()?, reader.f64()?];
    let (kind, answers, statistical_bits) = (reader.u8()?, reader.u64()?, reader.u32()?);
    let protection = match kind {
        0 => Protection::Open,
        1 => Protection::Hidden(Hiding { answers, statistical_bits }),
        2 => Protection::Encrypted(Under::Secret),
        3 => Protection::Encrypted(Under::Public),
        _ => return Err(reader.error("its weights are kept from nobody that is known")),
    };
    Ok(Declared { low, high, centres, offset, weights_l1, weights_l2, error, protection })
}
