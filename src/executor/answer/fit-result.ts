import { withBase64Json } from '../../base/base64.js';
import type { ContentBlock, ToolResult } from '../../contract/call.js';
import { isJsonObjectText, truncate } from '../../output/clean-output.js';
import { contentWords, textBeside } from '../../providers/content-words.js';
import type { BatchScope } from '../call/batch-scope.js';
import { isUncut } from './finalize.js';
import { cleanRefusal } from './refuse-ready.js';
import { causeOf, rememberCause } from './results.js';
import { stackOf } from './thrown.js';

export type FittingScope = Pick<BatchScope, 'id' | 'settings' | 'capacityBytes'>;

/**
 * Fits an answer into the remaining context. A refusal quotes text from the model, so it is cleaned; an
 * answer from the journal stays as it was recorded. Never throws.
 */
export function fitted(answer: ToolResult, isRecorded: boolean, scope: FittingScope): ToolResult {
  const { id, settings } = scope;
  try {
    const refused = !answer.success && answer.error.details?.executed === 'no' && !isRecorded;
    return takeCapacity(refused ? cleanRefusal(answer, settings) : answer, scope);
  } catch (error) {
    settings.logger.error({ batch: id, stack: stackOf(error) }, 'an answer could not be fitted');
    return { ...answer, output: '', truncated: true };
  }
}

/**
 * Cuts a result to the bytes that the model's context can still take, and subtracts its size, so later
 * results of the batch have less room (D031, D079). The failure message comes first, then the output, then
 * the texts of the content. Blocks without text use no capacity, because their size in bytes does not show
 * how much context they need.
 */
function takeCapacity(result: ToolResult, scope: FittingScope): ToolResult {
  if (scope.capacityBytes === Number.POSITIVE_INFINITY) return result;
  const message = result.success
    ? undefined
    : fitText(result.error.message, scope, passesWhole(result) || isUncut(result));
  const output = result.content === undefined ? fitText(result.output, scope, isUncut(result)) : undefined;
  const content = output === undefined ? fitContent(result, scope) : undefined;
  const isCut = output?.truncated === true || content?.truncated === true;
  if (!isCut && message?.truncated !== true) return result;
  const outputRef =
    result.outputRef ?? scope.settings.outputs.save(isCut ? result.output : (result.error?.message ?? ''));
  const truncated = {
    output: output?.text ?? result.output,
    ...content,
    truncated: true,
    ...(outputRef === undefined ? {} : { outputRef }),
  };
  const fitted: ToolResult =
    result.success || message === undefined
      ? { ...result, ...truncated }
      : { ...result, ...truncated, error: { ...result.error, message: message.text } };
  rememberCause(fitted, causeOf(result));
  return fitted;
}

interface FittedContent {
  readonly output: string;
  readonly content: readonly ContentBlock[];
  readonly truncated: boolean;
}

function fitContent(result: ToolResult, scope: FittingScope): FittedContent {
  const whole = isUncut(result);
  const said = textBeside(result);
  const beside = fitText(said, scope, whole);
  let { truncated } = beside;
  const fitted = (result.content ?? []).map((block): ContentBlock => {
    if (!('text' in block) || block.text === undefined) return block;
    const { text, truncated: isCut } = fitText(block.text, scope, whole);
    truncated ||= isCut;
    return isCut ? withBase64Json({ ...block, text }) : block;
  });
  const content = fitted.filter((block) => block.type !== 'text' || block.text !== '');
  return { output: said === '' ? contentWords(content) : beside.text, content, truncated };
}

function fitText(text: string, scope: FittingScope, whole: boolean): ReturnType<typeof truncate> {
  const fitted = whole ? { text, truncated: false } : truncate(text, scope.capacityBytes);
  scope.capacityBytes = Math.max(0, scope.capacityBytes - Buffer.byteLength(fitted.text));
  return fitted;
}

function passesWhole({ error }: ToolResult): boolean {
  return error?.code === 'execution_failed' && isJsonObjectText(error.message);
}
