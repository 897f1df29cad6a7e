import { isObject, isText, requireArgument } from '../../base/normalize-options.js';
import type { ApprovalRequest, PlannedCall } from '../../contract/approval.js';
import type { Picture, PicturePart } from '../../contract/picture.js';
import { summarizeText } from '../../output/clean-output.js';
import { sanitize } from '../../output/sanitize.js';

/**
 * Draws the effect of a call as a picture that any user interface can show: the question on the terminal,
 * `plan`, `waiting`, a web page. Takes the request of an approver, a request from `waiting()`, or a call of a
 * plan.
 * @throws ToolError `config_invalid` for anything else
 */
export function describeRequest(request: ApprovalRequest | PlannedCall): Picture {
  requireArgument('describeRequest()', request, isRequest, 'an approval request or a planned call');
  const { toolName, summary, risk, effects, reason, containment } = request;
  const parts = request.parts ?? partsWithoutALook(request);
  return {
    title: sanitize(summary === '' ? toolName : `${toolName} · ${summary}`, 'inline'),
    risk,
    ...(containment === undefined ? {} : { containment }),
    reason: summarizeText(reason, MOST_REASON),
    ...('lights' in request && request.lights !== undefined ? { lights: request.lights } : {}),
    effects,
    dangerous: risk === 'high',
    parts,
  };
}

function isRequest(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { toolName, summary, reason, effects }: { readonly [K in keyof ApprovalRequest]?: unknown } = value;
  return [toolName, summary, reason].every(isText) && Array.isArray(effects) && effects.every(isObject);
}

const MOST_REASON = 2_000;

/**
 * The parts of a request that has no `parts`: only the facts in the request itself, without reading any file.
 */
function partsWithoutALook({ effects, args }: ApprovalRequest | PlannedCall): readonly PicturePart[] {
  const parts = effects.flatMap((effect): PicturePart[] => {
    if (effect.kind === 'fetch') return [{ kind: 'url', url: effect.url }];
    if (effect.kind !== 'run') return [];
    const { command: text, shell, cwd } = effect;
    // No analysis has checked this command, so the whole line is marked.
    const marks = [{ start: 0, end: text.length, reason: 'The command was not analysed.' }];
    const place = cwd === undefined ? {} : { cwd };
    return [{ kind: 'command', text, shell, ...place, marks, touches: [], commands: [] }];
  });
  return parts.length > 0 || args === undefined ? parts : [{ kind: 'arguments', json: args }];
}
