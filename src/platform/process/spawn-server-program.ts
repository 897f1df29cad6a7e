/** A file that the server opens for a program. `pipe`: one of its named pipes, for output; `place`: as in `holdPlace`. */
export interface OpenedFile {
  readonly name: string;
  readonly how: 'read' | 'write' | 'pipe' | 'place';
}

/**
 * For `node -e`: starts programs on request, from a process so small that forking it costs little. Requests and answers
 * are lines of JSON, so no part of a command can be mistaken for something else. Its first argument is the directory
 * for its named pipes; they come from `mkfifo`, many at a time, and each is used once.
 *
 * When its input ends, our program has ended: then it starts nothing more, and the programs that it started get TERM
 * and later KILL. The supervisor ends their descendants.
 */
export const SPAWN_SERVER_PROGRAM = String.raw`
'use strict';
const { execFile, spawn } = require('node:child_process');
const fs = require('node:fs');
const { O_NONBLOCK, O_RDONLY, O_WRONLY } = fs.constants;
// Node does not export it.
const O_PATH = 0o10000000;
closeInherited();
let directory = fs.mkdtempSync(process.argv[1]);
const running = new Map();
let made = 0;
const program = process.ppid;

/** Closes descriptors that our program inherited: Node passes them on, and no command may have them. */
function closeInherited() {
  for (const name of fs.readdirSync('/proc/self/fd')) {
    try {
      const [, flags] = /^flags:\s*([0-7]+)/m.exec(fs.readFileSync('/proc/self/fdinfo/' + name, 'latin1'));
      if (Number(name) > 2 && (parseInt(flags, 8) & 0o2000000) === 0) fs.closeSync(Number(name));
    } catch {}
  }
}

function say(message) {
  process.stdout.write(JSON.stringify(message) + '\n');
}

function makePipes(count, isSecond) {
  const names = Array.from({ length: count }, () => directory + '/' + ++made);
  execFile('mkfifo', ['-m', '600', ...names], (error) => {
    if (!error) return say({ pipes: names });
    if (isSecond) return say({ pipes: [] });
    // Another program has removed the directory. Running commands need their pipes by name no more.
    try {
      directory = fs.mkdtempSync(process.argv[1]);
    } catch {}
    makePipes(count, true);
  });
}

function openFile({ name, how }) {
  if (how !== 'pipe') return fs.openSync(name, { read: O_RDONLY, write: O_WRONLY, place: O_PATH }[how]);
  // With this reader, opening it for writing never blocks, even if our program has just died.
  const reader = fs.openSync(name, O_RDONLY | O_NONBLOCK);
  try {
    return fs.openSync(name, O_WRONLY);
  } finally {
    fs.closeSync(reader);
  }
}

function startTicks(pid) {
  const text = fs.readFileSync('/proc/' + pid + '/stat', 'latin1');
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[19]);
}

function start({ id, file, name, args, cwd, env, stdio }) {
  // Our program has died, and its supervisor may have looked already.
  if (process.ppid !== program) return;
  const open = [];
  try {
    const given = stdio.map((wanted) => {
      if (wanted === null) return 'ignore';
      open.push(openFile(wanted));
      return open.at(-1);
    });
    const child = spawn(file, args, {
      argv0: name,
      cwd,
      env,
      detached: true,
      stdio: given,
    });
    if (child.pid === undefined) {
      child.once('error', (error) => say({ id, error: error.code }));
      return;
    }
    const { pid } = child;
    running.set(id, child);
    child.once('exit', (exitCode, signal) => {
      running.delete(id);
      if (running.size === 0) clearTimeout(last);
      say({ id, exitCode, signal });
    });
    say({ id, pid, startTicks: startTicks(pid) });
  } catch (error) {
    say({ id, error: error.code ?? 'EUNKNOWN' });
  } finally {
    for (const fd of open) fs.closeSync(fd);
  }
}

function signalAll(signal) {
  for (const { pid } of running.values()) {
    try {
      process.kill(-pid, signal);
    } catch {}
  }
}

let ending = false;
let last;
function end() {
  if (ending) return;
  ending = true;
  fs.rmSync(directory, { recursive: true, force: true });
  process.stdin.destroy();
  if (running.size === 0) return;
  signalAll('SIGTERM');
  // After that nothing keeps this process, not even one that cannot be killed.
  last = setTimeout(() => {
    signalAll('SIGKILL');
    for (const child of running.values()) child.unref();
  }, 300);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGPIPE']) process.on(signal, () => {});
process.stdout.on('error', end);
let text = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk) => {
  const lines = (text + chunk).split('\n');
  text = lines.pop();
  for (const line of lines) {
    const request = JSON.parse(line);
    if (request.pipes === undefined) start(request);
    else makePipes(request.pipes);
  }
});
process.stdin.on('end', end);
process.stdin.on('error', end);
makePipes(64);
`;
