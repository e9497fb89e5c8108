"""Prints a standard validator's verdict on each workload, one line each: `valid` or `invalid`.

Usage: schema_verdicts.py SCHEMA FILE...       each FILE is a workload
       schema_verdicts.py SCHEMA --lines FILE  each line of FILE is a workload

Invalid JSON (RFC 8259, so also NaN and Infinity) is invalid too.
"""

import json
import sys

import jsonschema


def refuse(constant):
    raise ValueError(f"{constant} is not JSON")


def texts(arguments):
    if arguments[0] == "--lines":
        with open(arguments[1], "rb") as lines:
            yield from lines.read().splitlines()
    else:
        for name in arguments:
            with open(name, "rb") as file:
                yield file.read()


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
    for text in texts(sys.argv[2:]):
        print(verdict(validator, text))


if __name__ == "__main__":
    main()
