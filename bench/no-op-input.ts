export const NO_OP_INPUT = {
  type: 'object',
  properties: { message: { type: 'string' }, count: { type: 'integer' } },
  required: ['message', 'count'],
  additionalProperties: false,
} as const;

export const NO_OP_ARGS = { message: 'hello world', count: 3 };
