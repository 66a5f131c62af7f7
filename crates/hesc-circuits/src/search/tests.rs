use hesc_math::AesCtrRng;
use hesc_schemes::SchemeError;
use hesc_schemes::rlwe::{SecretKey, SharedSecrets};
use rand_core::{Rng as _, SeedableRng};

use super::signs::Signs;
use super::*;
use crate::plans::PlanError;

const SEED: [u8; 32] = [9; 32];

fn integers(dimensions: u32, bits: u32, most_records: u64, expanded: bool) -> Declared {
    let half = 1u64 << (bits - 1);
    // Norms of embeddings: a third of the largest entries.
    let square = u64::from(dimensions) * half * half / 9 + half * half;
    Declared {
        dimensions,
        entries: Entries::Integers {
            query_bits: bits,
            record_bits: bits,
            query_square: square,
            record_square: square,
        },
        most_records,
        expanded,
        shared: 1,
        signs: SEED,
    }
}

/// Vectors of entries and norms that a plan declares: small, or as long as may be.
fn vectors(declared: &Declared, count: usize, queries: bool, rng: &mut AesCtrRng) -> Vec<i16> {
    let d = declared.dimensions as usize;
    let most = declared.squares()[usize::from(!queries)];
    let mut all = Vec::with_capacity(count * d);
    for _ in 0..count {
        match declared.entries {
            Entries::Signs => {
                all.extend(signs_of_bits((0..d).map(|_| rng.next_u64() & 1 == 1)));
            }
            Entries::Integers { query_bits, record_bits, .. } => {
                let half = 1i64 << (if queries { query_bits } else { record_bits } - 1);
                let mut left = most as i64;
                // From any place on, until the norm is full.
                let first = rng.next_u64() as usize % d;
                let mut own = vec![0; d];
                for at in 0..d {
                    let x = (rng.next_u64() % (2 * half as u64)) as i64 - half;
                    let x = if x * x <= left { x } else { x.signum() * left.isqrt() };
                    left -= x * x;
                    own[(first + at) % d] = x as i16;
                }
                all.extend(own);
            }
        }
    }
    all
}

fn exact(d: usize, query: &[i16], records: &[i16]) -> Vec<i64> {
    let product =
        |record: &[i16]| query.iter().zip(record).map(|(&x, &y)| i64::from(x) * i64::from(y)).sum();
    records.chunks_exact(d).map(product).collect()
}

/// A client of a plan, with what a server has of its keys.
struct Party {
    secret: SecretKey,
    shared: SharedSecrets,
    keys: Option<Keys>,
}

impl Party {
    fn new(plan: &Plan, rng: &mut AesCtrRng) -> Self {
        let (secret, _) = plan.products().scheme().generate_keys(rng);
        let shared = shared_secrets(plan, &secret).unwrap();
        let keys = plan.declared().expanded.then(|| {
            let bytes = generate_keys(plan, &secret, &shared, rng).unwrap();
            assert_eq!(bytes.len(), key_bytes(plan));
            read_keys(plan, &bytes).unwrap()
        });
        Self { secret, shared, keys }
    }

    fn asks<'a>(&'a self, query: &'a [u8]) -> Asked<'a> {
        Asked { query, keys: self.keys.as_ref() }
    }

    fn reads(&self, plan: &Plan, answer: &[u8]) -> Result<Vec<i64>, PlanError> {
        decrypt(plan, &self.secret, &self.shared, answer).map(|scores| scores.to_vec())
    }
}

fn index(plan: &Plan, records: &[i16]) -> Index {
    let mut index = Index::new(plan);
    index.append(records).unwrap();
    index
}

fn plans() -> Vec<Declared> {
    vec![
        integers(5, 7, 150, false),
        integers(128, 6, 5000, false),
        integers(30, 10, 5000, false),
        Declared::of_codes(512, 10_000, false, SEED),
        Declared::of_codes(31, 100, false, SEED),
        integers(128, 6, 1_000_000, true),
        integers(20, 8, 5000, true),
        integers(1, 8, 10, true),
        integers(300, 4, 5000, true),
        Declared { shared: 2, ..integers(12, 6, 20_000, true) },
        Declared { shared: 4, ..integers(12, 6, 20_000, true) },
        Declared { shared: 3, ..Declared::of_codes(19, 20_000, true, SEED) },
        Declared::of_codes(61, 5000, true, SEED),
        // Norms apart, and entries that their norm allows only alone.
        Declared {
            entries: Entries::Integers {
                query_bits: 12,
                record_bits: 3,
                query_square: 1 << 22,
                record_square: 40,
            },
            ..integers(40, 8, 5000, false)
        },
    ]
}

/// Every score by its definition, of random records and of the longest there are, of one block, several and parts of one; of
/// plans that travelled. All lengths are those that the plan says.
#[test]
fn scores_are_those_of_the_definition() {
    for (which, declared) in plans().into_iter().enumerate() {
        let rng = &mut AesCtrRng::from_seed([which as u8; 32]);
        let plan = Plan::new(declared).unwrap();
        let plan = Plan::from_bytes(&plan.to_bytes()).unwrap();
        let (d, n) = (plan.dimensions(), plan.ring_degree());
        let party = Party::new(&plan, rng);
        for count in [1, 10, n, n + 1, 2 * n + 17, 4 * n + 3] {
            if count as u64 > declared.most_records {
                continue;
            }
            let mut records = vectors(&declared, count, false, rng);
            let query = vectors(&declared, 1, true, rng);
            // The query itself and its opposite, where these are records: the ends of all scores.
            for (at, by) in [(0, 1), (count - 1, -1)] {
                let own: Vec<i16> = query.iter().map(|x| by * x.clamp(&-30_000, &30_000)).collect();
                if declared.check_vectors(&own, false).is_ok() {
                    records[at * d..][..d].copy_from_slice(&own);
                }
            }
            let index = index(&plan, &records);
            assert_eq!(index.bytes(), plan.index_bytes(count));
            let bytes = encrypt(&plan, &party.secret, &query, rng).unwrap();
            assert_eq!(bytes.len(), query_bytes(&plan));
            assert_eq!(*decrypt_query(&plan, &party.secret, &bytes).unwrap(), query);
            let squares: Vec<_> =
                records.chunks(d).map(|row| exact(d, row, row)[0] as u64).collect();
            assert_eq!(index.view().squares(), squares);
            let answers = index.answer(&[party.asks(&bytes)]).unwrap();
            assert_eq!(answers[0].len(), answer_bytes(&plan, count));
            let scores = party.reads(&plan, &answers[0]).unwrap();
            assert!(scores == exact(d, &query, &records), "{declared:?}, {count} records");
        }
    }
}

/// Scores at both ends: vectors of all entries at theirs, each with itself and with its opposite.
#[test]
fn scores_reach_their_bound() {
    for declared in [
        Declared {
            entries: Entries::Integers {
                query_bits: 6,
                record_bits: 6,
                query_square: u64::MAX,
                record_square: u64::MAX,
            },
            ..integers(64, 6, 3000, false)
        },
        Declared {
            entries: Entries::Integers {
                query_bits: 6,
                record_bits: 6,
                query_square: u64::MAX,
                record_square: u64::MAX,
            },
            ..integers(64, 6, 3000, true)
        },
        Declared::of_codes(512, 10_000, false, SEED),
    ] {
        let plan = Plan::new(declared).unwrap();
        let rng = &mut AesCtrRng::from_seed([3; 32]);
        let (party, d) = (Party::new(&plan, rng), plan.dimensions());
        let (low, high) = if declared.entries == Entries::Signs { (-1, 1) } else { (-32, 31) };
        let records: Vec<i16> = [low, high].iter().flat_map(|&x| vec![x; d]).collect();
        let index = index(&plan, &records.repeat(1500));
        for x in [low, high] {
            let query = encrypt(&plan, &party.secret, &vec![x; d], rng).unwrap();
            let answer = index.answer(&[party.asks(&query)]).unwrap().remove(0);
            let scores = party.reads(&plan, &answer).unwrap();
            let of = |y: i16| i64::from(x) * i64::from(y) * d as i64;
            assert!(scores.chunks(2).all(|pair| pair == [of(low), of(high)]));
        }
        assert_eq!(plan.bound(), (i64::from(low) * i64::from(low)) as u64 * d as u64);
        assert_eq!(distance(&plan, -512), (low == -1).then_some(512));
    }
}

/// Noise of scores before they are rounded, over the law's deviation, for each of so many keys: of so many queries each.
fn noise(declared: Declared, records: &[i16], keys: u8, queries: usize) -> Vec<f64> {
    let plan = Plan::new(declared).unwrap();
    let index = index(&plan, records);
    let of_key = |seed: u8| {
        let rng = &mut AesCtrRng::from_seed([seed + 100; 32]);
        let party = Party::new(&plan, rng);
        let mut square = || {
            let query = vectors(plan.declared(), 1, true, rng);
            let bytes = encrypt(&plan, &party.secret, &query, rng).unwrap();
            noise_over_law(&index.view(), party.asks(&bytes), &party.secret).unwrap().powi(2)
        };
        ((0..queries).map(|_| square()).sum::<f64>() / queries as f64).sqrt()
    };
    (0..keys).map(of_key).collect()
}

/// The law bounds what is measured with every key, and is near it, for records of full length: random ones, and one record
/// again and again. Where records undo their signs noise lies at few roots of unity: after one level it depends on the key's values
/// there by factors (after many it is a mean over many of them), and that of all records is one number.
#[test]
fn noise_is_within_its_law() {
    let rng = &mut AesCtrRng::from_seed([5; 32]);
    for (d, expanded) in [(32, false), (32, true), (2, true)] {
        let declared = Declared {
            entries: Entries::Integers {
                query_bits: 6,
                record_bits: 6,
                query_square: d as u64 * 100,
                record_square: d as u64 * 100,
            },
            ..integers(d as u32, 6, 5000, expanded)
        };
        let n = Plan::new(declared).unwrap().ring_degree();
        let random: Vec<i16> =
            (0..n * d).map(|_| if rng.next_u64() & 1 == 1 { 10 } else { -10 }).collect();
        // What a level adds to one constant it takes from the other: without signs these two add up.
        let alike = [10, -10].repeat(n * d / 2);
        for (what, records) in [("random", &random), ("alike", &alike)] {
            let ratios = noise(declared, records, 24, 6);
            let largest = if expanded { 0.95 } else { 1.05 };
            assert!(ratios.iter().all(|x| (0.7..largest).contains(x)), "{what}: {ratios:?}");
        }
        if d == 2 {
            let masks = Signs::new(&SEED, n).of_block(0);
            let undone = alike.chunks_exact(d).zip(&masks).flat_map(|(record, &mask)| {
                record.iter().map(move |&x| signs::signed(i64::from(x), mask) as i16)
            });
            let ratios = noise(declared, &undone.collect::<Vec<_>>(), 24, 60);
            let [least, largest] = [f64::min, f64::max]
                .map(|end| ratios.iter().copied().reduce(end).unwrap_or_default());
            assert!(least < 0.6 && largest > 1.2, "{ratios:?}");
        }
    }
}

/// Signs are the bits of the key stream, record after record: what everybody computes them from.
#[test]
fn signs_are_those_of_the_key_stream() {
    let rng = &mut AesCtrRng::from_seed(SEED);
    let signs = Signs::new(&SEED, 1024);
    for block in 0..3 {
        let words: Vec<u64> = (0..16).map(|_| rng.next_u64()).collect();
        let negative = (0..1024).map(|i| words[i / 64] >> (i % 64) & 1 == 1);
        let found = signs.of_block(block);
        assert!(found.iter().map(|&mask| mask == -1).eq(negative));
        assert!(found.iter().all(|mask| [0, -1].contains(mask)));
    }
    assert_eq!([(7, 0), (7, -1), (-7, -1)].map(|(x, mask)| signs::signed(x, mask)), [7, -7, 7]);
}

/// Queries of several clients in one pass have the answers that they have alone, and threads make no difference.
#[test]
fn one_pass_answers_several_queries() {
    let shared = Declared { shared: 2, ..integers(24, 6, 50_000, true) };
    for declared in [integers(24, 6, 50_000, false), integers(24, 6, 50_000, true), shared] {
        let plan = Plan::new(declared).unwrap();
        let rng = &mut AesCtrRng::from_seed([6; 32]);
        let (d, count) = (plan.dimensions(), 3 * plan.ring_degree() + 5);
        let records = vectors(&declared, count, false, rng);
        let index = index(&plan, &records);
        let parties: Vec<Party> = (0..3).map(|_| Party::new(&plan, rng)).collect();
        let vectors: Vec<_> = parties.iter().map(|_| vectors(&declared, 1, true, rng)).collect();
        let queries: Vec<_> = parties
            .iter()
            .zip(&vectors)
            .map(|(party, query)| encrypt(&plan, &party.secret, query, rng).unwrap())
            .collect();
        let asked: Vec<_> =
            parties.iter().zip(&queries).map(|(party, query)| party.asks(query)).collect();
        let answers = index.answer(&asked).unwrap();
        for ((answer, asked), (party, query)) in
            answers.iter().zip(&asked).zip(parties.iter().zip(&vectors))
        {
            assert_eq!(index.answer(&[*asked]).unwrap()[0], *answer);
            let scores = party.reads(&plan, answer).unwrap();
            assert!(scores == exact(d, query, &records));
        }
        for threads in [1, 2, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            assert!(pool.install(|| index.answer(&asked)).unwrap() == answers);
        }
        assert!(matches!(index.answer(&[]), Err(PlanError::Samples { .. })));
        let many = vec![asked[0]; 17];
        assert!(matches!(index.answer(&many), Err(PlanError::Samples { .. })));
    }
}

/// Parts of a file answer by themselves, and their answers joined are byte by byte the answer of the whole.
#[test]
fn parts_of_an_index_are_the_whole() {
    let several = Declared { shared: 3, ..integers(12, 6, 40_000, true) };
    for declared in [integers(9, 6, 40_000, false), integers(9, 6, 40_000, true), several] {
        let plan = Plan::new(declared).unwrap();
        let rng = &mut AesCtrRng::from_seed([11; 32]);
        let (d, n) = (plan.dimensions(), plan.ring_degree());
        let party = Party::new(&plan, rng);
        let records = vectors(&declared, 7 * n - 5, false, rng);
        let mut bytes = Vec::new();
        index(&plan, &records).view().write(&mut bytes).unwrap();
        let query = vectors(&declared, 1, true, rng);
        let asked = encrypt(&plan, &party.secret, &query, rng).unwrap();
        let whole = View::open(&plan, &bytes).unwrap().answer(&[party.asks(&asked)]).unwrap();
        let most = 7_usize.div_ceil(plan.shared());
        for of in 1..=most {
            let views: Vec<View<'_>> = (0..of)
                .map(|which| View::open_part(&plan, &bytes, Part { which, of }).unwrap())
                .collect();
            assert_eq!(views.iter().map(View::records).sum::<usize>(), records.len() / d);
            let answers: Vec<Vec<u8>> = views
                .iter()
                .map(|view| view.answer(&[party.asks(&asked)]).unwrap().remove(0))
                .collect();
            let mut parts: Vec<&[u8]> = answers.iter().map(Vec::as_slice).collect();
            assert_eq!(join_answers(&plan, &parts).unwrap(), whole[0]);
            // In another order a part ends inside of blocks before the end.
            if of > 1 {
                parts.swap(of - 2, of - 1);
                assert!(join_answers(&plan, &parts).is_err());
            }
        }
        assert!(join_answers(&plan, &[]).is_err());
        assert!(join_answers(&plan, &[&whole[0][..whole[0].len() - 1]]).is_err());
        for (which, of) in [(1, 1), (0, 0), (0, most + 1), (usize::MAX, usize::MAX)] {
            assert!(View::open_part(&plan, &bytes, Part { which, of }).is_err());
        }
        let other = Party::new(&plan, rng);
        let asked = encrypt(&plan, &other.secret, &query, rng).unwrap();
        let answer = View::open(&plan, &bytes).unwrap().answer(&[other.asks(&asked)]).unwrap();
        let both = [&whole[0][..whole[0].len()], &answer[0]];
        assert!(join_answers(&plan, &both).is_err());
        // A changed block is found by the part that has it, and by no other.
        if most > 2 {
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
            let refused = |which| View::open_part(&plan, &bytes, Part { which, of: 2 }).is_err();
            assert_eq!([refused(0), refused(1)], [false, true]);
        }
    }
}

/// Records appended in any pieces, replaced and removed: byte by byte what a new index of the same records is.
#[test]
fn changed_indexes_are_those_of_their_records() {
    for declared in [integers(7, 6, 50_000, false), Declared::of_codes(33, 50_000, true, SEED)] {
        let plan = Plan::new(declared).unwrap();
        let rng = &mut AesCtrRng::from_seed([7; 32]);
        let (d, n) = (plan.dimensions(), plan.ring_degree());
        let same = |own: &Index, records: &[i16]| {
            assert_eq!(own.records(), records.len() / d);
            let other = index(&plan, records);
            assert!(own.view().blocks == other.view().blocks, "{} records", own.records());
        };
        let mut own = Index::new(&plan);
        let mut records: Vec<i16> = Vec::new();
        for count in [1, 2, n - 4, 1, 1, n, n + 7] {
            let more = vectors(&declared, count, false, rng);
            own.append(&more).unwrap();
            records.extend(&more);
            same(&own, &records);
        }
        for at in [0, 5, n - 1, n, 2 * n + 3] {
            let other = vectors(&declared, 1, false, rng);
            own.replace(at, &other).unwrap();
            records[at * d..][..d].copy_from_slice(&other);
            assert_eq!(own.vector(at).unwrap(), other);
        }
        same(&own, &records);
        // Who answers from a clone is not told of changes.
        let (before, old) = (own.clone(), records.clone());
        for _ in 0..8 {
            let at = rng.next_u64() as usize % own.records();
            own.remove(at).unwrap();
            let last = records.len() - d;
            records.copy_within(last.., at * d);
            records.truncate(last);
        }
        same(&own, &records);
        same(&before, &old);
        // Over the border of a block, and down to nothing.
        let mut own = index(&plan, &records[..(n + 2) * d]);
        for count in (n - 1..n + 2).rev() {
            own.remove(count).unwrap();
            same(&own, &records[..count * d]);
        }
        let mut own = index(&plan, &records[..d]);
        own.remove(0).unwrap();
        assert_eq!((own.records(), own.bytes()), (0, 0));
        assert!(matches!(own.remove(0), Err(PlanError::Record { .. })));
        assert!(matches!(own.replace(0, &records[..d]), Err(PlanError::Record { .. })));
        assert!(matches!(own.vector(0), Err(PlanError::Record { .. })));
        assert!(matches!(own.answer(&[]), Err(PlanError::Records { .. })));
    }
}

/// As many queries as vectors have features give the records away: what plans say of who learns what.
#[test]
fn as_many_queries_as_features_give_records_away() {
    let declared = integers(9, 6, 500, false);
    let plan = Plan::new(declared).unwrap();
    let rng = &mut AesCtrRng::from_seed([8; 32]);
    let (d, records) = (plan.dimensions(), vectors(&declared, 500, false, rng));
    let (index, party) = (index(&plan, &records), Party::new(&plan, rng));
    let mut found = vec![0; records.len()];
    for feature in 0..d {
        let mut query = vec![0; d];
        query[feature] = 1;
        let bytes = encrypt(&plan, &party.secret, &query, rng).unwrap();
        let answer = index.answer(&[party.asks(&bytes)]).unwrap().remove(0);
        let scores = party.reads(&plan, &answer).unwrap();
        for (record, &score) in scores.iter().enumerate() {
            found[record * d + feature] = score as i16;
        }
    }
    assert_eq!(found, records);
}

/// An index as a file: read where it lies, refused if it is another plan's, cut off, longer, or changed anywhere.
#[test]
fn files_of_indexes_are_checked() {
    let declared = integers(6, 6, 5000, false);
    let plan = Plan::new(declared).unwrap();
    let rng = &mut AesCtrRng::from_seed([10; 32]);
    let n = plan.ring_degree();
    let records = vectors(&declared, 2 * n + 3, false, rng);
    let index = index(&plan, &records);
    let mut bytes = Vec::new();
    index.view().write(&mut bytes).unwrap();
    assert_eq!(bytes.len(), plan.file_bytes(index.records()));
    let view = View::open(&plan, &bytes).unwrap();
    assert!(view.blocks == index.view().blocks && view.records() == index.records());
    let mut copy = view.to_index();
    copy.replace(1, &records[..6]).unwrap();
    assert_eq!(copy.vector(1).unwrap(), records[..6]);
    let mut again = Vec::new();
    view.write(&mut again).unwrap();
    assert!(again == bytes);
    // Every byte of the header, and of blocks some: in their words and behind them.
    let first = bytes.len() - plan.index_bytes(index.records());
    let size = plan.index_bytes(1);
    let in_blocks = [0, 1, 77, size - 1, size, 2 * size + size / 2, 3 * size - 1];
    for at in (0..first).chain(in_blocks.map(|at| first + at)) {
        let mut lie = bytes.clone();
        lie[at] ^= 0x10;
        assert!(View::open(&plan, &lie).is_err(), "{at}");
        assert_eq!(View::open_checked_before(&plan, &lie).is_err(), at < first, "{at}");
    }
    for length in [0, 7, 8, 55, 56, 100, first, first + 1, bytes.len() - 1] {
        assert!(View::open_checked_before(&plan, &bytes[..length]).is_err(), "{length}");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert!(View::open_checked_before(&plan, &longer).is_err());
    // Residues that are none, under checksums that fit.
    let q = plan.products().modulus();
    let mut lie = index.view().to_index();
    let mut block = lie.view().blocks[1].to_vec();
    let mut words = vec![0; n];
    plan.packing().read(&block, 2, &mut words);
    words[n - 1] = q;
    plan.packing().write(&mut block, 2, &words);
    let blocks = [lie.view().blocks[0].to_vec(), block, lie.view().blocks[2].to_vec()];
    lie = Index::of_blocks(&plan, index.records(), &blocks.each_ref().map(Vec::as_slice));
    let mut bytes = Vec::new();
    lie.view().write(&mut bytes).unwrap();
    let refused = View::open(&plan, &bytes).err().unwrap().to_string();
    assert!(refused.contains("residue"), "{refused}");
    // Another plan.
    let other = Plan::new(Declared { signs: [1; 32], ..declared }).unwrap();
    let refused = View::open(&other, &bytes).err();
    let scheme = PlanError::Scheme(SchemeError::ParameterMismatch {
        expected: other.fingerprint(),
        found: plan.fingerprint(),
    });
    assert_eq!(refused, Some(scheme));
    // No records.
    let mut empty = Vec::new();
    Index::new(&plan).view().write(&mut empty).unwrap();
    assert_eq!(View::open(&plan, &empty).unwrap().records(), 0);
}

fn scheme_error(error: PlanError) -> SchemeError {
    match error {
        PlanError::Scheme(error) => error,
        other => panic!("{other}"),
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let declared = integers(10, 6, 3000, false);
    let integer = |query_bits, record_bits, query_square, record_square| Entries::Integers {
        query_bits,
        record_bits,
        query_square,
        record_square,
    };
    for lie in [
        Declared { dimensions: 0, ..declared },
        Declared { dimensions: 5000, ..declared },
        Declared { most_records: 0, ..declared },
        Declared { most_records: u64::MAX, ..declared },
        Declared { shared: 0, expanded: true, ..declared },
        Declared { shared: 9, expanded: true, ..declared },
        Declared { shared: 2, expanded: false, ..declared },
        Declared { entries: integer(1, 6, 100, 100), ..declared },
        Declared { entries: integer(6, 17, 100, 100), ..declared },
        Declared { entries: integer(6, 6, 0, 100), ..declared },
        Declared { entries: integer(6, 6, 100, 0), ..declared },
    ] {
        let refused = Plan::new(lie).err();
        assert!(matches!(refused, Some(PlanError::Declared { .. })), "{refused:?}");
    }
    let large =
        Declared { dimensions: 4096, entries: integer(16, 16, u64::MAX, u64::MAX), ..declared };
    for expanded in [false, true] {
        let refused = Plan::new(Declared { expanded, ..large }).err();
        assert!(matches!(refused, Some(PlanError::NoRoom { .. })), "{refused:?}");
    }
    let plan = Plan::new(declared).unwrap();
    let bytes = plan.to_bytes();
    for at in 0..bytes.len() {
        let mut lie = bytes.clone();
        lie[at] ^= 0x10;
        assert!(Plan::from_bytes(&lie).is_err(), "{at}");
        assert!(Plan::from_bytes(&bytes[..at]).is_err(), "{at}");
    }
    // Vectors: counts, entries, norms, on both sides.
    let rng = &mut AesCtrRng::from_seed([11; 32]);
    let party = Party::new(&plan, rng);
    let mut index = Index::new(&plan);
    let zeros = |count: usize| vec![0i16; count];
    for count in [0, 9, 11, 25] {
        assert!(matches!(index.append(&zeros(count)), Err(PlanError::Count { .. })), "{count}");
    }
    assert!(matches!(index.append(&zeros(30_010)), Err(PlanError::Records { .. })));
    index.append(&zeros(29_990)).unwrap();
    assert!(matches!(index.append(&zeros(20)), Err(PlanError::Records { .. })));
    assert_eq!(index.records(), 2999);
    let mut long = zeros(10);
    long[..6].fill(-30);
    for (entry, beyond) in [(31, false), (-32, false), (32, true), (-33, true), (i16::MIN, true)] {
        let mut vector = zeros(10);
        vector[9] = entry;
        let both =
            [index.replace(5, &vector).err(), encrypt(&plan, &party.secret, &vector, rng).err()];
        for refused in both {
            assert_eq!(matches!(refused, Some(PlanError::Feature { feature: 9, .. })), beyond);
            assert_eq!(refused.is_some(), beyond);
        }
    }
    assert!(matches!(index.replace(5, &long), Err(PlanError::Norm { vector: 0 })));
    assert!(matches!(index.append(&long), Err(PlanError::Norm { vector: 0 })));
    let refused = encrypt(&plan, &party.secret, &long, rng);
    assert!(matches!(refused, Err(PlanError::Norm { .. })));
    assert!(matches!(index.replace(2999, &zeros(10)), Err(PlanError::Record { .. })));
    assert!(matches!(index.replace(0, &zeros(9)), Err(PlanError::Count { .. })));
    let refused = encrypt(&plan, &party.secret, &zeros(11), rng);
    assert!(matches!(refused, Err(PlanError::Count { .. })));
    let codes = Plan::new(Declared::of_codes(10, 100, false, SEED)).unwrap();
    let refused = Index::new(&codes).append(&zeros(10));
    assert!(matches!(refused, Err(PlanError::Feature { .. })));
}

/// Messages of other plans, keys and lengths, damaged in any byte, and numbers that are no scores.
#[test]
fn messages_that_do_not_belong_are_refused() {
    for shared in 0..=2 {
        let expanded = shared > 0;
        let declared = Declared { shared: shared.max(1), ..integers(10, 6, 3000, expanded) };
        let plan = Plan::new(declared).unwrap();
        let other = Plan::new(Declared { signs: [1; 32], ..declared }).unwrap();
        let rng = &mut AesCtrRng::from_seed([12; 32]);
        let (party, stranger) = (Party::new(&plan, rng), Party::new(&plan, rng));
        let records = vectors(&declared, 50, false, rng);
        let index = index(&plan, &records);
        let query = encrypt(&plan, &party.secret, &[1; 10], rng).unwrap();
        let answer = index.answer(&[party.asks(&query)]).unwrap().remove(0);
        let refused = scheme_error(stranger.reads(&plan, &answer).unwrap_err());
        assert!(matches!(refused, SchemeError::KeyMismatch { .. }), "{refused}");
        let refused = scheme_error(party.reads(&other, &answer).unwrap_err());
        assert!(matches!(refused, SchemeError::ParameterMismatch { .. }), "{refused}");
        let strange = encrypt(&other, &party.secret, &[1; 10], rng).unwrap();
        let refused = scheme_error(index.answer(&[party.asks(&strange)]).unwrap_err());
        assert!(matches!(refused, SchemeError::ParameterMismatch { .. }), "{refused}");
        for at in (0..query.len()).step_by(query.len() / 40) {
            let mut lie = query.clone();
            lie[at] ^= 1;
            assert!(index.answer(&[party.asks(&lie)]).is_err());
            assert!(index.answer(&[party.asks(&query[..at])]).is_err());
        }
        for at in (0..answer.len()).step_by(answer.len() / 40) {
            let mut lie = answer.clone();
            lie[at] ^= 1;
            assert!(party.reads(&plan, &lie).is_err());
            assert!(party.reads(&plan, &answer[..at]).is_err());
        }
        // Well formed, of other numbers: of more records than there are places, and no scores at all.
        let key = party.secret.key_id();
        let body = &answer[answer.len() - 16 - (answer_bytes(&plan, 50) - 30 - 32 - 8)..];
        let body = &body[..body.len() - 16];
        let lie = wire::answer_to_bytes(&plan, key, 51, body);
        assert!(party.reads(&plan, &lie).is_err());
        // The last byte has bits of no number.
        let (last, others) = body.split_last().unwrap();
        let noise = others.iter().map(|x| x ^ rng.next_u64() as u8).chain([*last]);
        let noise: Vec<u8> = noise.collect();
        let lie = wire::answer_to_bytes(&plan, key, 50, &noise);
        let refused = scheme_error(party.reads(&plan, &lie).unwrap_err());
        assert!(matches!(refused, SchemeError::NoiseTooLarge), "{refused}");
        // Keys: of another client, of another set, of other levels, none, and some where there are none.
        if expanded {
            let asked = Asked { query: &query, keys: stranger.keys.as_ref() };
            let refused = scheme_error(index.answer(&[asked]).unwrap_err());
            assert!(matches!(refused, SchemeError::KeyMismatch { .. }), "{refused}");
            let refused =
                scheme_error(index.answer(&[Asked { query: &query, keys: None }]).unwrap_err());
            assert!(matches!(refused, SchemeError::Parameter { .. }), "{refused}");
            let bytes = generate_keys(&plan, &party.secret, &party.shared, rng).unwrap();
            for at in (0..bytes.len()).step_by(bytes.len() / 40) {
                let mut lie = bytes.clone();
                lie[at] ^= 1;
                assert!(read_keys(&plan, &lie).is_err() && read_keys(&plan, &bytes[..at]).is_err());
            }
            let narrow = Plan::new(integers(4, 6, 3000, true)).unwrap();
            let wide = Plan::new(integers(10, 9, 3000, true)).unwrap();
            let others = Plan::new(Declared { shared: 3, ..declared }).unwrap();
            let refused = decrypt(&others, &party.secret, &party.shared, &answer).unwrap_err();
            assert!(matches!(scheme_error(refused), SchemeError::Parameter { .. }));
            for plan in [&narrow, &wide, &others] {
                assert!(read_keys(plan, &bytes).is_err());
                let party = Party::new(plan, rng);
                let asked = Asked { query: &query, keys: party.keys.as_ref() };
                assert!(index.answer(&[asked]).is_err());
            }
        } else {
            let keyed = Plan::new(Declared { expanded: true, ..declared }).unwrap();
            let keyed = Party::new(&keyed, rng);
            let asked = Asked { query: &query, keys: keyed.keys.as_ref() };
            let refused = scheme_error(index.answer(&[asked]).unwrap_err());
            assert!(matches!(refused, SchemeError::Parameter { .. }), "{refused}");
            assert!(generate_keys(&plan, &party.secret, &party.shared, rng).is_err());
            assert_eq!(key_bytes(&plan), 0);
        }
    }
}
