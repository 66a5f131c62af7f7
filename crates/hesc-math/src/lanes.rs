//! Eight words side by side: with AVX-512 IFMA where the machine has it, in portable Rust
//! otherwise. Chosen at run time by [`dispatch`].

use bytemuck::{Pod, Zeroable};
use zeroize::Zeroize;

/// Numbers side by side in an [`Octet`].
pub const LANES: usize = 8;
/// Bits of a limb.
pub const LIMB_BITS: u32 = 52;
/// All bits of a limb.
pub const LIMB_MASK: u64 = (1 << LIMB_BITS) - 1;

/// One word of eight numbers.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Octet(pub [u64; LANES]);

impl Octet {
    /// Eight zeros.
    pub const ZERO: Self = Self([0; LANES]);
}

impl Zeroize for Octet {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

/// Vector instructions on eight words; every one takes the same time for all values.
pub trait Lanes: Copy {
    /// Eight words.
    type Vector: Copy;
    /// Eight truth values.
    type Mask: Copy;

    fn load(self, x: &Octet) -> Self::Vector;
    fn store(self, x: &mut Octet, v: Self::Vector);
    fn load_words(self, x: &[u64; LANES]) -> Self::Vector;
    fn store_words(self, x: &mut [u64; LANES], v: Self::Vector);
    fn splat(self, x: u64) -> Self::Vector;
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// The smaller, unsigned.
    fn min(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn and(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn or(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn xor(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn shl<const N: u32>(self, a: Self::Vector) -> Self::Vector;
    fn shr<const N: u32>(self, a: Self::Vector) -> Self::Vector;
    /// Shifts the sign in.
    fn sar<const N: u32>(self, a: Self::Vector) -> Self::Vector;
    /// By a number for each lane; 64 and above give zero.
    fn shl_by(self, a: Self::Vector, n: Self::Vector) -> Self::Vector;
    /// By a number for each lane; 64 and above give zero.
    fn shr_by(self, a: Self::Vector, n: Self::Vector) -> Self::Vector;
    fn leading_zeros(self, a: Self::Vector) -> Self::Vector;
    /// Halfwords of 64 bytes, four for each lane: those whose numbers, below 32, the halfwords of `places` are.
    fn halfwords(self, bytes: &[u8; 64], places: Self::Vector) -> Self::Vector;
    /// Asks for what lies so many bytes behind these, if there is anything.
    fn ask_for(self, bytes: &[u8; 64], ahead: usize);
    /// `acc + (a b mod 2^52)` of limbs `a`, `b`; bits of theirs above 52 are ignored.
    fn add_low(self, acc: Self::Vector, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `acc + floor(a b / 2^52)` of limbs `a`, `b`; bits of theirs above 52 are ignored.
    fn add_high(self, acc: Self::Vector, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Whether `a & b` is not zero.
    fn test(self, a: Self::Vector, b: Self::Vector) -> Self::Mask;
    /// Whether `a < b`, unsigned.
    fn less(self, a: Self::Vector, b: Self::Vector) -> Self::Mask;
    fn equal(self, a: Self::Vector, b: Self::Vector) -> Self::Mask;
    fn both(self, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// `b` where the mask is set, `a` elsewhere.
    fn select(self, mask: Self::Mask, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Lane `j` of vector `i` becomes lane `i` of vector `j`.
    #[cfg_attr(
        target_family = "wasm",
        expect(dead_code, reason = "transforms of odd rings take it")
    )]
    fn transpose(self, rows: [Self::Vector; LANES]) -> [Self::Vector; LANES];

    #[inline(always)]
    fn zero(self) -> Self::Vector {
        self.splat(0)
    }

    /// What a closure gives that is inlined everywhere. Portable code of it is long: it stands once, and is called.
    #[inline(always)]
    fn shared<R>(self, body: impl FnOnce() -> R) -> R {
        body()
    }
}

/// An array of what a closure gives for each place. The standard library's `from_fn`, `map` and `zip` of arrays are calls
/// where a crate is compiled in several codegen units, and what is called is compiled without the vector instructions:
/// loops over vectors take this and `enumerate`.
#[inline(always)]
pub(crate) fn array_of<T: Copy, const N: usize>(zero: T, at: impl Fn(usize) -> T) -> [T; N] {
    let mut array = [zero; N];
    for (i, place) in array.iter_mut().enumerate() {
        *place = at(i);
    }
    array
}

/// The portable twin: loops over arrays.
#[derive(Clone, Copy)]
pub struct Portable;

type Words = [u64; LANES];

#[inline(always)]
fn map2(a: Words, b: Words, f: impl Fn(u64, u64) -> u64) -> Words {
    std::array::from_fn(|i| f(a[i], b[i]))
}

/// All bits set for true.
#[inline(always)]
fn spread(bit: bool) -> u64 {
    u64::from(bit).wrapping_neg()
}

impl Lanes for Portable {
    type Vector = Words;
    type Mask = Words;

    #[inline(never)]
    fn shared<R>(self, body: impl FnOnce() -> R) -> R {
        body()
    }

    #[inline(always)]
    fn load(self, x: &Octet) -> Words {
        x.0
    }
    #[inline(always)]
    fn store(self, x: &mut Octet, v: Words) {
        x.0 = v;
    }
    #[inline(always)]
    fn load_words(self, x: &Words) -> Words {
        *x
    }
    #[inline(always)]
    fn store_words(self, x: &mut Words, v: Words) {
        *x = v;
    }
    #[inline(always)]
    fn splat(self, x: u64) -> Words {
        [x; LANES]
    }
    #[inline(always)]
    fn add(self, a: Words, b: Words) -> Words {
        map2(a, b, u64::wrapping_add)
    }
    #[inline(always)]
    fn sub(self, a: Words, b: Words) -> Words {
        map2(a, b, u64::wrapping_sub)
    }
    #[inline(always)]
    fn min(self, a: Words, b: Words) -> Words {
        map2(a, b, u64::min)
    }
    #[inline(always)]
    fn and(self, a: Words, b: Words) -> Words {
        map2(a, b, |a, b| a & b)
    }
    #[inline(always)]
    fn or(self, a: Words, b: Words) -> Words {
        map2(a, b, |a, b| a | b)
    }
    #[inline(always)]
    fn xor(self, a: Words, b: Words) -> Words {
        map2(a, b, |a, b| a ^ b)
    }
    #[inline(always)]
    fn shl<const N: u32>(self, a: Words) -> Words {
        a.map(|a| a << N)
    }
    #[inline(always)]
    fn shr<const N: u32>(self, a: Words) -> Words {
        a.map(|a| a >> N)
    }
    #[inline(always)]
    fn sar<const N: u32>(self, a: Words) -> Words {
        a.map(|a| (a as i64 >> N) as u64)
    }
    #[inline(always)]
    fn shl_by(self, a: Words, n: Words) -> Words {
        map2(a, n, |a, n| (a << (n & 63)) & spread(n < 64))
    }
    #[inline(always)]
    fn shr_by(self, a: Words, n: Words) -> Words {
        map2(a, n, |a, n| (a >> (n & 63)) & spread(n < 64))
    }
    #[inline(always)]
    fn leading_zeros(self, a: Words) -> Words {
        a.map(|a| u64::from(a.leading_zeros()))
    }
    #[inline(always)]
    fn halfwords(self, bytes: &[u8; 64], places: Words) -> Words {
        places.map(|places| {
            let halfword = |i: u32| {
                let at = 2 * (places >> (16 * i) & 31) as usize;
                u64::from(u16::from_le_bytes([bytes[at], bytes[at + 1]])) << (16 * i)
            };
            (0..4).fold(0, |all, i| all | halfword(i))
        })
    }
    #[inline(always)]
    fn ask_for(self, _: &[u8; 64], _: usize) {}
    #[inline(always)]
    fn add_low(self, acc: Words, a: Words, b: Words) -> Words {
        let product = map2(a, b, |a, b| a.wrapping_mul(b) & LIMB_MASK);
        map2(acc, product, u64::wrapping_add)
    }
    #[inline(always)]
    fn add_high(self, acc: Words, a: Words, b: Words) -> Words {
        let product = map2(a, b, |a, b| {
            ((u128::from(a & LIMB_MASK) * u128::from(b & LIMB_MASK)) >> LIMB_BITS) as u64
        });
        map2(acc, product, u64::wrapping_add)
    }
    #[inline(always)]
    fn test(self, a: Words, b: Words) -> Words {
        map2(a, b, |a, b| spread(a & b != 0))
    }
    #[inline(always)]
    fn less(self, a: Words, b: Words) -> Words {
        map2(a, b, |a, b| spread(a < b))
    }
    #[inline(always)]
    fn equal(self, a: Words, b: Words) -> Words {
        map2(a, b, |a, b| spread(a == b))
    }
    #[inline(always)]
    fn both(self, a: Words, b: Words) -> Words {
        self.and(a, b)
    }
    #[inline(always)]
    fn select(self, mask: Words, a: Words, b: Words) -> Words {
        std::array::from_fn(|i| (a[i] & !mask[i]) | (b[i] & mask[i]))
    }
    #[inline(always)]
    fn transpose(self, rows: [Words; LANES]) -> [Words; LANES] {
        std::array::from_fn(|j| std::array::from_fn(|i| rows[i][j]))
    }
}

#[cfg(target_arch = "x86_64")]
pub mod ifma {
    //! The instructions, through `pulp`'s safe faces: the type is the proof that they exist.

    use std::arch::x86_64::{__m512i, _MM_HINT_T0};

    use bytemuck::must_cast;

    use super::{Kernel, LANES, Lanes, Octet};

    pulp::simd_type! {
        /// A machine with AVX-512 and its 52-bit multipliers.
        pub struct Ifma {
            pub sse: "sse",
            pub avx512f: "avx512f",
            pub avx512bw: "avx512bw",
            pub avx512cd: "avx512cd",
            pub avx512ifma: "avx512ifma",
        }
    }

    /// A kernel with its lanes, as `pulp` wants it.
    pub struct WithLanes<K>(pub Ifma, pub K);

    impl<K: Kernel> pulp::NullaryFnOnce for WithLanes<K> {
        type Output = K::Output;

        #[inline(always)]
        fn call(self) -> K::Output {
            self.1.run(self.0)
        }
    }

    impl Lanes for Ifma {
        type Vector = __m512i;
        type Mask = u8;

        #[inline(always)]
        fn load(self, x: &Octet) -> __m512i {
            must_cast(*x)
        }
        #[inline(always)]
        fn store(self, x: &mut Octet, v: __m512i) {
            *x = must_cast(v);
        }
        #[inline(always)]
        fn load_words(self, x: &[u64; LANES]) -> __m512i {
            must_cast(*x)
        }
        #[inline(always)]
        fn store_words(self, x: &mut [u64; LANES], v: __m512i) {
            *x = must_cast(v);
        }
        #[inline(always)]
        fn splat(self, x: u64) -> __m512i {
            self.avx512f._mm512_set1_epi64(x as i64)
        }
        #[inline(always)]
        fn add(self, a: __m512i, b: __m512i) -> __m512i {
            self.avx512f._mm512_add_epi64(a, b)
        }
        #[inline(always)]
        fn sub(self, a: __m512i, b: __m512i) -> __m512i {
            self.avx512f._mm512_sub_epi64(a, b)
        }
        #[inline(always)]
        fn min(self, a: __m512i, b: __m512i) -> __m512i {
            self.avx512f._mm512_min_epu64(a, b)
        }
        #[inline(always)]
        fn and(self, a: __m512i, b: __m512i) -> __m512i {
            self.avx512f._mm512_and_si512(a, b)
        }
        #[inline(always)]
        fn or(self, a: __m512i, b: __m512i) -> __m512i {
            self.avx512f._mm512_or_si512(a, b)
        }
        #[inline(always)]
        fn xor(self, a: __m512i, b: __m512i) -> __m512i {
            self.avx512f._mm512_xor_si512(a, b)
        }
        #[inline(always)]
        fn shl<const N: u32>(self, a: __m512i) -> __m512i {
            self.avx512f._mm512_slli_epi64::<N>(a)
        }
        #[inline(always)]
        fn shr<const N: u32>(self, a: __m512i) -> __m512i {
            self.avx512f._mm512_srli_epi64::<N>(a)
        }
        #[inline(always)]
        fn sar<const N: u32>(self, a: __m512i) -> __m512i {
            self.avx512f._mm512_srai_epi64::<N>(a)
        }
        #[inline(always)]
        fn shl_by(self, a: __m512i, n: __m512i) -> __m512i {
            self.avx512f._mm512_sllv_epi64(a, n)
        }
        #[inline(always)]
        fn shr_by(self, a: __m512i, n: __m512i) -> __m512i {
            self.avx512f._mm512_srlv_epi64(a, n)
        }
        #[inline(always)]
        fn leading_zeros(self, a: __m512i) -> __m512i {
            self.avx512cd._mm512_lzcnt_epi64(a)
        }
        #[inline(always)]
        fn halfwords(self, bytes: &[u8; 64], places: __m512i) -> __m512i {
            self.avx512bw._mm512_permutexvar_epi16(places, must_cast(*bytes))
        }
        #[inline(always)]
        fn ask_for(self, bytes: &[u8; 64], ahead: usize) {
            let place = bytes.as_ptr().wrapping_add(ahead).cast();
            self.sse._mm_prefetch::<_MM_HINT_T0>(place);
        }
        #[inline(always)]
        fn add_low(self, acc: __m512i, a: __m512i, b: __m512i) -> __m512i {
            self.avx512ifma._mm512_madd52lo_epu64(acc, a, b)
        }
        #[inline(always)]
        fn add_high(self, acc: __m512i, a: __m512i, b: __m512i) -> __m512i {
            self.avx512ifma._mm512_madd52hi_epu64(acc, a, b)
        }
        #[inline(always)]
        fn test(self, a: __m512i, b: __m512i) -> u8 {
            self.avx512f._mm512_test_epi64_mask(a, b)
        }
        #[inline(always)]
        fn less(self, a: __m512i, b: __m512i) -> u8 {
            self.avx512f._mm512_cmplt_epu64_mask(a, b)
        }
        #[inline(always)]
        fn equal(self, a: __m512i, b: __m512i) -> u8 {
            self.avx512f._mm512_cmpeq_epu64_mask(a, b)
        }
        #[inline(always)]
        fn both(self, a: u8, b: u8) -> u8 {
            a & b
        }
        #[inline(always)]
        fn select(self, mask: u8, a: __m512i, b: __m512i) -> __m512i {
            self.avx512f._mm512_mask_mov_epi64(a, mask, b)
        }
        #[inline(always)]
        fn transpose(self, rows: [__m512i; LANES]) -> [__m512i; LANES] {
            let f = self.avx512f;
            // No closures, which would be compiled without the instructions. Even and odd places of pairs:
            let [r0, r1, r2, r3, r4, r5, r6, r7] = rows;
            let (a0, a1) = (f._mm512_unpacklo_epi64(r0, r1), f._mm512_unpackhi_epi64(r0, r1));
            let (b0, b1) = (f._mm512_unpacklo_epi64(r2, r3), f._mm512_unpackhi_epi64(r2, r3));
            let (c0, c1) = (f._mm512_unpacklo_epi64(r4, r5), f._mm512_unpackhi_epi64(r4, r5));
            let (d0, d1) = (f._mm512_unpacklo_epi64(r6, r7), f._mm512_unpackhi_epi64(r6, r7));
            // Even and odd quarters of those, for four rows.
            let e0 = f._mm512_shuffle_i64x2::<0x88>(a0, b0);
            let e1 = f._mm512_shuffle_i64x2::<0x88>(a1, b1);
            let e2 = f._mm512_shuffle_i64x2::<0xdd>(a0, b0);
            let e3 = f._mm512_shuffle_i64x2::<0xdd>(a1, b1);
            let o0 = f._mm512_shuffle_i64x2::<0x88>(c0, d0);
            let o1 = f._mm512_shuffle_i64x2::<0x88>(c1, d1);
            let o2 = f._mm512_shuffle_i64x2::<0xdd>(c0, d0);
            let o3 = f._mm512_shuffle_i64x2::<0xdd>(c1, d1);
            [
                f._mm512_shuffle_i64x2::<0x88>(e0, o0),
                f._mm512_shuffle_i64x2::<0x88>(e1, o1),
                f._mm512_shuffle_i64x2::<0x88>(e2, o2),
                f._mm512_shuffle_i64x2::<0x88>(e3, o3),
                f._mm512_shuffle_i64x2::<0xdd>(e0, o0),
                f._mm512_shuffle_i64x2::<0xdd>(e1, o1),
                f._mm512_shuffle_i64x2::<0xdd>(e2, o2),
                f._mm512_shuffle_i64x2::<0xdd>(e3, o3),
            ]
        }
    }
}

/// A loop over batches, compiled for each kind of lanes. A type and not a closure, because only
/// what is inlined everywhere is compiled for the vector instructions: implementations say
/// `#[inline(always)]`.
pub trait Kernel {
    type Output;

    fn run<L: Lanes>(self, l: L) -> Self::Output;
}

/// The proof that this machine has lanes in hardware, and that this process takes them.
#[derive(Clone, Copy)]
pub struct Hardware(
    #[cfg(target_arch = "x86_64")] ifma::Ifma,
    #[cfg(not(target_arch = "x86_64"))] std::convert::Infallible,
);

impl Hardware {
    /// Runs a kernel on these lanes.
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[cfg(target_arch = "x86_64")]
        return self.0.vectorize(ifma::WithLanes(self.0, kernel));
        #[cfg(not(target_arch = "x86_64"))]
        match (self.0, kernel) {}
    }
}

/// Lanes in hardware, if this machine has any. Where it has none, a loop on 64-bit multipliers beats the portable twin
/// wherever residues fit a word: kernels of such loops are not compiled for it.
pub fn hardware() -> Option<Hardware> {
    #[cfg(target_arch = "x86_64")]
    return hesc_kernels::at_least(hesc_kernels::Kernels::Avx512Ifma)
        .then(ifma::Ifma::try_new)
        .flatten()
        .map(Hardware);
    #[cfg(not(target_arch = "x86_64"))]
    None
}

/// Runs a kernel with the best lanes of this machine.
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    match hardware() {
        Some(hardware) => hardware.run(kernel),
        None => kernel.run(Portable),
    }
}

/// Bit `i` for lane `i`.
pub const LANE_BITS: Octet = Octet([1, 2, 4, 8, 16, 32, 64, 128]);

/// A mask as a byte.
#[inline(always)]
pub fn mask_to_bits<L: Lanes>(l: L, mask: L::Mask) -> u8 {
    let mut bits = Octet::ZERO;
    l.store(&mut bits, l.select(mask, l.zero(), l.load(&LANE_BITS)));
    let mut all = 0;
    for bit in bits.0 {
        all |= bit as u8;
    }
    all
}

/// `b` where the bit is set, `a` elsewhere, number by number: a byte of `bits` for each group. `b` is
/// as long as `a`, or one group that serves for all.
pub fn replace_where(a: &mut [Octet], b: &[Octet], bits: &[u8]) {
    assert!(a.len().is_multiple_of(bits.len()), "a byte for each group");
    assert!([a.len(), a.len() / bits.len()].contains(&b.len()), "a number for each, or one group");
    dispatch(ReplaceWhere { a, b, bits });
}

/// Puts number `from` of `b` in place of number `to` of `a`, of so many groups each. Places are public.
pub fn copy_number(a: &mut [Octet], to: usize, b: &[Octet], from: usize, groups: usize) {
    assert!(a.len() == b.len() && a.len().is_multiple_of(groups), "numbers of one size");
    let size = a.len() / groups;
    let (to_group, from_group) = (to / LANES * size, from / LANES * size);
    for limb in 0..size {
        a[to_group + limb].0[to % LANES] = b[from_group + limb].0[from % LANES];
    }
}

struct ReplaceWhere<'a> {
    a: &'a mut [Octet],
    b: &'a [Octet],
    bits: &'a [u8],
}

impl Kernel for ReplaceWhere<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let size = self.a.len() / self.bits.len();
        let groups = self.a.chunks_exact_mut(size).zip(self.b.chunks_exact(size).cycle());
        for ((a, b), &bits) in groups.zip(self.bits) {
            let mask = l.test(l.splat(u64::from(bits)), l.load(&LANE_BITS));
            for (a, b) in a.iter_mut().zip(b) {
                l.store(a, l.select(mask, l.load(a), l.load(b)));
            }
        }
    }
}
