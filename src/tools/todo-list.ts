import type { ConversationMemory } from '../contract/context.js';

const STATUSES = ['pending', 'in_progress', 'completed'] as const;

/** A step of the work, as the model has planned it. */
export interface Todo {
  readonly content: string;
  /** The same while it is being done: `Running tests`. */
  readonly activeForm: string;
  readonly status: (typeof STATUSES)[number];
}

/** Under this key the memory of a conversation holds its `TodoList`. */
export const TODO_LIST = 'todo-list';

/** The list of a conversation. This one lives as long as the process. */
export class TodoList {
  #todos: readonly Todo[] = [];

  get todos(): readonly Todo[] {
    return this.#todos;
  }

  replace(todos: readonly Todo[]): void {
    this.#todos = todos;
  }

  /**
   * Takes in what other processes of the same conversation have written. This one has nothing to ask: an executor gives
   * a named conversation one that asks its journal.
   * @throws ToolError `journal_unavailable`
   */
  async refresh(): Promise<void> {}
}

export function todoList(memory: ConversationMemory): TodoList {
  const known = memory.get(TODO_LIST);
  if (known instanceof TodoList) return known;
  const fresh = new TodoList();
  memory.set(TODO_LIST, fresh);
  return fresh;
}

export const TODO_STATUSES: readonly Todo['status'][] = STATUSES;
