; Of two bytes, each is below the other.
(set-logic QF_BV)
(declare-const in0@0 (_ BitVec 8))
(declare-const in0@1 (_ BitVec 8))
(assert (bvult in0@0 in0@1))
(assert (bvult in0@1 in0@0))
