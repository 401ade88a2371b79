(set-logic QF_BV)
(declare-const in0@0 (_ BitVec 8))
(assert (bvult in0@0 in0@1x))
