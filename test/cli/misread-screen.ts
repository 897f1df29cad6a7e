import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Approver } from '../../src/contract/approval.js';
import { describeRequest } from '../../src/executor/approve/describe-request.js';
import { createExecutor } from '../../src/executor/create-executor.js';
import { askApproval } from '../../src/terminal/ask-approval.js';
import type { QuestionScreen } from '../../src/terminal/question-screen.js';
import { Toolexec } from './toolexec.js';

/** The typed text, and the end of the screen at that moment, if something was drawn since the last key. */
interface Step {
  readonly sent: string;
  readonly below: string;
}

export interface Misreading {
  readonly typed: readonly string[];
  /** Calls that have run, counted from 1. */
  readonly ran: readonly number[];
  /** The calls that the screen promised to run for the text typed at its prompts. */
  readonly chosen: readonly number[];
  readonly shown: string;
}

/** A person who presses keys that the screen does not ask for: single ones, pastes, and words typed letter by letter. */
const SINGLE = [...'yyynardew?1122370oAx ', '\r', '\r', '\r', '\u001b', '\u001b[A'];
const PASTED = [
  'because-77\r',
  'rbecause-77\r',
  'yes\r',
  'yes\r',
  'yes\r',
  'y\ry\r',
  '1\r',
  '13\r',
  'all\r',
  'ry',
  'no\ryes\r',
];
const WORDS = ['because-77\r', 'ok\r', 'sure\r', 'run all\r', 'refuse\r', 'accept 1\r'];

/** Two calls that change a file, and one of high risk. */
const CALLS = [
  { id: 'c1', name: 'write_file', args: { path: 'one', content: 'x' } },
  { id: 'c2', name: 'write_file', args: { path: 'two', content: 'x' } },
  {
    id: 'c3',
    name: 'apply_patch',
    args: { patch: '--- a/three\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n' },
  },
];

/** The whole command at a terminal: each takes seconds, because a keyboard waits for silence. */
export async function misread(seed: number): Promise<Misreading> {
  const toolexec = new Toolexec();
  try {
    const typed = draw(seed);
    toolexec.write('root/three', 'x\n');
    const file = toolexec.json('r.json', CALLS);
    const argv = [process.execPath, toolexec.main, 'run', file, '--journal', toolexec.journal];
    const env = toolexec.environment({ TERM: 'xterm', NO_COLOR: '1' });
    const { steps, shown } = await sit({ argv, cwd: toolexec.root, typed, seed }, env);
    const ran = ranIn(toolexec.root);
    return { typed, ran, chosen: [...choiceOf(steps), ...drawnMeanwhile(steps, shown)], shown };
  } finally {
    toolexec.remove();
  }
}

/** The same questions and calls in this process, before a keyboard that needs no time. */
export async function misreadHere(seed: number): Promise<Misreading> {
  const root = mkdtempSync(join(tmpdir(), 'toolexec-misread-'));
  const typed = draw(seed);
  const person = new TypingPerson(typed, seed % 3 === 0 ? 24 : 60);
  try {
    writeFileSync(join(root, 'three'), 'x\n');
    await using executor = createExecutor({ root, approver: person.approver });
    await executor.run(CALLS);
    return { typed, ran: ranIn(root), chosen: choiceOf(person.steps), shown: person.shown };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function ranIn(root: string): readonly number[] {
  const isThere = (name: string): boolean => existsSync(join(root, name));
  const happened = [isThere('one'), isThere('two'), !isThere('three')];
  return happened.flatMap((did, index) => (did ? [index + 1] : []));
}

/**
 * Presses Ctrl-C after everything is typed. Characters typed together are one key or one line, as `open-keyboard.ts`
 * reads them.
 */
class TypingPerson {
  readonly steps: Step[] = [];
  shown = '';
  readonly #typed: string[];
  readonly #rows: number;
  #fresh = '';

  constructor(typed: readonly string[], rows: number) {
    this.#typed = typed.flatMap((text) => (text.startsWith('~') ? [...text.slice(1)] : [text]));
    this.#rows = rows;
  }

  readonly approver: Approver = async (requests, { signal }) => {
    const palette = { bold: String, dim: String, red: String, green: String, yellow: String };
    const answer = await askApproval({
      ...{ requests, signal, palette, describe: describeRequest, screen: this.#screen() },
      propose: async () => ({ text: 'a rule', file: 'a file', alsoAllows: [], write: async () => {} }),
    });
    if (answer === 'cancel' || answer === 'interrupt') throw new Error('the person left the question');
    return answer;
  };

  #screen(): QuestionScreen {
    return {
      columns: 80,
      rows: this.#rows,
      write: (text) => this.#draw(text),
      askKey: async (prompt) => {
        this.#draw(prompt);
        const text = this.#type();
        return /^([!-~])\r$/.exec(text)?.[1] ?? text;
      },
      askLine: async (prompt) => {
        this.#draw(prompt);
        for (let line = ''; ; ) {
          line += this.#type();
          if (line.includes(CTRL_C)) return CTRL_C;
          if (line.includes('\r')) return line.replaceAll('\r', '\n').replace(/\n[^\n]*$/, '');
        }
      },
      onResize: () => () => {},
    };
  }

  #draw(text: string): void {
    this.shown += text;
    this.#fresh += text;
  }

  #type(): string {
    const sent = this.#typed.shift() ?? CTRL_C;
    this.steps.push({ sent, below: this.#fresh.replace(/\s+/g, ' ').slice(-400) });
    this.#fresh = '';
    return sent;
  }
}

const CTRL_C = '\u0003';

/** Each key is typed when the screen is quiet; the letters of a word, marked with `~`, possibly before that. */
function draw(seed: number): readonly string[] {
  let state = Math.imul(seed + 1, 2_654_435_761) >>> 0;
  const next = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const one = (from: readonly string[]): string => from[next(from.length)] ?? '';
  return Array.from({ length: 2 + next(8) }, () => {
    const kind = next(10);
    return kind < 6 ? one(SINGLE) : kind < 8 ? one(PASTED) : `~${one(WORDS)}`;
  });
}

/**
 * The calls that the screen has promised to run. This reads the screen like a person, and does not know how the prompts
 * work.
 */
function choiceOf(steps: readonly Step[]): readonly number[] {
  let wanted: readonly number[] = [];
  let chosen: readonly number[] = [];
  let seen = '';
  for (const step of steps) {
    const { sent } = step;
    // A screen that is still being drawn is read as the previous one.
    const below = /[:—] $/.test(step.below) ? step.below : seen;
    seen = below;
    const main = /Run these\? y (all|the selected|the others)[^?]*\? keys ?(?:\(([^)]*)\))?: $/.exec(below);
    if (main !== null) {
      const [, which = '', state = ''] = main;
      const listed = (name: string): readonly number[] =>
        (new RegExp(`${name}: ([\\d, ]+)`).exec(state)?.[1] ?? '').split(', ').filter(Boolean).map(Number);
      const others = [1, 2, 3].filter((number) => !listed('refused').includes(number));
      const byYes = which === 'the selected' ? listed('selected') : others;
      wanted = sent === 'y' ? byYes : sent === '\r' ? listed('selected') : [];
      chosen = wanted.includes(3) ? [] : wanted;
    } else if (/Type yes and Enter [^?]*: $/.test(below) && sent === 'yes\r') chosen = wanted;
  }
  return chosen;
}

/**
 * An Enter typed while the screen was being drawn may have arrived after that: then the last screen shows
 * what Enter would run.
 */
function drawnMeanwhile(steps: readonly Step[], shown: string): readonly number[] {
  if (!steps.some(({ sent, below }) => sent === '\r' && !/[:—] $/.test(below))) return [];
  const prompts = shown.replace(/\s+/g, ' ').split('Run these? ');
  const listed =
    /^[^?]*\? keys ?\(selected: ([\d, ]+); Enter runs them[^)]*\): /.exec(prompts.at(-1) ?? '')?.[1] ?? '';
  const selected = listed.split(', ').filter(Boolean).map(Number);
  return selected.includes(3) ? [] : selected;
}

interface Order {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly typed: readonly string[];
  readonly seed: number;
}

function sit(
  order: Order,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly steps: readonly Step[]; readonly shown: string }> {
  return new Promise((resolve, reject) => {
    execFile(
      'python3',
      ['-c', PROGRAM, JSON.stringify(order)],
      { env: { ...env } },
      (error, answer, complaint) => {
        if (error !== null || complaint !== '') reject(error ?? new Error(complaint));
        else resolve(JSON.parse(answer));
      },
    );
  });
}

const PROGRAM = `
import fcntl, json, os, pty, re, select, struct, sys, termios, time
order = json.loads(sys.argv[1])
pid, terminal = pty.fork()
if pid == 0:
    os.chdir(order["cwd"])
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.execvp(order["argv"][0], order["argv"])
# Every third screen is so low that it is paged.
rows = 24 if order["seed"] % 3 == 0 else 60
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))
shown, fresh, steps, over = "", "", [], False
def look(seconds):
    global shown, fresh, over
    if over or not select.select([terminal], [], [], seconds)[0]:
        return False
    try:
        part = os.read(terminal, 65536).decode("utf8", "replace")
    except OSError:
        part = ""
    over = part == ""
    shown += part
    fresh += part
    return not over
def type(text):
    global fresh
    while look(0): pass
    if over: return
    steps.append({"sent": text, "below": re.sub(r"\\s+", " ", fresh)[-400:]})
    fresh = ""
    try:
        os.write(terminal, text.encode())
    except OSError:
        pass
def quiet():
    end = time.time() + 20
    while time.time() < end and not over:
        if not look(0.25) and re.search(r"(:|—) $", fresh): return
for text in order["typed"]:
    quiet()
    if text.startswith("~"):
        for letter in text[1:]:
            type(letter)
            until = time.time() + 0.07
            while time.time() < until: look(0.01)
    else:
        type(text)
quiet()
for _ in range(100):
    if over: break
    try:
        os.write(terminal, b"\\x03")
    except OSError:
        break
    until = time.time() + 1
    while time.time() < until and not over: look(0.1)
else:
    os.kill(pid, 9)
os.waitpid(pid, 0)
print(json.dumps({"steps": steps, "shown": shown}))
`;
