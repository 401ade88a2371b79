import sys, msgpack
print(len(msgpack.unpackb(open(sys.argv[1], "rb").read())))
