import { CONTENTS, type Scale } from './contents.js';

/* One measurement, named by the first argument, for `main.ts`: sends its rows to the process that forked it. */

const [name, scale] = process.argv.slice(2);
const measurement = CONTENTS.find((each) => each.name === name);
if (measurement === undefined || process.send === undefined) {
  throw new Error(`Cannot measure "${name}" here: run "npm run bench -- --only ${name}".`);
}
const measure = await measurement.load();
process.send(await measure((scale ?? 'full') as Scale), () => process.disconnect());
