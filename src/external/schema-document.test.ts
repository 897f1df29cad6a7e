import { describe, expect, it } from 'vitest';
import { ECHO_DOCUMENT } from './fixtures/tools-folder.js';
import { parseSchemaDocument, SchemaDocumentError } from './schema-document.js';

const parse = (document: object | string) =>
  parseSchemaDocument(typeof document === 'string' ? document : JSON.stringify(document), 'echo');

describe('parseSchemaDocument()', () => {
  it('reads every member of the protocol (E018)', () => {
    expect(parse(ECHO_DOCUMENT)).toEqual({
      name: 'echo-tool',
      version: '1.2.3',
      description: 'Echoes',
      tags: ['a', 'b'],
      inputSchema: ECHO_DOCUMENT.input_schema,
      outputSchema: ECHO_DOCUMENT.output_schema,
      idempotent: false,
      streaming: false,
      serve: false,
    });
  });

  it('needs only the two schemas, and ignores unknown members', () => {
    const document = parse({ input_schema: { type: 'object' }, output_schema: {}, vendor: { x: 1 } });
    expect(document).toMatchObject({ name: '', version: '', description: '', tags: [], idempotent: false });
  });

  it('reads null as a missing member: Go writes an empty list as null', () => {
    const empty = { name: null, version: null, title: null, tags: null, effects: null, timeout_ms: null };
    expect(parse({ ...ECHO_DOCUMENT, ...empty })).toEqual({
      ...parse({ input_schema: ECHO_DOCUMENT.input_schema, output_schema: ECHO_DOCUMENT.output_schema }),
      description: 'Echoes',
    });
    expect(() => parse({ ...ECHO_DOCUMENT, input_schema: null })).toThrow('input_schema is missing');
  });

  it('reads how the tool may be run (E043, E044)', () => {
    const how = { streaming: true, serve: true, max_concurrent: 2 };
    expect(parse({ ...ECHO_DOCUMENT, ...how })).toMatchObject({
      streaming: true,
      serve: true,
      maxConcurrent: 2,
    });
    expect(() => parse({ ...ECHO_DOCUMENT, max_concurrent: 0 })).toThrow(
      'max_concurrent must be a whole number',
    );
    expect(() => parse({ ...ECHO_DOCUMENT, serve: 'yes' })).toThrow('serve must be true or false');
  });

  it('reads `read_only` as a reading call of the tool', () => {
    expect(parse({ ...ECHO_DOCUMENT, read_only: true }).effects).toMatchObject([{ kind: 'call' }]);
    expect(parse({ ...ECHO_DOCUMENT, read_only: false }).effects).toBeUndefined();
    expect(parse({ ...ECHO_DOCUMENT, effects: [] }).effects).toEqual([]);
  });

  it('removes control and direction characters from the texts that people and models read', () => {
    const { description } = parse({ ...ECHO_DOCUMENT, description: 'a\u001b[31mb\u202ec\nd\u200be' });
    expect(description).toBe('a[31mbc\nde');
  });

  it.each([
    ['', 'it printed nothing'],
    ['not json', 'it printed no JSON'],
    ['[]', 'it printed JSON that is not an object'],
    ['{"a":1}{"a":1}', 'it printed no JSON'],
    ['{"output_schema":{}}', 'input_schema is missing'],
    ['{"input_schema":{}}', 'output_schema is missing'],
    ['{"input_schema":[],"output_schema":{}}', 'input_schema must be a JSON Schema object'],
    ['{"input_schema":{"type":"nonsense"},"output_schema":{}}', 'input_schema cannot be used'],
    ['{"input_schema":{},"output_schema":{"$ref":"#/nowhere"}}', 'output_schema cannot be used'],
    ['{"input_schema":{},"output_schema":{},"tags":"a"}', 'tags must be a list of texts'],
    ['{"input_schema":{},"output_schema":{},"version":2}', 'version must be a text'],
    ['{"input_schema":{},"output_schema":{},"read_only":"yes"}', 'read_only must be true or false'],
    ['{"input_schema":{},"output_schema":{},"read_only":true,"effects":[]}', 'keep one'],
    ['{"input_schema":{},"output_schema":{},"effects":[{"kind":"x"}]}', 'effects cannot be used'],
    ['{"input_schema":{},"output_schema":{},"timeout_ms":0}', 'timeout_ms must be a whole number from 1'],
  ])('says what is wrong with %s', (text, message) => {
    expect(() => parse(text)).toThrow(SchemaDocumentError);
    expect(() => parse(text)).toThrow(message);
  });
});
