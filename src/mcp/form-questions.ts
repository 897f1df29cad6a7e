import type { ElicitRequestFormParams, ElicitResult } from '@modelcontextprotocol/server';
import type { JsonObject, JsonValue } from '../contract/json.js';
import type { Question, QuestionAnswer } from '../contract/question.js';
import { sanitize } from '../output/sanitize.js';

/** A server must not fill the person's screen without limit. */
const MOST_CHARACTERS = 4_000;
const YES = 'Yes';
const ACCEPT = 'Answer';

type Field = Extract<Question['form'], { kind: 'field' }>;

// ---- a form of another server as questions ------------------------------------------------------------------------------

/** Another server's form as questions to the person: first whether to answer this server at all, then the fields. */
export function toQuestions(
  server: string,
  { message, requestedSchema }: ElicitRequestFormParams,
): Question[] {
  const { properties, required = [] } = requestedSchema;
  const consent: Question = {
    header: server,
    question: `The MCP server ${server} asks: ${sanitize(message).slice(0, MOST_CHARACTERS)}`,
    options: [{ label: ACCEPT }, { label: 'Decline' }],
    multiSelect: false,
    form: { kind: 'consent' },
  };
  const fields = Object.entries(properties).map(([name, schema]): Question => {
    const plain = plainSchema(schema as unknown as JsonObject);
    const { title = name, description } = plain as { readonly title?: string; readonly description?: string };
    const standard = defaultOf(plain);
    const left =
      standard === undefined ? '' : ` (left empty: ${sanitize(JSON.stringify(standard), 'inline')})`;
    return {
      header: sanitize(title, 'inline'),
      question: `${description ?? title}${left}`,
      options: choicesOf(plain).map(({ label }) => ({ label })),
      multiSelect: plain.type === 'array',
      form: { kind: 'field', name, schema: plain, required: required.includes(name) },
    };
  });
  return [consent, ...fields];
}

/** Texts for a person, without invisible characters. */
function plainSchema(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema).map(([key, value]) => {
    const isRead = (key === 'title' || key === 'description') && typeof value === 'string';
    return [key, isRead ? sanitize(value).slice(0, MOST_CHARACTERS) : value] as const;
  });
  return Object.fromEntries(entries);
}

/** The answers as the form's content. A text: the fault in one of the answers. */
export function toContent(
  questions: readonly Question[],
  answers: readonly QuestionAnswer[],
): NonNullable<ElicitResult['content']> | string {
  const content: Record<string, string | number | boolean | string[]> = {};
  for (const [at, { form, header }] of questions.entries()) {
    if (form?.kind !== 'field') continue;
    const value = fieldValue(form, answers[at] ?? { chosen: [] }) ?? defaultOf(form.schema);
    if (value === undefined && form.required) return `${header}: a value is expected.`;
    const fault = value === undefined ? undefined : faultOf(value, form.schema);
    if (fault !== undefined) return `${header}: ${fault}`;
    if (value !== undefined) content[form.name] = value;
  }
  return content;
}

type FieldValue = string | number | boolean | string[];

function fieldValue({ schema }: Field, { chosen, other }: QuestionAnswer): FieldValue | undefined {
  const choices = choicesOf(schema);
  const values = chosen.flatMap((label) => choices.find((choice) => choice.label === label)?.value ?? []);
  const own = other?.trim() ?? '';
  switch (schema.type) {
    case 'boolean':
      return chosen.length > 0 ? chosen[0] === YES : BOOLEANS.get(own.toLowerCase());
    case 'number':
    case 'integer':
      return own === '' ? undefined : Number(own);
    case 'array':
      return values.length === 0 && own === '' ? undefined : own === '' ? values : [...values, own];
    default:
      return values[0] ?? (own === '' ? undefined : own);
  }
}

/** The form's value for a field left empty, if it is valid for the field. */
function defaultOf(schema: JsonObject): FieldValue | undefined {
  const { type, default: value } = schema;
  const isText = (one: unknown): one is string => typeof one === 'string' && one.length <= MOST_CHARACTERS;
  const fits =
    type === 'array'
      ? Array.isArray(value) && value.every(isText)
      : type === 'string'
        ? isText(value)
        : false;
  const isPlain =
    type === 'boolean' ? typeof value === 'boolean' : isNumeric(type) && typeof value === 'number';
  if (!fits && !isPlain) return undefined;
  return faultOf(value as FieldValue, schema) === undefined ? (value as FieldValue) : undefined;
}

function isNumeric(type: unknown): boolean {
  return type === 'number' || type === 'integer';
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['false', false],
  ['no', false],
]);

function faultOf(value: FieldValue, schema: JsonObject): string | undefined {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema as Readonly<
    Record<string, unknown>
  >;
  const isWithin = (size: number, least: unknown, most: unknown): boolean =>
    (typeof least !== 'number' || size >= least) && (typeof most !== 'number' || size <= most);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return 'a number is expected.';
    if (schema.type === 'integer' && !Number.isInteger(value)) return 'a whole number is expected.';
    return isWithin(value, minimum, maximum) ? undefined : 'the number is out of range.';
  }
  const allowed = choicesOf(schema).map((choice) => choice.value);
  const given = typeof value === 'string' ? [value] : Array.isArray(value) ? value : [];
  if (allowed.length > 0 && !given.every((one) => allowed.includes(one)))
    return `one of ${allowed.join(', ')} is expected.`;
  if (typeof value === 'string')
    return isWithin(value.length, minLength, maxLength) ? undefined : 'the text is too short or too long.';
  return Array.isArray(value) && !isWithin(value.length, minItems, maxItems)
    ? 'too few or too many are chosen.'
    : undefined;
}

interface Choice {
  readonly label: string;
  readonly value: string;
}

/** The choices for a field. */
function choicesOf(schema: JsonObject): readonly Choice[] {
  if (schema.type === 'boolean') return [YES, 'No'].map((label) => ({ label, value: label }));
  const source = (schema.type === 'array' ? schema.items : schema) as Readonly<Record<string, JsonValue>>;
  const named = textsOf(schema.enumNames);
  const listed = source?.oneOf ?? source?.anyOf;
  const choices = Array.isArray(listed)
    ? listed.flatMap((entry) => titled(entry))
    : textsOf(source?.enum).map((value, at) => ({ value, label: named[at] ?? value }));
  // Two choices with the same name could not be distinguished.
  const isClear = new Set(choices.map(({ label }) => label)).size === choices.length;
  return choices.map(({ value, label }) => ({ value, label: isClear ? sanitize(label, 'inline') : value }));
}

function titled(entry: JsonValue): readonly Choice[] {
  const { const: value, title } = (entry ?? {}) as Readonly<Record<string, JsonValue>>;
  if (typeof value !== 'string') return [];
  return [{ value, label: typeof title === 'string' ? title : value }];
}

function textsOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [];
}

// ---- questions as a form for a client -----------------------------------------------------------------------------------

type Properties = ElicitRequestFormParams['requestedSchema']['properties'];

/** Questions as one form for the client's person. Fields of another server's form are unchanged. */
export function toForm(questions: readonly Question[]): ElicitRequestFormParams {
  const properties: Record<string, JsonObject> = {};
  const required: string[] = [];
  const above: string[] = [];
  for (const [at, { form, header, question, options, multiSelect }] of questions.entries()) {
    if (form?.kind === 'consent') above.push(question);
    else if (form?.kind === 'field') {
      properties[form.name] = form.schema;
      if (form.required) required.push(form.name);
    } else {
      const [own, other] = namesOf(at);
      const listed = options.map(({ label, description }) => ({
        const: label,
        title: description === undefined ? label : `${label}: ${description}`,
      }));
      const text = { title: header, description: question };
      properties[own] = multiSelect
        ? { type: 'array', ...text, items: { anyOf: listed } }
        : { type: 'string', ...text, oneOf: listed };
      properties[other] = { type: 'string', title: `${header}, in other words` };
    }
  }
  const message =
    above.length > 0 ? above.join('\n\n') : questions.map(({ question }) => question).join('\n');
  return {
    mode: 'form',
    message,
    requestedSchema: {
      type: 'object',
      properties: properties as unknown as Properties,
      ...(required.length === 0 ? {} : { required }),
    },
  };
}

/** The names of the two fields of a question that does not come from a form. */
function namesOf(at: number): readonly [own: string, other: string] {
  return [`answer_${at + 1}`, `answer_${at + 1}_other`];
}

/** The answers of the client's person. Undefined: the form was closed. @param response not validated yet */
export function toAnswers(questions: readonly Question[], response: unknown): QuestionAnswer[] | undefined {
  const { action, content } = (response ?? {}) as { readonly action?: unknown; readonly content?: unknown };
  if (action === 'decline') return questions.map(() => ({ chosen: [], declined: true }));
  if (action !== 'accept') return undefined;
  const given = (content ?? {}) as Readonly<Record<string, unknown>>;
  return questions.map(({ form, options }, at): QuestionAnswer => {
    if (form?.kind === 'consent') return { chosen: [options[0]?.label ?? ACCEPT] };
    if (form?.kind === 'field') return fieldAnswer(form.schema, given[form.name]);
    const [own, other] = namesOf(at);
    const labels = options.map(({ label }) => label);
    const chosen = [given[own]].flat().filter((label): label is string => labels.includes(label as string));
    const words = given[other];
    return typeof words === 'string' && words.trim() !== '' ? { chosen, other: words } : { chosen };
  });
}

function fieldAnswer(schema: JsonObject, value: unknown): QuestionAnswer {
  if (value === undefined || value === null) return { chosen: [] };
  if (typeof value === 'boolean') return { chosen: [value ? YES : 'No'] };
  const choices = choicesOf(schema);
  const values = [value].flat().map(String);
  const chosen = values.flatMap((one) => choices.find((choice) => choice.value === one)?.label ?? []);
  return chosen.length === values.length ? { chosen } : { chosen: [], other: values.join(', ') };
}
