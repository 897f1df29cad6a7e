import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { GuardedPaths } from '../contract/files.js';
import type { CommandSandbox, Confinement } from '../contract/processes.js';
import { entryStat, realPath } from '../platform/fs/fs-entry.js';
import { type LaunchedServer, launchServer, type ServerRequest } from './launch-server.js';
import { bubblewrapArguments, inMemory } from './sandbox/bubblewrap-arguments.js';
import { chooseSandbox } from './sandbox/find-sandbox.js';

export interface ContainedServerRequest extends ServerRequest {
  readonly confinement: Pick<Confinement, 'os' | 'network' | 'roots' | 'readable'>;
  /** The hidden and protected paths in the roots at the start. */
  readonly guarded: Pick<GuardedPaths, 'hidden' | 'readOnly'>;
}

export interface ContainedServer extends LaunchedServer {
  /** Its sandbox. */
  readonly sandbox: CommandSandbox;
}

/**
 * Starts a program that keeps running, in the command sandbox if there is one. It can change files only in
 * the roots, can read its own files, and reaches the network if `confinement` allows it. It ends like a
 * program of `launchServer`.
 * @throws ToolError `spawn_failed`; `sandbox_violation` if a sandbox is required and missing
 */
export async function launchContainedServer({
  confinement,
  guarded,
  ...request
}: ContainedServerRequest): Promise<ContainedServer> {
  const { sandbox, inside } = await chooseSandbox({ ...confinement, guarded: () => NOTHING_GUARDED });
  if (inside === undefined) return { ...(await launchServer(request)), sandbox };
  const { env, cwd } = request;
  const { roots, network } = confinement;
  const readable = [...confinement.readable, ...partsOf(request, roots)];
  const args = bubblewrapArguments({
    confinement: { roots, readable, network },
    mounts: [
      ...roots.flatMap((root) => ['--bind', root, root]),
      ...guarded.readOnly.flatMap(({ path }) => ['--ro-bind-try', path, path]),
      ...guarded.hidden.flatMap(({ path, type }) =>
        type === 'dir' ? ['--tmpfs', path, '--remount-ro', path] : ['--ro-bind', '/dev/null', path],
      ),
    ],
    empty: inMemory(env.HOME),
    beyond: () => [],
    env,
    cwd,
    isInRoom: false,
    first: [],
    program: [request.file, ...request.args],
  });
  const started = await launchServer({ ...request, file: inside.bubblewrap.file, args, cwd: '/' });
  return { ...started, sandbox };
}

const NOTHING_GUARDED: GuardedPaths = { hidden: [], readOnly: [], missing: [], incomplete: false };

/**
 * The files that a program needs to start: the program, the packages of the program and of its arguments, and
 * the packages that `npx` has downloaded.
 */
function partsOf(
  { file, args, cwd, env }: Pick<ServerRequest, 'file' | 'args' | 'cwd' | 'env'>,
  roots: readonly string[],
): readonly string[] {
  const named = [file, ...args.filter((arg) => arg.includes('/') && !arg.startsWith('-'))];
  const places = named.flatMap((name) => {
    const path = resolve(cwd, name);
    const real = realPath(path);
    return real === undefined ? [] : [path, real].map(packageOf);
  });
  const home = env.HOME;
  const fetched = home === undefined ? [] : [join(home, '.npm'), join(home, '.cache', 'uv')];
  const kept = [...roots, '/', ...(home === undefined ? [] : [home])];
  return [...places, ...fetched].filter((path) => isAbsolute(path) && !kept.includes(path));
}

/** The outermost directory of the package. A directory is its own. */
function packageOf(path: string): string {
  const at = path.indexOf('/node_modules/');
  if (at !== -1) return path.slice(0, at + '/node_modules'.length);
  if (entryStat(path)?.isDirectory() === true) return path;
  for (let above = dirname(path); above !== '/'; above = dirname(above))
    if (entryStat(join(above, 'package.json')) !== undefined) return above;
  return path;
}
