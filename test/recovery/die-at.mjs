// Runs calls with a journal and kills itself at one moment: `before` or `after` an operation of the journal (`claim`,
// `note`, …), or `put`, the step that gives a file its new content, or `step`, every change of a file, a directory or the
// journal once it has begun; the `nth` time. Takes all of it as JSON.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const {
  dist,
  root,
  journal: path,
  at,
  nth = 1,
  calls,
  conversation,
  parallel = false,
  undo,
  recover = false,
  streamed = false,
  transactions = 'auto',
} = JSON.parse(process.argv[2]);
const [when, what] = at.split(' ');
let times = 0;
const isTime = (moment, name) => moment === when && name === what && ++times === nth;
const die = () => process.kill(process.pid, 'SIGKILL');

let hasBegun = false;
const beforeStep = () => {
  if (hasBegun && isTime('before', 'step')) die();
};

for (const name of [
  'openSync',
  'writeSync',
  'fsyncSync',
  'fchmodSync',
  'fchownSync',
  'chmodSync',
  'mkdirSync',
  'rmdirSync',
  'renameSync',
  'linkSync',
  'unlinkSync',
]) {
  const own = fs[name];
  fs[name] = (...args) => {
    // A descriptor that only looks changes nothing.
    if (name !== 'openSync' || String(args[1]).startsWith('w')) beforeStep();
    return own(...args);
  };
}

for (const [name, to] of [
  ['renameSync', 1],
  ['linkSync', 1],
  ['unlinkSync', 0],
]) {
  const own = fs[name];
  fs[name] = (...args) => {
    const isOurs = String(args[to]).includes('.toolexec-');
    if (!isOurs && isTime('before', 'put')) die();
    const answer = own(...args);
    if (!isOurs && isTime('after', 'put')) die();
    return answer;
  };
}
syncBuiltinESMExports();

const { builtinTools, createExecutor, defineTool, openJournal } = await import(`${dist}/index.js`);

const journal = new Proxy(openJournal(path), {
  get(target, name) {
    const value = Reflect.get(target, name);
    if (typeof value !== 'function') return value;
    return (...args) => {
      if (isTime('before', name)) die();
      if (['accept', 'claim', 'note', 'keep', 'finish'].includes(name)) beforeStep();
      const answer = value.apply(target, args);
      if (name === 'durable' || !(answer instanceof Promise)) return answer;
      return answer.then((given) => {
        if (isTime('after', name)) die();
        return given;
      });
    };
  },
});

const input = { type: 'object' };
const tools = [
  ...builtinTools(),
  // Changes the world outside of any file that the sandbox sees, and dies or hangs then.
  defineTool({
    name: 'send',
    description: 'd',
    input,
    async execute({ file, hang }) {
      fs.appendFileSync(file, 'sent\n');
      if (hang) await new Promise((resolve) => setTimeout(resolve, 60_000));
      else die();
      return 'sent';
    },
  }),
  defineTool({
    name: 'tidy',
    description: 'd',
    input,
    async execute({ remove, rename }, { files }) {
      if (remove !== undefined) await files.remove(remove);
      if (rename !== undefined) await files.rename(...rename);
      return 'tidied';
    },
  }),
  defineTool({
    name: 'note',
    description: 'd',
    input,
    effects: () => [],
    execute: ({ text }) => String(text),
  }),
];
const executor = createExecutor({
  root,
  tools,
  journal,
  policy: null,
  approver: null,
  sandbox: { transactions },
});
// Whoever watches may kill us later.
process.stdout.write('ready\n');
hasBegun = true;
if (recover) await executor.recover();
else if (undo !== undefined) await executor.undo(undo);
else if (streamed) {
  const message = { text: '', model: 'm', provider: 'p' };
  const incoming = executor.receive({ conversation, message, origin: { format: 'native' } });
  let said = '';
  for (const call of calls) {
    said += `And ${call.id}. `;
    await incoming.add([call], said);
  }
  await incoming.start().results;
} else await executor.run(calls, { parallel, ...(conversation === undefined ? {} : { conversation }) });
await executor.close();
await journal.close();
process.stdout.write('done\n');
