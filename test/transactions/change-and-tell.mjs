// Runs one call with a journal, and says when it begins. Takes all of it as JSON; `tools`: a folder of programs.
const { dist, root, journal, tools, call } = JSON.parse(process.argv[2]);
const { createExecutor, discoverTools } = await import(`${dist}/index.js`);
const external = tools && (await discoverTools(tools, { stateDirectory: false }));
const executor = createExecutor({
  root,
  journal,
  approver: null,
  ...(external && { external }),
  sandbox: { os: 'required', transactions: 'required', externalTools: 'all' },
});
process.stdout.write('begins\n');
await executor.run([{ id: 'c', ...call }], { conversation: 'c' });
await executor.close();
await external?.close();
