import { type Field, literalField } from '../field.js';
import { judgeTree } from '../judge-place.js';
import { readOptions } from '../read-options.js';
import type { Judge, Judges } from '../shell.js';
import { UNKNOWN } from '../stream.js';
import { runRest } from './run-payload.js';

/** A container that is given the machine, or a command that runs in one: what breaks things there counts too. */
const judgeContainer: Judge = (call) => {
  const inside = commandInside(call.words);
  if (inside.length > 0) runRest(call, inside, call.scope.copy());

  const texts = call.words.map(({ shown }) => shown);
  const mounts = texts.filter(
    (text, index) =>
      /^(?:-v|--volume|--mount)(?:=|$)/.test(texts[index - 1] ?? '') ||
      /^(?:-v.|--volume=|--mount=)/.test(text),
  );
  for (const mount of mounts) {
    const path =
      /(?:source|src)=([^,]+)/.exec(mount)?.[1] ?? mount.replace(/^(?:-v|--volume=)/, '').split(':')[0] ?? '';
    if (judgeTree(literalField(path), call.scope.directory) === 'vital')
      call.findings.ask(`${call.name} gives a container ${path}.`);
  }
  if (texts.some((text) => /^--privileged|^--pid=host|docker\.sock/.test(text)))
    call.findings.ask(`${call.name} gives a container the machine.`);
  if (texts.includes('system') && texts.includes('prune'))
    call.findings.ask(`${call.name} system prune removes what is not running.`);
  return UNKNOWN;
};

/** `docker exec CONTAINER COMMAND`, `docker compose exec SERVICE COMMAND`. */
function commandInside(words: readonly Field[]): readonly Field[] {
  const at = words.findIndex(({ shown }) => shown === 'exec');
  const isVerb = words
    .slice(0, Math.max(at, 0))
    .every(({ shown }) => /^(?:-.*|compose|container)$/.test(shown));
  if (at === -1 || !isVerb) return [];
  const { operands } = readOptions(words.slice(at + 1), {
    short: 'euw',
    long: ['env', 'env-file', 'user', 'workdir', 'detach-keys', 'index'],
    stopsAtOperand: true,
  });
  return operands.slice(1);
}

/** `kubectl exec POD -- COMMAND`. */
const judgeCluster: Judge = (call) => {
  const end = call.words.findIndex(({ shown }) => shown === '--');
  const isExec = call.words.some(({ shown }, index) => shown === 'exec' && (end === -1 || index < end));
  if (isExec && end !== -1) runRest(call, call.words.slice(end + 1), call.scope.copy());
  return UNKNOWN;
};

export const CONTAINER_JUDGES: Judges = {
  docker: judgeContainer,
  podman: judgeContainer,
  nerdctl: judgeContainer,
  'docker-compose': judgeContainer,
  kubectl: judgeCluster,
  oc: judgeCluster,
};
