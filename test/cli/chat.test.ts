import {
  chmodSync,
  cpSync,
  existsSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hasTerminal, sitBefore } from './terminal.js';
import { ended, useToolexec } from './toolexec.js';

const toolexec = useToolexec();
let server: Server;
let url: string;
/** The model's answers, in order. */
let script: readonly (Answer | 'hangs')[];
let requests: Request[];
/** The system text of each request; the rest of its messages is in `requests`. */
let systems: string[];
/** Decides in place of the script. */
let respond: ((request: Request) => Answer | 'hangs' | Promise<Answer>) | undefined;

interface Request {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

interface Answer {
  readonly content?: string;
  readonly calls?: readonly (readonly [name: string, args: unknown])[];
}

beforeEach(async () => {
  requests = [];
  systems = [];
  script = [];
  respond = undefined;
  server = createServer(async (request, response) => {
    const whole: Request = JSON.parse(await text(request));
    const [first] = whole.messages;
    systems.push(first?.role === 'system' ? first.content : '');
    const asked = { messages: whole.messages.filter(({ role }) => role !== 'system') };
    const answer = (await respond?.(asked)) ?? script[requests.length];
    requests.push(asked);
    if (answer === undefined) {
      response.writeHead(401).end('{"error":{"message":"the key is wrong"}}');
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (answer === 'hangs') {
      response.write(chunk({ content: 'thinking' }));
      return;
    }
    const calls = (answer.calls ?? []).map(([name, args], index) => ({
      index,
      id: `call_${requests.length}_${index}`,
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    }));
    if (answer.content !== undefined) response.write(chunk({ content: answer.content }));
    if (calls.length > 0) response.write(chunk({ tool_calls: calls }));
    response.end(`${chunk({}, calls.length > 0 ? 'tool_calls' : 'stop')}data: [DONE]\n\n`);
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

function chunk(delta: object, finish: string | null = null): string {
  return `data: ${JSON.stringify({ id: 'r', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
}

const words = (...more: readonly string[]): readonly string[] => [
  'chat',
  ...more,
  '--model',
  'openai/test',
  '--base-url',
  url,
];
/** The output without colours. */
const plain = (shown: string): string => shown.replaceAll(/\u001b\[[0-9;]*m/g, '');
/** The line editor has the keys, and takes pasted text. */
const READY = '\u001b[?2004h';
/** As a terminal sends pasted text. */
const paste = (pasted: string): string => `\u001b[200~${pasted}\u001b[201~`;
const [UP, DOWN, HOME] = ['\u001b[A', '\u001b[B', '\u001b[1~'];
const rolesOf = (request: number) => requests[request]?.messages.map(({ role }) => role);

describe('toolexec chat, in a script', () => {
  it('runs the tools of the directory, and writes the answer', async () => {
    writeFileSync(join(toolexec.root, 'a.txt'), 'forty-two\n');
    script = [{ content: 'I look.', calls: [['read_file', { path: 'a.txt' }]] }, { content: 'It says 42.' }];
    const system = toolexec.write('system.md', 'Be brief.');
    const { code, stdout, stderr } = await toolexec.run(
      words('What is in a.txt?', '--print', '--system', system),
    );
    expect([code, stdout]).toEqual([0, 'It says 42.\n']);
    expect(stderr).toContain('read_file');
    expect([systems[0], rolesOf(0)]).toEqual(['Be brief.', ['user']]);
    expect(requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', content: 'forty-two\n' });
    // The arrival of a response is in the journal too, but is not a call of the model.
    const listed = JSON.parse((await toolexec.run(['journal', 'list', '--json'])).stdout);
    expect(listed).toMatchObject([{ size: 1, calls: [{ toolName: 'read_file' }] }]);
    const report = JSON.parse((await toolexec.run(['journal', 'report', '--json'])).stdout);
    expect(report).toMatchObject({ batches: 1, calls: 1, tools: [{ toolName: 'read_file' }] });
  });

  it('tells the model the working directory, and the content of AGENTS.md only if the person has configured that', async () => {
    toolexec.write('root/AGENTS.md', 'Use tabs.\n');
    script = [{ content: 'one' }, { content: 'two' }, { content: 'three' }];
    await toolexec.run(words('hi', '--print'));
    expect(systems[0]).toContain(`Working directory: ${realpathSync(toolexec.root)}\n`);
    for (const line of [/^Platform: \w+/m, /^Date: \d{4}-\d\d-\d\d$/m, /^Sandbox: Commands run /m])
      expect(systems[0]).toMatch(line);
    // A project cannot ask for it by itself.
    const asking = '[chat]\nagents_file = true\n';
    toolexec.write('root/toolexec.toml', asking);
    const { stderr } = await toolexec.run(words('hi', '--print'));
    expect([systems[1]?.includes('Use tabs.'), stderr]).toEqual([
      false,
      expect.stringContaining('chat.agents_file'),
    ]);
    await toolexec.run(words('hi', '--print', '--config', toolexec.write('own.toml', asking)));
    expect(systems[2]).toContain("The project's AGENTS.md:\n\nUse tabs.");
  });

  it('shows the three lights when a call has turned one on, and not again', async () => {
    writeFileSync(join(toolexec.root, 'a.txt'), 'forty-two\n');
    cpSync(join(import.meta.dirname, '../../examples/external-tools'), join(toolexec.folder, 'tools'), {
      recursive: true,
    });
    for (const path of ['', 'slug.mjs']) chmodSync(join(toolexec.folder, 'tools', path), 0o755);
    const places = 'directories = ["tools"]\ntrusted_directories = ["tools"]\n';
    const config = toolexec.write('c.toml', `[tools.external]\n${places}`);
    const read = { calls: [['read_file', { path: 'a.txt' }]] } as const;
    const program = { calls: [['slug', { title: 'x' }]] } as const;
    script = [read, program, program, { content: 'done' }, { content: 'again' }, { content: 'anew' }];
    const lightsOf = (stderr: string) => plain(stderr).match(/●.*/g);
    const go = (...more: string[]) => toolexec.run(words('go', '--print', '--config', config, ...more));
    const { code, stderr } = await go();
    const lights = '● private data read (workspace) · ● text from outside seen (program:slug) · ○ a way out';
    expect([code, lightsOf(stderr)]).toEqual([0, [expect.stringContaining(lights)]]);
    // bug: the lights of a continued conversation were out.
    expect(lightsOf((await go('--resume')).stderr)).toEqual([expect.stringContaining(lights)]);
    expect(lightsOf((await go()).stderr)).toBeNull();
  });

  it('ignores an AGENTS.md that is a link out of the root', async () => {
    symlinkSync(toolexec.write('secret', 'hunter2'), join(toolexec.root, 'AGENTS.md'));
    script = [{ content: 'one' }];
    const config = toolexec.write('own.toml', '[chat]\nagents_file = true\n');
    await toolexec.run(words('hi', '--print', '--config', config));
    expect(systems[0]).not.toContain('hunter2');
  });

  it('approves files that run later only with --approve-later-code', async () => {
    const [make, done] = [
      { calls: [['write_file', { path: 'Makefile', content: 'x' }]] },
      { content: 'ok' },
    ] as const;
    script = [make, done, make, done];
    await toolexec.run(words('write it', '--print', '--yes'));
    expect(requests[1]?.messages.at(-1)?.content).toContain(
      '--yes does not approve changes to files that run later by themselves',
    );
    expect(existsSync(join(toolexec.root, 'Makefile'))).toBe(false);
    await toolexec.run(words('write it', '--print', '--yes', '--approve-later-code'));
    expect(readFileSync(join(toolexec.root, 'Makefile'), 'utf8')).toBe('x');
  });

  it('reads its prompt from a pipe, and writes everything as JSON', async () => {
    script = [{ calls: [['write_file', { path: 'b', content: 'x' }]] }, { content: 'done' }];
    const { code, stdout, stderr } = await toolexec.run(words('--json', '--yes'), { stdin: 'write b' });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      text: 'done',
      stop_reason: 'end',
      iterations: 1,
      results: [{ tool_name: 'write_file', success: true }],
    });
    const types = stderr
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types).toContain('call');
    expect(types).toContain('completed');
    expect(readFileSync(join(toolexec.root, 'b'), 'utf8')).toBe('x');
  });

  it('exits with 3 if a call needs approval and there is no person', async () => {
    script = [{ calls: [['write_file', { path: 'b', content: 'x' }]] }, { content: 'I may not.' }];
    const { code, stdout } = await toolexec.run(words('write b', '--print'));
    expect([code, stdout, existsSync(join(toolexec.root, 'b'))]).toEqual([3, 'I may not.\n', false]);
  });

  it('continues the last conversation, or a named one', async () => {
    script = [{ content: 'one' }, { content: 'two' }, { content: 'three' }];
    await toolexec.run(words('first', '--print', '--conversation', 'mine'));
    await toolexec.run(words('second', '--print', '--resume'));
    expect(rolesOf(1)).toEqual(['user', 'assistant', 'user']);
    await toolexec.run(words('third', '--print', '--resume', 'mine'));
    expect(rolesOf(2)).toEqual(['user', 'assistant', 'user', 'assistant', 'user']);
    const { code, stderr } = await toolexec.run(words('x', '--print', '--resume', 'other'));
    expect([code, stderr]).toEqual([2, expect.stringContaining('Cannot resume "other"')]);
  });

  it('accepts the options of run: calls by id, after a failure, in a given format', async () => {
    const calls: Answer['calls'] = ['a', 'b', 'c'].map((path) => [
      'write_file',
      { path: path === 'b' ? '../b' : path, content: 'x' },
    ]);
    script = [{ calls }, { content: 'done' }, { calls }, { content: 'done' }];
    const approve = ['--approve', 'call_1_2', '--json', '--format', 'openai'];
    const chosen = await toolexec.run(words(...approve), { stdin: 'write' });
    expect(JSON.parse(chosen.stdout).results).toMatchObject([
      { role: 'tool', tool_call_id: 'call_1_0', content: expect.stringContaining('not among the approved') },
      { role: 'tool', tool_call_id: 'call_1_1' },
      { role: 'tool', tool_call_id: 'call_1_2', content: expect.stringContaining('1 byte') },
    ]);
    expect(['a', 'c'].map((path) => existsSync(join(toolexec.root, path)))).toEqual([false, true]);
    const failing = await toolexec.run(words('--yes', '--fail-fast', '--json'), { stdin: 'write' });
    expect(JSON.parse(failing.stdout).results).toMatchObject([
      { success: true },
      { error: { code: 'sandbox_violation' } },
      { error: { code: 'cancelled' } },
    ]);
    const refused = async (...more: readonly string[]) => {
      const { code, stderr } = await toolexec.run(words('hi', '--print', ...more));
      return [code, stderr];
    };
    expect(await refused('--again')).toEqual([2, expect.stringContaining('Cannot chat with --again')]);
    expect(await refused('--format', 'openai')).toEqual([2, expect.stringContaining('--print --json')]);
    expect(requests).toHaveLength(4);
  });

  it('defers calls, and continues with their results once they are approved', async () => {
    script = [
      { calls: [['write_file', { path: 'b', content: 'x' }]] },
      { content: 'It waits for you.' },
      { content: 'It is written.' },
    ];
    const first = await toolexec.run(words('write b', '--print', '--defer'));
    expect([first.code, first.stdout]).toEqual([4, 'It waits for you.\n']);
    const [, id = ''] = /toolexec approve ([0-9a-z-]+)/.exec(first.stderr) ?? [];
    const waiting = await toolexec.run(words('go on', '--print', '--resume'));
    expect([waiting.code, waiting.stderr]).toEqual([4, expect.stringContaining(`toolexec approve ${id}`)]);
    expect((await toolexec.run(['approve', id, '--yes'])).code).toBe(0);
    expect(readFileSync(join(toolexec.root, 'b'), 'utf8')).toBe('x');
    const later = await toolexec.run(words('go on', '--print', '--resume'));
    expect([later.code, later.stdout]).toEqual([0, 'It is written.\n']);
    expect(requests[2]?.messages[2]).toMatchObject({
      role: 'tool',
      content: expect.stringContaining('1 byte'),
    });
  });

  it('defers a sub-agent, which works with the model of the conversation once it is approved', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    respond = ({ messages }) => {
      const last = messages.at(-1);
      const isSub = messages.some(({ content }) => content === 'Write it.');
      if (last?.role === 'tool') return { content: isSub ? 'It is there.' : `It said: ${last.content}` };
      return isSub
        ? { calls: [['write_file', { path: 'sub.txt', content: 'x' }]] }
        : { calls: [['task', { prompt: 'Write it.', description: 'Write a file' }]] };
    };
    const first = await toolexec.run(words('delegate', '--print', '--defer'));
    const [, id = ''] = /toolexec approve ([0-9a-z-]+)/.exec(first.stderr) ?? [];
    const waiting = JSON.parse((await toolexec.run(['waiting', '--json'])).stdout);
    expect(waiting[0].requests).toMatchObject([
      { toolName: 'task', risk: 'medium', summary: expect.stringContaining('Write a file') },
    ]);
    const wrong = await toolexec.run(['approve', id, '--yes', '--model', 'nonsense']);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('Cannot use the model')]);
    const { code, stdout } = await toolexec.run(['approve', id, '--yes']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([{ tool_name: 'task', success: true, output: 'It is there.' }]);
    expect(readFileSync(join(toolexec.root, 'sub.txt'), 'utf8')).toBe('x');
  });

  it('names in one line what is missing', async () => {
    const lines = async (args: readonly string[], stdin = '') => {
      const { code, stderr } = await toolexec.run(['chat', ...args], { stdin });
      return [code, stderr.trim().split('\n')];
    };
    expect(await lines(['hi', '--model', 'anthropic/claude-sonnet-4-5'])).toEqual([
      2,
      [expect.stringMatching(/ANTHROPIC_API_KEY/)],
    ]);
    expect(await lines(['hi'])).toEqual([2, [expect.stringContaining('--model')]]);
    expect(await lines(['hi', '--model', 'gpt'])).toEqual([2, [expect.stringContaining('anthropic/NAME')]]);
    expect(await lines(['--model', 'openai/x', '--base-url', url])).toEqual([
      2,
      [expect.stringContaining('nothing to say')],
    ]);
    expect(await lines(['hi', '--model', 'openai/x', '--base-url', url, '--resume'])).toEqual([
      2,
      [expect.stringContaining('there is no conversation here')],
    ]);
  });

  it('fails with what the provider says', async () => {
    const { code, stdout, stderr } = await toolexec.run(words('hi', '--print'));
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('the key is wrong');
  });

  it('is cancelled by a signal', { tags: ['soak'], timeout: 180_000 }, async () => {
    script = ['hangs'];
    const child = toolexec.start(words('hi', '--print', '--json'));
    child.stdin.end();
    child.stderr.on('data', (data) => {
      if (String(data).includes('thinking')) child.kill('SIGINT');
    });
    const { code, stdout } = await ended(child);
    expect(code).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({ stop_reason: 'cancelled', text: 'thinking' });
  });
});

describe.skipIf(!hasTerminal)('toolexec chat on a terminal (skipped where python3 has no pty)', () => {
  const sit = (types: readonly (readonly [string, string])[], ...more: readonly string[]) =>
    sitBefore([process.execPath, toolexec.main, ...words(...more)], {
      env: toolexec.environment({ TERM: 'xterm' }),
      cwd: toolexec.root,
      types,
    });

  it('answers, shows calls, asks for approval, and ends with Ctrl-D', async () => {
    script = [
      { content: 'I write.', calls: [['write_file', { path: 'b', content: 'x' }]] },
      { content: 'Written.' },
      { content: 'You are welcome.' },
    ];
    const { code, stdout, shown } = await sit([
      ['› ', 'write b\n'],
      ['numbers select', 'y\n'],
      ['› ', 'thanks\n'],
      ['› ', '\u0004'],
    ]);
    expect(code).toBe(0);
    expect(stdout).toBe('I write.\nWritten.\nYou are welcome.\n');
    expect(shown.replace(/\s+/g, ' ')).toContain('chat --resume chat:');
    expect(readFileSync(join(toolexec.root, 'b'), 'utf8')).toBe('x');
    expect(rolesOf(2)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
  });

  it('says at the first Ctrl-C in an empty line how to leave, and leaves at the second', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    const { code, shown } = await sit([
      ['› ', 'half a line\u0003'],
      ['› ', '\u0003'],
      ['press Ctrl-C again', '\u0003'],
    ]);
    expect(code).toBe(0);
    expect(requests).toEqual([]);
    // There was no message, so there is nothing to continue.
    expect(shown).not.toContain('--resume');
  });

  it('treats pasted lines as one text, which the arrow keys bring back for editing', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    respond = ({ messages }) => ({ content: `Heard ${messages.length}.` });
    const { code } = await sit([
      [READY, `${paste('one\ntwo\\\nthree')} and more\n`],
      [READY, 'plain\n'],
      [READY, `${UP}${UP}${HOME}0 \n`],
      [READY, `${UP}${UP}${UP}${UP}${DOWN}${DOWN}!\n`],
      [READY, paste('half\na text\n')],
      ['a text', '\u0003'],
      [READY, '/exit\n'],
    ]);
    expect(code).toBe(0);
    expect(requests.map(({ messages }) => messages.at(-1)?.content)).toEqual([
      'one\ntwo\\\nthree and more',
      'plain',
      '0 one\ntwo\\\nthree and more',
      'plain!',
    ]);
  });

  it('talks with a person even with --json: only events are JSON', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    script = [{ calls: [['write_file', { path: 'b', content: 'x' }]] }, { content: 'Written.' }];
    const { code, stdout, shown } = await sit(
      [
        ['› ', 'write b\n'],
        ['numbers select', 'y'],
        ['› ', '\u0004'],
      ],
      '--json',
    );
    expect([code, stdout]).toEqual([0, 'Written.\n']);
    const events = shown
      .split('\n')
      .flatMap((line) => (line.startsWith('{"type"') ? [JSON.parse(line)] : []));
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['call', 'planned', 'approval_decided', 'completed', 'text', 'note']),
    );
    expect(readFileSync(join(toolexec.root, 'b'), 'utf8')).toBe('x');
  });

  it('shows the output and the changes of a command, undoes them, and tells the model both', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    writeFileSync(join(toolexec.root, 'a.txt'), 'one\ntwo\n');
    script = [
      { calls: [['edit_file', { path: 'a.txt', old_string: 'two', new_string: 'TWO\nthree' }]] },
      { content: 'Done.' },
      { content: 'I see.' },
    ];
    const { code, shown } = await sit(
      [
        ['numbers select', 'y'],
        ['› ', '!printf "hello\\nthere"\n'],
        ['│ there', '/diff\n'],
        ['+ three', '/undo\n'],
        ['put back a.txt', 'what now?\n'],
        ['› ', '/quit\n'],
      ],
      'edit a',
    );
    expect(code).toBe(0);
    expect(shown).toContain('openai/test · ');
    expect(plain(shown)).toContain('a.txt (+2 −1)');
    expect(plain(shown)).toMatch(/take it back: \/undo call_1_0/);
    expect(shown).toMatch(/about [\d.k]+ tokens of context used/);
    expect(readFileSync(join(toolexec.root, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
    const said = requests[2]?.messages.at(-1)?.content;
    for (const part of ['printf', 'hello\nthere', 'taken back', 'a.txt', 'what now?'])
      expect(said).toContain(part);
  });

  it('begins another conversation, goes back to the first, and changes the model', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    script = [{ content: 'one' }, { content: 'two' }, { content: 'three' }];
    const { code, shown } = await sit(
      [
        ['› ', '/clear\n'],
        ['a new conversation', 'second\n'],
        ['› ', '/resume\n'],
        ['continue one', '/resume 2\n'],
        ['continuing', '/model nonsense\n'],
        ['Cannot use the model', '/model openai/other\n'],
        ['answers from now on', 'third\n'],
        ['› ', '/nothing\n'],
        ['There is no /nothing', '\u0004'],
      ],
      'first',
    );
    expect(code).toBe(0);
    const said = requests.map(({ messages }) =>
      messages.filter(({ role }) => role === 'user').map(({ content }) => content),
    );
    expect(said).toEqual([['first'], ['second'], ['first', 'third']]);
    expect(shown.replace(/\s+/g, ' ')).toContain('chat --resume chat:');
  });

  it('ends with a Ctrl-D that was typed while the model was still answering', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    respond = async ({ messages }) => {
      if (messages.at(-1)?.role !== 'tool') return { calls: [['list_directory', { path: '.' }]] };
      await new Promise((resolve) => setTimeout(resolve, 500));
      return { content: 'Answered.' };
    };
    const { code, stdout } = await sit([['✓', '\u0004']], 'hello');
    expect([code, stdout.endsWith('Answered.\n')]).toEqual([0, true]);
  });

  it('cancels a turn with Ctrl-C, and continues', async () => {
    respond = ({ messages }) => {
      if (messages.at(-1)?.role === 'tool') return 'hangs';
      return messages.length === 1
        ? { calls: [['list_directory', { path: '.' }]] }
        : { content: 'Here I am.' };
    };
    const { code, stdout, shown } = await sit(
      [
        ['✓', '\u0003'],
        ['› ', 'still there?\n'],
        ['› ', '/exit\n'],
      ],
      'hello',
    );
    expect([code, stdout.endsWith('Here I am.\n')]).toEqual([0, true]);
    expect(shown).toContain('toolexec: cancelled');
  });

  it('accepts results typed by the person in mode parse_only', {
    tags: ['soak'],
    timeout: 180_000,
  }, async () => {
    const config = toolexec.write('c.toml', '[tools]\nmode = "parse_only"\n');
    script = [{ calls: [['read_file', { path: 'a' }]] }, { content: 'Thank you.' }];
    const { code, stdout, shown } = await sit(
      [
        ['/tool ID RESULT', 'what\n'],
        ['expected: /tool', '/tool call_9 x\n'],
        ['call_1_0', '/tool call_1_0 seen by me\n'],
        ['› ', '/quit\n'],
      ],
      'read a',
      '--config',
      config,
    );
    expect([code, stdout]).toEqual([0, 'Thank you.\n']);
    expect(shown).toContain('pending: read_file (call_1_0)');
    expect(requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', content: 'seen by me' });
  });
});
