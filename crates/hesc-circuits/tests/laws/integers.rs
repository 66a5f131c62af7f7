//! Circuits on integers against the machine's own arithmetic: all pairs of small numbers, random and extreme ones of
//! larger widths, and how many products they take.

use hesc_circuits::gates::integers::{self, Adder, Division, Rows, Shift, Signs};
use hesc_circuits::gates::{GateError, Netlist};
use hesc_math::AesCtrRng;
use rand_core::{Rng as _, SeedableRng};

/// Pairs of numbers of a width: all of them up to five bits; else random ones, some small, and the ends.
fn pairs(width: usize) -> (Vec<u64>, Vec<u64>) {
    if width <= 5 {
        let most = 1u64 << width;
        return (0..most * most).map(|i| (i % most, i / most)).unzip();
    }
    let mask = mask(width);
    let ends = [0, 1, 2, mask >> 1, (mask >> 1) + 1, mask - 1, mask];
    let rng = &mut AesCtrRng::from_seed([width as u8; 32]);
    let random = (0..500).map(|_| {
        let (shift, other) = (rng.next_u64() % width as u64, rng.next_u64() % width as u64);
        (rng.next_u64() & mask >> shift, rng.next_u64() & mask >> other)
    });
    let of_ends = ends.iter().flat_map(|&a| ends.iter().map(move |&b| (a, b)));
    of_ends.chain(random.collect::<Vec<_>>()).unzip()
}

fn mask(width: usize) -> u64 {
    u64::MAX >> (64 - width)
}

fn signed(value: u64, width: usize) -> i64 {
    (value << (64 - width)) as i64 >> (64 - width)
}

/// Checks every output of a circuit of two numbers.
fn check(circuit: &Netlist, width: usize, expected: impl Fn(u64, u64) -> Vec<u64>, what: &str) {
    let (a, b) = pairs(width);
    let found = circuit.evaluate_numbers(&[&a, &b]).unwrap();
    for (lane, (&a, &b)) in a.iter().zip(&b).enumerate() {
        let found: Vec<u64> = found.iter().map(|values| values[lane]).collect();
        assert_eq!(found, expected(a, b), "{what} of {width} bits: {a}, {b}");
    }
}

/// The same of one number.
fn check_one(circuit: &Netlist, width: usize, expected: impl Fn(u64) -> Vec<u64>, what: &str) {
    let (a, _) = pairs(width);
    let found = circuit.evaluate_numbers(&[&a]).unwrap();
    for (lane, &a) in a.iter().enumerate() {
        let found: Vec<u64> = found.iter().map(|values| values[lane]).collect();
        assert_eq!(found, expected(a), "{what} of {width} bits: {a}");
    }
}

const WIDTHS: [usize; 11] = [1, 2, 3, 4, 5, 8, 13, 16, 31, 32, 63];

#[test]
fn sums_and_differences_are_right() {
    for width in WIDTHS {
        let m = mask(width);
        for kind in Adder::ALL {
            let name = kind.name();
            let adder = integers::adder(kind, width).unwrap();
            check(&adder, width, |a, b| vec![a + b], name);
            let subtractor = integers::subtractor(kind, width).unwrap();
            let difference = |a: u64, b: u64| vec![a.wrapping_sub(b) & m, u64::from(a < b)];
            check(&subtractor, width, difference, name);
            let negation = integers::negation(kind, width).unwrap();
            check_one(&negation, width, |a| vec![a.wrapping_neg() & m], name);
            let absolute = integers::absolute(kind, width).unwrap();
            check_one(&absolute, width, |a| vec![signed(a, width).unsigned_abs() & m], name);
        }
    }
}

#[test]
fn comparisons_are_right() {
    for width in WIDTHS.into_iter().chain([64]) {
        check(&integers::equal(width).unwrap(), width, |a, b| vec![u64::from(a == b)], "equal");
        for is_signed in [false, true] {
            let less = |a, b| if is_signed { signed(a, width) < signed(b, width) } else { a < b };
            let circuit = integers::less(width, is_signed).unwrap();
            check(&circuit, width, |a, b| vec![u64::from(less(a, b))], "less");
            let circuit = integers::minimum(width, is_signed).unwrap();
            check(&circuit, width, |a, b| vec![if less(a, b) { a } else { b }], "minimum");
            let circuit = integers::maximum(width, is_signed).unwrap();
            check(&circuit, width, |a, b| vec![if less(a, b) { b } else { a }], "maximum");
        }
    }
    let selection = integers::selection(8).unwrap();
    let found = selection.evaluate_numbers(&[&[0, 1], &[17, 17], &[200, 200]]).unwrap();
    assert_eq!(found, [[200, 17]]);
}

#[test]
fn products_are_right() {
    for width in [1usize, 2, 3, 4, 5, 8, 13, 16, 32] {
        for result in [1, width.div_ceil(2), width, width + width / 2, 2 * width] {
            let m = mask(result);
            for (kind, rows) in [Adder::Ripple, Adder::Sklansky]
                .into_iter()
                .flat_map(|kind| Rows::ALL.map(|rows| (kind, rows)))
            {
                let circuit =
                    |signs| integers::multiplier(kind, rows, width, result, signs).unwrap();
                check(&circuit(Signs::Unsigned), width, |a, b| vec![(a * b) & m], "product");
                let product = |a, b| signed(a, width).wrapping_mul(signed(b, width)) as u64 & m;
                check(&circuit(Signs::Signed), width, |a, b| vec![product(a, b)], "signed product");
            }
        }
    }
}

#[test]
fn quotients_and_remainders_are_right() {
    for width in [1usize, 2, 3, 4, 5, 6, 8, 12, 16] {
        let restoring = (1..=4).map(|digit| Division::Restoring { digit });
        let expected = |a: u64, b: u64| {
            let quotient = a.checked_div(b).unwrap_or(mask(width));
            vec![quotient, a.checked_rem(b).unwrap_or(a)]
        };
        let table = (1..=4).map(|digit| Division::Table { digit });
        let table = table.filter(|_| width % 2 == 0 && width <= 10);
        for way in restoring.chain(table).chain([Division::NonRestoring]) {
            for kind in [Adder::Ripple, Adder::Sklansky] {
                let circuit = integers::divider(way, kind, width).unwrap();
                check(&circuit, width, expected, &format!("{way:?}"));
            }
        }
    }
}

/// Numbers beyond a word, 64 at once: random ones, small divisors, ends, and none.
#[test]
fn wide_quotients_and_remainders_are_right() {
    let rng = &mut AesCtrRng::from_seed([8; 32]);
    for width in [65u32, 100, 128] {
        let largest = u128::MAX >> (128 - width);
        let ends = [0, 1, largest, largest - 1, 1 << 64, u128::from(u64::MAX)];
        let mut number = |lane: usize| {
            let any = u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
            if lane.is_multiple_of(5) {
                ends[lane / 5 % ends.len()]
            } else {
                any >> (lane % 128) & largest
            }
        };
        let [a, b]: [Vec<u128>; 2] =
            std::array::from_fn(|i| (0..64).map(|lane| number(lane * (1 + 2 * i))).collect());
        let wires = |numbers: &[u128]| -> Vec<u64> {
            let wire = |bit: u32| {
                let lanes = numbers.iter().enumerate();
                lanes.fold(0, |word, (lane, x)| word | ((x >> bit & 1) as u64) << lane)
            };
            (0..width).map(wire).collect()
        };
        let expected: Vec<[u128; 2]> = a
            .iter()
            .zip(&b)
            .map(|(&a, &b)| [a.checked_div(b).unwrap_or(largest), a.checked_rem(b).unwrap_or(a)])
            .collect();
        let expected =
            [0, 1].map(|which| wires(&expected.iter().map(|x| x[which]).collect::<Vec<_>>()));
        for way in [Division::Restoring { digit: 1 }, Division::NonRestoring] {
            let circuit = integers::divider(way, Adder::Ripple, width as usize).unwrap();
            let found = circuit.evaluate(&[wires(&a), wires(&b)].concat(), 1).unwrap();
            assert_eq!(found, expected.concat(), "{way:?}, {width} bits");
        }
    }
}

#[test]
fn tables_are_right() {
    for width in 1..=5 {
        let divide = |a: u64, b: u64| {
            let quotient = a.checked_div(b).unwrap_or(mask(width));
            quotient | a.checked_rem(b).unwrap_or(a) << width
        };
        let circuit = integers::table(width, 2 * width, divide).unwrap();
        check(&circuit, width, |a, b| vec![divide(a, b)], "table");
    }
}

#[test]
fn shifts_are_right() {
    for width in [1usize, 3, 8, 16, 32] {
        for amount_width in [1, 3, 6] {
            for way in [Shift::Left, Shift::Right, Shift::SignedRight] {
                let circuit = integers::shifter(way, width, amount_width).unwrap();
                let (a, amounts) = pairs(width);
                let amounts: Vec<u64> = amounts
                    .iter()
                    .enumerate()
                    .map(|(i, b)| (i as u64 + b) & mask(amount_width))
                    .collect();
                let found = &circuit.evaluate_numbers(&[&a, &amounts]).unwrap()[0];
                for (lane, (&a, &by)) in a.iter().zip(&amounts).enumerate() {
                    let by = by as u32;
                    let expected = match way {
                        Shift::Left => a.checked_shl(by).unwrap_or(0),
                        Shift::Right => a.checked_shr(by).unwrap_or(0),
                        Shift::SignedRight => (signed(a, width) >> by.min(63)) as u64,
                    };
                    assert_eq!(found[lane], expected & mask(width), "{way:?} {width}: {a} by {by}");
                }
            }
        }
    }
}

#[test]
fn many_numbers_are_summed_sorted_and_searched() {
    let rng = &mut AesCtrRng::from_seed([3; 32]);
    for (count, width) in
        [(1, 4), (2, 3), (3, 5), (4, 1), (5, 8), (7, 2), (8, 6), (13, 4), (16, 16)]
    {
        let numbers: Vec<Vec<u64>> =
            (0..count).map(|_| (0..300).map(|_| rng.next_u64() & mask(width)).collect()).collect();
        let inputs: Vec<&[u64]> = numbers.iter().map(Vec::as_slice).collect();
        let lanes = |lane: usize| numbers.iter().map(move |values| values[lane]);
        for kind in Adder::ALL {
            let sum =
                &integers::sum(kind, count, width).unwrap().evaluate_numbers(&inputs).unwrap()[0];
            assert!((0..300).all(|lane| sum[lane] == lanes(lane).sum::<u64>()), "{count} {width}");
        }
        for is_signed in [false, true] {
            let key = |value: u64| if is_signed { signed(value, width) } else { value as i64 };
            let circuit = integers::sorter(count, width, is_signed).unwrap();
            let sorted = circuit.evaluate_numbers(&inputs).unwrap();
            let circuit = integers::largest(count, width, is_signed).unwrap();
            let largest = circuit.evaluate_numbers(&inputs).unwrap();
            for lane in 0..300 {
                let mut expected: Vec<u64> = lanes(lane).collect();
                expected.sort_by_key(|&value| key(value));
                let found: Vec<u64> = sorted.iter().map(|values| values[lane]).collect();
                assert_eq!(found, expected, "sorted {count} of {width}");
                let top = expected[count - 1];
                let place = lanes(lane).position(|value| value == top).unwrap() as u64;
                assert_eq!([largest[0][lane], largest[1][lane]], [top, place]);
            }
        }
    }
    for width in [1, 2, 3, 7, 8, 63, 64] {
        let circuit = integers::popcount(Adder::Sklansky, width).unwrap();
        check_one(&circuit, width, |a| vec![u64::from(a.count_ones())], "popcount");
    }
}

/// Every comparison network of up to eight numbers sorts all rows of bits, hence all numbers (the 0-1 principle).
#[test]
fn sorters_sort_all_rows_of_bits() {
    for count in 1..=12usize {
        let rows: Vec<Vec<u64>> =
            (0..count).map(|i| (0..1u64 << count).map(|row| row >> i & 1).collect()).collect();
        let inputs: Vec<&[u64]> = rows.iter().map(Vec::as_slice).collect();
        let circuit = integers::sorter(count, 1, false).unwrap();
        let sorted = circuit.evaluate_numbers(&inputs).unwrap();
        for (i, sorted) in sorted.iter().enumerate() {
            for (row, &bit) in sorted.iter().enumerate() {
                let ones = row.count_ones() as usize;
                assert_eq!(bit == 1, i >= count - ones, "{count} {row:b}");
            }
        }
    }
}

/// Products and depth, as counted by another program.
#[test]
fn circuits_take_as_many_products_as_they_say() {
    let counts = |circuit: Result<Netlist, GateError>| {
        let circuit = circuit.unwrap();
        (circuit.products(), circuit.product_depth())
    };
    let adders = [
        (Adder::Ripple, [(8, 8), (16, 16), (32, 32), (64, 64)]),
        (Adder::BrentKung, [(23, 5), (53, 7), (115, 9), (241, 11)]),
        (Adder::LadnerFischer, [(23, 5), (55, 6), (127, 7), (287, 8)]),
        (Adder::Sklansky, [(25, 4), (65, 5), (161, 6), (385, 7)]),
        (Adder::KoggeStone, [(35, 4), (99, 5), (259, 6), (643, 7)]),
    ];
    for (kind, expected) in adders {
        let found = [8, 16, 32, 64].map(|width| counts(integers::adder(kind, width)));
        assert_eq!(found, expected, "{}", kind.name());
    }
    let less = [8, 16, 32, 64].map(|width| counts(integers::less(width, false)));
    assert_eq!(less, [(19, 4), (42, 5), (89, 6), (184, 7)]);
    let minimum = [8, 16, 32, 64].map(|width| counts(integers::minimum(width, false)));
    assert_eq!(minimum, [(27, 5), (58, 6), (121, 7), (248, 8)]);
    assert_eq!(counts(integers::equal(64)), (63, 6));
    let multiplier = |width, result| {
        counts(integers::multiplier(Adder::Sklansky, Rows::Bits, width, result, Signs::Unsigned))
    };
    let full = [8, 16, 32].map(|width| multiplier(width, 2 * width));
    let truncated = [8, 16, 32].map(|width| multiplier(width, width));
    assert_eq!(
        (full, truncated),
        ([(157, 8), (609, 10), (2317, 12)], [(66, 5), (278, 8), (1106, 11)])
    );
    assert_eq!(counts(integers::sum(Adder::Sklansky, 16, 16)), (299, 9));
    assert_eq!(counts(integers::popcount(Adder::Sklansky, 64)), (74, 7));
    let division = |digit, width| {
        counts(integers::divider(Division::Restoring { digit }, Adder::Sklansky, width))
    };
    assert_eq!([division(2, 4), division(2, 8), division(4, 8)], [(73, 10), (284, 23), (879, 20)]);
    let divide =
        |a: u64, b: u64| a.checked_div(b).unwrap_or(15) | a.checked_rem(b).unwrap_or(a) << 4;
    assert_eq!(counts(integers::table(4, 8, divide)), (80, 3));
    // xu2016integers: one product a bit for ripple carries, n - 1 without the carry out.
    assert_eq!(counts(integers::negation(Adder::Ripple, 16)), (14, 14));
}

#[test]
fn sizes_that_make_no_circuit_are_refused() {
    let refused = [
        integers::adder(Adder::Ripple, 0),
        integers::adder(Adder::Sklansky, 4097),
        integers::multiplier(Adder::Ripple, Rows::Bits, 257, 257, Signs::Signed),
        integers::multiplier(Adder::Ripple, Rows::Bits, 8, 17, Signs::Signed),
        integers::multiplier(Adder::Ripple, Rows::Bits, 8, 0, Signs::Unsigned),
        integers::divider(Division::Restoring { digit: 5 }, Adder::Ripple, 10),
        integers::divider(Division::Restoring { digit: 0 }, Adder::Ripple, 10),
        integers::divider(Division::NonRestoring, Adder::Ripple, 257),
        integers::shifter(Shift::Left, 8, 17),
        integers::sum(Adder::Ripple, 1 << 16, 4096),
        integers::sum(Adder::Ripple, 0, 4),
        integers::sorter(1025, 1, false),
        integers::largest(0, 1, false),
        integers::table(6, 1, |a, _| a),
        integers::table(2, 65, |a, _| a),
    ];
    for circuit in refused {
        assert!(matches!(circuit, Err(GateError::Size { .. })), "{circuit:?}");
    }
}
