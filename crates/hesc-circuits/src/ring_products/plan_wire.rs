//! The wire form of plans: what was declared, then ring, prime and scales, which follow from it.

use hesc_schemes::SchemeError;
use hesc_schemes::wire::{Kind, Reader, Writer};

use super::declared::{Declared, Hiding, MOST_PLACES, Protection, Under};
use super::layout::Layout;
use super::scales::Scales;

pub(super) fn plan_to_bytes(
    declared: &Declared,
    layout: Layout,
    modulus: u64,
    scales: Scales,
) -> Vec<u8> {
    let mut writer = Writer::new(Kind::RingProductPlan);
    writer.u32(layout.features as u32).u32(layout.outputs as u32);
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
    writer.u32(layout.ring_degree as u32).u64(modulus).u64(scales.feature_scale);
    writer.f64(scales.weight_scale).u8(scales.bits as u8);
    writer.finish()
}

pub(super) fn declared_from_bytes(bytes: &[u8]) -> Result<Declared, SchemeError> {
    let mut reader = Reader::open(bytes, Kind::RingProductPlan)?;
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
    // Ring, prime and scales, which follow: whoever asks compares the bytes.
    reader.bytes(4 + 8 + 8 + 8 + 1)?;
    reader.finish()?;
    Ok(Declared { low, high, centres, offset, weights_l1, weights_l2, error, protection })
}
