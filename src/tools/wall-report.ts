import type { JsonObject } from '../contract/json.js';
import type { CommandOutcome, CommandWall, Denial, LimitHit } from '../contract/processes.js';

/** Which wall stood around a command, and what it was denied, as results carry it. */
export function wallMetadata({
  wall,
  limit,
}: {
  readonly wall?: CommandWall;
  readonly limit?: LimitHit;
}): JsonObject {
  const { kind, network, reason, denied } = wall ?? {};
  return {
    ...(kind === undefined || network === undefined
      ? {}
      : {
          sandbox: {
            wall: kind,
            network,
            ...(reason === undefined ? {} : { reason }),
            ...(denied === undefined ? {} : { denied: [...denied] }),
          },
        }),
    ...(limit === undefined ? {} : { limit: { limit: limit.limit, max: limit.max } }),
  };
}

/** For the model: that it was the wall, and no fault of the command. Empty where nothing was denied. */
export function wallNotice(wall: CommandWall | undefined): string {
  const denied = wall?.denied ?? [];
  if (denied.length === 0) return '';
  return `[The OS sandbox has denied something to this command: ${denied.map((what) => DENIED[what]).join('; ')}.]`;
}

const DENIED: Readonly<Record<Denial, string>> = {
  write:
    'it may write in the roots and in /tmp, not elsewhere, and not what makes other programs run something (.git/hooks, .git/config and the like)',
  hidden:
    'what the deny patterns hide (.env, *.pem, .npmrc and the like) holds nothing for commands, and they can neither replace nor remove it, not even what an earlier command has made; git keeps what it has recorded of it: leave it out',
  network: 'it has no network',
  outside: 'what lies outside of the roots is not there for commands, and every command finds /tmp empty',
};

/** The limit that a command has hit, for the model. */
export function describeLimit({ limit, max }: LimitHit): string {
  return `it has hit the limit of ${max} ${LIMITS[limit].what}; use less`;
}

/** What the developer can change where the sandbox or a limit has stopped a command; undefined: nothing of it has. */
export function wallHint({ wall, limit }: Pick<CommandOutcome, 'wall' | 'limit'>): string | undefined {
  const network = 'The network is off: `network = true` under [tools.run_command] gives it.';
  const remedies = [
    ...(limit === undefined
      ? []
      : [`${LIMITS[limit.limit].key} under [tools.run_command.limits] raises the limit.`]),
    ...(wall?.denied?.includes('network') === true ? [network] : []),
  ];
  return remedies.length === 0 ? undefined : remedies.join(' ');
}

const LIMITS: Readonly<Record<LimitHit['limit'], { readonly what: string; readonly key: string }>> = {
  cpuSeconds: { what: 'seconds of processor time for a process', key: 'cpu_seconds' },
  memoryMb: { what: 'MB of memory for a process', key: 'memory_mb' },
  processes: { what: 'processes at a time', key: 'processes' },
  fileSizeMb: { what: 'MB for a file', key: 'file_size_mb' },
};
