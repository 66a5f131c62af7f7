//! Wire objects as their fields: what a peer can lie about.

use hesc_schemes::wire::{self, Kind};

/// Bytes before and after the body.
pub const HEADER: usize = 14;
const CHECKSUM: usize = 16;

/// What a field's bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    U8,
    U32,
    U64,
    Double,
    /// Where streams come from.
    Origin,
    /// The names of a parameter set and of a key pair.
    Tag,
    /// Residues, group elements, seeds: so many bytes.
    Words(usize),
}

impl Type {
    fn size(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U32 => 4,
            Self::U64 | Self::Double => 8,
            Self::Origin | Self::Tag => 32,
            Self::Words(size) => size,
        }
    }
}

/// A field of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    pub name: &'static str,
    pub of: Type,
    pub bytes: Vec<u8>,
}

impl Field {
    /// Its number, if it is one.
    pub fn number(&self) -> u64 {
        self.bytes.iter().take(8).rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// Its number, if it is a double.
    pub fn double(&self) -> f64 {
        f64::from_bits(self.number())
    }
}

/// A field or an object within an object.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    Field(Field),
    Nested(Frame),
}

/// An object.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    pub kind: u8,
    pub parts: Vec<Part>,
}

/// Schemes that write the same fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// BFV and CKKS for streams.
    Lattice,
    /// A ciphertext for each bit.
    Bitwise,
    /// The two that encrypt nothing.
    Clear,
    /// BFV, BGV and CKKS with multiplication, and unipolar streams on them.
    Rlwe,
    /// Bits that bootstrap.
    #[cfg_attr(not(feature = "tfhe"), expect(dead_code, reason = "it comes with the feature"))]
    Torus,
}

/// The fields of a scheme's object in the order of its writer; words follow. `*` stands for objects up to
/// the end.
fn layout(family: Family, kind: u8) -> &'static str {
    let is = |of: Kind| kind == of as u8;
    let batch = is(Kind::Ciphertexts) || is(Kind::CompactCiphertexts);
    match family {
        Family::Lattice if is(Kind::Ciphertexts) => "tag:tag deviation:f64 scale:f64 blocks:u32",
        Family::Lattice if is(Kind::CompactCiphertexts) => "tag:tag blocks:u32 bits:u8 scale:f64",
        Family::Bitwise if is(Kind::Ciphertexts) => "tag:tag bound:u64 blocks:u32",
        Family::Bitwise if is(Kind::PublicKey) || is(Kind::SecretKey) => "tag:tag length:u64",
        Family::Clear if is(Kind::Ciphertexts) => "tag:tag blocks:u32",
        Family::Clear => "tag:tag",
        Family::Torus if is(Kind::Ciphertexts) => {
            "tag:tag blocks:u32 modulus:u8 count:u64 variance:f64"
        }
        Family::Torus if is(Kind::CompactCiphertexts) => "tag:tag blocks:u32 modulus:u8 bits:u8",
        Family::Rlwe if batch || is(Kind::SeededCiphertexts) => "blocks:u32 *",
        _ if is(Kind::SeededCiphertexts) => "tag:tag blocks:u32 seed:32",
        _ if is(Kind::Vector) => "length:u32 flags:u8 bound:u64 *",
        _ if is(Kind::Slots) => "flags:u8 *",
        _ if is(Kind::Message) => {
            "nonce:12 length:u32 width:u32 flags:u8 slots:u32 blocks:u32 size:u64"
        }
        _ if is(Kind::Integers) || is(Kind::BitIntegers) => "length:u32 width:u32 flags:u8 *",
        _ if is(Kind::EncryptedCodes) || is(Kind::SeededCodes) => "records:u32 width:u32 *",
        _ if is(Kind::CodeDistances) => "codes:u32 records:u32 width:u32 *",
        _ if is(Kind::VectorCiphertext) => {
            "tag:tag level:u8 size:u8 factor:u64 scale:f64 deviation:f64 values:f64 peak:f64 \
             magnitude:f64 degree:u32"
        }
        _ if is(Kind::SeededVectorCiphertext) => {
            "tag:tag level:u8 seed:32 scale:f64 deviation:f64 values:f64 peak:f64 magnitude:f64 \
             degree:u32"
        }
        _ if is(Kind::RingProductQuery) || is(Kind::RingProductAnswer) => "tag:tag samples:u32",
        // Words or a seed, by the plan.
        _ if is(Kind::RingProductModel) => "tag:tag seed:32",
        _ if is(Kind::GalleryPlan) => {
            "code:u32 piece:u32 ring_degree:u32 modulus:u64 probe_scale:u64 gallery_scale:u64 bits:u8"
        }
        _ if is(Kind::Gallery) => "tag:tag records:u32 seed:32",
        _ if is(Kind::Probes) => "tag:tag probes:u32 seed:32",
        _ if is(Kind::GalleryDistances) => {
            "tag:tag records:u32 probes:u32 probe:u32 first:u32 blocks:u32 seed:32"
        }
        // Of two features and an output.
        _ if is(Kind::RingProductPlan) => {
            "features:u32 outputs:u32 low:f64 low:f64 high:f64 high:f64 centre:f64 offset:f64 l1:f64 \
             l2:f64 error:f64 protection:u8 answers:u64 statistical_bits:u32 ring_degree:u32 modulus:u64 \
             feature_scale:u64 weight_scale:f64 bits:u8"
        }
        _ if is(Kind::GaloisKeys) => "tag:tag keys:u32 element:u32 seed:32",
        _ if is(Kind::PublicKey) || is(Kind::RelinKey) || is(Kind::SwitchKey) => "tag:tag seed:32",
        _ if is(Kind::SecretKey) || is(Kind::EvaluationKey) => "tag:tag",
        _ => "",
    }
}

/// What is left of a body, and what was read.
struct Body<'a> {
    family: Family,
    rest: &'a [u8],
    parts: Vec<Part>,
}

impl<'a> Body<'a> {
    fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(count);
        self.rest = rest;
        taken
    }

    fn one(&mut self, name: &'static str, of: Type) -> u64 {
        let field = Field { name, of, bytes: self.bytes(of.size()).to_vec() };
        let number = field.number();
        self.parts.push(Part::Field(field));
        number
    }

    fn many(&mut self, count: u64, fields: &[(&'static str, Type)]) {
        for _ in 0..count {
            fields.iter().for_each(|&(name, of)| {
                self.one(name, of);
            });
        }
    }

    fn frames(&mut self, count: u64) {
        for _ in 0..count {
            let mut length = [0; 8];
            length.copy_from_slice(self.bytes(8));
            let nested = self.bytes(u64::from_le_bytes(length) as usize);
            self.parts.push(Part::Nested(Frame::read(self.family, nested)));
        }
    }

    /// The fields that a layout names.
    fn layout(&mut self, layout: &'static str) {
        for item in layout.split_whitespace() {
            let Some((name, of)) = item.split_once(':') else {
                while !self.rest.is_empty() {
                    self.frames(1);
                }
                return;
            };
            let of = match of {
                "u8" => Type::U8,
                "u32" => Type::U32,
                "u64" => Type::U64,
                "f64" => Type::Double,
                "tag" => Type::Tag,
                size => Type::Words(size.parse().expect("a type or a number of bytes")),
            };
            self.one(name, of);
        }
    }

    fn constants(&mut self, elements: u64) {
        if self.one("has constants", Type::U8) == 1 {
            self.many(elements, &[("constant", Type::Double)]);
        }
    }

    fn streams(&mut self) {
        let parts = self.one("parts", Type::U32);
        self.frames(parts);
        self.one("stream length", Type::U32);
        self.one("representation", Type::U8);
        self.one("largest count", Type::U64);
        let origins = self.one("origins", Type::U32);
        self.many(origins, &[("origin", Type::Origin)]);
        let elements = self.one("elements", Type::U32);
        let terms = elements * self.one("terms of an element", Type::U32);
        let [part, block, offset] = ["part", "block", "offset"].map(|name| (name, Type::U32));
        self.many(terms, &[part, block, offset, ("weight", Type::Double)]);
        self.one("encoded length", Type::U32);
        self.many(terms * origins, &[("row", Type::U32)]);
        self.constants(elements);
    }

    fn seeded(&mut self) {
        self.frames(1);
        self.one("stream length", Type::U32);
        self.one("representation", Type::U8);
        self.one("origin", Type::Origin);
        let elements = self.one("elements", Type::U32);
        self.many(elements, &[("block", Type::U32), ("offset", Type::U32)]);
    }

    fn answer(&mut self) {
        let parts = self.one("parts", Type::U32);
        self.frames(parts.max(1));
        self.one("stream length", Type::U32);
        self.one("representation", Type::U8);
        self.one("largest count", Type::U64);
        self.one("blocks", Type::U32);
        let bases = self.one("bases", Type::U32);
        self.many(bases, &[("base", Type::U64)]);
        let elements = self.one("elements", Type::U32);
        let per_element = self.one("terms of an element", Type::U32);
        let [first, offset, merged] = ["first", "offset", "merged"].map(|name| (name, Type::U32));
        self.many(elements * per_element, &[first, offset, merged, ("weight", Type::Double)]);
        let origins = self.one("origins", Type::U32);
        self.many(origins, &[("origin", Type::Origin)]);
        let patterns = self.one("patterns", Type::U32);
        self.one("encoded length", Type::U32);
        self.many(patterns * per_element * origins, &[("row", Type::U32)]);
        self.constants(elements);
    }

    fn public_keys(&mut self) {
        for _ in 0..self.one("keys", Type::U8) {
            self.one("which", Type::U8);
            self.frames(1);
        }
    }

    fn packed(&mut self) {
        let axes = self.one("axes", Type::U8);
        self.many(axes, &[("axis", Type::U64)]);
        self.frames(1);
    }
}

impl Frame {
    /// The fields of an object that a writer made.
    ///
    /// # Panics
    /// If the fields are not those that the writer wrote.
    pub fn read(family: Family, bytes: &[u8]) -> Self {
        let kind = bytes[5];
        let rest = &bytes[HEADER..bytes.len() - CHECKSUM];
        let mut body = Body { family, rest, parts: Vec::new() };
        let is = |of: Kind| kind == of as u8;
        if is(Kind::Streams) {
            body.streams();
        } else if is(Kind::SeededStreams) {
            body.seeded();
        } else if is(Kind::Answer) {
            body.answer();
        } else if is(Kind::EncryptedBits) || is(Kind::BitAnswer) {
            body.packed();
        } else if is(Kind::PublicKeys) {
            body.public_keys();
        } else {
            body.layout(layout(family, kind));
            body.one("words", Type::Words(body.rest.len()));
        }
        assert!(
            body.rest.is_empty(),
            "an object of kind {kind} has fields that are not known here"
        );
        let frame = Self { kind, parts: body.parts };
        assert_eq!(frame.to_bytes(), bytes);
        frame
    }

    /// The object with lengths and checksums as they have to be.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = b"HESC".to_vec();
        bytes.extend([wire::VERSION, self.kind]);
        bytes.extend([0; 8]);
        for part in &self.parts {
            match part {
                Part::Field(field) => bytes.extend_from_slice(&field.bytes),
                Part::Nested(frame) => {
                    let nested = frame.to_bytes();
                    bytes.extend((nested.len() as u64).to_le_bytes());
                    bytes.extend(nested);
                }
            }
        }
        let body = (bytes.len() - HEADER) as u64;
        bytes[6..HEADER].copy_from_slice(&body.to_le_bytes());
        bytes.extend(wire::checksum(&bytes));
        bytes
    }

    /// Its own fields, without those of objects in it.
    pub fn fields(&self) -> impl Iterator<Item = &Field> {
        self.parts.iter().filter_map(|part| match part {
            Part::Field(field) => Some(field),
            Part::Nested(_) => None,
        })
    }

    /// Its own fields of this name.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Field> {
        self.fields().filter(move |field| field.name == name)
    }

    /// All objects: itself, those in it, and so on.
    pub fn all(&self) -> Vec<&Self> {
        let mut found = vec![self];
        for part in &self.parts {
            if let Part::Nested(frame) = part {
                found.extend(frame.all());
            }
        }
        found
    }

    /// The object of this number among [`Self::all`].
    pub fn all_mut(&mut self, number: usize) -> &mut Self {
        let mut left = number;
        if left == 0 {
            return self;
        }
        left -= 1;
        for part in &mut self.parts {
            if let Part::Nested(frame) = part {
                let size = frame.all().len();
                if left < size {
                    return frame.all_mut(left);
                }
                left -= size;
            }
        }
        unreachable!("there are as many as all() has")
    }

    /// The key pairs that it and the objects in it name.
    pub fn tags(&self) -> Vec<Vec<u8>> {
        let fields = self.all().into_iter().flat_map(Self::fields);
        fields.filter(|field| field.of == Type::Tag).map(|field| field.bytes.clone()).collect()
    }
}
