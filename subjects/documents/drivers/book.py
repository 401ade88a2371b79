import sys
from ebooklib import epub
print(len(list(epub.read_epub(sys.argv[1], {"ignore_ncx": True}).get_items())))
