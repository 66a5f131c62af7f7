//! The wire form of what is declared.

use hesc_schemes::SchemeError;
use hesc_schemes::wire::{Reader, Writer};

use super::declared::{
    Declared, MOST_AXES, MOST_FACTORS, MOST_NAMED, MOST_PLACES, Operand, Source, Sums, elements,
};
use super::recipes::Recipes;

/// Sources as they are on the wire.
const SOURCES: [Source; 3] = [Source::Secret, Source::Public, Source::Clear];

pub(super) fn write(declared: &Declared, writer: &mut Writer) {
    writer.u32(declared.products() as u32).u8(declared.operands.len() as u8);
    for operand in &declared.operands {
        let source = SOURCES.iter().position(|source| *source == operand.source);
        writer.u8(source.unwrap_or_default() as u8).u8(u8::from(operand.shared));
        shape_to(writer, &operand.shape);
        operand.bounds.iter().for_each(|&bound| {
            writer.f64(bound);
        });
        for product in 0..operand.recipes.len() {
            let powers = operand.recipes.of(product);
            writer.u32(powers.len() as u32);
            for &(element, power) in powers {
                writer.u32(element).u8(power as u8);
            }
        }
    }
    shape_to(writer, &declared.sums.shape);
    writer.u32(declared.sums.terms.len() as u32);
    for &(output, product, weight) in &declared.sums.terms {
        writer.u32(output).u32(product).f64(weight);
    }
    writer.f64(declared.error);
}

fn shape_to(writer: &mut Writer, shape: &[u32]) {
    writer.u8(shape.len() as u8);
    shape.iter().for_each(|&axis| {
        writer.u32(axis);
    });
}

fn shape_from(reader: &mut Reader<'_>) -> Result<Vec<u32>, SchemeError> {
    let axes = usize::from(reader.u8()?);
    let shape = (0..axes).map(|_| reader.u32()).collect::<Result<Vec<_>, _>>()?;
    if axes > MOST_AXES || elements(&shape) > MOST_PLACES {
        return Err(reader.error("it has more axes or elements than a plan takes"));
    }
    Ok(shape)
}

pub(super) fn read(reader: &mut Reader<'_>) -> Result<Declared, SchemeError> {
    let (products, count) = (reader.u32()? as usize, usize::from(reader.u8()?));
    if products > MOST_PLACES || count > MOST_FACTORS {
        return Err(reader.error("it has more products or factors than a plan takes"));
    }
    let mut operands = Vec::new();
    for _ in 0..count {
        let source = SOURCES.get(usize::from(reader.u8()?)).copied();
        let (source, shared) = match (source, reader.u8()?) {
            (Some(source), shared @ 0..=1) => (source, shared == 1),
            _ => return Err(reader.error("an operand comes in a way that there is not")),
        };
        let shape = shape_from(reader)?;
        let bounds = (0..elements(&shape)).map(|_| reader.f64()).collect::<Result<Vec<_>, _>>()?;
        let mut named = 0;
        let recipes = (0..products).map(|_| {
            let powers = reader.u32()? as usize;
            named += powers;
            if named > MOST_NAMED {
                return Err(reader.error("its recipes name more elements than a plan takes"));
            }
            (0..powers).map(|_| Ok((reader.u32()?, u32::from(reader.u8()?)))).collect()
        });
        let recipes = recipes.collect::<Result<Vec<_>, SchemeError>>()?;
        let recipes = Recipes::new(recipes);
        operands.push(Operand { source, shared, shape, bounds, recipes });
    }
    let shape = shape_from(reader)?;
    let terms = (0..reader.u32()?)
        .map(|_| Ok((reader.u32()?, reader.u32()?, reader.f64()?)))
        .collect::<Result<Vec<_>, SchemeError>>()?;
    let error = reader.f64()?;
    Ok(Declared { operands, sums: Sums { shape, terms }, error })
}
