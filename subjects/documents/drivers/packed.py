import sys, cbor2
print(len(cbor2.load(open(sys.argv[1], "rb"))))
