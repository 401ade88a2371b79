import sys, docx
for paragraph in docx.Document(sys.argv[1]).paragraphs:
    print([run.font.size for run in paragraph.runs])
