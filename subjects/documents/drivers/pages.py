import sys, pypdf
for page in pypdf.PdfReader(sys.argv[1]).pages:
    print(page.mediabox.width, len(page.extract_text()))
