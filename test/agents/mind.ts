import { type ChatRequest, type Reply, says } from '../harness/openai.js';
import type { ModelOutput } from '../harness/wire.js';

/** What a model reads of one question. */
export interface Read {
  system: string;
  /** What the agent was told first. */
  task: string;
  /** The results of tools so far, oldest first. */
  results: string[];
  /** All that was said to it, oldest first. */
  said: string[];
  /** Names of the tools that are offered. */
  tools: string[];
}

/** A model that answers by what it reads, as often as it is asked: a script for every order of things. */
export const mind = (think: (read: Read) => ModelOutput | Reply): Reply[] =>
  Array.from(
    { length: 1000 },
    (): Reply => (response, request) => {
      const thought = think(readOf(request));
      const reply = typeof thought === 'function' ? thought : says(thought);
      reply(response, request);
    },
  );

export const readOf = ({ messages, tools = [] }: ChatRequest): Read => {
  const of = (role: string) =>
    messages.filter((message) => message.role === role).map(({ content }) => String(content));
  const named = tools.map((tool) => JSON.stringify(tool).match(/"name":"([^"]+)"/)?.[1] ?? '');
  return {
    system: of('system')[0] ?? '',
    task: of('user')[0] ?? '',
    results: of('tool'),
    said: of('user'),
    tools: named,
  };
};
