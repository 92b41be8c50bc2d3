import { readFileSync } from 'node:fs';

const NAMES = [
  ...['start', 'webhooks', 'outgoing', 'signatures', 'agents', 'approvals', 'models', 'tunnel'],
  ...['vault', 'accessibility', 'security', 'backup', 'upgrade', 'scripting'],
];

const read = (name: string): string[] =>
  readFileSync(new URL(`./topics/${name}.txt`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n');

/** The texts of `adjutant help <topic>` by their names, as they lie in `cli/topics/`. */
export const topics: Record<string, string[]> = Object.fromEntries(
  NAMES.map((name) => [name, read(name)]),
);
