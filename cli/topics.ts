import { readFileSync } from 'node:fs';

export const TOPICS = [
  ...['start', 'webhooks', 'outgoing', 'signatures', 'agents', 'approvals', 'models', 'tunnel'],
  ...['vault', 'accessibility', 'security', 'backup', 'upgrade', 'scripting'],
];

/** Returns null for an unknown topic. */
export const readTopic = (name: string): string[] | null => {
  if (!TOPICS.includes(name)) return null;
  const file = new URL(`./topics/${name}.txt`, import.meta.url);
  return readFileSync(file, 'utf8').trimEnd().split('\n');
};
