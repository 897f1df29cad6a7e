import type { ConversationMemory } from '../contract/context.js';

const STATUSES = ['pending', 'in_progress', 'completed'] as const;

/** A step of the model's plan. */
export interface Todo {
  readonly content: string;
  /** Its form while it is in progress: `Running tests`. */
  readonly activeForm: string;
  readonly status: (typeof STATUSES)[number];
}

/** The key of `TodoList` in a conversation's memory. */
export const TODO_LIST = 'todo-list';

/** The list of a conversation. This class keeps it in memory only. */
export class TodoList {
  #todos: readonly Todo[] = [];

  get todos(): readonly Todo[] {
    return this.#todos;
  }

  replace(todos: readonly Todo[]): void {
    this.#todos = todos;
  }

  /**
   * Reads the updates of other processes in the same conversation. Does nothing here; an executor with a
   * named conversation uses a subclass that reads its journal.
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
