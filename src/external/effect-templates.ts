import type { Effect } from '../contract/effect.js';
import type { JsonObject, JsonSchema, JsonValue } from '../contract/json.js';

/** One declared effect with placeholders for arguments: `{ "kind": "read", "path": "{path}" }`. */
export interface EffectTemplate {
  readonly kind: Effect['kind'];
  readonly fields: readonly TemplateField[];
}

interface TemplateField {
  readonly name: string;
  readonly parts: readonly (string | Placeholder)[];
}

/** `{path}`: required. `{path?}`: without the argument there is no such effect. `{path=.}`: a default. */
interface Placeholder {
  readonly argument: string;
  readonly optional: boolean;
  readonly fallback?: string;
}

/**
 * The effect fields for a tool in another process. Commands are excluded: the policy would evaluate how this
 * program runs them, but another program does.
 */
const FIELDS: Readonly<Partial<Record<Effect['kind'], readonly string[]>>> = {
  read: ['path'],
  write: ['path'],
  delete: ['path'],
  fetch: ['url'],
  call: ['server', 'tool', 'access', 'resource'],
  unknown: [],
};
const OPTIONAL = new Set(['resource']);
const ACCESS = ['read', 'write', 'destroy'];

/**
 * Parses `effects` of a schema document.
 * @throws Error with a clause that names the fault.
 */
export function parseEffectTemplates(given: unknown, inputSchema: JsonSchema): readonly EffectTemplate[] {
  if (!Array.isArray(given)) throw new Error('a list is expected');
  return given.map((effect: unknown, index) =>
    parseTemplate(effect, `effect ${index}`, requiredOf(inputSchema)),
  );
}

function parseTemplate(given: unknown, where: string, required: readonly string[]): EffectTemplate {
  if (typeof given !== 'object' || given === null) throw new Error(`${where} must be an object`);
  const { kind, ...values } = given as Readonly<Record<string, unknown>>;
  const known = Object.entries(FIELDS).find(([name]) => name === kind);
  if (known === undefined) throw new Error(`${where} needs a kind: one of ${Object.keys(FIELDS).join(', ')}`);
  const names = known[1] ?? [];
  for (const name of Object.keys(values)) {
    if (!names.includes(name)) throw new Error(`${where} (${known[0]}) has no "${name}"`);
  }
  const fields = names.flatMap((name): TemplateField[] => {
    const value = values[name];
    if (value === undefined && OPTIONAL.has(name)) return [];
    if (typeof value !== 'string') throw new Error(`${where} (${known[0]}) needs ${name}, a text`);
    if (name === 'access' && !ACCESS.includes(value)) {
      throw new Error(`${where} needs access, one of ${ACCESS.join(', ')}`);
    }
    return [{ name, parts: parseParts(value, where, required) }];
  });
  return { kind: known[0] as Effect['kind'], fields };
}

const PLACEHOLDER = /\{([A-Za-z_][A-Za-z0-9_]*)(\?|=[^{}]*)?\}/g;

function parseParts(text: string, where: string, required: readonly string[]): (string | Placeholder)[] {
  const parts: (string | Placeholder)[] = [];
  let at = 0;
  for (const match of text.matchAll(PLACEHOLDER)) {
    const [all, argument = '', mark] = match;
    if (match.index > at) parts.push(text.slice(at, match.index));
    // Without a missing argument the effect would silently disappear.
    if (mark === undefined && !required.includes(argument)) {
      throw new Error(
        `${where} names {${argument}}, which input_schema does not require; write {${argument}?} for "no such effect without it", or {${argument}=default}`,
      );
    }
    const fallback = mark?.startsWith('=') === true ? { fallback: mark.slice(1) } : {};
    parts.push({ argument, optional: mark === '?', ...fallback });
    at = match.index + all.length;
  }
  if (at < text.length) parts.push(text.slice(at));
  if (parts.some((part) => typeof part === 'string' && /[{}]/.test(part))) {
    throw new Error(`${where} has a brace that belongs to no {argument}`);
  }
  return parts;
}

function requiredOf({ required }: JsonSchema): readonly string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [];
}

/**
 * The effects of one call. A list in place of a whole text gives one effect per item.
 * @throws TypeError for an argument that is neither a text, a number nor a list of them.
 */
export function effectsFor(templates: readonly EffectTemplate[], args: JsonObject): readonly Effect[] {
  return templates.flatMap((template) => expand(template, args));
}

function expand({ kind, fields }: EffectTemplate, args: JsonObject): Effect[] {
  let drafts: Record<string, string>[] = [{}];
  for (const { name, parts } of fields) {
    const texts = textsFor(parts, args);
    drafts = drafts.flatMap((draft) => texts.map((text) => ({ ...draft, [name]: text })));
  }
  // The fields match the kind; the executor checks them again.
  return drafts.map((draft) => ({ kind, ...draft }) as unknown as Effect);
}

/** Empty: there is no such effect. */
function textsFor(parts: TemplateField['parts'], args: JsonObject): readonly string[] {
  const [only] = parts;
  if (parts.length === 1 && typeof only === 'object') {
    const value = valueFor(only, args);
    if (Array.isArray(value)) return value.map((item: JsonValue) => textOf(only, item));
  }
  let text = '';
  for (const part of parts) {
    const value = typeof part === 'string' ? part : valueFor(part, args);
    if (value === undefined && typeof part === 'object' && part.optional) return [];
    text += typeof part === 'string' ? part : textOf(part, value);
  }
  return [text];
}

function valueFor({ argument, fallback }: Placeholder, args: JsonObject): JsonValue | undefined {
  const value = Object.hasOwn(args, argument) ? args[argument] : undefined;
  return value ?? fallback;
}

function textOf({ argument }: Placeholder, value: JsonValue | undefined): string {
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw new TypeError(`the argument ${argument} is not a text, so its effect cannot be determined`);
}
