"""Adds up an invoice: lines of `item;quantity;price`, headings in brackets, notes in braces.

Three mistakes: a price with a thousands separator, a discount of a customer that is not listed,
and notes that are nested without end.
"""

import json
import logging
import sys
from decimal import Decimal

DISCOUNTS = {"retail": Decimal(0), "trade": Decimal("0.1")}


class InvoiceError(Exception):
    pass


def price_of(text):
    return Decimal(text)


def line_total(line):
    item, quantity, price = line.split(";")
    return int(quantity) * price_of(price)


def discount(heading):
    try:
        return DISCOUNTS[heading]
    except KeyError as error:
        raise InvoiceError("no discount for " + heading) from error


def note(text, at):
    if at < len(text) and text[at] == "{":
        return note(text, at)
    return at


def settings(text):
    try:
        return json.loads(text)
    except ValueError:
        logging.exception("settings %s are not understood", text)
        return {}


def total(lines):
    value, rate = Decimal(0), Decimal(0)
    for line in lines:
        line = line.strip()
        if line.startswith("["):
            rate = discount(line.strip("[]"))
        elif line.startswith("{"):
            note(line, 0)
        elif line.startswith("!"):
            settings(line[1:])
        elif line.startswith("?"):
            sys.exit(1)
        elif line:
            value += line_total(line) * (1 - rate)
    return value


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        print(total(file))


if __name__ == "__main__":
    main()
