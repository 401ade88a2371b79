//! A circuit as clauses, and clauses as DIMACS text.
//!
//! Always: the variables 1 to 8n are the bits of the n chosen bytes, byte by byte, lowest bit
//! first, whether the circuit reads them or not; every other variable is a gate and is determined
//! by them. So the models of the clauses, projected to those variables, are the inputs that make
//! all asserted literals true, and each such input has exactly one model.

use std::fmt::Write;

use rustc_hash::FxHashMap;
use stunt_terms::InputByte;

use crate::circuit::{Circuit, Gate, Lit};

/// Clauses over numbered variables; a negative number is a negated variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cnf {
    /// How many variables there are.
    pub variables: usize,
    /// How many of them, the first ones, are input bits.
    pub inputs: usize,
    /// The clauses.
    pub clauses: Vec<Vec<i32>>,
}

impl Cnf {
    /// The clauses that make all of `asserted` true, with the bits of `bytes` as first variables.
    ///
    /// # Panics
    /// If an asserted literal depends on a byte that is not among `bytes`.
    pub fn of(circuit: &Circuit, bytes: &[InputByte], asserted: &[Lit]) -> Cnf {
        let place: FxHashMap<InputByte, usize> =
            bytes.iter().enumerate().map(|(i, &byte)| (byte, i)).collect();
        let inputs = bytes.len() * 8;
        let mut cnf = Cnf { variables: inputs, inputs, clauses: Vec::new() };
        let mut variable_of: FxHashMap<usize, i32> = FxHashMap::default();
        for node in circuit.cone(asserted) {
            let gate = circuit.nodes()[node];
            let variable = match gate {
                Gate::Input(byte, bit) => {
                    let at = *place.get(&byte).expect("every byte that is read was given");
                    at * 8 + usize::from(bit) + 1
                }
                _ => {
                    cnf.variables += 1;
                    cnf.variables
                }
            };
            let out = i32::try_from(variable).expect("fewer than 2^31 variables");
            variable_of.insert(node, out);
            let number = |lit: Lit| {
                let variable = variable_of[&lit.node()];
                if lit.is_inverted() { -variable } else { variable }
            };
            match gate {
                Gate::False | Gate::Input(..) => {}
                Gate::And(a, b) => {
                    let (a, b) = (number(a), number(b));
                    cnf.clauses.extend([vec![-out, a], vec![-out, b], vec![out, -a, -b]]);
                }
                Gate::Xor(a, b) => {
                    let (a, b) = (number(a), number(b));
                    cnf.clauses.extend([
                        vec![-out, a, b],
                        vec![-out, -a, -b],
                        vec![out, -a, b],
                        vec![out, a, -b],
                    ]);
                }
            }
        }
        for &lit in asserted {
            match lit {
                Lit::TRUE => {}
                Lit::FALSE => cnf.clauses.push(Vec::new()),
                _ => {
                    let variable = variable_of[&lit.node()];
                    cnf.clauses.push(vec![if lit.is_inverted() { -variable } else { variable }]);
                }
            }
        }
        cnf
    }

    /// DIMACS text; a `c p show` line names the input bits as the projection.
    pub fn dimacs(&self) -> String {
        let mut text = format!("p cnf {} {}\n", self.variables, self.clauses.len());
        if self.inputs > 0 {
            text.push_str("c p show");
            for variable in 1..=self.inputs {
                write!(text, " {variable}").expect("writing to a string succeeds");
            }
            text.push_str(" 0\n");
        }
        for clause in &self.clauses {
            for literal in clause {
                write!(text, "{literal} ").expect("writing to a string succeeds");
            }
            text.push_str("0\n");
        }
        text
    }
}
