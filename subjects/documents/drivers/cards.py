import sys, vobject
for card in vobject.readComponents(open(sys.argv[1]).read()):
    print(card.fn.value)
