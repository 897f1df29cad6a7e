import { isToolError } from '../../src/errors/tool-error.js';
import { createSandbox } from '../../src/files/create-sandbox.js';

/**
 * Writes a number of new files into one directory at the same time, and reports for each whether it was acknowledged.
 */
const [root = '', directory = '', count = '0'] = process.argv.slice(2);
const { files } = createSandbox({ roots: [root] });
const bytes = new TextEncoder().encode('written at once');
const settled = await Promise.allSettled(
  Array.from({ length: Number(count) }, (_, index) =>
    files.write(`${directory}/new-${index}.txt`, bytes, { mode: 'create' }),
  ),
);
const answers = settled.map((answer) => {
  if (answer.status === 'fulfilled') return 'written';
  if (!isToolError(answer.reason)) throw answer.reason;
  return { code: answer.reason.code, details: answer.reason.details };
});
console.log(JSON.stringify(answers));
