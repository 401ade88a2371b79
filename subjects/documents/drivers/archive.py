import sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
print(sum(len(archive.read(name)) for name in archive.namelist()))
