//! The names of the rewrite rules, and how often each was applied.
//!
//! Every rule that does more than fold constants or put operands in order has a name and its
//! before ⇒ after here. A test demands that each was applied while terms were checked against
//! an independent evaluator, so that no rule is believed untested.

macro_rules! rules {
    ($($name:ident $text:literal,)*) => {
        /// A rewrite rule.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Rule {
            $(#[doc = $text] $name,)*
        }

        /// Name, and before ⇒ after, of every rule, in the order of the enum.
        const RULES: &[(&str, &str)] = &[$((stringify!($name), $text),)*];
    };
}

rules! {
    // Facts.
    Known "a term of which every bit is known ⇒ the constant",
    // Complement and the connectives.
    NotNot "~~x ⇒ x",
    NotConnective "not (a and b) ⇒ not a or not b; likewise or, ite",
    NotNeg "~(-x) ⇒ x - 1",
    NotSum "~(x + c) ⇒ (-c - 1) - x",
    NotDifference "~(c - x) ⇒ x + (-c - 1)",
    AndSame "x & x ⇒ x",
    AndComplement "x & ~x ⇒ 0",
    AndAbsorb "x & (x | y) ⇒ x; x & (x & y) ⇒ x & y",
    AndResolve "a and (not a or b) ⇒ a and b",
    AndIntervals "two interval tests of one term ⇒ one, or false",
    AndStrict "x >= y and x != y ⇒ x > y",
    AndChain "(x & c) & d ⇒ x & (c & d)",
    AndFactless "x & c ⇒ x, where c has every bit that x can have",
    AndRun "x & c, c one run of ones ⇒ the slice of x between zeros",
    OrSame "x | x ⇒ x",
    OrComplement "x | ~x ⇒ all ones",
    OrAbsorb "x | (x & y) ⇒ x; x | (x | y) ⇒ x | y",
    OrDual "a or b ⇒ not (not a and not b), where that conjunction is simpler",
    OrChain "(x | c) | d ⇒ x | (c | d)",
    XorSame "x ^ x ⇒ 0",
    XorCancel "x ^ (x ^ y) ⇒ y",
    XorChain "(x ^ c) ^ d ⇒ x ^ (c ^ d)",
    XorNot "~x ^ y ⇒ ~(x ^ y); x ^ all ones ⇒ ~x",
    BitwisePieces "a bitwise operator on concatenations ⇒ the concatenation of it on the pieces",
    BitwiseIte "-1/0 masks: ite c -1 0 & x ⇒ ite c x 0; likewise |",
    BitwiseTruth "ite a 1 0 & ite b 1 0 ⇒ ite (a and b) 1 0; likewise |, ^, ite b 0 1",
    LiftConst "op on ite c k l (constants) ⇒ ite c (op k) (op l)",
    LiftSame "op on ite c a b and ite c d e ⇒ ite c (op a d) (op b e)",
    // Slices.
    SliceSlice "a slice of a slice ⇒ one slice",
    SliceConcat "a slice of a concatenation ⇒ slices of its parts",
    SliceZeroExtend "a slice of zero extension ⇒ a slice, extended, or zero",
    SliceSignExtend "a slice of a sign extension ⇒ a slice, extended",
    SliceBitwise "a slice of &, |, ^, ~ of sliceable terms ⇒ the operator on slices",
    SliceLow "the low bits of a sum, product of sliceable terms ⇒ the operator on low bits",
    SliceIte "a slice of an ite of sliceable terms ⇒ ite of slices",
    SliceTable "a slice of a table read ⇒ a read of the sliced table",
    ConcatAssoc "(a ++ b) ++ c ⇒ a ++ (b ++ c)",
    ConcatZero "0 ++ x ⇒ zero extension",
    ConcatZeroExtend "zext x ++ y ⇒ zext (x ++ y); c ++ zext x ⇒ (c ++ 0) ++ x",
    ConcatSlices "x[h:m+1] ++ x[m:l] ⇒ x[h:l]",
    ConcatLow "x[h:m] ++ (low bits of x, simplified) ⇒ x[h:0]",
    ConcatTables "two reads at one index, concatenated ⇒ a read of the concatenated entries",
    ConcatConsts "c ++ (d ++ x) ⇒ cd ++ x",
    ExtendExtend "zext (zext x) ⇒ zext x; sext (sext x) ⇒ sext x",
    ExtendLow "zext (low bits of x), the others being zero ⇒ x",
    SignExtendPositive "sext x, x not negative ⇒ zext x",
    ShiftByConst "a shift by a constant ⇒ slice and zeros or signs",
    ShiftProduct "(x * c) << k ⇒ x * (c << k)",
    ShiftSum "(x + c) << k ⇒ (x << k) + (c << k)",
    ShiftOfConst "c >> x, c << x ⇒ a table read at x",
    // Arithmetic.
    AddZero "x + 0 ⇒ x",
    AddConsts "(x + c) + d ⇒ x + (c + d)",
    AddConstOut "(x + c) + y ⇒ (x + y) + c",
    AddNeg "x + -y ⇒ x - y",
    AddSub "(x - y) + y ⇒ x",
    AddConstMinus "(c - x) + d ⇒ (c + d) - x; (c - x) + y ⇒ (y - x) + c",
    AddNot "~x + c ⇒ (c - 1) - x",
    AddLike "x * c + x * d ⇒ x * (c + d)",
    AddDisjoint "x + y without common bits ⇒ their concatenation",
    SubSame "x - x ⇒ 0",
    SubConst "x - c ⇒ x + -c",
    SubNeg "x - -y ⇒ x + y",
    SubConstOut "(x + c) - y ⇒ (x - y) + c; x - (y + c) ⇒ (x - y) - c",
    SubConstMinus "c - (d - x) ⇒ x + (c - d); y - (c - x) ⇒ (y + x) - c",
    SubShared "(x + y) - x ⇒ y",
    NegNeg "--x ⇒ x",
    NegNot "-~x ⇒ x + 1",
    NegSub "-(x - y) ⇒ y - x",
    NegSum "-(x + c) ⇒ -c - x",
    NegProduct "-(x * c) ⇒ x * -c",
    NegBit "-(zext of one bit) ⇒ sext of it",
    MulZero "x * 0 ⇒ 0",
    MulOne "x * 1 ⇒ x",
    MulMinusOne "x * -1 ⇒ -x",
    MulShift "x * 2^k ⇒ x << k",
    MulConsts "(x * c) * d ⇒ x * (c * d); so for shifts and negations",
    MulSum "(x + c) * d ⇒ x * d + c * d",
    MagicDivision "(x * m) >> s ⇒ x / d, where equal for all x",
    DivOne "x / 1 ⇒ x",
    DivShift "x / 2^k ⇒ x >> k",
    DivNarrow "zext x / c ⇒ zext (x / c)",
    DivDiv "(x / c) / d ⇒ x / (c * d)",
    RemMask "x rem 2^k ⇒ low bits",
    RemSmall "x rem c, x < c ⇒ x",
    RemNarrow "zext x rem c ⇒ zext (x rem c)",
    RemByProduct "x - (x / c) * c ⇒ x rem c",
    SignedPositive "signed division of numbers that are not negative ⇒ unsigned",
    SignedUnit "signed division by 1, -1 ⇒ x, -x; remainder 0",
    // Interval tests: x in [first, last], modulo 2^width.
    IntervalShift "x + c in an interval ⇒ x in the shifted interval",
    IntervalReflect "c - x, -x, ~x in an interval ⇒ x in the reflected interval",
    IntervalNarrow "an extension in an interval ⇒ the narrow term in an interval",
    IntervalHigh "a ++ b in an aligned interval, or b constant ⇒ a in an interval",
    IntervalTable "a table read in an interval ⇒ the index in an interval, or a read of truth values",
    IntervalOfHigh "the high bits of x in an interval ⇒ x in an interval",
    IntervalDifference "x - y < 0 without overflow ⇒ x < y",
    IntervalLow "low bits of x, the others being zero, in an interval ⇒ x in it",
    IntervalLowBits "the low bits of a sum in an interval ⇒ the sum of low bits in it",
    IntervalIte "ite c k l in an interval ⇒ c, not c, or one side of it",
    IntervalExtreme "min x y <= c ⇒ x <= c or y <= c; so for max, >=",
    IntervalChoices "ite c k l - ite d m n, x + ite (x < m) k l in an interval ⇒ by cases",
    IntervalFacts "a bound beyond every value of x ⇒ no bound",
    IntervalQuotient "x / c in an interval ⇒ x in an interval",
    EqProduct "x * c = d, c odd ⇒ x = d / c",
    EqSub "x - y = 0 ⇒ x = y",
    EqXor "x ^ c = d ⇒ x = c ^ d; x ^ y = 0 ⇒ x = y",
    EqMask "x & c = d, c one run ⇒ the slice = d",
    EqOrZero "x | y = 0 ⇒ x = 0 and y = 0",
    EqAndOnes "x & y = all ones ⇒ x = all ones and y = all ones",
    EqConcat "a ++ b = c ++ d ⇒ a = c and b = d",
    EqShared "x + y = x + z ⇒ y = z; so for -, ^; x + y = x ⇒ y = 0",
    EqUnary "~x = ~y, -x = -y ⇒ x = y; x + c = y + c ⇒ x = y",
    EqExtend "zext x = zext y ⇒ x = y; so for sext",
    EqBool "a = true ⇒ a; not a = not b ⇒ a = b; not a = b ⇒ not (a = b)",
    EqTruth "ite a 1 0 = ite b 1 0 ⇒ a = b; = ite b 0 1 ⇒ not (a = b)",
    EqIte "ite c x y = x ⇒ c or y = x",
    EqBit "p | q = 1, one bit ⇒ p = 1 or q = 1",
    LessCarry "x + c < x ⇒ x in the interval that wraps; without overflow false",
    LessSame "x < x ⇒ false",
    LessExtend "zext x < zext y ⇒ x < y; so for sext",
    LessHigh "a ++ b < a ++ c ⇒ b < c",
    SignedLessPositive "signed < of numbers that are not negative ⇒ unsigned <",
    // Selection.
    IteSame "ite c x x ⇒ x",
    IteNot "ite (not c) x y ⇒ ite c y x",
    IteBool "Bool ite with a constant branch ⇒ and, or; ite c x (not x) ⇒ c = x",
    IteNested "ite c (ite c x y) z ⇒ ite c x z",
    IteChain "ite c x (ite d x y) ⇒ ite (c or d) x y",
    IteEqual "ite (x = y) x y ⇒ y",
    IteExtend "ite c (zext x) (zext y) ⇒ zext (ite c x y)",
    IteXor "ite (b = 1) (x ^ k) x, b one bit ⇒ x ^ (k & b b … b)",
    IteConcat "ite c (a ++ b) (a ++ d) ⇒ a ++ ite c b d; likewise at the low end",
    // Tables.
    TablePad "a table shorter than a small index reaches ⇒ padded with zeros",
    TableConst "a table of equal entries ⇒ the entry",
    TableNarrow "a read at zext x ⇒ a read at x of as many entries",
    TableOffset "a read at x + c, x of at most 8 bits ⇒ a read at x of the shifted table",
    TableTable "a read at a read ⇒ a read of the composed table",
    TableIdentity "a read of the table 0, 1, 2, … ⇒ the index",
    TableMap "op with a constant on a read ⇒ a read of the mapped table",
}

/// How often each rule was applied in a pool.
pub struct RuleCounts([u64; RULES.len()]);

impl Default for RuleCounts {
    fn default() -> RuleCounts {
        RuleCounts([0; RULES.len()])
    }
}

impl RuleCounts {
    pub(crate) fn add(&mut self, rule: Rule) {
        self.0[rule as usize] += 1;
    }

    /// Name, before ⇒ after, and count of every rule.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> + '_ {
        RULES.iter().zip(self.0).map(|(&(name, text), count)| (name, text, count))
    }

    /// Adds the counts of another pool.
    pub fn merge(&mut self, other: &RuleCounts) {
        for (count, more) in self.0.iter_mut().zip(other.0) {
            *count += more;
        }
    }
}
