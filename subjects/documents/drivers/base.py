import sqlite3, sys
base = sqlite3.connect(sys.argv[1], detect_types=sqlite3.PARSE_DECLTYPES)
print(max(base.execute("select born from patient")))
