import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { soakSize } from '../../src/testing/fixtures/soak-size.js';
import { type Ran, useToolexec } from '../cli/toolexec.js';
import { whyNoTransactions } from '../transactions/kept-apart.js';
import { expectNoOrphan, type KillTime, killed, numbers, timeOf } from './random-kills.js';

const WHY_NOT = await whyNoTransactions();
const KILLS = soakSize('KILLS', { short: 3, whole: 30 });
const SEED = Number(process.env.SEED ?? 20_261_129);
const toolexec = useToolexec({ ownProcess: true });

const COMMAND = 'echo x >>d/a; echo x >>d/b; echo x >>d/c';
const FILES = ['d/a', 'd/b', 'd/c'].map((name) => () => join(toolexec.root, name));

/** How often the command has changed its files. */
function runs(): number | 'half' {
  const texts = FILES.map((file) => (existsSync(file()) ? readFileSync(file(), 'utf8') : ''));
  const [first = ''] = texts;
  return texts.every((text) => text === first) ? first.length / 'x\n'.length : 'half';
}

function documentOf(event: string, id: string): string {
  return JSON.stringify({
    ...{ session_id: 's', cwd: toolexec.root, hook_event_name: event, permission_mode: 'default' },
    ...{ tool_name: 'Bash', tool_use_id: id, tool_input: { command: COMMAND }, tool_response: {} },
  });
}

/** The line that the agent runs instead of the command. */
async function lineFor(id: string): Promise<string> {
  const { code, stdout } = await toolexec.run(['hook'], { stdin: documentOf('PreToolUse', id) });
  expect(code).toBe(0);
  return JSON.parse(stdout).hookSpecificOutput.permissionDecisionReason.split('instead: ')[1] ?? '';
}

/** Runs a line in a shell, and kills that shell: `exec LINE` is toolexec itself, `LINE; true` is an agent that waits for it. */
function shell(line: string, kill?: KillTime): Promise<Pick<Ran, 'code' | 'stderr'>> {
  const child = spawn('bash', ['-c', line], {
    ...{ cwd: toolexec.root, env: toolexec.environment(), stdio: ['ignore', 'ignore', 'pipe'] },
  });
  let stderr = '';
  child.stderr?.on('data', (chunk) => {
    stderr += String(chunk);
  });
  const timer = kill && setTimeout(() => child.kill('SIGKILL'), kill.random() * kill.wholeMs * 1.2);
  return new Promise((resolve) =>
    child.once('exit', (code) => {
      clearTimeout(timer);
      child.stderr?.destroy();
      resolve({ code, stderr });
    }),
  );
}

/** Whether the record says that the command has run. */
async function recorded(id: string): Promise<string> {
  const { stdout } = await toolexec.run(['journal', 'show', id, '--json']);
  const { result } = JSON.parse(stdout).batches[0].calls[0];
  return result.success ? 'yes' : (result.error.details?.executed ?? 'not said');
}

const AGREES: Readonly<Record<string, readonly (number | 'half')[]>> = { yes: [1], no: [0], maybe: [0, 1] };

describe.skipIf(WHY_NOT !== '')(
  `a guarded command, ${KILLS} times with kills of its hooks, of exec, or of the agent${WHY_NOT}`,
  () => {
    it(
      'has changed all or nothing, once, and the record agrees',
      async () => {
        toolexec.write('.config/toolexec/config.toml', '[tools]\nprofile = "contained"\n');
        const random = numbers(SEED);
        mkdirSync(join(toolexec.root, 'd'));
        const first = await lineFor('first');
        const hook = { random, wholeMs: await timeOf(() => lineFor('timed')) };
        // The first command also tests the sandbox, which takes several times as long.
        await shell(first);
        const second = await lineFor('second');
        const exec = { random, wholeMs: await timeOf(() => shell(second)) };
        const outcomes: string[] = [];
        let kills = 0;
        for (let trial = 0; trial < KILLS; trial++) {
          for (const file of FILES) rmSync(file(), { force: true });
          const id = `toolu_${trial}`;
          const count = (code: number | null): void => {
            if (code === null) kills++;
          };
          if (trial % 3 === 0) count(await killed(toolexec, ['hook'], documentOf('PreToolUse', id), hook));
          const line = await lineFor(id);
          const { code } = await shell(trial % 2 === 0 ? `exec ${line}` : `${line}; true`, exec);
          count(code);
          await expectNoOrphan(toolexec);
          const { stderr } = await shell(line);
          count(await killed(toolexec, ['hook'], documentOf('PostToolUse', id), hook));
          const said = await recorded(id);
          outcomes.push(`${trial} ${code === null ? 'killed' : 'ended'} ${said} ${runs()}`);
          expect(AGREES[said] ?? [], `${outcomes.at(-1)} ${stderr}`).toContain(runs());
        }
        if (process.env.KILLS !== undefined) process.stderr.write(`${outcomes.join('\n')}\n${kills} kills\n`);
        expect(outcomes.some((outcome) => outcome.includes('killed'))).toBe(true);
        expect((await toolexec.run(['journal', 'verify'])).code).toBe(0);
      },
      KILLS * 30_000,
    );
  },
);
