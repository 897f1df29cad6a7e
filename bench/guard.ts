import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cleanEnvironment } from './clean-environment.js';
import type { Scale } from './contents.js';
import { type Contender, interleave, type Timing } from './measure.js';
import { type Row, toMs, toRow } from './row.js';
import { withDirectory } from './with-directory.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** It has no compile cache. */
const OLD = process.versions.node.startsWith('20.');

/** The cost of another agent's hook, of a command behind it, and of `try`, as whole processes. */
export function measureGuard(scale: Scale): Promise<readonly Row[]> {
  return withDirectory(async (directory) => {
    const place = makePlace(directory);
    let count = 0;
    const node = contender(() => place.node(['-e', '0']));
    const bareCommand = contender(() => place.shell('true'));
    const hook = contender(() => place.hook('PreToolUse', `hook_${++count}`));
    const guarded = contender(() => {
      const id = `command_${++count}`;
      const { updatedInput } = JSON.parse(place.hook('PreToolUse', id)).hookSpecificOutput;
      if (updatedInput === undefined) throw new Error('commands do not run in transactions here');
      place.shell(updatedInput.command);
      place.hook('PostToolUse', id);
    });
    const tried = contender(() => place.node([place.main, 'try', '--discard', '--', 'true']));
    const isContained = place.hook('PreToolUse', 'probe').includes('updatedInput');
    const rounds = { rounds: scale === 'quick' ? 1 : 25, warmUps: 1 };
    const beside = 'node -e 0';
    const first = await interleave({ node, hook }, rounds);
    const rows: Row[] = [
      toRow('toolexec hook, one Bash call', toMs(first.hook), [beside, toMs(first.node)], {
        ...{ unit: 'ms', computing: true },
        goal: { of: 'ratio', atMost: OLD ? 3.5 : 2.5 },
      }),
    ];
    if (!isContained)
      return [
        ...rows,
        { what: 'a guarded command', unit: 'ms', beside: { name: 'bare', skipped: 'no transactions here' } },
      ];
    const second = await interleave({ node, bareCommand, guarded }, rounds);
    const bare = bwrap(place.root);
    const third = await interleave({ bare, tried }, rounds);
    return [
      ...rows,
      addedRow(second),
      toRow('toolexec try --discard -- true', toMs(third.tried), ['bare bwrap', toMs(third.bare)], {
        ...{ unit: 'ms', computing: false },
      }),
    ];
  });
}

/** Processor time that hook, exec and hook add to a command, in starts of Node. */
function addedRow(timings: Readonly<Record<'node' | 'bareCommand' | 'guarded', Timing>>): Row {
  const cpu = ({ cpuUs }: Timing): number => cpuUs / 1000;
  const added = cpu(timings.guarded) - cpu(timings.bareCommand);
  const value = cpu(timings.node);
  return {
    what: 'a guarded command: added processor time',
    unit: 'ms',
    ours: added,
    beside: { name: 'node -e 0, processor time', value, ratio: added / value },
    goal: { of: 'ratio', atMost: 3 },
  };
}

function contender(run: () => unknown): Contender {
  let cpuUs = 0;
  return {
    units: 1,
    cpuUs: () => cpuUs,
    run() {
      const before = childrenCpuUs();
      run();
      cpuUs += childrenCpuUs() - before;
    },
  };
}

/** Processor time of all ended children, and of theirs: the kernel counts it in hundredths of a second. */
function childrenCpuUs(): number {
  const [, fields = ''] = readFileSync('/proc/self/stat', 'utf8').split(') ');
  const values = fields.split(' ');
  return (Number(values[13]) + Number(values[14])) * 10_000;
}

interface Place {
  readonly root: string;
  readonly main: string;
  /** Each gives the standard output. */
  node(args: readonly string[], input?: string): string;
  shell(line: string): string;
  hook(event: string, id: string): string;
}

function makePlace(directory: string): Place {
  const root = join(directory, 'project');
  const home = join(directory, 'home');
  mkdirSync(join(root, '.git'), { recursive: true });
  mkdirSync(join(home, '.config', 'toolexec'), { recursive: true });
  writeFileSync(
    join(home, '.config', 'toolexec', 'config.toml'),
    '[tools]\nprofile = "contained"\n[[tools.approval.rules]]\ndecision = "allow"\ncommand = "true"\n',
  );
  const { XDG_CONFIG_HOME: _, ...inherited } = cleanEnvironment();
  const env = { ...inherited, HOME: home, XDG_STATE_HOME: join(home, 'state') };
  const { bin }: { bin: { toolexec: string } } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const main = join(ROOT, bin.toolexec);
  const start = (program: string, args: readonly string[], input: string): string => {
    const { status, stdout, stderr } = spawnSync(program, args, { cwd: root, env, input, encoding: 'utf8' });
    if (status === 0) return stdout;
    throw new Error(`Cannot measure "${args.join(' ')}": ${stderr}`);
  };
  return {
    ...{ root, main },
    node: (args, input = '') => start(process.execPath, args, input),
    shell: (line) => start('bash', ['-c', line], ''),
    hook: (event, id) =>
      start(
        process.execPath,
        [main, 'hook', '--for', 'claude-code'],
        JSON.stringify({
          ...{ session_id: 'bench', cwd: root, hook_event_name: event, permission_mode: 'default' },
          ...{ tool_name: 'Bash', tool_use_id: id, tool_input: { command: 'true' }, tool_response: {} },
        }),
      ),
  };
}

function bwrap(root: string): Contender {
  const program = 'bwrap';
  const args = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--unshare-all', '--share-net'];
  return contender(() => {
    const { status, stderr } = spawnSync(program, [...args, '--', 'bash', '-c', 'true'], {
      cwd: root,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`Cannot measure bwrap: ${stderr}`);
  });
}
