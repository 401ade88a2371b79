import sys, xlrd
book = xlrd.open_workbook(sys.argv[1])
for row in book.sheet_by_index(0).get_rows():
    print(xlrd.xldate_as_tuple(row[8].value, book.datemode))
