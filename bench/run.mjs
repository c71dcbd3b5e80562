// Runs the benchmarks named on the command line, or all of them: npm run bench -- turn-cost start-time
const all = [
  'start-time',
  'turn-cost',
  'compose',
  'space',
  'selection',
  'stream-cost',
  'many-runs',
  'search',
  'command-start',
  'ledger-append',
  'harness-overhead',
  'statistics',
  'plan-cost',
  'cache-modes',
  'history-cost',
];
const asked = process.argv.slice(2);
for (const name of asked.length > 0 ? asked : all) {
  if (!all.includes(name)) {
    console.error(`There is no benchmark '${name}'. Choose from: ${all.join(', ')}.`);
    process.exit(2);
  }
  console.log(`\n# ${name}`);
  await (await import(`./${name}.mjs`)).main();
}
