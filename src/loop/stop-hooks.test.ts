import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createExecutor } from '../executor/create-executor.js';
import { createScriptedModel } from '../testing/create-scripted-model.js';
import { createToolLoop } from './tool-loop.js';

type Script = Parameters<typeof createScriptedModel>[0];

function talk(script: Script, event: string, command: string, matcher?: string) {
  const root = mkdtempSync(join(tmpdir(), 'toolexec-stop-'));
  const hooks = {
    [event]: [{ ...(matcher && { matcher }), hooks: [{ type: 'command' as const, command }] }],
  };
  const executor = createExecutor({ root, approver: null, policy: null, hooks });
  onTestFinished(async () => {
    await executor.close();
    rmSync(root, { recursive: true });
  });
  const model = createScriptedModel(script);
  const seen = (): readonly Record<string, unknown>[] =>
    readFileSync(join(root, 'seen'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  return { model, seen, loop: createToolLoop({ executor, model, conversation: 'talk' }) };
}

describe('a Stop hook', () => {
  it('lets the turn go on with its reason, and knows that it already does', async () => {
    const once = `tee -a seen | grep -q '"stop_hook_active":true' || { echo run the tests >&2; exit 2; }`;
    const { loop, model, seen } = talk([{ text: 'done' }, { text: 'tests pass' }], 'Stop', once);
    expect(await loop.run('do it')).toMatchObject({ text: 'tests pass', stopReason: 'end' });
    expect(model.requests[1]?.messages.at(-1)).toEqual({ role: 'user', content: '[hook] run the tests' });
    expect(seen()).toMatchObject([
      {
        hook_event_name: 'Stop',
        session_id: 'talk',
        stop_hook_active: false,
        last_assistant_message: 'done',
      },
      { stop_hook_active: true, last_assistant_message: 'tests pass' },
    ]);
  });

  it.each([
    ['says continue: false', `printf '{"continue":false,"decision":"block","reason":"more"}'`],
    ['fails', 'exit 1'],
    ['says nothing', 'true'],
  ])('that %s ends the turn', async (_, command) => {
    const { loop } = talk([{ text: 'done' }], 'Stop', command);
    expect(await loop.run('do it')).toMatchObject({ text: 'done', stopReason: 'end' });
  });

  it('that never agrees does not continue a turn forever', async () => {
    const { loop, model } = talk(Array(20).fill({ text: 'done' }), 'Stop', 'echo more >&2; exit 2');
    expect(await loop.run('do it')).toMatchObject({ stopReason: 'end' });
    expect(model.requests).toHaveLength(9);
  });
});

describe('a SubagentStop hook', () => {
  it('runs at the end of a sub-agent of its type, and of no conversation', async () => {
    const task = { name: 'task', args: { prompt: 'p', description: 'd' } };
    const script = [{ calls: [task] }, { text: 'found' }, { text: 'done' }];
    const { loop, seen } = talk(script, 'SubagentStop', 'cat >>seen');
    expect(await loop.run('do it')).toMatchObject({ text: 'done' });
    expect(seen()).toMatchObject([{ hook_event_name: 'SubagentStop', last_assistant_message: 'found' }]);
    expect(seen()[0]?.agent_type).toEqual(expect.any(String));
  });
});
