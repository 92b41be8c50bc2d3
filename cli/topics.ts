import { readFileSync } from 'node:fs';

/** The topics of `adjutant help <topic>`. */
export const TOPICS = [
  ...['start', 'webhooks', 'outgoing', 'signatures', 'agents', 'approvals', 'models', 'tunnel'],
  ...['vault', 'accessibility', 'security', 'backup', 'upgrade', 'scripting'],
];

/** Returns the lines of a topic, as they lie in `cli/topics/`; null if there is none of that name. */
export const readTopic = (name: string): string[] | null => {
  if (!TOPICS.includes(name)) return null;
  const file = new URL(`./topics/${name}.txt`, import.meta.url);
  return readFileSync(file, 'utf8').trimEnd().split('\n');
};
