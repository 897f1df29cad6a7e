export const FORMATS = `
FILE is a response of Anthropic, OpenAI (chat completions or responses) or Gemini, one {"id","name","args"} or an
array of them, or text with \`\`\`tool blocks. Without FILE, or with -, it is read from standard input.
`;

export const EXIT_CODES = `
Exit code: 0 every call succeeded, or there was none; 1 at least one failed; 2 wrong usage, input or configuration;
3 approval needed and nobody to ask; 4 this conversation holds unsettled calls; 130 interrupted.
`;
