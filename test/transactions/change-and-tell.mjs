// Runs one command with a journal, and says when it begins. Takes all of it as JSON.
const { dist, root, journal, command } = JSON.parse(process.argv[2]);
const { createExecutor } = await import(`${dist}/index.js`);
const executor = createExecutor({
  root,
  journal,
  approver: null,
  sandbox: { os: 'required', transactions: 'required' },
});
process.stdout.write('begins\n');
await executor.run([{ id: 'c', name: 'bash', args: { command } }], { conversation: 'c' });
await executor.close();
