/** A working tool and its test, as a starting point for authors. */
export interface ToolTemplate {
  /** By path, relative to the directory. */
  readonly files: readonly TemplateFile[];
  /** The next commands to type. */
  readonly next: readonly string[];
}

export interface TemplateFile {
  readonly path: string;
  readonly text: string;
  readonly executable: boolean;
}

export const TEMPLATE_LANGUAGES = ['sh', 'python', 'node', 'go'] as const;
export type TemplateLanguage = (typeof TEMPLATE_LANGUAGES)[number];

const SCHEMA = `{
  "name": "greet",
  "version": "1.0.0",
  "description": "Greets a person by name.",
  "tags": ["example"],
  "effects": [],
  "input_schema": {
    "type": "object",
    "properties": { "name": { "type": "string", "minLength": 1, "examples": ["Ada"] } },
    "required": ["name"],
    "additionalProperties": false
  },
  "output_schema": {
    "type": "object",
    "properties": { "greeting": { "type": "string" } },
    "required": ["greeting"]
  }
}`;

const SH = `#!/bin/sh
set -eu
if [ "\${1-}" = --schema ]; then
  cat <<'JSON'
${SCHEMA}
JSON
  exit 0
fi
# Enough for one plain text. For anything more, use jq: name=$(jq -er .name)
name=$(sed -n 's/.*"name"[[:space:]]*:[[:space:]]*"\\([^"\\\\]*\\)".*/\\1/p')
if [ -z "$name" ]; then
  echo "Cannot read a name from the arguments." >&2
  exit 1
fi
printf '{"greeting":"Hello, %s!"}\\n' "$name"
`;

const SH_TEST = `# sh greet.test.sh
set -eu
cd "$(dirname "$0")"
[ "$(echo '{"name":"Ada"}' | ./greet)" = '{"greeting":"Hello, Ada!"}' ]
if echo '{}' | ./greet 2> /dev/null; then
  echo "a call without a name must fail" >&2
  exit 1
fi
./greet --schema > /dev/null
echo ok
`;

const PYTHON = `#!/usr/bin/env python3
import json
import sys

SCHEMA = json.loads("""${SCHEMA}""")


def main():
    if sys.argv[1:] == ["--schema"]:
        print(json.dumps(SCHEMA))
        return
    try:
        name = json.load(sys.stdin)["name"]
    except (ValueError, KeyError, TypeError):
        sys.exit("Cannot read a name from the arguments.")
    print(json.dumps({"greeting": f"Hello, {name}!"}))


main()
`;

const PYTHON_TEST = `# python3 test_greet.py
import json
import pathlib
import subprocess
import unittest

PROGRAM = pathlib.Path(__file__).with_name("greet.py")


def run(arguments):
    return subprocess.run([PROGRAM], input=arguments, capture_output=True, text=True)


class Greet(unittest.TestCase):
    def test_greets(self):
        self.assertEqual(json.loads(run('{"name":"Ada"}').stdout), {"greeting": "Hello, Ada!"})

    def test_fails_without_a_name(self):
        self.assertNotEqual(run("{}").returncode, 0)


unittest.main()
`;

const NODE = `#!/usr/bin/env node
import { readFileSync } from 'node:fs';

const SCHEMA = ${SCHEMA};

if (process.argv[2] === '--schema') {
  console.log(JSON.stringify(SCHEMA));
} else {
  const name = readName();
  if (typeof name === 'string') {
    console.log(JSON.stringify({ greeting: \`Hello, \${name}!\` }));
  } else {
    console.error('Cannot read a name from the arguments.');
    process.exitCode = 1;
  }
}

function readName() {
  try {
    return JSON.parse(readFileSync(0, 'utf8')).name;
  } catch {
    return undefined;
  }
}
`;

const NODE_TEST = `// node --test
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('greet.mjs', import.meta.url));
const run = (input) => spawnSync(program, { input, encoding: 'utf8' });

test('greets', () => {
  assert.deepEqual(JSON.parse(run('{"name":"Ada"}').stdout), { greeting: 'Hello, Ada!' });
});

test('fails without a name', () => {
  assert.notEqual(run('{}').status, 0);
});
`;

const GO = `package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

const schema = \`${SCHEMA}\`

type arguments struct {
	Name string \`json:"name"\`
}

type result struct {
	Greeting string \`json:"greeting"\`
}

func greet(input io.Reader) (result, error) {
	var given arguments
	if err := json.NewDecoder(input).Decode(&given); err != nil {
		return result{}, fmt.Errorf("cannot read the arguments: %w", err)
	}
	if given.Name == "" {
		return result{}, fmt.Errorf("cannot greet without a name")
	}
	return result{Greeting: "Hello, " + given.Name + "!"}, nil
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--schema" {
		fmt.Println(schema)
		return
	}
	greeting, err := greet(os.Stdin)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(greeting)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
`;

const GO_TEST = `package main

import (
	"strings"
	"testing"
)

func TestGreets(t *testing.T) {
	got, err := greet(strings.NewReader(\`{"name":"Ada"}\`))
	if err != nil || got.Greeting != "Hello, Ada!" {
		t.Fatalf("got %+v, %v", got, err)
	}
}

func TestFailsWithoutAName(t *testing.T) {
	if _, err := greet(strings.NewReader("{}")); err == nil {
		t.Fatal("a call without a name must fail")
	}
}
`;

const program = (path: string, text: string): TemplateFile => ({ path, text, executable: true });
const source = (path: string, text: string): TemplateFile => ({ path, text, executable: false });

/** Sources of a compiled language are in a sub-folder, where they are not mistaken for a tool. */
export const TOOL_TEMPLATES: Readonly<Record<TemplateLanguage, ToolTemplate>> = {
  sh: {
    files: [program('greet', SH), source('greet.test.sh', SH_TEST)],
    next: ['sh greet.test.sh', 'toolexec tools check ./greet'],
  },
  python: {
    files: [program('greet.py', PYTHON), source('test_greet.py', PYTHON_TEST)],
    next: ['python3 test_greet.py', 'toolexec tools check ./greet.py'],
  },
  node: {
    files: [program('greet.mjs', NODE), source('greet.test.mjs', NODE_TEST)],
    next: ['node --test', 'toolexec tools check ./greet.mjs'],
  },
  go: {
    files: [
      source('src/go.mod', 'module greet\n\ngo 1.21\n'),
      source('src/main.go', GO),
      source('src/main_test.go', GO_TEST),
    ],
    next: ['go -C src test', 'go -C src build -o ../greet', 'toolexec tools check ./greet'],
  },
};
