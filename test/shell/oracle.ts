import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** The shell that reads the texts and serves as `sh`: `run_command` starts `sh`, which is dash on many machines. */
export type ShellName = 'bash' | 'dash';

/**
 * A real shell in a separate root: user, mount, process and network namespaces, and a directory with bash, a
 * few programs that start others, and stubs. It contains nothing that could be destroyed, and there is no way
 * out of it.
 */
export class Oracle {
  readonly #root: string;
  readonly #shell: ShellName;

  private constructor(root: string, shell: ShellName) {
    this.#root = root;
    this.#shell = shell;
  }

  /** The reason why it is not available here. */
  static open(shell: ShellName): Oracle | string {
    if (process.platform !== 'linux') return 'namespaces are a matter of Linux';
    for (const name of new Set(['bash', shell]))
      if (!existsSync(`/bin/${name}`) && !existsSync(`/usr/bin/${name}`)) return `${name} is not installed`;
    const oracle = new Oracle(mkdtempSync(join(tmpdir(), 'toolexec-shell-')), shell);
    oracle.#furnish();
    const [probe] = oracle.run(["'s0' works"]);
    if (probe?.length === 1 && probe[0]?.join(' ') === 's0 works') return oracle;
    oracle.close();
    return 'user namespaces are not to be had here';
  }

  close(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }

  /**
   * The programs that each text started, run by the shell one after the other: names without directories, and
   * arguments.
   */
  run(texts: readonly string[]): string[][][] {
    const root = this.#root;
    rmSync(join(root, 'in'), { recursive: true, force: true });
    mkdirSync(join(root, 'in'));
    writeFileSync(join(root, 'log'), '');
    texts.forEach((text, index) => {
      writeFileSync(join(root, 'in', String(10_000 + index)), text);
    });
    const enter = `mount --bind /dev/null "$0/dev/null" && mount --rbind /proc "$0/proc" && cd "$0/work" && exec chroot "$0" /bin/bash --norc --noprofile /driver`;
    const flags = [
      '--user',
      '--map-root-user',
      '--mount',
      '--pid',
      '--fork',
      '--kill-child',
      '--net',
      '--ipc',
      '--uts',
    ];
    spawnSync('unshare', [...flags, 'sh', '-c', enter, root], {
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
      stdio: 'ignore',
      timeout: 60_000,
      killSignal: 'SIGKILL',
    });
    return parseLog(readFileSync(join(root, 'log'), 'utf8'), texts.length);
  }

  #furnish(): void {
    const root = this.#root;
    for (const folder of ['bin', 'dev', 'proc', 'work', 'tmp']) mkdirSync(join(root, folder));
    writeFileSync(join(root, 'dev', 'null'), '');
    symlinkSync('/proc/self/fd', join(root, 'dev', 'fd'));
    for (const program of REAL_PROGRAMS) copyProgram(root, program);
    copyFileSync(join(root, 'bin', this.#shell), join(root, 'bin', 'sh'));
    for (const name of STUBS) {
      writeFileSync(join(root, 'bin', name), STUB);
      chmodSync(join(root, 'bin', name), 0o755);
    }
    writeFileSync(join(root, 'driver'), driver(this.#shell));
    for (const file of ['a', 'b', 's0']) writeFileSync(join(root, 'work', file), '');
  }
}

/** Programs that start others, and must really do it. */
const REAL_PROGRAMS = [
  'bash',
  'dash',
  'env',
  'xargs',
  'find',
  'timeout',
  'nice',
  'nohup',
  'setsid',
  'sed',
  'chroot',
];

/** The names of the stubs, which report the programs that a text starts. */
export const STUBS: readonly string[] = [
  's0',
  's1',
  's2',
  's3',
  's4',
  's5',
  's6',
  's7',
  's8',
  's9',
  'cat',
  'rm',
];

// One write for each call: calls run side by side.
const STUB = `#!/bin/bash --norc
printf -v line '%s\\037' "\${0##*/}" "$@"
printf '%s\\036' "$line" >> /log
`;

// The substitution waits for the background processes of a text.
const driver = (shell: ShellName): string => `ulimit -t 20 -f 4096 -v 400000 2>/dev/null
PATH=/bin
for file in /in/*; do
  printf '\\035' >> /log
  : "$(ulimit -t 2; exec /bin/env -i PATH=/bin HOME=/work /bin/${shell} "$file" 2>/dev/null </dev/null)"
done
printf '\\035' >> /log
`;

function copyProgram(root: string, program: string): void {
  const { stdout: path } = spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' });
  const from = path.trim();
  if (from === '') return;
  copyFileSync(from, join(root, 'bin', basename(from)));
  const { stdout } = spawnSync('ldd', [from], { encoding: 'utf8' });
  for (const [library] of stdout.matchAll(/\/\S+/g)) {
    const to = join(root, library);
    mkdirSync(dirname(to), { recursive: true });
    if (!existsSync(to)) copyFileSync(library, to);
  }
}

function parseLog(log: string, count: number): string[][][] {
  const parts = log.split('\x1d').slice(1);
  return Array.from({ length: count }, (_, index) =>
    (parts[index] ?? '')
      .split('\x1e')
      .filter((line) => line !== '')
      .map((line) => line.split('\x1f').slice(0, -1)),
  );
}
