import sys, pptx
for slide in pptx.Presentation(sys.argv[1]).slides:
    print([shape.left for shape in slide.shapes])
