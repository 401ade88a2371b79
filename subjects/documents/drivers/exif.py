import sys, piexif
print(sorted(piexif.load(sys.argv[1])["GPS"]))
