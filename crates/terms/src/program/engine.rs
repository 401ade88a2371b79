//! The instructions of a program, and the loops that run them over arrays of lanes.
//!
//! A register is an array of lanes, one value for each assignment of the block. An instruction
//! writes to a spare array that then changes places with its target, so a target may be one of the
//! sources. Registers hold values of private inputs; nothing here prints them.

use super::lane::Lane;
use crate::term::mask;

/// A register's number.
pub(super) type Register = u32;

/// What an instruction does; sources first, then what is constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Code {
    /// The values of an input byte.
    Input(u32),
    Not(Register),
    Neg(Register),
    And(Register, Register),
    Or(Register, Register),
    Xor(Register, Register),
    Add(Register, Register),
    Sub(Register, Register),
    Mul(Register, Register),
    UDiv(Register, Register),
    URem(Register, Register),
    SDiv(Register, Register),
    SRem(Register, Register),
    Shl(Register, Register),
    LShr(Register, Register),
    AShr(Register, Register),
    /// The first, shifted left by a constant, and the second in the bits below.
    Concat(Register, Register, u8),
    /// Shifted right by a constant, then cut to the width.
    Extract(Register, u8),
    /// From so many bits.
    SignExtend(Register, u8),
    Ite(Register, Register, Register),
    /// An entry of the table of that number.
    Table(Register, u32),
    Eq(Register, Register),
    Ult(Register, Register),
    /// A comparison of signed numbers of so many bits.
    Slt(Register, Register, u8),
}

/// One instruction: the width of its result, and where it goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Instruction {
    pub(super) code: Code,
    pub(super) width: u8,
    pub(super) target: Register,
}

/// Registers of `N` lanes.
#[derive(Clone)]
pub(super) struct File<T, const N: usize> {
    registers: Vec<Box<[T; N]>>,
    spare: Box<[T; N]>,
}

impl<T: Lane, const N: usize> File<T, N> {
    /// As many registers, the given ones holding constants that no instruction overwrites.
    pub(super) fn new(count: usize, constants: &[(Register, u128)]) -> File<T, N> {
        let blank = || Box::new([T::default(); N]);
        let mut registers: Vec<Box<[T; N]>> = (0..count).map(|_| blank()).collect();
        for &(register, value) in constants {
            registers[register as usize].fill(T::cut(value));
        }
        File { registers, spare: blank() }
    }

    pub(super) fn get(&self, register: Register) -> &[T; N] {
        &self.registers[register as usize]
    }

    /// Runs instructions. `fill` writes the values of the numbered input byte.
    #[inline]
    pub(super) fn run(
        &mut self,
        code: &[Instruction],
        tables: &[Box<[T]>],
        mut fill: impl FnMut(u32, &mut [T; N]),
    ) {
        for instruction in code {
            if let Code::Input(input) = instruction.code {
                fill(input, &mut self.registers[instruction.target as usize]);
            } else {
                self.step(*instruction, tables);
            }
        }
    }

    #[inline]
    fn step(&mut self, instruction: Instruction, tables: &[Box<[T]>]) {
        let Instruction { code, width, target } = instruction;
        let all = T::cut(mask(width));
        let sign = T::cut(1 << (width - 1));
        match code {
            // The caller fills inputs.
            Code::Input(_) => return,
            Code::Not(a) => self.map(a, |x| !x & all),
            Code::Neg(a) => self.map(a, |x| T::default().minus(x) & all),
            Code::And(a, b) => self.zip(a, b, |x, y| x & y),
            Code::Or(a, b) => self.zip(a, b, |x, y| x | y),
            Code::Xor(a, b) => self.zip(a, b, |x, y| x ^ y),
            Code::Add(a, b) => self.zip(a, b, |x, y| x.plus(y) & all),
            Code::Sub(a, b) => self.zip(a, b, |x, y| x.minus(y) & all),
            Code::Mul(a, b) => self.zip(a, b, |x, y| x.times(y) & all),
            Code::UDiv(a, b) => self.zip(a, b, |x, y| divide(x, y, all)),
            Code::URem(a, b) => self.zip(a, b, |x, y| remainder(x, y)),
            Code::SDiv(a, b) => self.zip(a, b, |x, y| {
                let (p, q) = (
                    negate_if(x, x & sign != T::default(), all),
                    negate_if(y, y & sign != T::default(), all),
                );
                negate_if(divide(p, q, all), (x ^ y) & sign != T::default(), all)
            }),
            Code::SRem(a, b) => self.zip(a, b, |x, y| {
                let (p, q) = (
                    negate_if(x, x & sign != T::default(), all),
                    negate_if(y, y & sign != T::default(), all),
                );
                negate_if(remainder(p, q), x & sign != T::default(), all)
            }),
            Code::Shl(a, b) => {
                let most = u32::from(width);
                self.zip(a, b, |x, y| match y.amount(most) {
                    by if by == most => T::default(),
                    by => x.left(by) & all,
                });
            }
            Code::LShr(a, b) => {
                let most = u32::from(width);
                self.zip(a, b, |x, y| match y.amount(most) {
                    by if by == most => T::default(),
                    by => x.right(by),
                });
            }
            Code::AShr(a, b) => {
                let most = u32::from(width) - 1;
                self.zip(a, b, |x, y| {
                    let by = y.amount(most);
                    // Complementing a negative value makes its sign bits zeros, and back.
                    let flip = T::all_if(x & sign != T::default()) & all;
                    (x ^ flip).right(by) ^ flip
                });
            }
            Code::Concat(a, b, by) => self.zip(a, b, |x, y| x.left(u32::from(by)) | y),
            Code::Extract(a, lo) => self.map(a, |x| x.right(u32::from(lo)) & all),
            Code::SignExtend(a, from) => {
                let sign = T::cut(1 << (from - 1));
                self.map(a, |x| (x ^ sign).minus(sign) & all);
            }
            Code::Ite(c, a, b) => {
                let (out, from) = (&mut *self.spare, &self.registers);
                let (c, a, b) = (&*from[c as usize], &*from[a as usize], &*from[b as usize]);
                for i in 0..N {
                    let chosen = T::all_if(c[i] != T::default());
                    out[i] = a[i] & chosen | b[i] & !chosen;
                }
            }
            Code::Table(a, table) => {
                let table = &tables[table as usize];
                self.map(a, |x| x.index().and_then(|i| table.get(i)).copied().unwrap_or_default());
            }
            Code::Eq(a, b) => self.zip(a, b, |x, y| T::from(x == y)),
            Code::Ult(a, b) => self.zip(a, b, |x, y| T::from(x < y)),
            Code::Slt(a, b, width) => {
                let sign = T::cut(1 << (width - 1));
                self.zip(a, b, |x, y| T::from((x ^ sign) < (y ^ sign)));
            }
        }
        std::mem::swap(&mut self.registers[target as usize], &mut self.spare);
    }

    #[inline(always)]
    fn map(&mut self, a: Register, f: impl Fn(T) -> T) {
        let (out, a) = (&mut *self.spare, &*self.registers[a as usize]);
        for i in 0..N {
            out[i] = f(a[i]);
        }
    }

    #[inline(always)]
    fn zip(&mut self, a: Register, b: Register, f: impl Fn(T, T) -> T) {
        let (out, a, b) =
            (&mut *self.spare, &*self.registers[a as usize], &*self.registers[b as usize]);
        for i in 0..N {
            out[i] = f(a[i], b[i]);
        }
    }
}

fn divide<T: Lane>(x: T, y: T, all: T) -> T {
    if y == T::default() { all } else { x.over(y) }
}

fn remainder<T: Lane>(x: T, y: T) -> T {
    if y == T::default() { x } else { x.modulo(y) }
}

fn negate_if<T: Lane>(x: T, condition: bool, all: T) -> T {
    if condition { T::default().minus(x) & all } else { x }
}
