#!/usr/bin/env node
import './version.js';
import { existsSync } from 'node:fs';

if (!existsSync(new URL('../dist/commands/main.js', import.meta.url))) {
  console.error('Adjutant is not built yet. Run: npm run build');
  process.exit(1);
}
const { main } = await import('../dist/commands/main.js');
await main(process.argv);
