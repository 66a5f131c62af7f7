//! The frame of messages between the parties of a plan: `python/hesc/protocols/message.py` has its layout.

use sha2::{Digest as _, Sha256};

use crate::ClientError;

const MAGIC: &[u8; 4] = b"HSCM";
const VERSION: u8 = 1;
/// Bytes before the checksum.
const SUMMED: usize = 44;
/// Bytes before the parts.
pub const HEAD: usize = SUMMED + 4;
/// Bytes of a part beside its content: its length.
pub const PART: usize = 4;
/// Bytes of a query's name, and of a plan's digest as messages have it.
pub const NAME: usize = 16;
/// Bytes of a message, at most.
pub const LARGEST: usize = 1 << 30;
/// The kind of a query.
pub const QUERY: u8 = 1;
/// The kind of an answer.
pub const ANSWER: u8 = 2;

/// What a message is: its number, in words, and whether it names the query that it is of.
const KINDS: [(u8, &str, bool); 4] = [
    (QUERY, "a query", false),
    (ANSWER, "an answer", true),
    (3, "a party's piece", true),
    (4, "the end of a file", false),
];

/// A kind of messages in words, for errors.
pub fn described(kind: u8) -> &'static str {
    let known = KINDS.iter().find(|(number, ..)| *number == kind).map(|(_, words, _)| *words);
    known.unwrap_or("of no kind that this hesc knows")
}

/// What a message says before its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head<'a> {
    /// Name of the query that it is of, or zeros.
    pub query: &'a [u8],
    /// How many samples it is of, as its sender says.
    pub samples: u32,
    /// How many parts follow.
    pub parts: usize,
}

fn number<const N: usize>(data: &[u8], at: usize) -> [u8; N] {
    std::array::from_fn(|i| data[at + i])
}

impl<'a> Head<'a> {
    /// The head of a message of one kind and of the plan of this digest.
    ///
    /// # Errors
    /// [`ClientError::Document`] for another kind or plan, or what is no message.
    pub fn read(data: &'a [u8], kind: u8, plan: &[u8]) -> Result<Self, ClientError> {
        let words = described(kind);
        if data.len() < HEAD || &data[..4] != MAGIC {
            let text = format!("this is no message of hesc, where {words} belongs");
            return Err(ClientError::document(text));
        }
        let (version, found) = (data[4], data[5]);
        if version != VERSION {
            let text = format!("a message of version {version}; this hesc reads version {VERSION}");
            return Err(ClientError::document(text));
        }
        if found != kind {
            return Err(ClientError::document(format!(
                "this message is {}, where {words} belongs; check the order of the files",
                described(found)
            )));
        }
        if !plan.starts_with(&data[6..6 + NAME]) {
            let noun = words.split_once(' ').map_or(words, |(_, noun)| noun);
            return Err(ClientError::document(format!(
                "this {noun} is of another plan; give both sides the same one"
            )));
        }
        Ok(Self {
            query: &data[22..22 + NAME],
            samples: u32::from_le_bytes(number(data, 38)),
            parts: u16::from_le_bytes(number(data, 42)).into(),
        })
    }
}

/// The head and the parts of a whole message, of so many parts where their number is given.
///
/// # Errors
/// [`ClientError::Document`] for damaged bytes, another kind, another plan's, other parts.
pub fn read<'a>(
    data: &'a [u8],
    kind: u8,
    plan: &[u8],
    parts: Option<usize>,
) -> Result<(Head<'a>, Vec<&'a [u8]>), ClientError> {
    let words = described(kind);
    let refused = |problem: &str| ClientError::document(format!("{words} {problem}"));
    if data.len() > LARGEST {
        return Err(refused(&format!("is bytes, up to {LARGEST} of them")));
    }
    let head = Head::read(data, kind, plan)?;
    let (summed, behind) = (&data[..SUMMED], &data[HEAD..]);
    if checksum([summed, behind]) != u32::from_le_bytes(number(data, SUMMED)) {
        return Err(refused("is damaged; get it again"));
    }
    if parts.map_or(head.parts == 0, |parts| parts != head.parts) {
        let wanted = parts.map(|parts| format!(" instead of {parts}")).unwrap_or_default();
        let text = format!("has other parts than its plan says, {}{wanted}", head.parts);
        return Err(refused(&text));
    }
    if head.samples == 0 {
        return Err(refused("is of no sample"));
    }
    let named = KINDS.iter().any(|&(number, _, named)| number == kind && named);
    if !named && head.query.iter().any(|&byte| byte != 0) {
        return Err(refused("names a query, which only answers do"));
    }
    let (mut found, mut rest) = (Vec::new(), behind);
    for _ in 0..head.parts {
        let part = rest
            .split_first_chunk::<PART>()
            .and_then(|(length, rest)| rest.split_at_checked(u32::from_le_bytes(*length) as usize));
        let (part, behind) = part.ok_or_else(|| refused("ends before its parts do"))?;
        found.push(part);
        rest = behind;
    }
    if rest.is_empty() {
        return Ok((head, found));
    }
    Err(ClientError::document(format!("something follows the parts of {words}")))
}

/// Bytes of a message of these parts, checked before any is allocated.
///
/// # Errors
/// [`ClientError::Size`] for more parts or bytes than a message holds.
pub fn size(parts: &[&[u8]]) -> Result<usize, ClientError> {
    let refused = |problem: String| Err(ClientError::Size { problem });
    if u16::try_from(parts.len()).is_err() {
        return refused(too_many());
    }
    // One part may stand for several: on 32 bits their sum is no number of bytes.
    let size = parts.iter().fold(HEAD, |sum, part| sum.saturating_add(PART + part.len()));
    if size > LARGEST {
        return refused(format!("a message of {size} bytes is longer than any reader takes"));
    }
    Ok(size)
}

/// What is said of more samples or parts than a message has.
pub fn too_many() -> String {
    format!("a message has up to {} samples and {} parts; send several", u32::MAX, u16::MAX)
}

/// Writes a message into so many bytes as [`size`] says.
///
/// # Errors
/// [`ClientError::Size`] for a digest or a name of another length.
pub fn write(
    bytes: &mut [u8],
    kind: u8,
    plan: &[u8],
    query: &[u8],
    samples: u32,
    parts: &[&[u8]],
) -> Result<(), ClientError> {
    let (Some(plan), NAME, Ok(count)) = (plan.get(..NAME), query.len(), u16::try_from(parts.len()))
    else {
        let problem = format!("a plan's digest and a query's name have {NAME} bytes in a message");
        return Err(ClientError::Size { problem });
    };
    let (head, behind) = bytes.split_at_mut(HEAD);
    head[..4].copy_from_slice(MAGIC);
    (head[4], head[5]) = (VERSION, kind);
    head[6..22].copy_from_slice(plan);
    head[22..38].copy_from_slice(query);
    head[38..42].copy_from_slice(&samples.to_le_bytes());
    head[42..44].copy_from_slice(&count.to_le_bytes());
    let mut rest = &mut *behind;
    for part in parts {
        let (length, content) = rest.split_at_mut(PART);
        // What is below the largest size fits.
        length.copy_from_slice(&(part.len() as u32).to_le_bytes());
        let (content, behind) = content.split_at_mut(part.len());
        content.copy_from_slice(part);
        rest = behind;
    }
    let sum = checksum([&head[..SUMMED], behind]);
    head[SUMMED..].copy_from_slice(&sum.to_le_bytes());
    Ok(())
}

/// A query of a plan, of so many samples.
///
/// # Errors
/// [`ClientError::Size`] as [`size`].
pub(crate) fn query(plan: &[u8], samples: u32, parts: &[Vec<u8>]) -> Result<Vec<u8>, ClientError> {
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    let mut data = vec![0; size(&parts)?];
    write(&mut data, QUERY, plan, &[0; NAME], samples, &parts)?;
    Ok(data)
}

/// An answer, and the query that it is to.
pub(crate) struct Opened<'a> {
    /// How many samples it is of.
    pub samples: usize,
    /// Its parts.
    pub parts: Vec<&'a [u8]>,
    /// Those of the query, where that is given.
    pub asked: Option<Vec<&'a [u8]>>,
}

impl Opened<'_> {
    /// Refuses an answer of more samples than a query of its plan has.
    ///
    /// # Errors
    /// [`ClientError::Document`] for it.
    pub fn check_samples(&self, most: usize) -> Result<(), ClientError> {
        if self.samples <= most {
            return Ok(());
        }
        let text = format!(
            "an answer of this plan has {most} samples at most; this one says {}",
            self.samples
        );
        Err(ClientError::document(text))
    }
}

/// Opens the answer to a query of a plan, of so many parts where their number is given.
///
/// # Errors
/// [`ClientError::Document`] for damaged bytes, another plan's, the answer to another query, and another number of samples.
pub(crate) fn opened<'a>(
    plan: &[u8],
    answer: &'a [u8],
    query: Option<&'a [u8]>,
    parts: Option<usize>,
) -> Result<Opened<'a>, ClientError> {
    let (head, parts) = read(answer, ANSWER, plan, parts)?;
    let samples = head.samples as usize;
    let mut asked = None;
    if let Some(query) = query {
        let (own, sent) = read(query, QUERY, plan, None)?;
        as_many(samples, own.samples as usize)?;
        if head.query != name_of(query) {
            return Err(of_another_query());
        }
        asked = Some(sent);
    }
    Ok(Opened { samples, parts, asked })
}

/// What is said of an answer that does not belong to a query.
pub(crate) fn of_another_query() -> ClientError {
    ClientError::document("the answer is to another query; take the two that belong together")
}

/// Refuses an answer of more or fewer samples than were asked about.
pub(crate) fn as_many(found: usize, asked: usize) -> Result<(), ClientError> {
    if found == asked {
        return Ok(());
    }
    Err(ClientError::document(format!(
        "the answer is of {found} samples, the query of {asked}: which is whose cannot be told; ask again"
    )))
}

/// Name of a query, which its answer repeats: the first bytes of SHA-256 of its wire form.
///
/// Ciphertexts are random: no two queries have one name, and it tells nothing of samples.
pub fn name_of(query: &[u8]) -> [u8; NAME] {
    let digest = Sha256::digest(query);
    std::array::from_fn(|i| digest[i])
}

fn checksum(pieces: [&[u8]; 2]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    pieces.iter().for_each(|piece| sum.update(piece));
    sum.finalize()
}
