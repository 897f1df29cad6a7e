import type { ToolContext } from '../contract/context.js';
import type { JsonValue } from '../contract/json.js';
import type { ToolOutput, ToolSpec } from '../contract/tool.js';
import { oneLine } from './one-line.js';
import { TODO_STATUSES, type Todo, todoList } from './todo-list.js';

export interface TodoWriteArgs {
  readonly todos?: readonly Todo[];
  readonly load_from_db?: boolean;
}

const TEXT = { type: 'string', pattern: '\\S', maxLength: 1000 } as const;

const INPUT = {
  type: 'object',
  additionalProperties: false,
  properties: {
    todos: {
      type: 'array',
      minItems: 1,
      maxItems: 100,
      description: 'The whole list, in order. It replaces the one before.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['content', 'activeForm', 'status'],
        properties: {
          content: { ...TEXT, description: 'What is to be done: "Run tests".' },
          activeForm: { ...TEXT, description: 'The same while it is being done: "Running tests".' },
          status: { type: 'string', enum: TODO_STATUSES },
        },
      },
    },
    load_from_db: {
      type: 'boolean',
      description: 'True, without todos: shows the list as this conversation left it, and changes nothing.',
    },
  },
} as const;

/** `todo_write` (C019, C042): the list of steps of a conversation, kept in its journal. */
export function todoWriteTool(): ToolSpec<TodoWriteArgs> {
  return {
    name: 'todo_write',
    aliases: ['TodoWrite'],
    title: 'Write To-do List',
    description:
      'Writes the list of steps of the work, so that the person sees how far it is. ' +
      'Give the whole list each time; one step is in_progress while you work on it.',
    input: INPUT,
    explainArgs: ({ todos }) => faultIn(todos),
    category: 'interaction',
    effects: () => [],
    touches: [],
    summarize: ({ todos }) =>
      todos === undefined ? 'Show the to-do list' : `Write ${todos.length} to-do items`,
    execute: todoWrite,
  };
}

async function todoWrite({ todos, load_from_db }: TodoWriteArgs, ctx: ToolContext): Promise<ToolOutput> {
  const list = todoList(ctx.memory);
  if (todos === undefined) {
    if (load_from_db !== true) {
      const message = 'Cannot write the list: missing required parameter: todos. Give the whole list.';
      return { text: '', error: { code: 'bad_args', message } };
    }
    await list.refresh();
  } else if (!ctx.dryRun) list.replace(todos);
  return toOutput(todos ?? list.todos);
}

/** The first fault of a list. Undefined if none has its own message here. */
function faultIn(todos: JsonValue | undefined): string | undefined {
  if (todos === undefined) return undefined;
  if (!Array.isArray(todos)) return 'todos must be an array';
  if (todos.length === 0) return 'todos array cannot be empty';
  for (const [index, todo] of todos.entries()) {
    if (typeof todo !== 'object' || todo === null || Array.isArray(todo)) {
      return `todo at index ${index} must be an object`;
    }
    const fault = FIELDS.map((field) => faultOf(field, todo[field])).find((each) => each !== undefined);
    if (fault !== undefined) return `todo at index ${index}${fault}`;
  }
  return undefined;
}

const FIELDS = ['content', 'activeForm', 'status'] as const;

function faultOf(field: (typeof FIELDS)[number], value: JsonValue | undefined): string | undefined {
  if (value === undefined) return ` is missing required field: ${field}`;
  if (typeof value !== 'string') return `: ${field} must be a string`;
  if (field !== 'status') return value.trim() === '' ? `: ${field} cannot be empty` : undefined;
  return TODO_STATUSES.some((status) => status === value)
    ? undefined
    : `: status must be one of: ${TODO_STATUSES.join(', ')}`;
}

const GLYPHS: Readonly<Record<Todo['status'], string>> = {
  pending: '☐',
  in_progress: '⏳',
  completed: '✅',
};

function toOutput(todos: readonly Todo[]): ToolOutput {
  const count = (status: Todo['status']): number => todos.filter((todo) => todo.status === status).length;
  return {
    text: todos.map(inWords).join('\n'),
    metadata: {
      total_count: todos.length,
      pending_count: count('pending'),
      in_progress_count: count('in_progress'),
      completed_count: count('completed'),
    },
  };
}

function inWords({ content, activeForm, status }: Todo): string {
  return `${GLYPHS[status]} ${oneLine(status === 'in_progress' ? activeForm : content)}`;
}
