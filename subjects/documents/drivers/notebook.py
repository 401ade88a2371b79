import sys, nbformat
print(len(nbformat.convert(nbformat.read(sys.argv[1], 3), 3).worksheets))
