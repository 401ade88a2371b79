; Constants that are not input bytes: a point in a triangle, and a flag.
(set-logic QF_BV)
(declare-fun x () (_ BitVec 16))
(declare-fun y () (_ BitVec 16))
(declare-fun odd () Bool)
(assert (bvult x #x0100))
(assert (bvult y x))
(assert (= odd (= ((_ extract 0 0) x) #b1)))
(check-sat)
