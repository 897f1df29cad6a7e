#!/usr/bin/env python3
"""The columns of a CSV file, with the first value of each."""
import csv
import json
import sys

SCHEMA = {
    "name": "csv-columns",
    "version": "1.0.0",
    "description": "The names of the columns of a CSV file, with the first value of each.",
    "tags": ["csv"],
    "effects": [{"kind": "read", "path": "{path}"}],
    "input_schema": {
        "type": "object",
        "properties": {"path": {"type": "string", "description": "The file, relative to the working directory."}},
        "required": ["path"],
        "additionalProperties": False,
    },
    "output_schema": {
        "type": "object",
        "properties": {"columns": {"type": "array", "items": {"type": "object"}}},
        "required": ["columns"],
    },
}


def columns(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        names = next(rows, [])
        values = next(rows, [])
    return [
        {"name": name, "first": values[index] if index < len(values) else None}
        for index, name in enumerate(names)
    ]


if sys.argv[1:] == ["--schema"]:
    print(json.dumps(SCHEMA))
else:
    arguments = json.load(sys.stdin)
    try:
        print(json.dumps({"columns": columns(arguments["path"])}))
    except OSError as error:
        sys.exit(f"Cannot read {arguments['path']}: {error.strerror}")
