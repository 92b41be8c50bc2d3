#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { isSupported, refusal } from './version.js';

if (!isSupported) {
  // A checkout may have a Node of its own. The npm package does not.
  if (existsSync(new URL('../scripts/runtime.js', import.meta.url))) {
    const { runUnderRuntime } = await import('../scripts/runtime.js');
    await runUnderRuntime();
  }
  console.error(refusal);
  process.exit(1);
}
if (!existsSync(new URL('../dist/commands/main.js', import.meta.url))) {
  console.error('Adjutant is not built yet. Run: npm run build');
  process.exit(1);
}
const { main } = await import('../dist/commands/main.js');
await main(process.argv);
