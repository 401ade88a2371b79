import sys
from ofxparse import OfxParser
print(len(OfxParser.parse(open(sys.argv[1], "rb")).account.statement.transactions))
