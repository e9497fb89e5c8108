"""Prints a standard validator's verdict on each line of a file, a workload: `valid` or `invalid`.

Usage: schema_verdicts.py SCHEMA FILE

Invalid JSON (RFC 8259, so also NaN and Infinity) is invalid too.
"""

import json
import sys

import jsonschema


def refuse(constant):
    raise ValueError(f"{constant} is not JSON")


def verdict(validator, text):
    try:
        workload = json.loads(text.decode("utf-8"), parse_constant=refuse)
    except ValueError:
        return "invalid"
    return "valid" if validator.is_valid(workload) else "invalid"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    with open(sys.argv[2], "rb") as lines:
        for text in lines.read().split(b"\n")[:-1]:
            print(verdict(validator, text))


if __name__ == "__main__":
    main()
