/** The path that stands for a journal without a file: it ends with the process. */
export const IN_MEMORY = ':memory:';
