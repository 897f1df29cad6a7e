import type { JsonValue } from '../../contract/json.js';
import { TODO_STATUSES, type Todo, TodoList } from '../../tools/todo-list.js';
import type { FactsRecord } from './conversation-memories.js';

const KEY = 'todos';

/** The to-do list of a named conversation. The journal holds the newest list. */
export class JournaledTodos extends TodoList {
  readonly #journal: FactsRecord;
  /** The list was replaced since it was last recorded. */
  #isFresh = false;

  constructor(journal: FactsRecord) {
    super();
    this.#journal = journal;
  }

  override replace(todos: readonly Todo[]): void {
    super.replace(todos);
    this.#isFresh = true;
  }

  override async refresh(): Promise<void> {
    if (this.#isFresh) return;
    const recalled = await this.#journal.recall(undefined);
    const fact = recalled?.facts.find(({ key }) => key === KEY);
    if (fact !== undefined) super.replace(toTodos(fact.value));
  }

  /**
   * Passes a new list to the journal and does not wait. If recording fails, the list is tried again next
   * time. Never throws.
   */
  record(): void {
    if (!this.#isFresh) return;
    this.#isFresh = false;
    try {
      const value: JsonValue = this.todos.map(({ content, activeForm, status }) => ({
        content,
        activeForm,
        status,
      }));
      const written = this.#journal.remember([{ key: KEY, value, at: this.#journal.now() }]);
      if (written instanceof Promise) written.catch((error: unknown) => this.#lost(error));
    } catch (error) {
      this.#lost(error);
    }
  }

  #lost(error: unknown): void {
    this.#isFresh = true;
    this.#journal.failed(error);
  }
}

function toTodos(value: JsonValue): readonly Todo[] {
  return Array.isArray(value) ? value.flatMap(toTodo) : [];
}

function toTodo(value: unknown): readonly Todo[] {
  const { content, activeForm, status: named } = (value ?? {}) as Partial<Record<keyof Todo, unknown>>;
  const status = TODO_STATUSES.find((known) => known === named);
  if (typeof content !== 'string' || typeof activeForm !== 'string' || status === undefined) return [];
  return [{ content, activeForm, status }];
}
