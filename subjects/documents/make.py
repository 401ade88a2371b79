"""Documents that look like what people keep to themselves, by ordinary writers; every person is invented.

`python3 make.py FOLDER` writes them all. In each, one thing is not as the reader expects: that is what somebody typed,
or what another program wrote.
"""
import datetime, json, os, random, re, sqlite3, sys, zipfile

import cbor2, docx, msgpack, openpyxl, piexif, pptx, vobject, xlwt, yaml
from ebooklib import epub
from PIL import Image, PngImagePlugin
from reportlab.pdfgen import canvas

random.seed(11)
FIRST = "Anneliese Tomasz Ingrid Mehmet Beatrix Konstantin Svetlana Giuseppe Olufemi Katarzyna Ragnhild Thibault".split()
LAST = "Brandt Wieczorek Solheim Yildirim Hofstadter Papadopoulos Lindqvist Castellano Adeyemi Thorvaldsen".split()
STREET = "Lindenstrasse Kirchweg Hauptallee Bahnhofplatz Gartenweg Schlossgasse".split()
NOTE = ["diabetes type 2", "asthma, mild", "pregnant, week 23", "hypertension", "depression; sertraline 50mg"]


def person(number):
    first, last = random.choice(FIRST), random.choice(LAST)
    born = datetime.date(1940, 1, 1) + datetime.timedelta(random.randrange(22000))
    return dict(id=1000 + number, name=f"{first} {last}", email=f"{first.lower()}.{last.lower()}{number}@example.org",
                iban="DE%020d" % random.randrange(10**20), born=born.isoformat(),
                street=f"{random.choice(STREET)} {random.randint(1, 99)}",
                balance=round(random.uniform(10, 90000), 2), note=random.choice(NOTE))


PEOPLE = [person(number) for number in range(400)]
ODD = 237
COLUMNS = list(PEOPLE[0])


def edited(path, member, old, new, last=False):
    """Another program wrote one member of an archive in another way."""
    with zipfile.ZipFile(path) as archive:
        members = [(info, archive.read(info)) for info in archive.infolist()]
    assert any(info.filename == member and old in data for info, data in members), (path, member, old)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, data in members:
            if info.filename == member:
                at = data.rindex(old) if last else data.index(old)
                data = data[:at] + new + data[at + len(old):]
            archive.writestr(info.filename, data)


def workbook(path, rows=400):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Patients"
    sheet.append(COLUMNS)
    for it in PEOPLE[:rows]:
        row = dict(it, born=datetime.date.fromisoformat(it["born"]))
        sheet.append([row[column] for column in COLUMNS])
    sheet["A1"].fill = openpyxl.styles.PatternFill("solid", fgColor="FFEE00")
    check = openpyxl.worksheet.datavalidation.DataValidation(type="decimal", operator="greaterThan", formula1="0")
    check.add("G2:G401")
    sheet.add_data_validation(check)
    book.create_sheet("Totals").append(["sum", "=SUM(Patients!G2:G401)"])
    book.save(path)


def report(path):
    text = docx.Document()
    text.add_heading("Medical report: confidential", 0)
    for it in PEOPLE[:120]:
        text.add_heading(it["name"], 2)
        run = text.add_paragraph().add_run(f"Born {it['born']}, {it['street']}. {it['note']}. Account {it['iban']}.")
        run.font.size = docx.shared.Pt(11)
    text.save(path)


def xlsx():
    workbook("fill.xlsx")
    edited("fill.xlsx", "xl/styles.xml", b"<patternFill patternType=\"solid\"", b"<patternFill patternType=\"hatched\"")
    workbook("validation.xlsx")
    edited("validation.xlsx", "xl/worksheets/sheet1.xml", b"operator=\"greaterThan\"", b"operator=\"above\"")
    workbook("style.xlsx")
    edited("style.xlsx", "xl/worksheets/sheet1.xml", b" s=\"2\"", b" s=\"99\"", last=True)
    workbook("cell.xlsx")
    edited("cell.xlsx", "xl/worksheets/sheet1.xml", b"r=\"B239\"", b"r=\"239B\"")


def words():
    report("null.docx")
    edited("null.docx", "word/_rels/document.xml.rels", b"Target=\"styles.xml\"", b"Target=\"NULL\"")
    report("size.docx")
    edited("size.docx", "word/document.xml", b"<w:sz w:val=\"22\"/>", b"<w:sz w:val=\"22.5\"/>", last=True)


def slides():
    show = pptx.Presentation()
    for it in PEOPLE[:60]:
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = it["name"]
        slide.placeholders[1].text = f"{it['born']}\n{it['street']}\n{it['note']}\n{it['iban']}"
        box = slide.shapes.add_textbox(914400, 914400, 914400, 914400)
        box.text_frame.text = it["email"]
    show.save("offset.pptx")
    edited("offset.pptx", "ppt/slides/slide37.xml", b"<a:off x=\"914400\"", b"<a:off x=\"914400.5\"")


def book():
    it = epub.EpubBook()
    it.set_identifier("id123")
    it.set_title("Family chronicle")
    it.set_language("en")
    it.add_author("Anneliese Brandt")
    chapters = []
    for number in range(20):
        chapter = epub.EpubHtml(title=f"Chapter {number}", file_name=f"c{number}.xhtml")
        chapter.content = f"<h1>Chapter {number}</h1>" + "".join(
            f"<p>{p['name']}, born {p['born']} in {p['street']}: {p['note']}.</p>" for p in PEOPLE[number * 20:][:20])
        it.add_item(chapter)
        chapters.append(chapter)
    it.toc = chapters
    it.add_item(epub.EpubNcx())
    it.add_item(epub.EpubNav())
    it.spine = ["nav"] + chapters
    epub.write_epub("missing.epub", it)
    edited("missing.epub", "EPUB/content.opf", b"href=\"c13.xhtml\"", b"href=\"c13.html\"")


def pages(path):
    page = canvas.Canvas(path, pageCompression=1)
    for number in range(0, 400, 8):
        at = 780
        for it in PEOPLE[number:number + 8]:
            for line in (it["name"] + "  " + it["born"], it["iban"], it["email"] + "  " + it["note"], it["street"]):
                page.drawString(60, at, line)
                at -= 15
            at -= 20
        page.showPage()
    page.save()


def pdf():
    pages("box.pdf")
    data = open("box.pdf", "rb").read()
    boxes = [found.start() for found in re.finditer(rb"/MediaBox \[ 0 0 ", data)]
    at = boxes[31]
    open("box.pdf", "wb").write(data[:at] + data[at:].replace(b"[ 0 0 ", b"[ 0 O ", 1))


def pictures():
    image = Image.effect_mandelbrot((640, 480), (-2, -1.5, 1, 1.5), 80).convert("RGB")
    told = {"0th": {piexif.ImageIFD.Make: b"Canon", piexif.ImageIFD.Artist: b"Anneliese Brandt",
                    piexif.ImageIFD.ImageDescription: b"at the clinic with Tomasz Wieczorek"},
            "Exif": {piexif.ExifIFD.DateTimeOriginal: b"2026:11:16 10:11:12"},
            "GPS": {piexif.GPSIFD.GPSLatitudeRef: b"N", piexif.GPSIFD.GPSLatitude: ((48, 1), (8, 1), (1234, 100))}}
    data = piexif.dump(told)
    image.save("photo.jpg", exif=data, quality=85)
    data = open("photo.jpg", "rb").read()
    at = data.index(b"\x88\x25\x00\x04")
    open("photo.jpg", "wb").write(data[:at + 2] + b"\x00\x63" + data[at + 4:])
    text = PngImagePlugin.PngInfo()
    text.add_text("Author", "Anneliese Brandt")
    text.add_text("Comment", "\n".join(f"{it['name']}, {it['street']}" for it in PEOPLE), zip=True)
    image.save("scan.png", pnginfo=text)
    data = open("scan.png", "rb").read()
    at = data.index(b"Comment\0\0")
    open("scan.png", "wb").write(data[:at + 8] + b"\x07" + data[at + 9:])


def others():
    sheet = xlwt.Workbook()
    table = sheet.add_sheet("Patients")
    for row, it in enumerate(PEOPLE):
        for column, name in enumerate(COLUMNS):
            table.write(row, column, it[name])
        table.write(row, 8, -3 if row == ODD else 20000 + row)
    sheet.save("negative.xls")
    cards = b""
    for number, it in enumerate(PEOPLE):
        card = vobject.vCard()
        card.add("fn").value = it["name"]
        card.add("n").value = vobject.vcard.Name(*reversed(it["name"].split()))
        card.add("email").value = it["email"]
        card.add("note").value = it["note"]
        data = card.serialize().encode()
        cards += data.replace(b"FN:", b"FN ", 1) if number == ODD else data
    open("people.vcf", "wb").write(cards)
    text = yaml.safe_dump({"patients": [dict(it, born=datetime.date.fromisoformat(it["born"])) for it in PEOPLE]})
    dates = [found.start() for found in re.finditer(r"born: \d{4}-", text)]
    at = dates[ODD] + len("born: 1999-")
    open("people.yaml", "w").write(text[:at] + "23" + text[at + 2:])
    people = [dict(it, born=cbor2.CBORTag(0, it["born"] + "T00:00:00Z")) for it in PEOPLE]
    people[ODD]["born"] = cbor2.CBORTag(0, "yesterday")
    open("people.cbor", "wb").write(cbor2.dumps(people))
    people = [dict(it, seen=msgpack.Timestamp(1700000000 + it["id"], 5)) for it in PEOPLE]
    data = msgpack.packb(people)
    at = [found.end() for found in re.finditer(b"seen\xd7\xff", data)][ODD]
    open("people.msgpack", "wb").write(data[:at] + b"\xff" * 4 + data[at + 4:])
    if os.path.exists("people.sqlite"):
        os.remove("people.sqlite")
    base = sqlite3.connect("people.sqlite")
    base.execute("create table patient(id integer, name, email, iban, born date, street, balance, note)")
    rows = [dict(it) for it in PEOPLE]
    rows[ODD]["born"] = "1987-23-04"
    base.executemany("insert into patient values(?,?,?,?,?,?,?,?)", [[row[it] for it in COLUMNS] for row in rows])
    base.commit()
    base.close()
    bank = ["OFXHEADER:100", "DATA:OFXSGML", "VERSION:102", "ENCODING:USASCII", "CHARSET:1252", "",
            "<OFX><BANKMSGSRSV1><STMTTRNRS><STMTRS><CURDEF>EUR<BANKACCTFROM><BANKID>1<ACCTID>" + PEOPLE[0]["iban"],
            "<ACCTTYPE>CHECKING</BANKACCTFROM><BANKTRANLIST><DTSTART>20260101<DTEND>20261101"]
    for number, it in enumerate(PEOPLE):
        amount = "n/a" if number == ODD else it["balance"]
        bank.append(f"<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>20260{1 + number % 9}11<TRNAMT>{amount}<FITID>{it['id']}"
                    f"<NAME>{it['name']}<MEMO>{it['note']}</STMTTRN>")
    bank.append("</BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>")
    open("bank.ofx", "w").write("\n".join(bank))
    cells = [{"cell_type": "code", "execution_count": n, "metadata": {}, "source": [f"# {it['name']} {it['iban']}\n"],
              "outputs": [{"output_type": "stream", "name": "stdout", "text": [f"{it['note']}\n"]}]}
             for n, it in enumerate(PEOPLE)]
    del cells[ODD]["cell_type"]
    book = {"nbformat": 4, "nbformat_minor": 2, "metadata": {}, "cells": cells}
    json.dump(book, open("analysis.ipynb", "w"), indent=1)
    with zipfile.ZipFile("backup.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for it in PEOPLE[:80]:
            archive.writestr(f"letters/{it['id']}.txt", f"Dear {it['name']},\n" + it["note"] * 20)
    data = open("backup.zip", "rb").read()
    at = [found.start() for found in re.finditer(b"PK\x01\x02", data)][51]
    open("backup.zip", "wb").write(data[:at + 16] + b"\x00\x11\x22\x33" + data[at + 20:])


os.chdir(sys.argv[1])
for make in (xlsx, words, slides, book, pdf, pictures, others):
    make()
